//! Single characters that are written with a backslash.

use super::error::{Error, Problem};

/// The character (which may be half of a surrogate pair, and then is none) that `text` starts with, and what follows. The
/// text starts with a backslash.
pub(super) fn read(text: &str) -> Result<(u32, &str), Error> {
    let mut chars = text[1..].chars();
    let Some(first) = chars.next() else {
        return Err(Error::new(Problem::TrailingBackslash, ""));
    };
    let rest = chars.as_str();
    let refused = |rest: &str| Err(Error::new(Problem::Escape, &text[..text.len() - rest.len()]));
    let plain = |char: char| Ok((u32::from(char), rest));
    match first {
        'a' => plain('\u{7}'),
        'f' => plain('\u{c}'),
        'n' => plain('\n'),
        'r' => plain('\r'),
        't' => plain('\t'),
        'v' => plain('\u{b}'),
        'x' => hexadecimal(rest).or_else(refused),
        // A single digit would be a reference to a group.
        '1'..='7' if !rest.starts_with(is_octal) => refused(rest),
        '0'..='7' => Ok(octal(&text[1..])),
        _ if first.is_ascii() && !first.is_ascii_alphanumeric() => plain(first),
        _ => refused(rest),
    }
}

fn is_octal(char: char) -> bool {
    char.is_digit(8)
}

/// Up to three digits.
fn octal(text: &str) -> (u32, &str) {
    let digits = text
        .bytes()
        .take(3)
        .take_while(|byte| is_octal(char::from(*byte)));
    let (length, value) = digits.fold((0, 0), |(length, value), byte| {
        (length + 1, value * 8 + u32::from(byte - b'0'))
    });
    (value, &text[length..])
}

/// What follows `\x`: two digits, or any number of them in braces. An error is where reading stopped.
fn hexadecimal(text: &str) -> Result<(u32, &str), &str> {
    let mut chars = text.chars();
    let Some(first) = chars.next() else {
        return Err(text);
    };
    if first != '{' {
        let second = chars.next().and_then(|char| char.to_digit(16));
        return match (first.to_digit(16), second) {
            (Some(high), Some(low)) => Ok((high * 16 + low, chars.as_str())),
            _ => Err(chars.as_str()),
        };
    }
    let mut value = None;
    loop {
        match chars.next() {
            Some('}') => return value.map(|value| (value, chars.as_str())).ok_or(chars.as_str()),
            Some(char) => {
                let digit = char.to_digit(16).ok_or(chars.as_str())?;
                let next = value.unwrap_or(0) * 16 + digit;
                if next > u32::from(char::MAX) {
                    return Err(chars.as_str());
                }
                value = Some(next);
            }
            None => return Err(""),
        }
    }
}
