//! `html`, `js` and `urlquery`.

use std::io::Write;

use crate::unicode::is_print;
use crate::utf8;

/// Text for the inside of HTML.
pub(crate) fn html(text: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len());
    for byte in text {
        let escape: &[u8] = match byte {
            0 => "\u{fffd}".as_bytes(),
            b'"' => b"&#34;",
            b'\'' => b"&#39;",
            b'&' => b"&amp;",
            b'<' => b"&lt;",
            b'>' => b"&gt;",
            other => {
                out.push(*other);
                continue;
            }
        };
        out.extend_from_slice(escape);
    }
    out
}

/// Text for the inside of a string in JavaScript.
pub(super) fn js(text: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len());
    for (at, length, char) in utf8::runes(text) {
        let escape: &[u8] = match char {
            Some('\\') => br"\\",
            Some('\'') => br"\'",
            Some('"') => br#"\""#,
            Some('<') => br"\u003C",
            Some('>') => br"\u003E",
            Some('&') => br"\u0026",
            Some('=') => br"\u003D",
            Some(char) if char < ' ' || (!char.is_ascii() && !is_print(char)) => {
                // A Vec takes all that is written.
                let _ = write!(out, "\\u{:04X}", u32::from(char));
                continue;
            }
            // What is no character stays as it is.
            _ => &text[at..at + length],
        };
        out.extend_from_slice(escape);
    }
    out
}

/// `url.QueryEscape`
pub(super) fn url_query(text: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len());
    for byte in text {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' => out.push(*byte),
            b' ' => out.push(b'+'),
            other => {
                let _ = write!(out, "%{other:02X}");
            }
        }
    }
    out
}
