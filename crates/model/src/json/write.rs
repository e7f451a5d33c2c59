//! The writer.

use std::io::Write;

use crate::Value;

/// Appends `value` as compact JSON, keys in the order of the map, with `<`, `>`, `&`, U+2028 and U+2029 escaped, as the
/// API server sends it. Numbers that JSON has no form for (`NaN`, infinities) become `null`.
pub fn write(value: &Value, out: &mut Vec<u8>) {
    Writer { out, indent: 0 }.value(value, 0);
}

/// Appends `value` as JSON over several lines, each level `indent` spaces in. `kubectl -o json` takes four.
pub fn write_pretty(value: &Value, indent: usize, out: &mut Vec<u8>) {
    Writer { out, indent }.value(value, 0);
}

/// `value` as compact JSON; see [`write`].
pub fn to_vec(value: &Value) -> Vec<u8> {
    let mut out = Vec::new();
    write(value, &mut out);
    out
}

/// `value` as compact JSON; see [`write`].
pub fn to_string(value: &Value) -> String {
    String::from_utf8(to_vec(value)).expect("the writer joins ASCII and whole strings")
}

struct Writer<'a> {
    out: &'a mut Vec<u8>,
    /// Spaces per level; with none all stands on one line.
    indent: usize,
}

impl Writer<'_> {
    fn value(&mut self, value: &Value, depth: usize) {
        match value {
            Value::Null => self.out.extend_from_slice(b"null"),
            Value::Bool(true) => self.out.extend_from_slice(b"true"),
            Value::Bool(false) => self.out.extend_from_slice(b"false"),
            Value::Int(number) => self
                .out
                .extend_from_slice(itoa::Buffer::new().format(*number).as_bytes()),
            Value::Float(number) => self.float(*number),
            Value::Str(text) => self.string(text),
            Value::Array(items) => {
                self.out.push(b'[');
                for (nth, item) in items.iter().enumerate() {
                    self.separate(nth, depth + 1);
                    self.value(item, depth + 1);
                }
                self.close(b']', items.is_empty(), depth);
            }
            Value::Object(map) => {
                self.out.push(b'{');
                for (nth, (key, value)) in map.iter().enumerate() {
                    self.separate(nth, depth + 1);
                    self.string(key);
                    self.out
                        .extend_from_slice(if self.indent > 0 { b": " } else { b":" });
                    self.value(value, depth + 1);
                }
                self.close(b'}', map.is_empty(), depth);
            }
        }
    }

    fn separate(&mut self, nth: usize, depth: usize) {
        if nth > 0 {
            self.out.push(b',');
        }
        self.break_line(depth);
    }

    fn close(&mut self, bracket: u8, empty: bool, depth: usize) {
        if !empty {
            self.break_line(depth);
        }
        self.out.push(bracket);
    }

    fn break_line(&mut self, depth: usize) {
        if self.indent > 0 {
            self.out.push(b'\n');
            self.out.resize(self.out.len() + self.indent * depth, b' ');
        }
    }

    /// As Go does it: the shortest digits that read back the same, with an exponent for the very small and very large.
    fn float(&mut self, number: f64) {
        let size = number.abs();
        let written = if !number.is_finite() {
            self.out.write_all(b"null")
        } else if size != 0.0 && !(1e-6..1e21).contains(&size) {
            let text = format!("{number:e}");
            match text.split_once('e') {
                Some((digits, power)) if !power.starts_with('-') => write!(self.out, "{digits}e+{power}"),
                _ => self.out.write_all(text.as_bytes()),
            }
        } else {
            write!(self.out, "{number}")
        };
        written.expect("a Vec takes all");
    }

    fn string(&mut self, text: &str) {
        let bytes = text.as_bytes();
        self.out.reserve(bytes.len() + 2);
        self.out.push(b'"');
        let mut copied = 0;
        let mut at = 0;
        while let Some(&byte) = bytes.get(at) {
            if PLAIN[byte as usize] {
                at += 1;
                continue;
            }
            let escape: &[u8] = match byte {
                b'"' => b"\\\"",
                b'\\' => b"\\\\",
                0x08 => b"\\b",
                0x0c => b"\\f",
                b'\n' => b"\\n",
                b'\r' => b"\\r",
                b'\t' => b"\\t",
                0xe2 => match bytes.get(at + 1..at + 3) {
                    Some([0x80, 0xa8]) => b"\\u2028",
                    Some([0x80, 0xa9]) => b"\\u2029",
                    _ => {
                        at += 3;
                        continue;
                    }
                },
                _ => &[
                    b'\\',
                    b'u',
                    b'0',
                    b'0',
                    HEX[(byte >> 4) as usize],
                    HEX[(byte & 15) as usize],
                ],
            };
            self.out.extend_from_slice(&bytes[copied..at]);
            self.out.extend_from_slice(escape);
            at += if byte == 0xe2 { 3 } else { 1 };
            copied = at;
        }
        self.out.extend_from_slice(&bytes[copied..]);
        self.out.push(b'"');
    }
}

const HEX: &[u8; 16] = b"0123456789abcdef";

/// The bytes that are copied as they are. U+2028 and U+2029 begin with 0xe2.
const PLAIN: [bool; 256] = {
    let mut plain = [true; 256];
    let mut byte = 0;
    while byte < 0x20 {
        plain[byte] = false;
        byte += 1;
    }
    plain[b'"' as usize] = false;
    plain[b'\\' as usize] = false;
    plain[b'<' as usize] = false;
    plain[b'>' as usize] = false;
    plain[b'&' as usize] = false;
    plain[0xe2] = false;
    plain
};
