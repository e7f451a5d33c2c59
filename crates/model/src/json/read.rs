//! The reader: one loop, no recursion, one heap block per list or map.

use std::collections::HashSet;

use thin_vec::ThinVec;

use super::text::{Input, Span};
use super::{Error, MAX_DEPTH};
use crate::value::List;
use crate::{Map, Str, Value};

/// So much of a number that is out of range is told.
const SHOWN_DIGITS: usize = 100;

/// Reads one JSON value; only space may follow it.
pub fn parse(input: &[u8]) -> Result<Value, Error> {
    Reader::new(input, None)
        .document()
        .map(|(value, _)| value)
        .map_err(|error| *error)
}

/// Reads one JSON value and also tells which fields are there more than once, by their paths (`spec.replicas`,
/// `spec.containers[0].name`), each once, in reading order. As in the API server, the first hundred are told.
pub fn parse_strict(input: &[u8]) -> Result<(Value, Vec<String>), Error> {
    Reader::new(input, Some(Vec::new()))
        .document()
        .map_err(|error| *error)
}

/// As many duplicate fields as the API server reports.
const MAX_DUPLICATES: usize = 100;

/// Up to this many keys of a map are searched one by one for a duplicate.
const SCAN_LIMIT: usize = 16;

/// Constants are copied whole; built on the stack they would be written in small parts and read back in large ones.
const NULL: Value = Value::Null;
const EMPTY_STRING: Value = Value::Str(Str::const_new(""));
const EMPTY_PAIR: (Str, Value) = (Str::const_new(""), NULL);

/// Values are made where they are to stay and then moved in bulk, never one by one: that is what most of the time would
/// go into.
struct Reader<'a> {
    input: Input<'a>,
    at: usize,
    /// The lists and maps that are open, the outermost first.
    open: Vec<Container>,
    /// The pairs of all open maps. A pair is put here with its key; its value follows when it is complete.
    pairs: ThinVec<(Str, Value)>,
    /// The elements of all open lists, and in the end the value of the document.
    items: List,
    /// The duplicate fields found, if they are asked for.
    duplicates: Option<Vec<String>>,
    /// The first number that no float can hold. It counts only if all of the input is well-formed.
    out_of_range: Option<Box<Error>>,
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
#[derive(PartialEq)]
enum Next {
    /// A value must follow.
    Value,
    /// A value is complete and in its place.
    Complete,
}

impl<'a> Reader<'a> {
    fn new(input: &'a [u8], duplicates: Option<Vec<String>>) -> Self {
        Reader {
            input: Input::new(input),
            at: 0,
            open: Vec::new(),
            pairs: ThinVec::new(),
            items: List::new(),
            duplicates,
            out_of_range: None,
        }
    }

    fn document(mut self) -> Result<(Value, Vec<String>), Box<Error>> {
        self.value()?;
        if self.skip_space().is_some() {
            return Err(self.unexpected("after top-level value"));
        }
        match self.out_of_range {
            Some(error) => Err(error),
            None => Ok((
                self.items.pop().unwrap_or_default(),
                self.duplicates.unwrap_or_default(),
            )),
        }
    }

    fn value(&mut self) -> Result<(), Box<Error>> {
        loop {
            let mut next = self.begin_value()?;
            while next == Next::Complete {
                next = match self.open.last() {
                    None => return Ok(()),
                    Some(&Container::Map { start, .. }) => self.after_pair(start)?,
                    Some(&Container::List { start }) => self.after_item(start)?,
                };
            }
        }
    }

    fn begin_value(&mut self) -> Result<Next, Box<Error>> {
        match self.skip_space() {
            Some(b'"') => {
                let span = self.string()?;
                let input = self.input;
                let place = self.place();
                *place = EMPTY_STRING;
                if let Value::Str(text) = place {
                    input.fill(span, text);
                }
            }
            Some(b'{') => return self.begin_map(),
            Some(b'[') => return self.begin_list(),
            Some(b'-' | b'0'..=b'9') => self.number()?,
            Some(b't') => self.literal("true", Value::Bool(true))?,
            Some(b'f') => self.literal("false", Value::Bool(false))?,
            Some(b'n') => self.literal("null", Value::Null)?,
            _ => return Err(self.unexpected("looking for beginning of value")),
        }
        Ok(Next::Complete)
    }

    /// The place where the next value is to stay; it holds `null`.
    #[inline]
    fn place(&mut self) -> &mut Value {
        let place = match self.open.last() {
            Some(Container::Map { .. }) => self.pairs.last_mut().map(|pair| &mut pair.1),
            Some(Container::List { .. }) | None => {
                self.items.push(NULL);
                self.items.last_mut()
            }
        };
        place.expect("a key stands before every value of a map, and an element was just added")
    }

    fn begin_map(&mut self) -> Result<Next, Box<Error>> {
        self.check_depth()?;
        self.at += 1;
        if self.skip_space() == Some(b'}') {
            self.at += 1;
            *self.place() = Value::Object(Map::new());
            return Ok(Next::Complete);
        }
        self.open.push(Container::Map {
            start: self.pairs.len(),
            keys: Keys::Ascending,
        });
        self.key()
    }

    fn begin_list(&mut self) -> Result<Next, Box<Error>> {
        self.check_depth()?;
        self.at += 1;
        if self.skip_space() == Some(b']') {
            self.at += 1;
            *self.place() = Value::Array(List::new());
            return Ok(Next::Complete);
        }
        self.open.push(Container::List {
            start: self.items.len(),
        });
        Ok(Next::Value)
    }

