//! JSON piece by piece: where the members of an object and the items of a list are, without reading what is in them.

use std::io::{self, BufRead};
use std::ops::Range;

use super::outline::{Failure, Outline};

/// The longest key that is read.
const MAX_KEY: usize = 4096;

/// Finds the parts of an index that is JSON.
pub(super) fn outline(input: &mut dyn BufRead) -> Result<Outline, Failure> {
    let mut bytes = Bytes { input, at: 0 };
    let mut outline = Outline::default();
    bytes.members(&mut |bytes, key| {
        if key != "entries" {
            let range = bytes.skip_value()?;
            outline.fields.push((key, range));
            return Ok(());
        }
        // The last one counts.
        outline.charts.clear();
        outline.has_entries = true;
        if bytes.after_space()? != b'{' {
            bytes.skip_value()?;
            return Ok(());
        }
        bytes.members(&mut |bytes, name| {
            let range = bytes.skip_value()?;
            outline.charts.insert(name, range);
            Ok(())
        })
    })?;
    match bytes.peek_after_space()? {
        None => Ok(outline),
        Some(_) => Err(Failure::NotSimple),
    }
}

/// Goes through the items of a list, each with its text.
pub(super) fn items(
    input: &mut dyn BufRead,
    take: &mut dyn FnMut(&[u8]) -> Result<(), Failure>,
) -> Result<(), Failure> {
    let mut bytes = Bytes { input, at: 0 };
    if bytes.after_space()? != b'[' {
        return Ok(());
    }
    bytes.next()?;
    if bytes.after_space()? == b']' {
        return Ok(());
    }
    let mut text = Vec::new();
    loop {
        text.clear();
        bytes.value(Some(&mut text))?;
        take(&text)?;
        if bytes.after_space()? == b']' {
            return Ok(());
        }
        bytes.expect(b',')?;
    }
}

struct Bytes<'a> {
    input: &'a mut dyn BufRead,
    at: u64,
}

impl Bytes<'_> {
    fn peek(&mut self) -> io::Result<Option<u8>> {
        Ok(self.input.fill_buf()?.first().copied())
    }

    fn next(&mut self) -> Result<u8, Failure> {
        let byte = self.peek()?.ok_or(Failure::NotSimple)?;
        self.input.consume(1);
        self.at += 1;
        Ok(byte)
    }

    fn peek_after_space(&mut self) -> Result<Option<u8>, Failure> {
        while let Some(byte) = self.peek()? {
            if !matches!(byte, b' ' | b'\n' | b'\r' | b'\t') {
                return Ok(Some(byte));
            }
            self.next()?;
        }
        Ok(None)
    }

    /// The next byte that is no white space; it is not taken.
    fn after_space(&mut self) -> Result<u8, Failure> {
        self.peek_after_space()?.ok_or(Failure::NotSimple)
    }

    fn expect(&mut self, byte: u8) -> Result<(), Failure> {
        if self.after_space()? != byte {
            return Err(Failure::NotSimple);
        }
        self.next()?;
        Ok(())
    }

    /// Goes through the members of an object. The callback takes the value.
    fn members(
        &mut self,
        take: &mut dyn FnMut(&mut Self, String) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        self.expect(b'{')?;
        if self.after_space()? == b'}' {
            self.next()?;
            return Ok(());
        }
        loop {
            let mut key = Vec::new();
            if self.after_space()? != b'"' {
                return Err(Failure::NotSimple);
            }
            self.value(Some(&mut key))?;
            let key = model::json::parse(&key).ok();
            let key = key
                .as_ref()
                .and_then(|key| key.as_str())
                .ok_or(Failure::NotSimple)?;
            if key.len() > MAX_KEY {
                return Err(Failure::NotSimple);
            }
            self.expect(b':')?;
            take(self, key.to_owned())?;
            if self.after_space()? == b'}' {
                self.next()?;
                return Ok(());
            }
            self.expect(b',')?;
        }
    }

    fn skip_value(&mut self) -> Result<Range<u64>, Failure> {
        self.after_space()?;
        let begin = self.at;
        self.value(None)?;
        Ok(begin..self.at)
    }

    /// Goes to the end of a value, keeping its text where that is wanted.
    fn value(&mut self, mut keep: Option<&mut Vec<u8>>) -> Result<(), Failure> {
        self.after_space()?;
        let mut depth = 0usize;
        let mut in_string = false;
        let mut escaped = false;
        loop {
            let buffer = self.input.fill_buf()?;
            if buffer.is_empty() {
                return Err(Failure::NotSimple);
            }
            let mut taken = 0;
            let mut done = false;
            for byte in buffer {
                // A number or word ends before what follows it.
                if depth == 0
                    && !in_string
                    && matches!(byte, b',' | b'}' | b']' | b' ' | b'\n' | b'\r' | b'\t' | b':')
                {
                    done = true;
                    break;
                }
                taken += 1;
                if in_string {
                    match byte {
                        _ if escaped => escaped = false,
                        b'\\' => escaped = true,
                        b'"' => in_string = false,
                        _ => continue,
                    }
                } else {
                    match byte {
                        b'"' => in_string = true,
                        b'{' | b'[' => depth += 1,
                        b'}' | b']' => depth -= 1,
                        _ => continue,
                    }
                }
                if depth == 0 && !in_string && matches!(byte, b'"' | b'}' | b']') {
                    done = true;
                    break;
                }
            }
            if let Some(keep) = &mut keep {
                keep.extend_from_slice(&buffer[..taken]);
            }
            self.input.consume(taken);
            self.at += taken as u64;
            if done {
                return Ok(());
            }
        }
    }
}
