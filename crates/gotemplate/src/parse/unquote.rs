//! Go's quoted strings.

/// The bytes of a string in double quotes or backquotes, which may be no UTF-8; `None` where the text is no such string.
pub(crate) fn unquote(text: &str) -> Option<Vec<u8>> {
    let quote = *text.as_bytes().first()?;
    let inner = text.strip_prefix(quote as char)?.strip_suffix(quote as char)?;
    if quote == b'`' {
        return Some(inner.bytes().filter(|byte| *byte != b'\r').collect());
    }
    let mut rest = inner.as_bytes();
    let mut out = Vec::with_capacity(rest.len());
    while !rest.is_empty() {
        let escaped_byte = matches!(rest, [b'\\', b'x' | b'0'..=b'7', ..]);
        let (code, length) = unquote_char(rest, quote)?;
        match char::from_u32(code) {
            Some(char) if !escaped_byte => out.extend_from_slice(char.encode_utf8(&mut [0; 4]).as_bytes()),
            _ => out.push(u8::try_from(code).ok()?),
        }
        rest = &rest[length..];
    }
    Some(out)
}

/// The character at the start of the inner of a quoted string, and how many bytes it takes.
pub(crate) fn unquote_char(text: &[u8], quote: u8) -> Option<(u32, usize)> {
    let first = *text.first()?;
    if first == quote {
        return None;
    }
    if first != b'\\' {
        if first < 0x80 {
            return Some((u32::from(first), 1));
        }
        let valid = std::str::from_utf8(&text[..text.len().min(4)]);
        let valid = match &valid {
            Ok(text) => text,
            Err(error) => std::str::from_utf8(&text[..error.valid_up_to()]).ok()?,
        };
        let char = valid.chars().next()?;
        return Some((u32::from(char), char.len_utf8()));
    }
    let escape = *text.get(1)?;
    let simple = match escape {
        b'a' => 7,
        b'b' => 8,
        b'f' => 12,
        b'n' => 10,
        b'r' => 13,
        b't' => 9,
        b'v' => 11,
        b'\\' => u32::from(b'\\'),
        b'\'' | b'"' if escape == quote => u32::from(quote),
        b'x' => return digits(&text[2..], 2, 16).map(|code| (code, 4)),
        b'u' => return digits(&text[2..], 4, 16).filter(is_char).map(|code| (code, 6)),
        b'U' => return digits(&text[2..], 8, 16).filter(is_char).map(|code| (code, 10)),
        b'0'..=b'7' => {
            return digits(&text[1..], 3, 8)
                .filter(|code| *code < 256)
                .map(|code| (code, 4));
        }
        _ => return None,
    };
    Some((simple, 2))
}

fn is_char(code: &u32) -> bool {
    char::from_u32(*code).is_some()
}

fn digits(text: &[u8], count: usize, radix: u32) -> Option<u32> {
    let text = text.get(..count)?;
    text.iter().try_fold(0_u32, |code, byte| {
        let digit = char::from(*byte).to_digit(radix)?;
        code.checked_mul(radix)?.checked_add(digit)
    })
}
