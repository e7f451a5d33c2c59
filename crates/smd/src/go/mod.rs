//! Reading objects as the API server's typed JSON decoder does.
//!
//! The decoder reads into Go structs and writes from them, which is what gives objects their form: unknown fields are
//! gone, empty fields are gone or always there depending on their Go type, amounts, times and bytes are written anew.
//! [`GoTypes::decode`] brings an object into that form in place. It is idempotent.

mod bytes;
mod path;
pub mod quantity;
mod scalar;
mod time;
mod types;

use crate::TypeId;
use crate::patch::go_text::json_kind;
use model::{Map, Value};
use path::{Path, Step};
pub use quantity::Quantity;
pub use types::GoTypes;
use types::{Empty, Form, SchemaOr, Struct};

impl GoTypes {
    /// Brings `object`, which is of type `ty`, into the form that Go gives it. Returns the paths of fields that the
    /// type does not have and that are dropped, as `spec.template.spec.containers[0].foo`.
    ///
    /// # Errors
    /// Go's message for the first field of a wrong type.
    pub fn decode(&self, ty: TypeId, object: &mut Value) -> Result<Vec<String>, String> {
        let mut reader = Reader {
            types: self,
            unknown: Vec::new(),
            fault: None,
        };
        reader.value(ty, "", object, &Path::ROOT)?;
        match reader.fault {
            Some(fault) => Err(fault),
            None => Ok(reader.unknown),
        }
    }
}

/// A message that ends the reading at once. Go reads on after most faults and tells the first one at the end, but stops
/// at those of types that read themselves.
type Fatal = String;

struct Reader<'t> {
    types: &'t GoTypes,
    unknown: Vec<String>,
    fault: Option<String>,
}

impl Reader<'_> {
    /// Reads one value. `go` is what Go calls its type where the field says so, else empty.
    fn value(&mut self, ty: TypeId, go: &str, value: &mut Value, path: &Path) -> Result<(), Fatal> {
        let types = self.types;
        let known = types.get(ty);
        let go = if go.is_empty() { known.name.as_str() } else { go };
        if value.is_null() {
            *value = types.zero(ty);
            return Ok(());
        }
        match &known.form {
            Form::Raw => Ok(()),
            Form::Text => self.check(matches!(value, Value::Str(_)), ty, go, value, path),
            Form::Bool => self.check(matches!(value, Value::Bool(_)), ty, go, value, path),
            Form::Float => self.check(
                matches!(value, Value::Int(_) | Value::Float(_)),
                ty,
                go,
                value,
                path,
            ),
            Form::Int { short } => self.integer(*short, ty, go, value, path),
            Form::Bytes => self.bytes(value, path),
            Form::Time(precision) => self.time(*precision, value, path),
            Form::Quantity => self.quantity(value),
            Form::IntOrString => self.int_or_string(value, path),
            Form::List(item) => self.list(ty, *item, go, value, path),
            Form::Map(item) => self.map(ty, *item, go, value, path),
            Form::Struct(fields) => match value {
                Value::Object(map) => self.fields(fields, map, path),
                _ => self.check(false, ty, go, value, path),
            },
            Form::Schema { schema, or } => self.schema(*schema, *or, value, path),
        }
    }

    fn list(
        &mut self,
        ty: TypeId,
        item: TypeId,
        go: &str,
        value: &mut Value,
        path: &Path,
    ) -> Result<(), Fatal> {
        let Value::Array(items) = value else {
            return self.check(false, ty, go, value, path);
        };
        let go = go.strip_prefix("[]").unwrap_or_default();
        for (at, value) in items.iter_mut().enumerate() {
            self.value(item, go, value, &path.then(Step::Index(at)))?;
        }
        Ok(())
    }

    fn map(
        &mut self,
        ty: TypeId,
        item: TypeId,
        go: &str,
        value: &mut Value,
        path: &Path,
    ) -> Result<(), Fatal> {
        let Value::Object(map) = value else {
            return self.check(false, ty, go, value, path);
        };
        map.sort();
        let go = go
            .strip_prefix("map[")
            .and_then(|rest| rest.split_once(']'))
            .map_or("", |(_, item)| item);
        for (key, value) in map.iter_mut() {
            self.value(item, go, value, &path.then(Step::Key(key)))?;
        }
        Ok(())
    }

    fn fields(&mut self, fields: &Struct, map: &mut Map, path: &Path) -> Result<(), Fatal> {
        map.sort();
        let mut fatal = None;
        // Both are sorted: the search for a key goes on where the one for the last key ended.
        let mut next = 0;
        map.retain(|key, value| {
            if fatal.is_some() {
                return true;
            }
            while fields
                .fields
                .get(next)
                .is_some_and(|field| field.name.as_str() < key)
            {
                next += 1;
            }
            let Some(field) = fields.fields.get(next).filter(|field| field.name == key) else {
                self.unknown.push(path.then(Step::Key(key)).to_string());
                return false;
            };
            if value.is_null() {
                return false;
            }
            let step = Step::Field {
                holder: &fields.name,
                inlined: &field.inlined,
                name: &field.name,
            };
            match self.value(field.ty, &field.go, value, &path.then(step)) {
                Ok(()) => keep(&self.types.get(field.ty).form, &field.empty, value),
                Err(message) => {
                    fatal = Some(message);
                    true
                }
            }
        });
        if let Some(message) = fatal {
            return Err(message);
        }
        for at in &fields.always {
            let field = &fields.fields[*at];
            if let Empty::Written(zero) = &field.empty
                && !map.contains_key(&field.name)
            {
                map.insert(&field.name, zero.clone());
            }
        }
        Ok(())
    }

    /// JSON schemas are read apart from what they stand in: unknown fields are dropped without being told, and a fault
    /// ends the reading.
    fn schema(&mut self, schema: TypeId, or: SchemaOr, value: &mut Value, path: &Path) -> Result<(), Fatal> {
        let mut reader = Reader {
            types: self.types,
            unknown: Vec::new(),
            fault: None,
        };
        match (or, &mut *value) {
            (_, Value::Object(_)) => reader.value(schema, "", value, path)?,
            (SchemaOr::Bool, Value::Bool(_)) => {}
            (SchemaOr::Bool, _) => return Err("boolean or JSON schema expected".to_owned()),
            (SchemaOr::Schemas, Value::Array(items)) if !items.is_empty() => {
                for item in items {
                    reader.value(schema, "", item, path)?;
                }
            }
            (SchemaOr::Names, Value::Array(items)) if !items.is_empty() => {
                if let Some(wrong) = items.iter().find(|item| !matches!(item, Value::Str(_))) {
                    return Err(path::type_fault(json_kind(wrong), "string", path));
                }
            }
            (SchemaOr::Schemas | SchemaOr::Names, _) => *value = Value::Null,
        }
        reader.fault.map_or(Ok(()), Err)
    }
}

/// Whether a field that was read stays. Empty lists and maps do not outlive the server's store.
fn keep(form: &Form, empty: &Empty, value: &Value) -> bool {
    match (empty, value) {
        (Empty::Kept | Empty::Dropped, Value::Null) => false,
        (Empty::Dropped, value) => !is_zero(value),
        (Empty::Written(Value::Null), value) if matches!(form, Form::List(_) | Form::Map(_)) => {
            !is_zero(value)
        }
        _ => true,
    }
}

fn is_zero(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Bool(flag) => !flag,
        Value::Int(number) => *number == 0,
        Value::Float(number) => *number == 0.0,
        Value::Str(text) => text.is_empty(),
        Value::Array(items) => items.is_empty(),
        Value::Object(map) => map.is_empty(),
    }
}
