//! Numbers of things, colours and encoded bytes.

/// A UUID with or without dashes, of the given version.
pub(super) fn is_uuid(text: &str, version: Option<char>) -> bool {
    let mut rest = text;
    let mut digits = String::with_capacity(32);
    for (part, length) in [8, 4, 4, 4, 12].into_iter().enumerate() {
        if part > 0 {
            rest = rest.strip_prefix('-').unwrap_or(rest);
        }
        let Some((group, tail)) = rest.split_at_checked(length) else {
            return false;
        };
        digits.push_str(group);
        rest = tail;
    }
    let digit = |at: usize| digits.as_bytes().get(at).map_or('\0', |byte| char::from(*byte));
    let fits = match version {
        None => true,
        Some('3') => digit(12) == '3',
        Some(version) => digit(12) == version && "89abAB".contains(digit(16)),
    };
    rest.is_empty() && fits && digits.bytes().all(|byte| byte.is_ascii_hexdigit())
}

pub(super) fn is_isbn10(text: &str) -> bool {
    let digits = without_separators(text);
    let weight = |(at, byte): (usize, u8)| match byte {
        b'X' if at == 9 => Some(100),
        b'0'..=b'9' => Some((at as u32 + 1) * u32::from(byte - b'0')),
        _ => None,
    };
    let sum: Option<u32> = digits.bytes().enumerate().map(weight).sum();
    digits.len() == 10 && sum.is_some_and(|sum| sum.is_multiple_of(11))
}

pub(super) fn is_isbn13(text: &str) -> bool {
    let digits = without_separators(text);
    if digits.len() != 13 || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return false;
    }
    let sum: u32 = digits
        .bytes()
        .enumerate()
        .map(|(at, byte)| u32::from(byte - b'0') * if at % 2 == 0 { 1 } else { 3 })
        .sum();
    sum.is_multiple_of(10)
}

fn without_separators(text: &str) -> String {
    text.chars()
        .filter(|char| !char.is_whitespace() && *char != '-')
        .collect()
}

/// Numbers of the large card companies whose check digit is right.
pub(super) fn is_credit_card(text: &str) -> bool {
    let digits: Vec<u32> = text.chars().filter_map(|char| char.to_digit(10)).collect();
    let start = |from: usize, to: usize| {
        digits[from..to]
            .iter()
            .fold(0, |number, digit| number * 10 + digit)
    };
    let known = match digits.len() {
        13 => digits[0] == 4,
        14 => (300..=305).contains(&start(0, 3)) || [36, 38].contains(&start(0, 2)),
        15 => [34, 37].contains(&start(0, 2)) || [2131, 1800].contains(&start(0, 4)),
        16 => {
            digits[0] == 4
                || (51..=55).contains(&start(0, 2))
                || start(0, 4) == 6011
                || start(0, 2) == 65
                || start(0, 2) == 35
        }
        _ => false,
    };
    let sum: u32 = digits
        .iter()
        .rev()
        .enumerate()
        .map(|(at, digit)| match at % 2 {
            0 => *digit,
            _ if *digit > 4 => digit * 2 - 9,
            _ => digit * 2,
        })
        .sum();
    known && sum.is_multiple_of(10)
}

pub(super) fn is_ssn(text: &str) -> bool {
    let bytes = text.as_bytes();
    bytes.len() == 11
        && bytes.iter().enumerate().all(|(at, byte)| match at {
            3 | 6 => matches!(byte, b'-' | b' '),
            _ => byte.is_ascii_digit(),
        })
}

pub(super) fn is_hex_color(text: &str) -> bool {
    let digits = text.strip_prefix('#').unwrap_or(text);
    matches!(digits.len(), 3 | 6) && digits.bytes().all(|byte| byte.is_ascii_hexdigit())
}

pub(super) fn is_rgb_color(text: &str) -> bool {
    let Some(inner) = text.strip_prefix("rgb(").and_then(|rest| rest.strip_suffix(')')) else {
        return false;
    };
    let is_part = |part: &str| {
        let part = part.trim_matches([' ', '\t', '\n', '\x0C', '\r']);
        let plain = part == "0" || !part.starts_with('0') && part.bytes().all(|byte| byte.is_ascii_digit());
        plain && part.parse::<u8>().is_ok()
    };
    let parts: Vec<&str> = inner.split(',').collect();
    parts.len() == 3 && parts.into_iter().all(is_part)
}

/// Padded base64 of at least one byte.
pub(super) fn is_base64(text: &str) -> bool {
    let data = text.trim_end_matches('=');
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/');
    !text.is_empty()
        && text.len().is_multiple_of(4)
        && text.len() - data.len() <= 2
        && data.bytes().all(plain)
}
