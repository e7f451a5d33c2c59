//! Numbers as decimals: whether 0.3 is a multiple of 0.1, and how numbers are printed.

use model::Value;

/// A number as it is written: digits and where the point is.
#[derive(Clone, Copy, Debug)]
struct Decimal {
    digits: i128,
    exponent: i32,
}

fn decimal(number: f64) -> Option<Decimal> {
    let text = format!("{number:e}");
    let (mantissa, exponent) = text.split_once('e')?;
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let shift = i32::try_from(fraction.len()).ok()?;
    Some(Decimal {
        digits: format!("{whole}{fraction}").parse().ok()?,
        exponent: exponent.parse::<i32>().ok()? - shift,
    })
}

/// Whether a number is a whole multiple of another.
pub(super) fn is_multiple(number: f64, of: f64) -> bool {
    let exact = || {
        let (number, of) = (decimal(number)?, decimal(of)?);
        let least = number.exponent.min(of.exponent);
        let scale = |decimal: Decimal| {
            let zeros = u32::try_from(decimal.exponent - least).ok()?;
            decimal.digits.checked_mul(10i128.checked_pow(zeros)?)
        };
        scale(number)?.checked_rem(scale(of)?)
    };
    match exact() {
        Some(rest) => rest == 0,
        None => (number / of).fract() == 0.0,
    }
}

/// Whether a value is a whole number, however it was written.
pub(super) fn is_whole(value: &Value) -> bool {
    match value {
        Value::Int(_) => true,
        Value::Float(number) => number.fract() == 0.0,
        _ => false,
    }
}

/// A count with commas between the thousands.
pub(super) fn grouped(number: usize) -> String {
    group(&number.to_string())
}

/// A number with commas between the thousands, or as a power of ten: `1.5×10⁰⁶`.
pub(super) fn shown(number: f64) -> String {
    let text = yaml::go::float(number);
    let Some((digits, exponent)) = text.split_once('e') else {
        return group(&text);
    };
    let raised = exponent
        .chars()
        .filter(|sign| *sign != '+')
        .map(|digit| match digit {
            '-' => '⁻',
            '1' => '¹',
            '2' => '²',
            '3' => '³',
            other => char::from_u32(0x2070 + other.to_digit(10).unwrap_or_default()).unwrap_or(other),
        });
    format!("{digits}×10{}", raised.collect::<String>())
}

fn group(text: &str) -> String {
    let (sign, text) = match text.strip_prefix('-') {
        Some(text) => ("-", text),
        None => ("", text),
    };
    let (whole, fraction) = match text.split_once('.') {
        Some((whole, fraction)) => (whole, format!(".{fraction}")),
        None => (text, String::new()),
    };
    let mut out = String::from(sign);
    for (at, digit) in whole.chars().enumerate() {
        if at > 0 && (whole.len() - at) % 3 == 0 {
            out.push(',');
        }
        out.push(digit);
    }
    out + &fraction
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_printed_as_the_library_prints_them() {
        for (number, text) in [
            (70_000.0, "70,000"),
            (70_000.123_456, "70,000.123456"),
            (1e21, "1×10²¹"),
            (123_456_789.5, "1.234567895×10⁰⁸"),
            (-0.000_001, "-1×10⁻⁰⁶"),
            (0.0001, "0.0001"),
            (-12_345.5, "-12,345.5"),
            (999_999.0, "999,999"),
        ] {
            assert_eq!(shown(number), text);
        }
    }

    #[test]
    fn multiples_are_those_of_the_decimals() {
        assert!(is_multiple(0.3, 0.1));
        assert!(is_multiple(1e20, 5.0));
        assert!(!is_multiple(0.25, 0.1));
        assert!(is_multiple(0.0, 3.0));
    }
}
