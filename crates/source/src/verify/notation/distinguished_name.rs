//! Distinguished names in trust policies, such as `C=US, ST=WA, O=example`.

use std::collections::BTreeMap;

/// Parses a distinguished name of RFC 4514 by notation's rules: no attribute twice, and C, ST and O among them.
pub(super) fn parse(text: &str) -> Result<BTreeMap<String, String>, String> {
    if text.contains("=#") {
        return Err(format!(
            "unsupported distinguished name (DN) {text:?}: notation does not support x509.subject identities containing \"=#\""
        ));
    }
    let malformed = |reason: &str| {
        format!(
            "parsing distinguished name (DN) {text:?} failed with err: {reason}. A valid DN must contain 'C', 'ST' or 'S', \
             and 'O' RDN attributes at a minimum, and follow RFC 4514 standard"
        )
    };
    let mut parts = BTreeMap::new();
    for attribute in attributes(text).map_err(malformed)? {
        if attribute.is_joined {
            return Err(format!(
                "distinguished name (DN) {text:?} has multi-valued RDN attributes, remove multi-valued RDN attributes as \
                 they are not supported"
            ));
        }
        let key = match attribute.key.as_str() {
            "S" => "ST".to_owned(),
            _ => attribute.key,
        };
        if parts.get(&key).is_some_and(|value: &String| !value.is_empty()) {
            return Err(format!(
                "distinguished name (DN) {text:?} has duplicate RDN attribute for {key:?}, DN can only have unique RDN attributes"
            ));
        }
        parts.insert(key, attribute.value);
    }
    for wanted in ["C", "ST", "O"] {
        if parts.get(wanted).is_none_or(String::is_empty) {
            return Err(format!(
                "distinguished name (DN) {text:?} has no mandatory RDN attribute for {wanted:?}, it must contain 'C', 'ST' \
                 or 'S', and 'O' RDN attributes at a minimum"
            ));
        }
    }
    Ok(parts)
}

struct Attribute {
    key: String,
    value: String,
    /// It belongs to the same relative name as the one before it, or after it.
    is_joined: bool,
}

fn attributes(text: &str) -> Result<Vec<Attribute>, &'static str> {
    let mut found = Vec::new();
    let mut rest = text;
    loop {
        let (key, after) = rest
            .split_once('=')
            .ok_or("DN ended with incomplete type, value pair")?;
        let key = key.trim();
        if key.is_empty()
            || !key
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || byte == b'.' || byte == b'-')
        {
            return Err("incomplete type, value pair");
        }
        let (value, end, after) = value(after)?;
        let is_joined = end == Some('+');
        let follows_joined = found.last().is_some_and(|last: &Attribute| last.is_joined);
        found.push(Attribute {
            key: key.to_owned(),
            value,
            is_joined: is_joined || follows_joined,
        });
        match end {
            None => return Ok(found),
            Some(_) => rest = after,
        }
    }
}

/// The value up to the next separator, that separator, and the rest behind it.
fn value(text: &str) -> Result<(String, Option<char>, &str), &'static str> {
    let mut value: Vec<u8> = Vec::new();
    // Spaces at the end are no part of the value unless they are escaped.
    let mut kept = 0;
    let mut letters = text.char_indices();
    while let Some((at, letter)) = letters.next() {
        match letter {
            '\\' => {
                let (at, escaped) = letters.next().ok_or("got corrupted escaped character")?;
                if " \"#+,;<=>\\".contains(escaped) {
                    value.push(escaped as u8);
                } else {
                    let code = text.get(at..at + 2).ok_or("got corrupted escaped character")?;
                    value.push(
                        u8::from_str_radix(code, 16).map_err(|_| "failed to decode escaped character")?,
                    );
                    letters.next();
                }
                kept = value.len();
            }
            ',' | ';' | '+' => {
                value.truncate(kept);
                let value = String::from_utf8(value).map_err(|_| "the value is not UTF-8")?;
                return Ok((value, Some(letter), &text[at + 1..]));
            }
            ' ' if value.is_empty() => {}
            _ => {
                let mut bytes = [0; 4];
                value.extend_from_slice(letter.encode_utf8(&mut bytes).as_bytes());
                if letter != ' ' {
                    kept = value.len();
                }
            }
        }
    }
    value.truncate(kept);
    let value = String::from_utf8(value).map_err(|_| "the value is not UTF-8")?;
    Ok((value, None, ""))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_parsed_with_escapes() {
        let parts = parse(" C=US, S=WA,O=a\\, b\\20c ,CN=x\\41").unwrap();
        let part = |key: &str| parts[key].as_str();
        assert_eq!(
            [part("C"), part("ST"), part("O"), part("CN")],
            ["US", "WA", "a, b c", "xA"]
        );
        for wrong in [
            "C=US,ST=WA",
            "C=US,ST=WA,O=a,O=b",
            "C=US+ST=WA,O=a",
            "C=US,ST=WA,O=#61",
            "C",
            "C=US,ST=WA,O=a\\",
        ] {
            assert!(parse(wrong).is_err(), "{wrong}");
        }
    }
}
