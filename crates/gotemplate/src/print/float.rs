//! The forms of floats that `strconv.FormatFloat` knows.

/// The decimal digits of a number and where its point is: `0.d₁d₂d₃… × 10^point`.
struct Decimal {
    digits: Vec<u8>,
    point: i32,
}

impl Decimal {
    /// The fewest digits that tell the number from all others, or as many as asked for. The number is finite and not
    /// negative.
    fn new(number: f64, count: Option<usize>) -> Decimal {
        let text = match count {
            None => format!("{number:e}"),
            Some(count) => format!("{number:.*e}", count.saturating_sub(1)),
        };
        let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
        let digits: Vec<u8> = mantissa.bytes().filter(u8::is_ascii_digit).collect();
        let exponent: i32 = exponent.parse().unwrap_or_default();
        if digits.iter().all(|digit| *digit == b'0') {
            return Decimal {
                digits: Vec::new(),
                point: 0,
            };
        }
        Decimal {
            digits,
            point: exponent + 1,
        }
    }
}

/// The number in a form (`e`, `E`, `f`, `F`, `g`, `G`, `b`, `x`, `X`), with a precision or as short as it is unique.
pub(crate) fn format_float(number: f64, form: char, precision: Option<usize>) -> Vec<u8> {
    if number.is_nan() {
        return b"NaN".to_vec();
    }
    if number.is_infinite() {
        return if number < 0.0 {
            b"-Inf".to_vec()
        } else {
            b"+Inf".to_vec()
        };
    }
    let mut out = Vec::with_capacity(24);
    if number.is_sign_negative() {
        out.push(b'-');
    }
    let number = number.abs();
    match form {
        'b' => binary(&mut out, number),
        'x' | 'X' => hexadecimal(&mut out, number, precision, form == 'X'),
        'e' | 'E' => {
            let decimal = Decimal::new(number, precision.map(|precision| precision + 1));
            let shown = precision.unwrap_or(decimal.digits.len().saturating_sub(1));
            exponential(&mut out, &decimal, shown, form as u8);
        }
        'f' | 'F' => fixed(&mut out, number, precision),
        _ => general(&mut out, number, precision, if form == 'G' { b'E' } else { b'e' }),
    }
    out
}

fn fixed(out: &mut Vec<u8>, number: f64, precision: Option<usize>) {
    let text = match precision {
        Some(precision) => format!("{number:.precision$}"),
        None => format!("{number}"),
    };
    out.extend_from_slice(text.as_bytes());
}

fn general(out: &mut Vec<u8>, number: f64, precision: Option<usize>, letter: u8) {
    let wanted = precision.map(|precision| precision.max(1));
    let mut decimal = Decimal::new(number, wanted);
    while decimal.digits.last() == Some(&b'0') {
        decimal.digits.pop();
    }
    let count = decimal.digits.len() as i32;
    // As in Go: the shortest form changes to powers of ten at a million.
    let limit = match wanted {
        None => 6,
        Some(wanted) => {
            let wanted = i32::try_from(wanted).unwrap_or(i32::MAX);
            if wanted > count && count >= decimal.point {
                count
            } else {
                wanted
            }
        }
    };
    let exponent = decimal.point - 1;
    if exponent < -4 || exponent >= limit {
        let shown = decimal.digits.len().saturating_sub(1);
        exponential(out, &decimal, shown, letter);
        return;
    }
    plain(out, &decimal);
}

/// `ddd.ddd` with just the digits there are.
fn plain(out: &mut Vec<u8>, decimal: &Decimal) {
    let count = decimal.digits.len() as i32;
    if decimal.point <= 0 {
        out.push(b'0');
    }
    for index in 0..decimal.point.max(0) {
        out.push(*decimal.digits.get(index as usize).unwrap_or(&b'0'));
    }
    if count > decimal.point {
        out.push(b'.');
        for index in decimal.point..count {
            let digit = usize::try_from(index)
                .ok()
                .and_then(|index| decimal.digits.get(index));
            out.push(*digit.unwrap_or(&b'0'));
        }
    }
}

fn exponential(out: &mut Vec<u8>, decimal: &Decimal, shown: usize, letter: u8) {
    out.push(*decimal.digits.first().unwrap_or(&b'0'));
    if shown > 0 {
        out.push(b'.');
        out.extend((1..=shown).map(|index| *decimal.digits.get(index).unwrap_or(&b'0')));
    }
    let exponent = if decimal.digits.is_empty() {
        0
    } else {
        decimal.point - 1
    };
    out.push(letter);
    out.push(if exponent < 0 { b'-' } else { b'+' });
    out.extend_from_slice(format!("{:02}", exponent.abs()).as_bytes());
}

/// The mantissa as an integer and the power of two that it is multiplied with.
fn parts(number: f64) -> (u64, i32) {
    let bits = number.to_bits();
    let fraction = bits & ((1 << 52) - 1);
    match (bits >> 52) as i32 & 0x7ff {
        0 => (fraction, -1074),
        exponent => (fraction | 1 << 52, exponent - 1075),
    }
}

fn binary(out: &mut Vec<u8>, number: f64) {
    let (mantissa, exponent) = parts(number);
    out.extend_from_slice(format!("{mantissa}p{exponent:+}").as_bytes());
}

fn hexadecimal(out: &mut Vec<u8>, number: f64, precision: Option<usize>, upper: bool) {
    let (mut mantissa, mut exponent) = parts(number);
    if mantissa == 0 {
        exponent = 0;
    } else {
        // One bit before the point, 60 behind it.
        let shift = mantissa.leading_zeros() as i32 - 3;
        mantissa <<= shift;
        exponent += 60 - shift;
    }
    if let Some(precision) = precision.filter(|precision| *precision < 15) {
        let shift = precision * 4;
        let extra = (mantissa << shift) & ((1 << 60) - 1);
        mantissa >>= 60 - shift;
        if extra | (mantissa & 1) > 1 << 59 {
            mantissa += 1;
        }
        mantissa <<= 60 - shift;
        if mantissa & (1 << 61) != 0 {
            mantissa >>= 1;
            exponent += 1;
        }
    }
    let mut digits = format!("{:015x}", mantissa & ((1 << 60) - 1));
    match precision {
        None => digits.truncate(digits.trim_end_matches('0').len()),
        Some(precision) if precision < 15 => digits.truncate(precision),
        Some(precision) => digits.extend(std::iter::repeat_n('0', precision - 15)),
    }
    let point = if digits.is_empty() { "" } else { "." };
    let sign = if exponent < 0 { '-' } else { '+' };
    let text = format!("0x{}{point}{digits}p{sign}{:02}", mantissa >> 60, exponent.abs());
    let text = if upper { text.to_uppercase() } else { text };
    out.extend_from_slice(text.as_bytes());
}
