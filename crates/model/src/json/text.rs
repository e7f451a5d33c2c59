//! String literals: finding their end and taking their escapes out.

use super::Error;
use crate::Str;

/// The bytes to be read, and the same as text where all of it is UTF-8, so that no part needs a second look.
#[derive(Clone, Copy)]
pub(super) struct Input<'a> {
    pub(super) bytes: &'a [u8],
    text: Option<&'a str>,
}

/// A string literal that was found: where it is, or what it says if that is not what is written there. It is passed on
/// instead of the string itself, so that the string is made where it is to stay: moving it costs more than making it.
pub(super) struct Span {
    start: usize,
    /// The place of the closing quote.
    pub(super) end: usize,
    unescaped: Option<String>,
}

impl<'a> Input<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Input {
            bytes,
            text: std::str::from_utf8(bytes).ok(),
        }
    }

    /// Finds the end of the string literal that starts at `start`, just after its opening quote.
    pub(super) fn string(&self, start: usize) -> Result<Span, Box<Error>> {
        let end = self.plain_until(start);
        let plain = self.bytes.get(end) == Some(&b'"') && self.text.is_some();
        if plain {
            Ok(Span {
                start,
                end,
                unescaped: None,
            })
        } else {
            self.escaped_string(start, end)
        }
    }

    /// The string that starts at `start`, whose first byte of note is at `at`.
    #[cold]
    fn escaped_string(&self, start: usize, mut at: usize) -> Result<Span, Box<Error>> {
        let mut out = String::new();
        self.append(&mut out, start, at);
        loop {
            match self.bytes.get(at) {
                Some(b'"') => {
                    return Ok(Span {
                        start,
                        end: at,
                        unescaped: Some(out),
                    });
                }
                Some(b'\\') => at = self.escape(at + 1, &mut out)?,
                _ => return Err(Error::unexpected(self.bytes, at, "in string literal")),
            }
            let from = at;
            at = self.plain_until(from);
            self.append(&mut out, from, at);
        }
    }

    /// Appends the string that a span holds to an empty one.
    #[inline]
    pub(super) fn fill(&self, span: Span, place: &mut Str) {
        match (span.unescaped, self.text) {
            (None, Some(text)) => place.push_str(&text[span.start..span.end]),
            (unescaped, _) => *place = Str::from(unescaped.unwrap_or_default()),
        }
    }

    /// The first place from `at` on with a quote, a backslash or a control character, or the end of the input.
    fn plain_until(&self, mut at: usize) -> usize {
        // Eight bytes at a time: each test below sets the top bit of the bytes it holds for. A borrow can only set
        // bits above a byte that is itself a hit, and only the lowest hit counts.
        const ONES: u64 = 0x0101_0101_0101_0101;
        const TOPS: u64 = ONES * 0x80;
        while let Some(chunk) = self.bytes.get(at..).and_then(|rest| rest.first_chunk::<8>()) {
            let word = u64::from_le_bytes(*chunk);
            let quote = word ^ (ONES * b'"' as u64);
            let backslash = word ^ (ONES * b'\\' as u64);
            let hits = ((quote.wrapping_sub(ONES) & !quote)
                | (backslash.wrapping_sub(ONES) & !backslash)
                | (word.wrapping_sub(ONES * 0x20) & !word))
                & TOPS;
            if hits != 0 {
                return at + (hits.trailing_zeros() / 8) as usize;
            }
            at += 8;
        }
        while let Some(&byte) = self.bytes.get(at) {
            if byte == b'"' || byte == b'\\' || byte < 0x20 {
                break;
            }
            at += 1;
        }
        at
    }

    /// Appends the bytes between two places; each byte that is no part of a character becomes U+FFFD.
    fn append(&self, out: &mut String, from: usize, to: usize) {
        if let Some(text) = self.text {
            out.push_str(&text[from..to]);
            return;
        }
        for chunk in self.bytes[from..to].utf8_chunks() {
            out.push_str(chunk.valid());
            out.extend(chunk.invalid().iter().map(|_| char::REPLACEMENT_CHARACTER));
        }
    }

    /// Appends what the escape means whose backslash is just before `at`; returns the place after it.
    fn escape(&self, at: usize, out: &mut String) -> Result<usize, Box<Error>> {
        let plain = match self.bytes.get(at) {
            Some(&byte @ (b'"' | b'\\' | b'/')) => char::from(byte),
            Some(b'b') => '\u{8}',
            Some(b'f') => '\u{c}',
            Some(b'n') => '\n',
            Some(b'r') => '\r',
            Some(b't') => '\t',
            Some(b'u') => return self.unicode_escape(at + 1, out),
            _ => return Err(Error::unexpected_within(self.bytes, at, "in string escape code")),
        };
        out.push(plain);
        Ok(at + 1)
    }

    /// Two escapes that form a surrogate pair are one character; half a pair is U+FFFD.
    fn unicode_escape(&self, at: usize, out: &mut String) -> Result<usize, Box<Error>> {
        let first = self.four_digits(at)?;
        let end = at + 4;
        if let Some(character) = char::from_u32(first) {
            out.push(character);
            return Ok(end);
        }
        if (0xd800..0xdc00).contains(&first) && self.bytes.get(end..end + 2) == Some(br"\u") {
            let second = self.four_digits(end + 2)?;
            if (0xdc00..0xe000).contains(&second) {
                let code = 0x10000 + ((first - 0xd800) << 10) + (second - 0xdc00);
                out.push(char::from_u32(code).expect("a surrogate pair is a character"));
                return Ok(end + 6);
            }
        }
        out.push(char::REPLACEMENT_CHARACTER);
        Ok(end)
    }

    fn four_digits(&self, at: usize) -> Result<u32, Box<Error>> {
        (at..at + 4).try_fold(0, |code, place| {
            let digit = self
                .bytes
                .get(place)
                .and_then(|&byte| char::from(byte).to_digit(16));
            let unexpected =
                || Error::unexpected_within(self.bytes, place, "in \\u hexadecimal character escape");
            Ok(code << 4 | digit.ok_or_else(unexpected)?)
        })
    }
}
