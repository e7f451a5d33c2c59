//! JSON as Go's `encoding/json` reads and writes it.

use super::{ANY, STR, made};
use crate::error::Error;
use crate::function::{Call, Function, Functions};
use crate::print::float::format_float;
use crate::session::exceeds;
use crate::utf8;
use crate::value::{IntType, Kind, Object, Value};

/// How deep values are written.
const DEPTH: usize = 500;

pub(super) fn add(functions: &mut Functions) {
    const COMPACT: Form = Form {
        escape: true,
        indent: None,
    };
    const PRETTY: Form = Form {
        escape: true,
        indent: Some("  "),
    };
    const RAW: Form = Form {
        escape: false,
        indent: None,
    };
    functions
        .insert(
            "fromJson",
            Function::new(&[STR], |call| {
                call.session.reads(call.bytes(0).len())?;
                match model::json::parse(call.bytes(0)) {
                    Ok(tree) => Value::from_tree(&tree, call.session),
                    Err(_) => Ok(Value::Nil),
                }
            }),
        )
        .insert(
            "mustFromJson",
            Function::new(&[STR], |call| {
                call.session.reads(call.bytes(0).len())?;
                let tree =
                    model::json::parse(call.bytes(0)).map_err(|error| Error::new(error.to_string()))?;
                Value::from_tree(&tree, call.session)
            }),
        )
        .insert("toJson", Function::new(&[ANY], |call| lenient(call, COMPACT)))
        .insert("mustToJson", Function::new(&[ANY], |call| strict(call, COMPACT)))
        .insert(
            "toPrettyJson",
            Function::new(&[ANY], |call| lenient(call, PRETTY)),
        )
        .insert(
            "mustToPrettyJson",
            Function::new(&[ANY], |call| strict(call, PRETTY)),
        )
        .insert("toRawJson", Function::new(&[ANY], |call| strict(call, RAW)))
        .insert("mustToRawJson", Function::new(&[ANY], |call| strict(call, RAW)));
}

/// A document as Go reads it into an `interface {}`.
///
/// # Errors
/// It is none, in Go's words.
pub fn parse(text: &[u8]) -> Result<Value, Error> {
    match model::json::parse(text) {
        Ok(tree) => Ok(Value::from(&tree)),
        Err(error) => Err(Error::new(error.to_string())),
    }
}

/// How JSON is laid out.
#[derive(Clone, Copy, Debug, Default)]
pub struct Form {
    /// Whether `<`, `>` and `&` are written so that HTML can hold them.
    pub escape: bool,
    /// What each level is indented by; all is in one line without.
    pub indent: Option<&'static str>,
}

/// A value as JSON, of at most `room` bytes.
///
/// # Errors
/// It has a part that JSON has not, in Go's words; it is nested too deep; or it is too long.
pub fn write(value: &Value, form: Form, room: usize) -> Result<Vec<u8>, Error> {
    let mut writer = Writer {
        out: Vec::new(),
        form,
        room,
    };
    writer.value(value, 0)?;
    Ok(writer.out)
}

fn strict(call: &mut Call<'_, '_>, form: Form) -> Result<Value, Error> {
    let out = written(call, form)??;
    made(call, out)
}

/// Sprig drops errors here and gives an empty text. Those of limits stay.
fn lenient(call: &mut Call<'_, '_>, form: Form) -> Result<Value, Error> {
    match written(call, form)? {
        Ok(out) => made(call, out),
        Err(error) if error.kind() == crate::error::ErrorKind::Limit => Err(error),
        Err(_) => Ok(Value::str("")),
    }
}

/// The argument as JSON, or what is wrong with it. What was written until then counts in any case.
fn written(call: &mut Call<'_, '_>, form: Form) -> Result<Result<Vec<u8>, Error>, Error> {
    let mut writer = Writer {
        out: Vec::new(),
        form,
        room: call.session.memory_left(),
    };
    let done = writer.value(call.arg(0), 0);
    call.session.work(writer.out.len())?;
    Ok(done.map(|()| writer.out))
}

struct Writer {
    out: Vec<u8>,
    form: Form,
    room: usize,
}

