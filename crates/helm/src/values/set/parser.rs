//! The grammar of `--set` and its relatives.

use model::quote::quote;
use model::value::List;
use model::{Map, Value};

use super::cursor::{Cursor, Until};
use super::{Error, MAX_INDEX, MAX_NESTING, ReadFile, typed};
use crate::values::{floats, go_type};

/// What values are made of.
pub(super) enum Style<'r> {
    /// What they look like.
    Typed,
    /// Strings.
    Text,
    /// JSON.
    Json,
    /// The content of files.
    File(ReadFile<'r>),
    /// Strings that nothing ends and nothing is quoted in.
    Literal,
}

/// Reads one text.
pub(super) struct Parser<'t, 'r> {
    at: Cursor<'t>,
    style: Style<'r>,
}

/// Why a key was not set.
enum Stop {
    /// The text ended where that is no mistake.
    End,
    Error(String),
}

impl From<String> for Stop {
    fn from(text: String) -> Self {
        Stop::Error(text)
    }
}

fn failed<T>(text: impl Into<String>) -> Result<T, Stop> {
    Err(Stop::Error(text.into()))
}

impl<'t, 'r> Parser<'t, 'r> {
    pub(super) fn new(text: &'t str, style: Style<'r>) -> Self {
        Parser {
            at: Cursor::new(text),
            style,
        }
    }

    pub(super) fn run(mut self, values: &mut Map) -> Result<(), Error> {
        loop {
            match self.key(values, 0) {
                Ok(()) => {}
                Err(Stop::End) => return Ok(()),
                Err(Stop::Error(text)) => return Err(Error(text)),
            }
        }
    }

    fn until(&mut self, signs: &[char]) -> Until {
        let quoting = !matches!(self.style, Style::Literal);
        self.at.until(signs, quoting)
    }

    /// Reads a key and what is set there.
    fn key(&mut self, map: &mut Map, nesting: usize) -> Result<(), Stop> {
        let signs: &[char] = match self.style {
            Style::Literal => &['=', '[', '.'],
            _ => &['=', '[', ',', '.'],
        };
        let Until { text: key, sign } = self.until(signs);
        match sign {
            None if key.is_empty() => Err(Stop::End),
            None => failed(format!("key {} has no value", quote(&key))),
            Some('[') => self.indexed(map, &key, nesting),
            Some('=') => self.assigned(map, &key),
            Some('.') => self.nested(map, &key, nesting + 1),
            Some(_) => failed(format!("key {} has no value (cannot end with ,)", quote(&key))),
        }
    }

    /// `key[…`
    fn indexed(&mut self, map: &mut Map, key: &str, nesting: usize) -> Result<(), Stop> {
        let index = self.index()?;
        let mut list = match map.get_mut(key) {
            None => List::new(),
            Some(value) => match value.take() {
                Value::Array(list) => list,
                other => return failed(conversion(&other, "[]interface {}")),
            },
        };
        let done = self.item(&mut list, index, nesting);
        set(map, key, Value::Array(list));
        done
    }

    /// `key=…`
    fn assigned(&mut self, map: &mut Map, key: &str) -> Result<(), Stop> {
        let (value, ended) = self.value()?;
        set(map, key, value);
        // A key at the very end with nothing after it is the last one.
        if ended { Err(Stop::End) } else { Ok(()) }
    }

    /// `key.…`
    fn nested(&mut self, map: &mut Map, key: &str, nesting: usize) -> Result<(), Stop> {
        if nesting > MAX_NESTING {
            return failed(format!(
                "value name nested level is greater than maximum supported nested level of {MAX_NESTING}"
            ));
        }
        let mut inner = match map.get_mut(key) {
            None => Map::new(),
            Some(value) => match value.take() {
                Value::Object(inner) => inner,
                other => return failed(conversion(&other, "map[string]interface {}")),
            },
        };
        let done = self.key(&mut inner, nesting);
        if done.is_ok() && inner.is_empty() {
            return failed(format!("key map {} has no value", quote(key)));
        }
        if !inner.is_empty() {
            set(map, key, Value::Object(inner));
        }
        done
    }

    /// The number in brackets.
    fn index(&mut self) -> Result<i64, Stop> {
        let Until { text, sign } = self.until(&[']']);
        if sign.is_none() {
            return Err(Stop::End);
        }
        text.parse().map_err(|_| {
            Stop::Error(format!(
                "error parsing index: strconv.Atoi: parsing {}: invalid syntax",
                quote(&text)
            ))
        })
    }

