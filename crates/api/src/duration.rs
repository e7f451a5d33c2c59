//! Lengths of time as Go writes them.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::schema::{Described, Schema};

/// A length of time as Go reads and writes it: `1h30m`, `500ms`, printed `1h30m0s`. It may be negative.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Duration {
    nanoseconds: i64,
}

/// Why a text is no duration.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ParseDurationError {
    /// There is no number where one is needed.
    #[error("{0:?} is no duration; write for example 10m or 1h30m")]
    Malformed(String),
    /// A number without a unit.
    #[error("{0:?} has a number without a unit; units are ms, s, m and h")]
    NoUnit(String),
    /// A unit that does not exist.
    #[error("{text:?} has the unknown unit {unit:?}; units are ms, s, m and h")]
    UnknownUnit {
        /// The whole text.
        text: String,
        /// What stands in the place of a unit.
        unit: String,
    },
    /// More than 292 years.
    #[error("{0:?} is too long a time")]
    TooLong(String),
}

/// Units and their nanoseconds. The two micro signs are different characters.
const UNITS: [(&str, i64); 8] = [
    ("ns", 1),
    ("us", 1_000),
    ("\u{b5}s", 1_000),
    ("\u{3bc}s", 1_000),
    ("ms", 1_000_000),
    ("s", 1_000_000_000),
    ("m", 60_000_000_000),
    ("h", 3_600_000_000_000),
];

impl Duration {
    /// Of that many seconds.
    pub const fn from_secs(seconds: i64) -> Self {
        Duration {
            nanoseconds: seconds.saturating_mul(1_000_000_000),
        }
    }

    /// The length in nanoseconds.
    pub const fn as_nanos(self) -> i64 {
        self.nanoseconds
    }

    /// The length as the standard library has it; a negative one is nothing.
    pub fn to_std(self) -> std::time::Duration {
        std::time::Duration::from_nanos(u64::try_from(self.nanoseconds).unwrap_or(0))
    }
}

/// The longest is 292 years, as in Go.
impl From<std::time::Duration> for Duration {
    fn from(duration: std::time::Duration) -> Self {
        Duration {
            nanoseconds: i64::try_from(duration.as_nanos()).unwrap_or(i64::MAX),
        }
    }
}

impl FromStr for Duration {
    type Err = ParseDurationError;

    fn from_str(text: &str) -> Result<Self, ParseDurationError> {
        let (negative, mut rest) = match text.strip_prefix(['-', '+']) {
            Some(rest) => (text.starts_with('-'), rest),
            None => (false, text),
        };
        if rest == "0" {
            return Ok(Duration::default());
        }
        if rest.is_empty() {
            return Err(ParseDurationError::Malformed(text.to_owned()));
        }
        let mut total: i128 = 0;
        while !rest.is_empty() {
            let (part, after) = read_part(rest, text)?;
            total += part;
            if total > i128::from(i64::MAX) + i128::from(negative) {
                return Err(ParseDurationError::TooLong(text.to_owned()));
            }
            rest = after;
        }
        let total = if negative { -total } else { total };
        i64::try_from(total)
            .map(|nanoseconds| Duration { nanoseconds })
            .map_err(|_| ParseDurationError::TooLong(text.to_owned()))
    }
}

/// The nanoseconds of the first number with its unit, and what follows them.
fn read_part<'a>(rest: &'a str, text: &str) -> Result<(i128, &'a str), ParseDurationError> {
    let too_long = || ParseDurationError::TooLong(text.to_owned());
    let (whole, rest) = split_digits(rest);
    let (fraction, rest) = rest.strip_prefix('.').map_or(("", rest), split_digits);
    if whole.is_empty() && fraction.is_empty() {
        return Err(ParseDurationError::Malformed(text.to_owned()));
    }
    let unit_end = rest
        .find(|c: char| c == '.' || c.is_ascii_digit())
        .unwrap_or(rest.len());
    let (unit, rest) = rest.split_at(unit_end);
    if unit.is_empty() {
        return Err(ParseDurationError::NoUnit(text.to_owned()));
    }
    let scale = UNITS
        .iter()
        .find(|(name, _)| *name == unit)
        .map(|(_, scale)| i128::from(*scale));
    let scale = scale.ok_or_else(|| ParseDurationError::UnknownUnit {
        text: text.to_owned(),
        unit: unit.to_owned(),
    })?;
    let whole: i128 = if whole.is_empty() {
        0
    } else {
        whole.parse().map_err(|_| too_long())?
    };
    let mut nanoseconds = whole.checked_mul(scale).ok_or_else(too_long)?;
    nanoseconds += part_of(fraction, scale);
    if nanoseconds > i128::from(i64::MAX) + 1 {
        return Err(too_long());
    }
    Ok((nanoseconds, rest))
}

/// The nanoseconds that the digits after the point stand for. Go calculates them with floats, and so must we: its
/// `0.3333333333333333333h` is 20 minutes.
#[allow(clippy::cast_precision_loss, clippy::cast_possible_truncation)]
fn part_of(digits: &str, scale: i128) -> i128 {
    let (mut value, mut power) = (0_i64, 1.0_f64);
    for digit in digits.bytes().map(|digit| i64::from(digit - b'0')) {
        // Further digits are too small to count.
        let Some(longer) = value.checked_mul(10).and_then(|value| value.checked_add(digit)) else {
            break;
        };
        value = longer;
        power *= 10.0;
    }
    (value as f64 * (scale as f64 / power)) as i128
}

