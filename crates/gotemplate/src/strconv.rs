//! Numbers read as Go's `strconv` reads them.

/// Why a text is no number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NumError {
    Syntax,
    Range,
}

/// The digits and their base, of a text without sign; base 0 looks at the prefix and allows underscores.
fn parse_digits(text: &str, base: u32) -> Result<u64, NumError> {
    let (digits, radix) = match (base, text.as_bytes()) {
        (0, [b'0', b'x' | b'X', _, ..]) => (&text[2..], 16),
        (0, [b'0', b'o' | b'O', _, ..]) => (&text[2..], 8),
        (0, [b'0', b'b' | b'B', _, ..]) => (&text[2..], 2),
        (0, [b'0', _, ..]) => (&text[1..], 8),
        (0, _) => (text, 10),
        _ => (text, base),
    };
    if digits.is_empty() || (digits.contains('_') && (base != 0 || !underscores_fit(text))) {
        return Err(NumError::Syntax);
    }
    let mut number: Option<u64> = Some(0);
    for char in digits.chars().filter(|char| *char != '_') {
        let digit = char.to_digit(radix).ok_or(NumError::Syntax)?;
        number = number
            .and_then(|number| number.checked_mul(u64::from(radix)))
            .and_then(|number| number.checked_add(u64::from(digit)));
    }
    number.ok_or(NumError::Range)
}

/// Whether underscores stand between digits only, where a prefix counts as a digit.
fn underscores_fit(text: &str) -> bool {
    let text = text.strip_prefix(['+', '-']).unwrap_or(text).as_bytes();
    let (text, hex, mut before) = match text {
        [b'0', b'x' | b'X', rest @ ..] => (rest, true, b'0'),
        [b'0', b'o' | b'O' | b'b' | b'B', rest @ ..] => (rest, false, b'0'),
        _ => (text, false, b'^'),
    };
    for byte in text {
        if byte.is_ascii_digit() || (hex && byte.is_ascii_hexdigit()) {
            before = b'0';
        } else if *byte == b'_' {
            if before != b'0' {
                return false;
            }
            before = b'_';
        } else {
            if before == b'_' {
                return false;
            }
            before = b'!';
        }
    }
    before != b'_'
}

/// `strconv.ParseUint`
pub(crate) fn parse_uint(text: &str, base: u32) -> Result<u64, NumError> {
    parse_digits(text, base)
}

/// `strconv.ParseInt`
pub(crate) fn parse_int(text: &str, base: u32) -> Result<i64, NumError> {
    let (negative, digits) = match text.as_bytes().first() {
        Some(b'-') => (true, &text[1..]),
        Some(b'+') => (false, &text[1..]),
        _ => (false, text),
    };
    let number = parse_digits(digits, base)?;
    if negative {
        0_i64.checked_sub_unsigned(number).ok_or(NumError::Range)
    } else {
        i64::try_from(number).map_err(|_| NumError::Range)
    }
}

/// `strconv.ParseFloat` to 64 bits.
pub(crate) fn parse_float(text: &str) -> Result<f64, NumError> {
    let (sign, plain) = match text.as_bytes().first() {
        Some(b'-') => (-1.0, &text[1..]),
        Some(b'+') => (1.0, &text[1..]),
        _ => (1.0, text),
    };
    let lower = plain.to_ascii_lowercase();
    match lower.as_str() {
        "inf" | "infinity" => return Ok(sign * f64::INFINITY),
        "nan" => return Ok(f64::NAN),
        _ => {}
    }
    let digits = match lower.contains('_') {
        true if !underscores_fit(&lower) => return Err(NumError::Syntax),
        true => lower.replace('_', ""),
        false => lower,
    };
    let number = match digits.strip_prefix("0x") {
        Some(hex) => parse_hex_float(hex)?,
        None if !digits
            .bytes()
            .all(|byte| matches!(byte, b'0'..=b'9' | b'.' | b'e' | b'+' | b'-')) =>
        {
            return Err(NumError::Syntax);
        }
        None if digits.starts_with(['+', '-']) => return Err(NumError::Syntax),
        None => digits.parse::<f64>().map_err(|_| NumError::Syntax)?,
    };
    if number.is_infinite() {
        return Err(NumError::Range);
    }
    Ok(sign * number)
}

/// What follows `0x`: digits with or without a point, and `p` with a power of two, which must be there.
fn parse_hex_float(text: &str) -> Result<f64, NumError> {
    let (digits, exponent) = text.split_once('p').ok_or(NumError::Syntax)?;
    let exponent: i64 = exponent.parse().map_err(|_| NumError::Syntax)?;
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    if whole.is_empty() && fraction.is_empty() {
        return Err(NumError::Syntax);
    }
    let mut mantissa: u128 = 0;
    let mut shift: i64 = 0;
    for (index, char) in whole.chars().chain(fraction.chars()).enumerate() {
        let digit = char.to_digit(16).ok_or(NumError::Syntax)?;
        if mantissa >> 120 == 0 {
            mantissa = mantissa << 4 | u128::from(digit);
            shift -= if index >= whole.len() { 4 } else { 0 };
        } else {
            // What is below the last bit counts only by being there.
            mantissa |= u128::from(digit != 0);
            shift += if index < whole.len() { 4 } else { 0 };
        }
    }
    let power = exponent.saturating_add(shift).clamp(-5_000, 5_000) as i32;
    // Two steps, so that neither power is out of range by itself.
    let half = power / 2;
    Ok(mantissa as f64 * 2_f64.powi(half) * 2_f64.powi(power - half))
}
