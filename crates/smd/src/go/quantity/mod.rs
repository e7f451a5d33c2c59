//! Amounts such as `500m` and `1Gi`, read and written as the API server does.
//!
//! An amount is kept as decimal digits and a power of ten, so that none is too large or too fine. What the server
//! considers canonical already is kept letter for letter, which is why `1.500` stays and `1.5` becomes `1500m`.

mod text;

use std::cmp::Ordering;
use std::fmt;

use text::{Parts, decimal_suffix, suffix};

/// How an amount was written and is written back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Notation {
    /// `1k`, `500m`
    Decimal,
    /// `1Ki`, `4Gi`
    Binary,
    /// `1e3`
    Exponent,
}

/// An amount.
#[derive(Clone, Debug)]
pub struct Quantity {
    negative: bool,
    /// Decimal digits without leading zeros; empty for zero.
    digits: Vec<u8>,
    /// The power of ten of the last digit.
    scale: i64,
    notation: Notation,
    /// The text it was read from, where that is canonical.
    text: Option<String>,
}

/// What an amount of a wrong form is answered with.
const FORMAT: &str =
    "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'";

/// The finest amount is a billionth.
const NANO: i64 = -9;

impl Quantity {
    /// Reads an amount.
    ///
    /// # Errors
    /// The real server's words, where `text` is no amount.
    pub fn parse(text: &str) -> Result<Self, &'static str> {
        if text.is_empty() {
            return Err(FORMAT);
        }
        let parts = Parts::split(text)?;
        let (exponent, notation) = suffix(parts.suffix).ok_or("unable to parse quantity's suffix")?;
        let mut quantity = Quantity {
            negative: parts.negative,
            digits: parts.digits(),
            scale: -(parts.fraction.len() as i64),
            notation,
            text: None,
        };
        match notation {
            Notation::Decimal | Notation::Exponent => quantity.scale += exponent,
            Notation::Binary => quantity.multiply(1 << exponent),
        }
        if parts.is_canonical(notation, exponent) {
            quantity.text = Some(text.to_owned());
            return Ok(quantity);
        }
        quantity.round_up(NANO);
        if notation == Notation::Binary {
            quantity.limit();
            if quantity.digits.len() as i64 + quantity.scale <= 0 {
                quantity.notation = Notation::Decimal;
            }
        }
        Ok(quantity)
    }

    /// Rounds away from zero to a multiple of ten to the `scale`.
    pub fn round_up(&mut self, scale: i64) {
        let Ok(surplus) = usize::try_from(scale.saturating_sub(self.scale)) else {
            return;
        };
        if surplus == 0 || self.is_zero() {
            return;
        }
        self.text = None;
        let kept = self.digits.len().saturating_sub(surplus);
        let inexact = self.digits[kept..].iter().any(|digit| *digit != 0);
        self.digits.truncate(kept);
        self.scale = scale;
        if inexact {
            self.increment();
        }
    }

    /// Whether it is nothing.
    pub fn is_zero(&self) -> bool {
        self.digits.is_empty()
    }

    /// Whether it is below zero.
    pub fn is_negative(&self) -> bool {
        self.negative && !self.is_zero()
    }

    /// Whether it has no part below one.
    pub fn is_whole(&self) -> bool {
        let zeros = self.digits.iter().rev().take_while(|digit| **digit == 0).count();
        self.is_zero() || self.scale + zeros as i64 >= 0
    }

    /// The nearest floating-point number.
    pub fn as_f64(&self) -> f64 {
        let digits: String = self.digits.iter().map(|digit| char::from(b'0' + digit)).collect();
        let sign = if self.is_negative() { "-" } else { "" };
        format!("{sign}{digits}e{}", self.scale)
            .parse()
            .unwrap_or_default()
    }

    /// The sum of two amounts, in the notation of the first. Amounts below zero count as nothing, and of two that are
    /// too far apart the larger one is the sum.
    pub fn plus(&self, other: &Quantity) -> Quantity {
        const FAR: i64 = 100;
        if other.negative || other.is_zero() || self.scale.abs_diff(other.scale) > FAR as u64 && self >= other
        {
            return self.clone();
        }
        if self.negative || self.is_zero() || self.scale.abs_diff(other.scale) > FAR as u64 {
            return other.clone();
        }
        let scale = self.scale.min(other.scale);
        let aligned = |amount: &Quantity| -> Vec<u8> {
            let zeros = usize::try_from(amount.scale - scale).unwrap_or_default();
            let digits = amount.digits.iter().rev().copied();
            std::iter::repeat_n(0, zeros).chain(digits).collect()
        };
        let (one, two) = (aligned(self), aligned(other));
        let mut digits = Vec::new();
        let mut carry = 0;
        for at in 0..one.len().max(two.len()) {
            let digit = |digits: &[u8]| digits.get(at).copied().unwrap_or_default();
            let total = digit(&one) + digit(&two) + carry;
            digits.push(total % 10);
            carry = total / 10;
        }
        digits.extend((carry > 0).then_some(carry));
        digits.reverse();
        Quantity {
            negative: false,
            digits,
            scale,
            notation: self.notation,
            text: None,
        }
    }

    fn increment(&mut self) {
        for digit in self.digits.iter_mut().rev() {
            if *digit < 9 {
                *digit += 1;
                return;
            }
            *digit = 0;
        }
        self.digits.insert(0, 1);
    }

    fn multiply(&mut self, factor: u64) {
        let mut carry = 0u128;
        for digit in self.digits.iter_mut().rev() {
            carry += u128::from(*digit) * u128::from(factor);
            *digit = (carry % 10) as u8;
            carry /= 10;
        }
        let mut head = Vec::new();
        while carry > 0 {
            head.push((carry % 10) as u8);
            carry /= 10;
        }
        self.digits.splice(0..0, head.into_iter().rev());
    }

    /// Binary amounts end at the largest 64-bit number.
    fn limit(&mut self) {
        let most = Quantity::whole(i64::MAX as u64);
        if self.magnitude(&most) == Ordering::Greater {
            self.digits = most.digits;
            self.scale = 0;
        }
    }

    fn whole(number: u64) -> Self {
        let digits = match number {
            0 => Vec::new(),
            number => number.to_string().bytes().map(|byte| byte - b'0').collect(),
        };
        Quantity {
            negative: false,
            digits,
            scale: 0,
            notation: Notation::Decimal,
            text: None,
        }
    }

    /// Compares without signs.
    fn magnitude(&self, other: &Quantity) -> Ordering {
        match (self.is_zero(), other.is_zero()) {
            (true, true) => return Ordering::Equal,
            (true, false) => return Ordering::Less,
            (false, true) => return Ordering::Greater,
            (false, false) => {}
        }
        let (top, other_top) = (
            self.digits.len() as i64 + self.scale,
            other.digits.len() as i64 + other.scale,
        );
        top.cmp(&other_top).then_with(|| {
            let longest = self.digits.len().max(other.digits.len());
            let digit = |digits: &[u8], at: usize| digits.get(at).copied().unwrap_or(0);
            (0..longest)
                .map(|at| digit(&self.digits, at).cmp(&digit(&other.digits, at)))
                .find(|o| o.is_ne())
                .unwrap_or(Ordering::Equal)
        })
    }

    /// The digits without trailing zeros and the power of ten of the last one, made a multiple of three.
    fn thousands(&self) -> (String, i64) {
        let zeros = self.digits.iter().rev().take_while(|digit| **digit == 0).count();
        let mut exponent = self.scale + zeros as i64;
        let mut text: String = self.digits[..self.digits.len() - zeros]
            .iter()
            .map(|digit| char::from(b'0' + digit))
            .collect();
        while exponent % 3 != 0 {
            text.push('0');
            exponent -= 1;
        }
        (text, exponent)
    }

    /// The amount as a whole number without its sign, where it is one that fits.
    pub fn as_u64(&self) -> Option<u64> {
        if !self.is_whole() || self.digits.len() as i64 + self.scale > 19 {
            return None;
        }
        let mut number = 0u64;
        for at in 0..(self.digits.len() as i64 + self.scale).max(0) as usize {
            number = number * 10 + u64::from(self.digits.get(at).copied().unwrap_or(0));
        }
        Some(number)
    }
}

