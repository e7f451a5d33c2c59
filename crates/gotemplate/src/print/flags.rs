//! Numbers and strings laid out by flags, width and precision.

use super::float::format_float;
use super::quote::{can_backquote, quote, quote_char};
use crate::utf8;

/// What stands between `%` and the verb.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Flags {
    pub(crate) width: Option<usize>,
    pub(crate) precision: Option<usize>,
    pub(crate) plus: bool,
    pub(crate) minus: bool,
    pub(crate) sharp: bool,
    pub(crate) space: bool,
    pub(crate) zero: bool,
    /// `%+v`
    pub(crate) plus_v: bool,
    /// `%#v`
    pub(crate) sharp_v: bool,
}

impl Flags {
    fn padding(&self, out: &mut Vec<u8>, count: usize) {
        let byte = if self.zero && !self.minus { b'0' } else { b' ' };
        out.resize(out.len() + count, byte);
    }

    /// Appends a text with the padding that the width asks for.
    pub(crate) fn pad(&self, out: &mut Vec<u8>, text: &[u8]) {
        let Some(width) = self.width.filter(|width| *width > 0) else {
            out.extend_from_slice(text);
            return;
        };
        let missing = width.saturating_sub(utf8::count(text));
        if self.minus {
            out.extend_from_slice(text);
            self.padding(out, missing);
        } else {
            self.padding(out, missing);
            out.extend_from_slice(text);
        }
    }

    /// The same without the flag for zeros.
    fn without_zero(&self) -> Flags {
        Flags { zero: false, ..*self }
    }

