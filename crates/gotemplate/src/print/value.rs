//! Any value by any verb.

use super::DEPTH;
use super::flags::Flags;
use crate::error::Error;
use crate::session::exceeds;
use crate::value::{IntType, Kind, Object, Type, Value};

/// Prints values one after the other into one buffer.
pub(crate) struct Printer {
    pub(crate) out: Vec<u8>,
    pub(crate) flags: Flags,
    /// How long the buffer may get.
    room: usize,
    /// While a complaint is printed, methods are not asked.
    complaining: bool,
    too_deep: bool,
    too_long: bool,
}

impl Printer {
    pub(crate) fn new(out: Vec<u8>, room: usize) -> Printer {
        Printer {
            room: out.len().saturating_add(room),
            out,
            flags: Flags::default(),
            complaining: false,
            too_deep: false,
            too_long: false,
        }
    }

    /// Why not all was printed.
    pub(crate) fn failure(&self) -> Option<Error> {
        if self.too_deep {
            return Some(Error::limit(format!(
                "a value that is nested more than {DEPTH} levels deep, or contains itself, cannot be printed"
            )));
        }
        (self.too_long || self.out.len() > self.room)
            .then(|| Error::limit("more would be printed than the limits allow"))
    }

    pub(crate) fn finish(self) -> Result<Vec<u8>, Error> {
        match self.failure() {
            Some(error) => Err(error),
            None => Ok(self.out),
        }
    }

    /// Whether there is still room. Padding is limited by itself, so that one step does not go far beyond.
    pub(crate) fn has_room(&mut self) -> bool {
        self.too_long |= self.out.len() > self.room;
        !self.too_long && !self.too_deep
    }

    /// A value that was given as an argument.
    pub(crate) fn arg(&mut self, value: &Value, verb: char) {
        match (value, verb) {
            (Value::None | Value::Nil, 'T' | 'v') => self.flags.pad(&mut self.out, b"<nil>"),
            (Value::None | Value::Nil, _) => self.bad_verb(value, verb),
            (_, 'T') => self.flags.string(&mut self.out, value.type_name().as_bytes()),
            _ => self.value(value, verb, 0),
        }
    }

    fn bad_verb(&mut self, value: &Value, verb: char) {
        self.complaining = true;
        self.out.extend_from_slice(format!("%!{verb}(").as_bytes());
        if value.is_nothing() {
            self.out.extend_from_slice(b"<nil>");
        } else {
            self.out.extend_from_slice(value.type_name().as_bytes());
            self.out.push(b'=');
            self.value(value, 'v', 0);
        }
        self.out.push(b')');
        self.complaining = false;
    }

    fn value(&mut self, value: &Value, verb: char, depth: usize) {
        if depth > DEPTH {
            self.too_deep = true;
        }
        if !self.has_room() {
            return;
        }
        match value {
            Value::None | Value::Nil if self.flags.sharp_v => {
                self.out.extend_from_slice(b"interface {}(nil)")
            }
            Value::None | Value::Nil => self.out.extend_from_slice(b"<nil>"),
            Value::Bool(bool) => match verb {
                't' | 'v' => self
                    .flags
                    .pad(&mut self.out, if *bool { b"true" } else { b"false" }),
                _ => self.bad_verb(value, verb),
            },
            Value::Int(int, number) => self.int(value, *int, *number, verb),
            Value::Float(number) => self.float(value, *number, verb),
            Value::Complex(real, imaginary) => self.complex(value, (*real, *imaginary), verb),
            Value::Str(text) => self.string(value, text.as_bytes(), verb),
            Value::Raw(bytes) => self.string(value, bytes, verb),
            Value::Bytes(bytes) => self.bytes(value, bytes, verb, depth),
            Value::List(list) => {
                if self.flags.sharp_v {
                    self.out.extend_from_slice(value.type_name().as_bytes());
                    if list.is_nil() {
                        return self.out.extend_from_slice(b"(nil)");
                    }
                }
                self.list(list.items(), verb, depth);
            }
            Value::Map(map) => {
                let entries = map.entries();
                if self.flags.sharp_v {
                    self.out.extend_from_slice(value.type_name().as_bytes());
                    if map.is_nil() {
                        return self.out.extend_from_slice(b"(nil)");
                    }
                }
                self.map(&entries, verb, depth);
            }
            Value::Object(object) => self.object(value, object.as_ref(), verb, depth),
        }
    }

    fn list(&mut self, items: &[Value], verb: char, depth: usize) {
        let (open, between, close): (u8, &[u8], u8) = match self.flags.sharp_v {
            true => (b'{', b", ", b'}'),
            false => (b'[', b" ", b']'),
        };
        self.out.push(open);
        for (index, item) in items.iter().enumerate() {
            if index > 0 {
                self.out.extend_from_slice(between);
            }
            self.value(item, verb, depth + 1);
            if !self.has_room() {
                return;
            }
        }
        self.out.push(close);
    }

    fn map(&mut self, entries: &[(arcstr::ArcStr, Value)], verb: char, depth: usize) {
        let (open, between, close): (&[u8], &[u8], u8) = match self.flags.sharp_v {
            true => (b"{", b", ", b'}'),
            false => (b"map[", b" ", b']'),
        };
        self.out.extend_from_slice(open);
        for (index, (key, item)) in entries.iter().enumerate() {
            if index > 0 {
                self.out.extend_from_slice(between);
            }
            self.value(&Value::Str(key.clone()), verb, depth + 1);
            self.out.push(b':');
            self.value(item, verb, depth + 1);
            if !self.has_room() {
                return;
            }
        }
        self.out.push(close);
    }