fn split_digits(text: &str) -> (&str, &str) {
    let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    text.split_at(end)
}

impl fmt::Display for Duration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let length = self.nanoseconds.unsigned_abs();
        if self.nanoseconds < 0 {
            f.write_str("-")?;
        }
        match length {
            0 => f.write_str("0s"),
            1..1_000 => write!(f, "{length}ns"),
            1_000..1_000_000 => write_fraction(f, length, 1_000, "\u{b5}s"),
            1_000_000..1_000_000_000 => write_fraction(f, length, 1_000_000, "ms"),
            _ => {
                let minutes = length / 60_000_000_000;
                if minutes >= 60 {
                    write!(f, "{}h", minutes / 60)?;
                }
                if minutes > 0 {
                    write!(f, "{}m", minutes % 60)?;
                }
                write_fraction(f, length % 60_000_000_000, 1_000_000_000, "s")
            }
        }
    }
}

fn write_fraction(f: &mut fmt::Formatter<'_>, value: u64, scale: u64, unit: &str) -> fmt::Result {
    write!(f, "{}", value / scale)?;
    let rest = value % scale;
    if rest > 0 {
        // `scale + rest` has one digit more than the fraction: the leading zeros stay.
        let digits = (scale + rest).to_string();
        write!(f, ".{}", digits[1..].trim_end_matches('0'))?;
    }
    f.write_str(unit)
}

impl Serialize for Duration {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Duration {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = std::borrow::Cow::<str>::deserialize(deserializer)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}

/// What current versions take.
const INTERVAL: &str = r"^([0-9]+(\.[0-9]+)?(ms|s|m|h))+$";
/// What current versions take where hours make no sense.
const TIMEOUT: &str = r"^([0-9]+(\.[0-9]+)?(ms|s|m))+$";
/// What Go reads, which is what older versions took.
const GO: &str = r"^[-+]?(0|(([0-9]+\.?[0-9]*|\.[0-9]+)(ns|us|µs|μs|ms|s|m|h))+)$";

impl Described for Duration {
    fn schema() -> Schema {
        Schema::string().pattern(INTERVAL).in_older("pattern", GO)
    }
}

impl Schema {
    /// A duration without hours.
    #[must_use]
    pub(crate) fn without_hours(self) -> Self {
        self.pattern(TIMEOUT)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<String, ParseDurationError> {
        text.parse::<Duration>().map(|duration| duration.to_string())
    }

    #[test]
    fn texts_are_read_and_printed_as_go_does() {
        // Printed by Go 1.24: time.ParseDuration(text), then String().
        for (text, printed) in [
            ("1h", "1h0m0s"),
            ("60s", "1m0s"),
            ("90m", "1h30m0s"),
            ("1h30m", "1h30m0s"),
            ("0", "0s"),
            ("0s", "0s"),
            ("-1.5h", "-1h30m0s"),
            ("+5s", "5s"),
            (".5m", "30s"),
            ("1.s", "1s"),
            ("100ms", "100ms"),
            ("1500ms", "1.5s"),
            ("1.000000001s", "1.000000001s"),
            ("15us", "15µs"),
            ("15.5µs", "15.5µs"),
            ("999ns", "999ns"),
            ("1h0m0.25s", "1h0m0.25s"),
            ("2562047h47m16.854775807s", "2562047h47m16.854775807s"),
            ("-2562047h47m16.854775808s", "-2562047h47m16.854775808s"),
            ("0.3333333333333333333h", "20m0s"),
        ] {
            assert_eq!(parse(text).as_deref(), Ok(printed), "{text}");
        }
    }

    #[test]
    fn what_is_no_duration_is_refused_with_the_reason() {
        use ParseDurationError::{Malformed, NoUnit, TooLong};
        for text in ["", "-", ".s", "s", "m5"] {
            assert_eq!(parse(text), Err(Malformed(text.into())), "{text}");
        }
        assert_eq!(parse("5"), Err(NoUnit("5".into())));
        assert_eq!(parse("1h5"), Err(NoUnit("1h5".into())));
        assert_eq!(
            parse("1d").unwrap_err().to_string(),
            r#""1d" has the unknown unit "d"; units are ms, s, m and h"#
        );
        for text in [
            "2562047h47m16.854775808s",
            "99999999999999999999999999999999999999999h",
            "3000000h",
        ] {
            assert_eq!(parse(text), Err(TooLong(text.into())), "{text}");
        }
    }

    proptest::proptest! {
        #[test]
        fn what_is_printed_is_read_back(nanoseconds: i64) {
            let duration = Duration { nanoseconds };
            proptest::prop_assert_eq!(duration.to_string().parse(), Ok(duration));
        }

        #[test]
        fn no_text_makes_the_parser_panic(text in "[-+0-9.hmsnuµd]{0,30}|\\PC*") {
            let _ = text.parse::<Duration>();
        }
    }
}
