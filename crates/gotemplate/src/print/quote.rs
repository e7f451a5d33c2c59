//! Strings and characters in quotes, as `strconv` writes them.

use std::io::Write;

use crate::unicode::is_print;
use crate::utf8;

/// `strconv.Quote`, or `strconv.QuoteToASCII`.
pub(crate) fn quote(text: &[u8], ascii: bool) -> Vec<u8> {
    quote_with(text, b'"', ascii)
}

fn quote_with(text: &[u8], quote: u8, ascii: bool) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len() + 2);
    out.push(quote);
    for (index, _, char) in utf8::runes(text) {
        match char {
            Some(char) => push_escaped(&mut out, char, quote, ascii),
            None => push_hex(&mut out, u32::from(text[index]), 'x', 2),
        }
    }
    out.push(quote);
    out
}

/// `strconv.QuoteRune`, or `strconv.QuoteRuneToASCII`.
pub(crate) fn quote_char(char: char, ascii: bool) -> Vec<u8> {
    let mut out = vec![b'\''];
    push_escaped(&mut out, char, b'\'', ascii);
    out.push(b'\'');
    out
}

/// `strconv.CanBackquote`
pub(crate) fn can_backquote(text: &[u8]) -> bool {
    utf8::runes(text).all(|(_, _, char)| match char {
        None | Some('\u{feff}' | '`' | '\u{7f}') => false,
        Some(char) => char >= ' ' || char == '\t',
    })
}

fn push_escaped(out: &mut Vec<u8>, char: char, quote: u8, ascii: bool) {
    let escape = match char {
        '\x07' => 'a',
        '\x08' => 'b',
        '\x0c' => 'f',
        '\n' => 'n',
        '\r' => 'r',
        '\t' => 't',
        '\x0b' => 'v',
        '\\' => '\\',
        char if u32::from(char) == u32::from(quote) => char,
        char if char.is_ascii() && is_print(char) => return out.push(char as u8),
        char if !ascii && is_print(char) => return utf8::push(out, char),
        char => {
            let code = u32::from(char);
            return match code {
                0..=0x7f => push_hex(out, code, 'x', 2),
                0x80..=0xffff => push_hex(out, code, 'u', 4),
                _ => push_hex(out, code, 'U', 8),
            };
        }
    };
    out.push(b'\\');
    utf8::push(out, escape);
}

fn push_hex(out: &mut Vec<u8>, code: u32, letter: char, width: usize) {
    // A Vec takes all that is written.
    let _ = write!(out, "\\{letter}{code:0width$x}");
}
