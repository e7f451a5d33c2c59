//! The reader: one loop, no recursion, one heap block per list or map.

use std::collections::HashSet;

use super::text::Input;
use super::{Error, MAX_DEPTH};
use crate::value::List;
use crate::{Map, Str, Value};

/// Reads one JSON value; only space may follow it.
pub fn parse(input: &[u8]) -> Result<Value, Error> {
    Reader::new(input, None).document().map(|(value, _)| value)
}

/// Reads one JSON value and also tells which fields are there more than once, by their paths (`spec.replicas`,
/// `spec.containers[0].name`), each once, in reading order. As in the API server, the first hundred are told.
pub fn parse_strict(input: &[u8]) -> Result<(Value, Vec<String>), Error> {
    Reader::new(input, Some(Vec::new())).document()
}

/// As many duplicate fields as the API server reports.
const MAX_DUPLICATES: usize = 100;

/// Up to this many keys of a map are searched one by one for a duplicate.
const SCAN_LIMIT: usize = 16;

struct Reader<'a> {
    input: Input<'a>,
    at: usize,
    /// The lists and maps that are open, the outermost first.
    open: Vec<Container>,
    /// The pairs of all open maps. A pair is put here with its key; its value follows when it is complete.
    pairs: Vec<(Str, Value)>,
    /// The elements of all open lists.
    items: Vec<Value>,
    /// The duplicate fields found, if they are asked for.
    duplicates: Option<Vec<String>>,
    /// The first number that no float can hold. It counts only if all of the input is well-formed.
    out_of_range: Option<Error>,
}

enum Container {
    /// A map whose pairs begin at `start`.
    Map { start: usize, keys: Keys },
    /// A list whose elements begin at `start`.
    List { start: usize },
}

/// What is known of a map's keys so far.
enum Keys {
    /// They ascend, so there is no duplicate.
    Ascending,
    /// They do not.
    Mixed,
    /// They do not, and they are many: here they all are.
    Many(HashSet<Str>),
}

/// What to do after a token.
enum Next {
    /// A value must follow.
    Value,
    /// This value is complete.
    Complete(Value),
}

impl<'a> Reader<'a> {
    fn new(input: &'a [u8], duplicates: Option<Vec<String>>) -> Self {
        Reader {
            input: Input::new(input),
            at: 0,
            open: Vec::new(),
            pairs: Vec::new(),
            items: Vec::new(),
            duplicates,
            out_of_range: None,
        }
    }

    fn document(mut self) -> Result<(Value, Vec<String>), Error> {
        let value = self.value()?;
        if self.skip_space().is_some() {
            return Err(self.unexpected("after top-level value"));
        }
        match self.out_of_range {
            Some(error) => Err(error),
            None => Ok((value, self.duplicates.unwrap_or_default())),
        }
    }

    fn value(&mut self) -> Result<Value, Error> {
        loop {
            let mut next = self.begin_value()?;
            while let Next::Complete(value) = next {
                let Some(container) = self.open.last() else {
                    return Ok(value);
                };
                next = match *container {
                    Container::Map { start, .. } => self.after_pair(start, value)?,
                    Container::List { start } => self.after_item(start, value)?,
                };
            }
        }
    }

    fn begin_value(&mut self) -> Result<Next, Error> {
        let complete = match self.skip_space() {
            Some(b'"') => self.string().map(Value::Str)?,
            Some(b'{') => return self.begin_map(),
            Some(b'[') => return self.begin_list(),
            Some(b'-' | b'0'..=b'9') => self.number()?,
            Some(b't') => self.literal("true", Value::Bool(true))?,
            Some(b'f') => self.literal("false", Value::Bool(false))?,
            Some(b'n') => self.literal("null", Value::Null)?,
            _ => return Err(self.unexpected("looking for beginning of value")),
        };
        Ok(Next::Complete(complete))
    }

