//! Numbers as Go's constants are written, and what each can be taken for.

use super::unquote::unquote_char;
use crate::lex::Kind;
use crate::strconv;

/// A number in a template. It has no type until a function asks for one, and can be several.
#[derive(Clone, Debug, Default)]
pub(crate) struct Number {
    /// As it is written.
    pub(crate) text: Box<str>,
    pub(crate) int: Option<i64>,
    pub(crate) uint: Option<u64>,
    pub(crate) float: Option<f64>,
    pub(crate) complex: Option<(f64, f64)>,
}

impl Number {
    /// Reads a token.
    pub(crate) fn new(text: &str, kind: Kind) -> Result<Number, String> {
        let mut number = Number {
            text: text.into(),
            ..Number::default()
        };
        match kind {
            Kind::CharConstant => number.set_char(char_of(text)?),
            Kind::Complex => {
                let (real, imaginary) = complex_of(text).ok_or("syntax error scanning complex number")?;
                number.set_complex(real, imaginary);
            }
            _ => number.set_plain(text)?,
        }
        Ok(number)
    }

    fn set_char(&mut self, char: u32) {
        self.int = Some(i64::from(char));
        self.uint = Some(u64::from(char));
        self.float = Some(f64::from(char));
    }

    fn set_complex(&mut self, real: f64, imaginary: f64) {
        self.complex = Some((real, imaginary));
        if imaginary == 0.0 {
            self.float = Some(real);
            self.int = whole_int(real);
            self.uint = whole_uint(real);
        }
    }

    fn set_plain(&mut self, text: &str) -> Result<(), String> {
        if let Some(imaginary) = text
            .strip_suffix('i')
            .and_then(|text| strconv::parse_float(text).ok())
        {
            self.set_complex(0.0, imaginary);
            return Ok(());
        }
        self.uint = strconv::parse_uint(text, 0).ok();
        self.int = strconv::parse_int(text, 0).ok();
        if self.int == Some(0) {
            self.uint = Some(0);
        }
        if let Some(int) = self.int {
            self.float = Some(int as f64);
        } else if let Some(uint) = self.uint {
            self.float = Some(uint as f64);
        } else if let Ok(float) = strconv::parse_float(text) {
            if !text.contains(['.', 'e', 'E', 'p', 'P']) {
                return Err(format!("integer overflow: {}", model::quote::quote(text)));
            }
            self.float = Some(float);
            self.int = whole_int(float);
            self.uint = whole_uint(float);
        }
        if self.int.is_none() && self.uint.is_none() && self.float.is_none() {
            return Err(format!("illegal number syntax: {}", model::quote::quote(text)));
        }
        Ok(())
    }

    /// Whether a float is meant, by how it is written.
    pub(crate) fn looks_float(&self) -> bool {
        let text = self.text.as_bytes();
        let has = |any: &[u8]| text.iter().any(|byte| any.contains(byte));
        let is_hex = text.len() > 2 && text[0] == b'0' && matches!(text[1], b'x' | b'X') && !has(b"pP");
        !is_hex && !text.starts_with(b"'") && has(b".eEpP")
    }
}

fn whole_int(float: f64) -> Option<i64> {
    let int = float as i64;
    // The largest i64 is rounded up to a float that is none.
    ((int as f64) == float && int != i64::MAX).then_some(int)
}

fn whole_uint(float: f64) -> Option<u64> {
    let uint = float as u64;
    ((uint as f64) == float && uint != u64::MAX).then_some(uint)
}

fn char_of(text: &str) -> Result<u32, String> {
    let invalid = || "invalid syntax".to_owned();
    let inner = text.get(1..).unwrap_or_default();
    let (char, length) = unquote_char(inner.as_bytes(), b'\'').ok_or_else(invalid)?;
    if &inner[length..] != "'" {
        return Err(format!("malformed character constant: {text}"));
    }
    Ok(char)
}

/// `1+2i`: two floats, of which the second has a sign and an `i`.
fn complex_of(text: &str) -> Option<(f64, f64)> {
    let bytes = text.as_bytes();
    let split = (1..bytes.len()).find(|at| {
        matches!(bytes[*at], b'+' | b'-') && !matches!(bytes[at - 1], b'e' | b'E' | b'p' | b'P')
    })?;
    let real = strconv::parse_float(&text[..split]).ok()?;
    let imaginary = strconv::parse_float(text[split..].strip_suffix('i')?).ok()?;
    Some((real, imaginary))
}