impl Writer {
    fn value(&mut self, value: &Value, depth: usize) -> Result<(), Error> {
        if depth > DEPTH {
            return Err(Error::limit(format!(
                "a value that is nested more than {DEPTH} levels deep, or contains itself, cannot be written as JSON"
            )));
        }
        if self.out.len() > self.room {
            return Err(Error::limit("more would be made than the limits allow"));
        }
        match value {
            Value::None | Value::Nil => self.out.extend_from_slice(b"null"),
            Value::Bool(bool) => self.out.extend_from_slice(if *bool { b"true" } else { b"false" }),
            Value::Int(IntType::Uint | IntType::Uint64, bits) => {
                self.out
                    .extend_from_slice(bits.cast_unsigned().to_string().as_bytes());
            }
            Value::Int(_, number) => self.out.extend_from_slice(number.to_string().as_bytes()),
            Value::Float(number) => self.float(*number)?,
            Value::Complex(..) => return Err(Error::new("json: unsupported type: complex128")),
            Value::Str(text) => self.string(text.as_bytes())?,
            Value::Raw(bytes) => self.string(bytes)?,
            Value::Bytes(bytes) => {
                self.out.push(b'"');
                self.out
                    .extend_from_slice(super::encoding::base64_encode(bytes).as_bytes());
                self.out.push(b'"');
            }
            Value::List(list) if list.is_nil() => self.out.extend_from_slice(b"null"),
            Value::List(list) => self.list(list.items(), depth)?,
            Value::Map(map) if map.is_nil() => self.out.extend_from_slice(b"null"),
            Value::Map(map) => self.map(&map.entries(), depth)?,
            Value::Object(object) => self.object(object.as_ref(), depth)?,
        }
        Ok(())
    }

    fn object(&mut self, object: &dyn Object, depth: usize) -> Result<(), Error> {
        if let Some(value) = object.json() {
            return self.value(&value, depth + 1);
        }
        match object.kind() {
            Kind::Map | Kind::Struct | Kind::Pointer => self.map(&object.fields(), depth),
            Kind::Slice => self.list(&object.items(), depth),
            _ => self.value(&object.scalar().unwrap_or(Value::Nil), depth + 1),
        }
    }

    fn float(&mut self, number: f64) -> Result<(), Error> {
        let shown = |form| format_float(number, form, None);
        if !number.is_finite() {
            let shown = String::from_utf8_lossy(&shown('g')).into_owned();
            return Err(Error::new(format!("json: unsupported value: {shown}")));
        }
        let size = number.abs();
        if size == 0.0 || (1e-6..1e21).contains(&size) {
            self.out.extend_from_slice(&shown('f'));
            return Ok(());
        }
        let mut text = shown('e');
        // `e-09` is written `e-9`.
        let length = text.len();
        if length >= 4 && text[length - 4..length - 1] == *b"e-0" {
            text.remove(length - 2);
        }
        self.out.extend_from_slice(&text);
        Ok(())
    }

    fn line(&mut self, depth: usize) {
        if let Some(indent) = self.form.indent {
            self.out.push(b'\n');
            for _ in 0..depth {
                self.out.extend_from_slice(indent.as_bytes());
            }
        }
    }

    fn list(&mut self, items: &[Value], depth: usize) -> Result<(), Error> {
        self.out.push(b'[');
        for (index, item) in items.iter().enumerate() {
            if index > 0 {
                self.out.push(b',');
            }
            self.line(depth + 1);
            self.value(item, depth + 1)?;
        }
        if !items.is_empty() {
            self.line(depth);
        }
        self.out.push(b']');
        Ok(())
    }

    fn map(&mut self, entries: &[(arcstr::ArcStr, Value)], depth: usize) -> Result<(), Error> {
        self.out.push(b'{');
        for (index, (key, item)) in entries.iter().enumerate() {
            if index > 0 {
                self.out.push(b',');
            }
            self.line(depth + 1);
            self.string(key.as_bytes())?;
            self.out.push(b':');
            if self.form.indent.is_some() {
                self.out.push(b' ');
            }
            self.value(item, depth + 1)?;
        }
        if !entries.is_empty() {
            self.line(depth);
        }
        self.out.push(b'}');
        Ok(())
    }

    fn string(&mut self, text: &[u8]) -> Result<(), Error> {
        if exceeds(text.len(), self.room.saturating_sub(self.out.len())) {
            return Err(Error::limit("more would be made than the limits allow"));
        }
        self.out.push(b'"');
        for (at, length, char) in utf8::runes(text) {
            let escape: &[u8] = match char {
                Some('"') => b"\\\"",
                Some('\\') => b"\\\\",
                Some('\n') => b"\\n",
                Some('\r') => b"\\r",
                Some('\t') => b"\\t",
                Some('\x08') => b"\\b",
                Some('\x0c') => b"\\f",
                None => b"\\ufffd",
                Some('\u{2028}') => b"\\u2028",
                Some('\u{2029}') => b"\\u2029",
                Some(char @ ('<' | '>' | '&')) if self.form.escape => {
                    let code = u32::from(char);
                    self.out.extend_from_slice(format!("\\u{code:04x}").as_bytes());
                    continue;
                }
                Some(char) if char < ' ' => {
                    let code = u32::from(char);
                    self.out.extend_from_slice(format!("\\u{code:04x}").as_bytes());
                    continue;
                }
                Some(_) => &text[at..at + length],
            };
            self.out.extend_from_slice(escape);
        }
        self.out.push(b'"');
        Ok(())
    }
}