    fn begin_map(&mut self) -> Result<Next, Error> {
        self.check_depth()?;
        self.at += 1;
        if self.skip_space() == Some(b'}') {
            self.at += 1;
            return Ok(Next::Complete(Value::Object(Map::new())));
        }
        self.open.push(Container::Map {
            start: self.pairs.len(),
            keys: Keys::Ascending,
        });
        self.key()
    }

    fn begin_list(&mut self) -> Result<Next, Error> {
        self.check_depth()?;
        self.at += 1;
        if self.skip_space() == Some(b']') {
            self.at += 1;
            return Ok(Next::Complete(Value::Array(List::new())));
        }
        self.open.push(Container::List {
            start: self.items.len(),
        });
        Ok(Next::Value)
    }

    fn after_pair(&mut self, start: usize, value: Value) -> Result<Next, Error> {
        let pair = self
            .pairs
            .last_mut()
            .expect("a key stands before every value of a map");
        pair.1 = value;
        match self.skip_space() {
            Some(b',') => {
                self.at += 1;
                self.key()
            }
            Some(b'}') => {
                self.at += 1;
                self.open.pop();
                Ok(Next::Complete(Value::Object(Map::from_pairs(
                    self.pairs.drain(start..),
                ))))
            }
            _ => Err(self.unexpected("after object key:value pair")),
        }
    }

    fn after_item(&mut self, start: usize, value: Value) -> Result<Next, Error> {
        self.items.push(value);
        match self.skip_space() {
            Some(b',') => {
                self.at += 1;
                Ok(Next::Value)
            }
            Some(b']') => {
                self.at += 1;
                self.open.pop();
                let mut list = List::with_capacity(self.items.len() - start);
                list.extend(self.items.drain(start..));
                Ok(Next::Complete(Value::Array(list)))
            }
            _ => Err(self.unexpected("after array element")),
        }
    }

    /// A key and its colon.
    fn key(&mut self) -> Result<Next, Error> {
        if self.skip_space() != Some(b'"') {
            return Err(self.unexpected("looking for beginning of object key string"));
        }
        let key = self.string()?;
        if self.duplicates.is_some() {
            self.check_duplicate(&key);
        }
        self.pairs.push((key, Value::Null));
        if self.skip_space() != Some(b':') {
            return Err(self.unexpected("after object key"));
        }
        self.at += 1;
        Ok(Next::Value)
    }

    fn check_depth(&self) -> Result<(), Error> {
        if self.open.len() < MAX_DEPTH {
            return Ok(());
        }
        Err(self.unexpected("exceeded max depth"))
    }

    fn string(&mut self) -> Result<Str, Error> {
        let (text, end) = self.input.string(self.at + 1)?;
        self.at = end;
        Ok(text)
    }

    fn literal(&mut self, name: &str, value: Value) -> Result<Value, Error> {
        for (place, &expected) in name.as_bytes().iter().enumerate() {
            if self.peek() != Some(expected) {
                let expected = char::from(name.as_bytes()[place]);
                return Err(self.unexpected_within(&format!("in literal {name} (expecting '{expected}')")));
            }
            self.at += 1;
        }
        Ok(value)
    }

    fn number(&mut self) -> Result<Value, Error> {
        let start = self.at;
        if self.peek() == Some(b'-') {
            self.at += 1;
        }
        match self.peek() {
            // Nothing but a point or an exponent may follow a leading zero.
            Some(b'0') => self.at += 1,
            Some(b'1'..=b'9') => self.digits(),
            _ => return Err(self.unexpected_within("in numeric literal")),
        }
        let mut whole = true;
        if self.peek() == Some(b'.') {
            whole = false;
            self.at += 1;
            self.some_digits("after decimal point in numeric literal")?;
        }
        if let Some(b'e' | b'E') = self.peek() {
            whole = false;
            self.at += 1;
            if let Some(b'+' | b'-') = self.peek() {
                self.at += 1;
            }
            self.some_digits("in exponent of numeric literal")?;
        }
        let text =
            std::str::from_utf8(&self.input.bytes[start..self.at]).expect("digits and signs are ASCII");
        if whole && let Ok(number) = text.parse() {
            return Ok(Value::Int(number));
        }
        let number: f64 = text
            .parse()
            .expect("JSON's numbers are a part of what Rust reads as a float");
        if number.is_infinite() && self.out_of_range.is_none() {
            let message = format!("json: cannot unmarshal number {text} into Go value of type float64");
            self.out_of_range = Some(Error::new(self.input.bytes, start, message));
        }
        Ok(Value::Float(number))
    }

