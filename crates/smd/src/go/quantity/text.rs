//! The text of an amount: its digits and what its suffix means.

use super::{FORMAT, NANO, Notation};

/// The parts of an amount's text.
pub(super) struct Parts<'a> {
    pub(super) negative: bool,
    /// Digits before the point, without leading zeros; `0` where there are none.
    whole: &'a str,
    /// Digits after the point.
    pub(super) fraction: &'a str,
    pub(super) suffix: &'a str,
}

impl<'a> Parts<'a> {
    pub(super) fn split(text: &'a str) -> Result<Self, &'static str> {
        let negative = text.starts_with('-');
        let rest = text.strip_prefix(['-', '+']).unwrap_or(text);
        let rest = rest.trim_start_matches('0');
        let (whole, rest) = split_digits(rest);
        let whole = if whole.is_empty() { "0" } else { whole };
        let (fraction, suffix) = match rest.strip_prefix('.') {
            Some(rest) => split_digits(rest),
            None => ("", rest),
        };
        let tail = suffix.trim_start_matches(|c| "eEinumkKMGTP".contains(c));
        let tail = tail.strip_prefix(['-', '+']).unwrap_or(tail);
        match split_digits(tail) {
            (_, "") => Ok(Parts {
                negative,
                whole,
                fraction,
                suffix,
            }),
            _ => Err(FORMAT),
        }
    }

    pub(super) fn digits(&self) -> Vec<u8> {
        let all = self
            .whole
            .bytes()
            .chain(self.fraction.bytes())
            .map(|byte| byte - b'0');
        all.skip_while(|digit| *digit == 0).collect()
    }

    /// Whether the server keeps the text as it is: a short one that needs no other suffix.
    pub(super) fn is_canonical(&self, notation: Notation, exponent: i64) -> bool {
        let length = (self.whole.len() + self.fraction.len()) as i64;
        match notation {
            Notation::Binary => {
                let short = 15 - length - exponent * 3 / 10 > 0;
                let odd = |last: u64| last & 7 != 0;
                self.fraction.is_empty() && short && self.whole.parse().is_ok_and(odd)
            }
            Notation::Decimal | Notation::Exponent => {
                let scale = exponent - self.fraction.len() as i64;
                let zeros = self
                    .whole
                    .bytes()
                    .chain(self.fraction.bytes())
                    .rev()
                    .take_while(|b| *b == b'0')
                    .count();
                length <= 18 && scale >= NANO && scale % 3 == 0 && zeros < 3 && !self.whole.starts_with('0')
            }
        }
    }
}

fn split_digits(text: &str) -> (&str, &str) {
    let end = text
        .bytes()
        .position(|byte| !byte.is_ascii_digit())
        .unwrap_or(text.len());
    text.split_at(end)
}

/// What a suffix means: a power of ten, or of two for binary ones.
pub(super) fn suffix(text: &str) -> Option<(i64, Notation)> {
    let decimal = match text {
        "n" => -9,
        "u" => -6,
        "m" => -3,
        "" => 0,
        "k" => 3,
        "M" => 6,
        "G" => 9,
        "T" => 12,
        "P" => 15,
        "E" => 18,
        "Ki" => return Some((10, Notation::Binary)),
        "Mi" => return Some((20, Notation::Binary)),
        "Gi" => return Some((30, Notation::Binary)),
        "Ti" => return Some((40, Notation::Binary)),
        "Pi" => return Some((50, Notation::Binary)),
        "Ei" => return Some((60, Notation::Binary)),
        _ => {
            let exponent: i64 = text.strip_prefix(['e', 'E'])?.parse().ok()?;
            return Some((i64::from(exponent as i32), Notation::Exponent));
        }
    };
    Some((decimal, Notation::Decimal))
}

/// The suffix of a power of ten, where there is one.
pub(super) fn decimal_suffix(exponent: i64) -> Option<&'static str> {
    let at = usize::try_from(exponent / 3 + 3).ok()?;
    ["n", "u", "m", "", "k", "M", "G", "T", "P", "E"].get(at).copied()
}