    fn object(&mut self, value: &Value, object: &dyn Object, verb: char, depth: usize) {
        if !self.complaining
            && !self.flags.sharp_v
            && matches!(verb, 'v' | 's' | 'x' | 'X' | 'q')
            && let Some(text) = object.text()
        {
            return self.string(value, text.as_bytes(), verb);
        }
        let name = object.type_name();
        let (pointer, name) = match name.strip_prefix('*') {
            Some(pointed) => ("&", pointed),
            None => ("", name),
        };
        match object.kind() {
            Kind::Map => {
                if self.flags.sharp_v {
                    self.out.extend_from_slice(name.as_bytes());
                }
                self.map(&object.fields(), verb, depth);
            }
            Kind::Slice => {
                if self.flags.sharp_v {
                    self.out.extend_from_slice(name.as_bytes());
                }
                self.list(&object.items(), verb, depth);
            }
            Kind::Struct | Kind::Pointer => {
                self.out.extend_from_slice(pointer.as_bytes());
                self.fields(object, name, verb, depth);
            }
            _ => match object.scalar() {
                Some(scalar) => self.value(&scalar, verb, depth),
                None => self.out.extend_from_slice(b"<nil>"),
            },
        }
    }

    fn fields(&mut self, object: &dyn Object, name: &str, verb: char, depth: usize) {
        if self.flags.sharp_v {
            self.out.extend_from_slice(name.as_bytes());
        }
        self.out.push(b'{');
        for (index, (name, field)) in object.fields().iter().enumerate() {
            if index > 0 {
                self.out
                    .extend_from_slice(if self.flags.sharp_v { b", " } else { b" " });
            }
            if self.flags.sharp_v || self.flags.plus_v {
                self.out.extend_from_slice(name.as_bytes());
                self.out.push(b':');
            }
            self.value(field, verb, depth + 1);
        }
        self.out.push(b'}');
    }

    fn int(&mut self, value: &Value, int: IntType, number: i64, verb: char) {
        let negative = int.is_signed() && number < 0;
        let bits = number.cast_unsigned();
        let size = if negative { number.unsigned_abs() } else { bits };
        let out = &mut self.out;
        match verb {
            'v' if self.flags.sharp_v && !int.is_signed() => {
                let flags = Flags {
                    sharp: true,
                    ..self.flags
                };
                flags.integer(out, size, negative, 16, 'v');
            }
            'v' | 'd' => self.flags.integer(out, size, negative, 10, verb),
            'b' => self.flags.integer(out, size, negative, 2, verb),
            'o' | 'O' => self.flags.integer(out, size, negative, 8, verb),
            'x' | 'X' => self.flags.integer(out, size, negative, 16, verb),
            'c' => self.flags.char(out, bits),
            'q' => self.flags.quoted_char(out, bits),
            'U' => self.flags.unicode(out, bits),
            _ => self.bad_verb(value, verb),
        }
    }

    fn float(&mut self, value: &Value, number: f64, verb: char) {
        match verb {
            'v' => self.flags.float(&mut self.out, number, 'g', None),
            'b' | 'g' | 'G' | 'x' | 'X' => self.flags.float(&mut self.out, number, verb, None),
            'e' | 'E' | 'f' | 'F' => self.flags.float(&mut self.out, number, verb, Some(6)),
            _ => self.bad_verb(value, verb),
        }
    }

    fn complex(&mut self, value: &Value, (real, imaginary): (f64, f64), verb: char) {
        if !matches!(verb, 'v' | 'b' | 'g' | 'G' | 'x' | 'X' | 'f' | 'F' | 'e' | 'E') {
            return self.bad_verb(value, verb);
        }
        let plus = self.flags.plus;
        self.out.push(b'(');
        self.float(value, real, verb);
        self.flags.plus = true;
        self.float(value, imaginary, verb);
        self.flags.plus = plus;
        self.out.extend_from_slice(b"i)");
    }

    fn string(&mut self, value: &Value, text: &[u8], verb: char) {
        // What is quoted, or shown in hexadecimal numbers, takes more room than the text.
        self.too_long |=
            exceeds(text.len(), self.room.saturating_sub(self.out.len())) && !matches!(verb, 'v' | 's');
        if self.too_long {
            return;
        }
        let out = &mut self.out;
        match verb {
            'v' if self.flags.sharp_v => self.flags.quoted(out, text),
            'v' | 's' => self.flags.string(out, text),
            'x' => self.flags.hex(out, text, false),
            'X' => self.flags.hex(out, text, true),
            'q' => self.flags.quoted(out, text),
            _ => self.bad_verb(value, verb),
        }
    }

    fn bytes(&mut self, value: &Value, bytes: &[u8], verb: char, depth: usize) {
        match verb {
            's' => self.flags.string(&mut self.out, bytes),
            'x' => self.flags.hex(&mut self.out, bytes, false),
            'X' => self.flags.hex(&mut self.out, bytes, true),
            'q' => self.flags.quoted(&mut self.out, bytes),
            _ => {
                if self.flags.sharp_v {
                    let name = if depth == 0 {
                        "[]byte".into()
                    } else {
                        Type::BYTES.to_string()
                    };
                    self.out.extend_from_slice(name.as_bytes());
                }
                let items = value.items().unwrap_or_default();
                self.list(&items, verb, depth);
            }
        }
    }
}
