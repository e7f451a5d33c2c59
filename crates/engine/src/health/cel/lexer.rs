//! Finds what is quoted or commented out in a text, by the grammar of CEL.

/// Returns the text without comments and without what is in quotes. From the first quote on that ends nowhere all of it is returned.
pub(super) fn without_quotes(text: &str) -> Vec<u8> {
    let mut rest = text.as_bytes();
    let mut code = Vec::with_capacity(rest.len());
    while let [first, ..] = rest {
        let length = match first {
            b'/' if rest.starts_with(b"//") => {
                let line = rest.iter().position(|byte| *byte == b'\n');
                rest = &rest[line.unwrap_or(rest.len())..];
                continue;
            }
            b'\'' | b'"' => 0,
            b'_' | b'a'..=b'z' | b'A'..=b'Z' => {
                let is_name = |byte: &&u8| byte.is_ascii_alphanumeric() || **byte == b'_';
                rest.iter().take_while(is_name).count()
            }
            _ => 1,
        };
        let (word, after) = rest.split_at(length);
        // Of a word right before a quote only these are no names.
        let is_raw = match word {
            b"" | b"b" | b"B" => Some(false),
            b"r" | b"R" | b"br" | b"bR" | b"Br" | b"BR" => Some(true),
            _ => None,
        };
        match (is_raw, after) {
            (Some(is_raw), [b'\'' | b'"', ..]) => match quoted(after, is_raw) {
                Some(length) => {
                    code.extend_from_slice(b"''");
                    rest = &after[length..];
                }
                None => {
                    code.extend_from_slice(rest);
                    return code;
                }
            },
            _ => {
                code.extend_from_slice(word);
                rest = after;
            }
        }
    }
    code
}

/// Returns the length of what is quoted at the start of a text, with its quotes.
fn quoted(text: &[u8], is_raw: bool) -> Option<usize> {
    let quote = *text.first()?;
    let triple = [quote; 3];
    let tripled = text.strip_prefix(&triple).and_then(|inner| {
        let is_end = |rest: &[u8]| rest.starts_with(&triple);
        Some(6 + ending(inner, is_raw, is_end)?)
    });
    tripled.or_else(|| {
        let is_end = |rest: &[u8]| rest.first() == Some(&quote);
        let length = ending(&text[1..], is_raw, is_end)?;
        let inner = &text[1..=length];
        (!inner.contains(&b'\n') && !inner.contains(&b'\r')).then_some(length + 2)
    })
}

/// Returns where something ends, unless an escape sequence before that is invalid.
fn ending(text: &[u8], is_raw: bool, is_end: impl Fn(&[u8]) -> bool) -> Option<usize> {
    let mut at = 0;
    while at < text.len() {
        let rest = &text[at..];
        if is_end(rest) {
            return Some(at);
        }
        at += match rest {
            [b'\\', escaped @ ..] if !is_raw => 1 + escape(escaped)?,
            _ => 1,
        };
    }
    None
}

/// Returns the length of an escape sequence without its backslash.
fn escape(text: &[u8]) -> Option<usize> {
    let hex = |digits: usize| {
        let found = text.get(1..=digits)?;
        found.iter().all(u8::is_ascii_hexdigit).then_some(1 + digits)
    };
    match text {
        [b'a' | b'b' | b'f' | b'n' | b'r' | b't' | b'v', ..] => Some(1),
        [b'"' | b'\'' | b'\\' | b'?' | b'`', ..] => Some(1),
        [b'x' | b'X', ..] => hex(2),
        [b'u', ..] => hex(4),
        [b'U', ..] => hex(8),
        [b'0'..=b'3', b'0'..=b'7', b'0'..=b'7', ..] => Some(3),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_and_quotes_are_left_out_and_nothing_else() {
        for (text, code) in [
            ("a.b == 'x.y' // (((\n&& c", "a.b == '' \n&& c"),
            ("// '\na.a", "\na.a"),
            (r"r'\'+a.a", "''+a.a"),
            (r#"br"\"+a.a"#, "''+a.a"),
            ("'''a'b'''+a.a", "''+a.a"),
            (r"'\'.'+a.a", "''+a.a"),
            (r"xr'\'.'+a", "xr''+a"),
            ("''+a", "''+a"),
            ("'a\nb'+c.d", "'a\nb'+c.d"),
            (r"'\q'+c.'d'", r"'\q'+c.'d'"),
            ("a + 'b", "a + 'b"),
        ] {
            let found = without_quotes(text);
            assert_eq!(String::from_utf8(found).unwrap(), code, "{text}");
        }
    }
}