    fn after_pair(&mut self, start: usize) -> Result<Next, Box<Error>> {
        match self.skip_space() {
            Some(b',') => {
                self.at += 1;
                self.key()
            }
            Some(b'}') => {
                self.at += 1;
                self.open.pop();
                let map = Map::from_entries(self.pairs.split_off(start));
                *self.place() = Value::Object(map);
                Ok(Next::Complete)
            }
            _ => Err(self.unexpected("after object key:value pair")),
        }
    }

    fn after_item(&mut self, start: usize) -> Result<Next, Box<Error>> {
        match self.skip_space() {
            Some(b',') => {
                self.at += 1;
                Ok(Next::Value)
            }
            Some(b']') => {
                self.at += 1;
                self.open.pop();
                let list = self.items.split_off(start);
                *self.place() = Value::Array(list);
                Ok(Next::Complete)
            }
            _ => Err(self.unexpected("after array element")),
        }
    }

    /// A key and its colon.
    fn key(&mut self) -> Result<Next, Box<Error>> {
        if self.skip_space() != Some(b'"') {
            return Err(self.unexpected("looking for beginning of object key string"));
        }
        let span = self.string()?;
        self.pairs.push(EMPTY_PAIR);
        if let Some((key, _)) = self.pairs.last_mut() {
            self.input.fill(span, key);
        }
        if self.duplicates.is_some() {
            self.check_duplicate();
        }
        if self.skip_space() != Some(b':') {
            return Err(self.unexpected("after object key"));
        }
        self.at += 1;
        Ok(Next::Value)
    }

    fn check_depth(&self) -> Result<(), Box<Error>> {
        if self.open.len() < MAX_DEPTH {
            return Ok(());
        }
        Err(self.unexpected("exceeded max depth"))
    }

    fn string(&mut self) -> Result<Span, Box<Error>> {
        let span = self.input.string(self.at + 1)?;
        self.at = span.end + 1;
        Ok(span)
    }

    fn literal(&mut self, name: &str, value: Value) -> Result<(), Box<Error>> {
        for expected in name.bytes() {
            if self.peek() != Some(expected) {
                let context = format!("in literal {name} (expecting '{}')", char::from(expected));
                return Err(self.unexpected_within(&context));
            }
            self.at += 1;
        }
        *self.place() = value;
        Ok(())
    }

    fn number(&mut self) -> Result<(), Box<Error>> {
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
            *self.place() = Value::Int(number);
            return Ok(());
        }
        let number: f64 = text
            .parse()
            .expect("JSON's numbers are a part of what Rust reads as a float");
        if number.is_infinite() && self.out_of_range.is_none() {
            // Go shows all digits, which can be as many as the whole input has.
            let (shown, dots) = match text.get(..SHOWN_DIGITS) {
                Some(start) if text.len() > SHOWN_DIGITS => (start, "..."),
                _ => (text, ""),
            };
            let message =
                format!("json: cannot unmarshal number {shown}{dots} into Go value of type float64");
            self.out_of_range = Some(Error::new(self.input.bytes, start, message));
        }
        *self.place() = Value::Float(number);
        Ok(())
    }

    fn digits(&mut self) {
        while let Some(b'0'..=b'9') = self.peek() {
            self.at += 1;
        }
    }

    fn some_digits(&mut self, context: &str) -> Result<(), Box<Error>> {
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
    fn unexpected(&self, context: &str) -> Box<Error> {
        Error::unexpected(self.input.bytes, self.at, context)
    }

    #[cold]
    fn unexpected_within(&self, context: &str) -> Box<Error> {
        Error::unexpected_within(self.input.bytes, self.at, context)
    }

    /// Looks for the last key among those before it in the innermost map.
    fn check_duplicate(&mut self) {
        let Some(Container::Map { start, keys }) = self.open.last_mut() else {
            return;
        };
        let Some(((key, _), before)) = self.pairs[*start..].split_last() else {
            return;
        };
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
            self.report_duplicate();
        }
    }

    fn report_duplicate(&mut self) {
        let Some(found) = self
            .duplicates
            .as_ref()
            .filter(|found| found.len() < MAX_DUPLICATES)
        else {
            return;
        };
        let path = self.path();
        if !found.contains(&path) {
            self.duplicates.get_or_insert_default().push(path);
        }
    }

    /// The path of the last key. Of each open map and list the last pair or element is the one that is being read: it
    /// stands before the first one of the next map or list.
    fn path(&self) -> String {
        use std::fmt::Write;

        let (mut pairs_end, mut items_end) = (self.pairs.len(), self.items.len());
        let mut steps = Vec::with_capacity(self.open.len());
        for container in self.open.iter().rev() {
            match container {
                Container::Map { start, .. } => {
                    steps.push(Ok(self.pairs[pairs_end - 1].0.as_str()));
                    pairs_end = *start;
                }
                Container::List { start } => {
                    steps.push(Err(items_end - start));
                    items_end = *start;
                }
            }
        }
        let mut path = String::new();
        for (nth, step) in steps.into_iter().rev().enumerate() {
            match step {
                Ok(name) => path.extend([if nth > 0 { "." } else { "" }, name]),
                Err(index) => write!(path, "[{index}]").expect("a String takes all"),
            }
        }
        path
    }
}