    fn truncated<'t>(&self, text: &'t [u8]) -> &'t [u8] {
        match self.precision {
            Some(precision) => match utf8::runes(text).nth(precision) {
                Some((at, _, _)) => &text[..at],
                None => text,
            },
            None => text,
        }
    }

    /// `%s`
    pub(crate) fn string(&self, out: &mut Vec<u8>, text: &[u8]) {
        self.pad(out, self.truncated(text));
    }

    /// `%q` of a string
    pub(crate) fn quoted(&self, out: &mut Vec<u8>, text: &[u8]) {
        let text = self.truncated(text);
        if self.sharp && can_backquote(text) {
            self.pad(out, &[b"`", text, b"`"].concat());
        } else {
            self.pad(out, &quote(text, self.plus));
        }
    }

    /// `%x` and `%X` of a string
    pub(crate) fn hex(&self, out: &mut Vec<u8>, text: &[u8], upper: bool) {
        let text = &text[..self
            .precision
            .map_or(text.len(), |precision| precision.min(text.len()))];
        if text.is_empty() {
            self.padding(out, self.width.unwrap_or(0));
            return;
        }
        let prefix: &[u8] = if upper { b"0X" } else { b"0x" };
        let mut shown = Vec::with_capacity(text.len() * 2 + 2);
        for (index, byte) in text.iter().enumerate() {
            if self.space && index > 0 {
                shown.push(b' ');
            }
            if self.sharp && (index == 0 || self.space) {
                shown.extend_from_slice(prefix);
            }
            let digits: &[u8; 16] = if upper {
                b"0123456789ABCDEF"
            } else {
                b"0123456789abcdef"
            };
            shown.push(digits[usize::from(byte >> 4)]);
            shown.push(digits[usize::from(byte & 15)]);
        }
        self.pad(out, &shown);
    }

    /// An integer in a base. `bits` are its absolute value.
    pub(crate) fn integer(&self, out: &mut Vec<u8>, bits: u64, negative: bool, base: u32, verb: char) {
        let mut precision = 0;
        if let Some(wanted) = self.precision {
            precision = wanted;
            if wanted == 0 && bits == 0 {
                self.without_zero().padding(out, self.width.unwrap_or(0));
                return;
            }
        } else if let Some(width) = self.width.filter(|_| self.zero && !self.minus) {
            let sign = usize::from(negative || self.plus || self.space);
            precision = width.saturating_sub(sign);
        }
        let digits = match (base, verb) {
            (2, _) => format!("{bits:b}"),
            (8, _) => format!("{bits:o}"),
            (16, 'X') => format!("{bits:X}"),
            (16, _) => format!("{bits:x}"),
            _ => bits.to_string(),
        };
        let zeros = precision.saturating_sub(digits.len());
        let mut text = Vec::with_capacity(digits.len() + zeros + 3);
        match (negative, self.plus, self.space) {
            (true, ..) => text.push(b'-'),
            (_, true, _) => text.push(b'+'),
            (.., true) => text.push(b' '),
            _ => {}
        }
        if verb == 'O' {
            text.extend_from_slice(b"0o");
        }
        if self.sharp {
            match base {
                2 => text.extend_from_slice(b"0b"),
                8 if zeros == 0 && !digits.starts_with('0') => text.push(b'0'),
                16 => text.extend_from_slice(if verb == 'X' { b"0X" } else { b"0x" }),
                _ => {}
            }
        }
        text.resize(text.len() + zeros, b'0');
        text.extend_from_slice(digits.as_bytes());
        self.without_zero().pad(out, &text);
    }

    /// `%U`
    pub(crate) fn unicode(&self, out: &mut Vec<u8>, code: u64) {
        let width = self.precision.unwrap_or(4).max(4);
        let mut text = format!("U+{code:0width$X}");
        let char = u32::try_from(code).ok().and_then(char::from_u32);
        if let Some(char) = char.filter(|char| self.sharp && crate::unicode::is_print(*char)) {
            text.push_str(&format!(" '{char}'"));
        }
        self.without_zero().pad(out, text.as_bytes());
    }

    /// `%c`
    pub(crate) fn char(&self, out: &mut Vec<u8>, code: u64) {
        self.pad(out, rune(code).encode_utf8(&mut [0; 4]).as_bytes());
    }

    /// `%q` of a number
    pub(crate) fn quoted_char(&self, out: &mut Vec<u8>, code: u64) {
        self.pad(out, &quote_char(rune(code), self.plus));
    }

    /// A float in one of Go's forms, with its precision unless the flags have one.
    pub(crate) fn float(&self, out: &mut Vec<u8>, number: f64, form: char, precision: Option<usize>) {
        let precision = self.precision.or(precision);
        let mut text = format_float(number, form, precision);
        if !matches!(text[0], b'-' | b'+') {
            text.insert(0, b'+');
        }
        if self.space && text[0] == b'+' && !self.plus {
            text[0] = b' ';
        }
        if matches!(text[1], b'I' | b'N') {
            let signless = text[1] == b'N' && !self.space && !self.plus;
            self.without_zero().pad(out, &text[usize::from(signless)..]);
            return;
        }
        if self.sharp && form != 'b' {
            restore_zeros(&mut text, form, precision);
        }
        if !self.plus && text[0] == b'+' {
            self.pad(out, &text[1..]);
            return;
        }
        match self.width {
            Some(width) if self.zero && !self.minus && width > text.len() => {
                // The sign goes before the zeros.
                out.push(text[0]);
                self.padding(out, width - text.len());
                out.extend_from_slice(&text[1..]);
            }
            _ => self.pad(out, &text),
        }
    }
}

fn rune(code: u64) -> char {
    let char = u32::try_from(code).ok().and_then(char::from_u32);
    char.unwrap_or(char::REPLACEMENT_CHARACTER)
}

/// The point and the zeros that `#` asks for. The text begins with a sign.
fn restore_zeros(text: &mut Vec<u8>, form: char, precision: Option<usize>) {
    let mut digits = match form {
        'g' | 'G' | 'x' => precision.unwrap_or(6) as i64,
        _ => 0,
    };
    let is_hex = matches!(form, 'x' | 'X');
    let split = text
        .iter()
        .position(|byte| matches!(byte, b'p' | b'P') || (!is_hex && matches!(byte, b'e' | b'E')));
    let tail = text.split_off(split.unwrap_or(text.len()));
    let mut seen = false;
    for byte in text[1..].iter().filter(|byte| **byte != b'.') {
        seen |= *byte != b'0';
        digits -= i64::from(seen);
    }
    if !text.contains(&b'.') {
        if text.len() == 2 && text[1] == b'0' {
            digits -= 1;
        }
        text.push(b'.');
    }
    text.resize(text.len() + usize::try_from(digits).unwrap_or(0), b'0');
    text.extend_from_slice(&tail);
}