    fn digits(&mut self) {
        while let Some(b'0'..=b'9') = self.peek() {
            self.at += 1;
        }
    }

    fn some_digits(&mut self, context: &str) -> Result<(), Error> {
        if !matches!(self.peek(), Some(b'0'..=b'9')) {
            return Err(self.unexpected_within(context));
        }
        self.digits();
        Ok(())
    }

    fn peek(&self) -> Option<u8> {
        self.input.bytes.get(self.at).copied()
    }

    /// Skips space and returns the byte after it.
    fn skip_space(&mut self) -> Option<u8> {
        loop {
            match self.peek() {
                Some(b' ' | b'\t' | b'\n' | b'\r') => self.at += 1,
                other => return other,
            }
        }
    }

    #[cold]
    fn unexpected(&self, context: &str) -> Error {
        Error::unexpected(self.input.bytes, self.at, context)
    }

    #[cold]
    fn unexpected_within(&self, context: &str) -> Error {
        Error::unexpected_within(self.input.bytes, self.at, context)
    }

    /// Looks for `key` among the keys so far of the innermost map.
    fn check_duplicate(&mut self, key: &Str) {
        let Some(Container::Map { start, keys }) = self.open.last_mut() else {
            return;
        };
        let before = &self.pairs[*start..];
        let duplicate = match keys {
            Keys::Ascending if before.last().is_none_or(|(last, _)| last < key) => false,
            Keys::Ascending | Keys::Mixed if before.len() < SCAN_LIMIT => {
                *keys = Keys::Mixed;
                before.iter().any(|(other, _)| other == key)
            }
            Keys::Ascending | Keys::Mixed => {
                let mut all: HashSet<Str> = before.iter().map(|(other, _)| other.clone()).collect();
                let duplicate = !all.insert(key.clone());
                *keys = Keys::Many(all);
                duplicate
            }
            Keys::Many(all) => !all.insert(key.clone()),
        };
        if duplicate {
            self.report_duplicate(key);
        }
    }

    fn report_duplicate(&mut self, key: &str) {
        let Some(found) = self
            .duplicates
            .as_ref()
            .filter(|found| found.len() < MAX_DUPLICATES)
        else {
            return;
        };
        let path = self.path_of(key);
        if !found.contains(&path) {
            self.duplicates.get_or_insert_default().push(path);
        }
    }

    /// The path of `key` in the innermost map. Of the open maps and lists around it, the last pair or element is the
    /// one that is being read: it stands before the first one of the next map or list.
    fn path_of(&self, key: &str) -> String {
        use std::fmt::Write;

        let mut path = String::new();
        let (mut pairs_end, mut items_end) = (self.pairs.len(), self.items.len());
        let mut steps = Vec::with_capacity(self.open.len());
        for (nth, container) in self.open.iter().enumerate().rev() {
            match container {
                Container::Map { start, .. } => {
                    // The innermost map is the one that `key` itself is in.
                    if nth + 1 < self.open.len() {
                        steps.push(Ok(self.pairs[pairs_end - 1].0.as_str()));
                    }
                    pairs_end = *start;
                }
                Container::List { start } => {
                    steps.push(Err(items_end - start));
                    items_end = *start;
                }
            }
        }
        for (nth, step) in steps.into_iter().rev().enumerate() {
            match step {
                Ok(name) => path.extend([if nth > 0 { "." } else { "" }, name]),
                Err(index) => write!(path, "[{index}]").expect("a String takes all"),
            }
        }
        if self.open.len() > 1 {
            path.push('.');
        }
        path + key
    }
}
