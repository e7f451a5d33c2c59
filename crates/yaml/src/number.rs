//! Numbers as Go's `strconv` reads and prints them.

/// A whole number in any notation of Go's literals: `12`, `-0x1f`, `0o17`, `017`, `0b11`. `None` if it is none or does
/// not fit.
pub(crate) fn parse_int(text: &str) -> Option<i64> {
    let (negative, digits) = match text.as_bytes().first()? {
        b'-' => (true, &text[1..]),
        b'+' => (false, &text[1..]),
        _ => (false, text),
    };
    let size = i128::from(parse_uint(digits)?);
    i64::try_from(if negative { -size } else { size }).ok()
}

/// The same without a sign, up to 64 bits.
pub(crate) fn parse_uint(text: &str) -> Option<u64> {
    let (digits, radix) = match text.as_bytes() {
        [b'0', b'x' | b'X', ..] => (&text[2..], 16),
        [b'0', b'o' | b'O', ..] => (&text[2..], 8),
        [b'0', b'b' | b'B', ..] => (&text[2..], 2),
        [b'0', _, ..] => (&text[1..], 8),
        _ => (text, 10),
    };
    // Rust would take a sign here.
    if !digits.starts_with(|first: char| first.is_ascii_alphanumeric()) {
        return None;
    }
    u64::from_str_radix(digits, radix).ok()
}

/// A float in YAML's notation: `[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?`. `None` if it is none or too large.
pub(crate) fn parse_float(text: &str) -> Option<f64> {
    let unsigned = text.strip_prefix(['-', '+']).unwrap_or(text);
    let (mantissa, exponent) = match unsigned.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (
            mantissa,
            Some(exponent.strip_prefix(['-', '+']).unwrap_or(exponent)),
        ),
        None => (unsigned, None),
    };
    let all_digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let well_formed = all_digits(whole)
        && all_digits(fraction)
        && !(whole.is_empty() && fraction.is_empty())
        && exponent.is_none_or(|exponent| !exponent.is_empty() && all_digits(exponent));
    if !well_formed {
        return None;
    }
    text.parse().ok().filter(|number: &f64| number.is_finite())
}

/// A float as Go prints it with `FormatFloat(number, 'g', -1, 32)`, which is what keys of maps go through.
pub fn format_float32(number: f64) -> String {
    if number.is_nan() {
        return ".nan".to_owned();
    }
    if number.is_infinite() {
        return if number > 0.0 { ".inf" } else { "-.inf" }.to_owned();
    }
    #[expect(clippy::cast_possible_truncation, reason = "Go rounds to 32 bits here")]
    let number = number as f32;
    if number.is_infinite() {
        return if number > 0.0 { "+Inf" } else { "-Inf" }.to_owned();
    }
    let scientific = format!("{number:e}");
    let (digits, exponent) = scientific.split_once('e').expect("this notation has an exponent");
    let exponent: i32 = exponent.parse().expect("the exponent is a number");
    if number != 0.0 && !(-4..6).contains(&exponent) {
        let sign = if exponent < 0 { '-' } else { '+' };
        return format!("{digits}e{sign}{:02}", exponent.abs());
    }
    number.to_string()
}