impl PartialEq for Quantity {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Quantity {}

impl PartialOrd for Quantity {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Quantity {
    fn cmp(&self, other: &Self) -> Ordering {
        match (self.is_negative(), other.is_negative()) {
            (false, false) => self.magnitude(other),
            (true, true) => other.magnitude(self),
            (true, false) => Ordering::Less,
            (false, true) => Ordering::Greater,
        }
    }
}

impl fmt::Display for Quantity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(text) = &self.text {
            return f.write_str(text);
        }
        if self.is_zero() {
            return f.write_str("0");
        }
        if self.negative {
            f.write_str("-")?;
        }
        let small = self.magnitude(&Quantity::whole(1024)) == Ordering::Less;
        if self.notation == Notation::Binary
            && !small
            && let Some(mut number) = self.as_u64()
        {
            let mut power = 0;
            while number % 1024 == 0 {
                number /= 1024;
                power += 1;
            }
            return write!(f, "{number}{}", ["", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"][power]);
        }
        let (digits, exponent) = self.thousands();
        match (self.notation, exponent) {
            (_, 0) => f.write_str(&digits),
            (Notation::Exponent, exponent) => write!(f, "{digits}e{exponent}"),
            // The real server writes no suffix where it has none, although that changes the amount.
            (_, exponent) => write!(f, "{digits}{}", decimal_suffix(exponent).unwrap_or_default()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn canonical(text: &str) -> String {
        Quantity::parse(text).unwrap().to_string()
    }

    /// Each pair was answered so by a real API server, as `spec.capacity` of a volume.
    #[test]
    fn amounts_are_written_as_the_real_server_writes_them() {
        for (given, expected) in [
            ("1000m", "1"),
            ("0.5", "500m"),
            ("1024Mi", "1Gi"),
            ("1.5", "1500m"),
            ("1.500", "1.500"),
            ("1.5Gi", "1536Mi"),
            ("0.1Gi", "107374182400m"),
            ("100Mi", "100Mi"),
            ("+1", "+1"),
            ("001", "001"),
            ("0Gi", "0"),
            ("1e3", "1e3"),
            ("1e4", "10e3"),
            ("1E3", "1E3"),
            ("512Ki", "512Ki"),
            ("1Ki", "1Ki"),
            ("8Ki", "8Ki"),
            ("0.5Ki", "512"),
            ("1024", "1024"),
            ("1000", "1k"),
            ("1000000", "1M"),
            ("10000", "10k"),
            ("100", "100"),
            ("0.0000000001", "1n"),
            ("16Ei", "9223372036854775807"),
            ("k", "0"),
        ] {
            assert_eq!(canonical(given), expected, "{given}");
        }
    }

    #[test]
    fn what_is_no_amount_is_told_in_the_servers_words() {
        assert_eq!(Quantity::parse("x").unwrap_err(), FORMAT);
        assert_eq!(Quantity::parse("").unwrap_err(), FORMAT);
        assert_eq!(Quantity::parse("1 Gi").unwrap_err(), FORMAT);
        assert_eq!(
            Quantity::parse("1mm").unwrap_err(),
            "unable to parse quantity's suffix"
        );
    }

    #[test]
    fn amounts_compare_by_what_they_are_worth() {
        let worth = |text| Quantity::parse(text).unwrap();
        assert_eq!(worth("1Gi"), worth("1024Mi"));
        assert_eq!(worth("1"), worth("1000m"));
        assert!(worth("-1") < worth("0") && worth("999m") < worth("1") && worth("1Ki") > worth("1k"));
        assert!(worth("1").is_whole() && !worth("1.5").is_whole() && worth("2000m").is_whole());
    }

    #[test]
    fn sums_keep_the_notation_of_the_first() {
        let sum = |one: &str, two: &str| {
            let (one, two) = (Quantity::parse(one).unwrap(), Quantity::parse(two).unwrap());
            one.plus(&two).to_string()
        };
        assert_eq!(sum("1", "500m"), "1500m");
        assert_eq!(sum("999", "1"), "1k");
        assert_eq!(sum("512Mi", "1Gi"), "1536Mi");
        assert_eq!(sum("1", "0"), "1");
        assert_eq!(Quantity::parse("-1500m").unwrap().as_f64(), -1.5);
    }

    #[test]
    fn rounding_goes_away_from_zero() {
        for (given, expected) in [
            ("1.0001", "1001m"),
            ("1u", "1m"),
            ("-1u", "-1m"),
            ("0.9999", "1"),
            ("1500m", "1500m"),
        ] {
            let mut quantity = Quantity::parse(given).unwrap();
            quantity.round_up(-3);
            assert_eq!(quantity.to_string(), expected, "{given}");
        }
    }
}