    /// What follows an index.
    fn item(&mut self, list: &mut List, index: i64, nesting: usize) -> Result<(), Stop> {
        if index < 0 {
            return failed(format!("negative {index} index not allowed"));
        }
        let Until { text, sign } = self.until(&['[', '.', '=']);
        if !text.is_empty() {
            return failed(format!("unexpected data at end of array index: {}", quote(&text)));
        }
        match sign {
            None => Err(Stop::End),
            Some('=') => {
                let (value, _) = self.value()?;
                put(list, index, value)
            }
            Some('[') => {
                let next = self.index()?;
                let mut inner = match existing(list, index) {
                    None | Some(Value::Null) => List::new(),
                    Some(Value::Array(inner)) => inner.clone(),
                    Some(other) => return failed(conversion(other, "[]interface {}")),
                };
                self.item(&mut inner, next, nesting)?;
                put(list, index, Value::Array(inner))
            }
            Some(_) => {
                // A map that is there already is changed even where reading on fails.
                let mut inner = match existing(list, index) {
                    Some(Value::Object(inner)) => inner.clone(),
                    _ => Map::new(),
                };
                let done = self.key(&mut inner, nesting);
                if done.is_err() && existing(list, index).is_none() {
                    return done;
                }
                put(list, index, Value::Object(inner))?;
                done
            }
        }
    }

    /// What follows `=`, and whether that was the end of the text, with nothing in between.
    fn value(&mut self) -> Result<(Value, bool), Stop> {
        match &self.style {
            Style::Json => return Ok((self.json()?, false)),
            Style::Literal => return Ok((Value::from(self.until(&[]).text), false)),
            _ => {}
        }
        if self.at.rest().is_empty() {
            return Ok((Value::str(""), true));
        }
        if self.at.take('{') {
            return Ok((self.list()?, false));
        }
        let text = self.until(&[',']).text;
        Ok((self.scalar(text)?, false))
    }

    fn scalar(&mut self, text: String) -> Result<Value, Stop> {
        match &mut self.style {
            Style::Typed => Ok(typed::value(text)),
            Style::File(read) => Ok(Value::from(read(&text)?)),
            _ => Ok(Value::from(text)),
        }
    }

    /// `{a,b}`
    fn list(&mut self) -> Result<Value, Stop> {
        let mut list = List::new();
        loop {
            let Until { text, sign } = self.until(&[',', '}']);
            match sign {
                None => return failed("list must terminate with '}'"),
                Some(sign) => {
                    if sign == '}' {
                        self.at.take(',');
                    }
                    list.push(self.scalar(text)?);
                    if sign == '}' {
                        return Ok(Value::Array(list));
                    }
                }
            }
        }
    }

    /// One JSON value out of the text, and the comma after it.
    fn json(&mut self) -> Result<Value, Stop> {
        if self.at.is_empty_value() {
            return Ok(Value::Null);
        }
        let mut stream = serde_json::Deserializer::from_str(self.at.rest()).into_iter::<Value>();
        let mut value = match stream.next() {
            Some(Ok(value)) => value,
            Some(Err(error)) => return failed(error.to_string()),
            None => return Err(Stop::End),
        };
        let read = stream.byte_offset();
        self.at.skip(read);
        floats(&mut value);
        self.at.is_empty_value();
        Ok(value)
    }
}

fn existing(list: &List, index: i64) -> Option<&Value> {
    list.get(usize::try_from(index).ok()?)
}

fn set(map: &mut Map, key: &str, value: Value) {
    if !key.is_empty() {
        map.insert(key, value);
    }
}

fn put(list: &mut List, index: i64, value: Value) -> Result<(), Stop> {
    if index > MAX_INDEX {
        return failed(format!(
            "index of {index} is greater than maximum supported index of {MAX_INDEX}"
        ));
    }
    let Ok(index) = usize::try_from(index) else {
        return failed(format!("negative {index} index not allowed"));
    };
    while list.len() <= index {
        list.push(Value::Null);
    }
    list[index] = value;
    Ok(())
}

/// What Go says where a value is of another kind.
fn conversion(found: &Value, wanted: &str) -> String {
    format!(
        "unable to parse key: interface conversion: interface {{}} is {}, not {wanted}",
        go_type(found)
    )
}

#[cfg(test)]
mod tests;
