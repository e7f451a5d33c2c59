//! Single values: which JSON fits which Go type, and what is written in place of what was given.

use crate::TypeId;
use crate::patch::go_text::json_kind;
use model::{Value, json};

use super::path::{Path, type_fault};
use super::quantity::Quantity;
use super::time::{self, Precision};
use super::{Fatal, Reader, bytes};

impl Reader<'_> {
    /// Goes on where `fits`; else notes the fault and leaves the zero value, as Go does.
    pub(super) fn check(
        &mut self,
        fits: bool,
        ty: TypeId,
        go: &str,
        value: &mut Value,
        path: &Path,
    ) -> Result<(), Fatal> {
        if !fits {
            self.fault
                .get_or_insert_with(|| type_fault(json_kind(value), go, path));
            *value = self.types.zero(ty);
        }
        Ok(())
    }

    pub(super) fn integer(
        &mut self,
        short: bool,
        ty: TypeId,
        go: &str,
        value: &mut Value,
        path: &Path,
    ) -> Result<(), Fatal> {
        let fits = match value {
            Value::Int(number) => !short || i32::try_from(*number).is_ok(),
            _ => false,
        };
        if !fits && let Some(number) = number_text(value) {
            self.fault
                .get_or_insert_with(|| type_fault(&format!("number {number}"), go, path));
        }
        self.check(fits, ty, go, value, path)
    }

    pub(super) fn bytes(&mut self, value: &mut Value, path: &Path) -> Result<(), Fatal> {
        match value {
            Value::Str(text) => match bytes::normalize(text) {
                Ok(None) => {}
                Ok(Some(canonical)) => *value = canonical.into(),
                Err(message) => drop(self.fault.get_or_insert(message)),
            },
            Value::Array(items) => {
                let mut list = Vec::with_capacity(items.len());
                for item in items.iter() {
                    match item {
                        Value::Int(number) if u8::try_from(*number).is_ok() => list.push(*number as u8),
                        Value::Null => list.push(0),
                        other => {
                            let found = number_text(other)
                                .map_or_else(|| json_kind(other).to_owned(), |text| format!("number {text}"));
                            self.fault
                                .get_or_insert_with(|| type_fault(&found, "uint8", path));
                        }
                    }
                }
                *value = bytes::encode(&list).into();
            }
            other => drop(
                self.fault
                    .get_or_insert_with(|| type_fault(json_kind(other), "[]uint8", path)),
            ),
        }
        Ok(())
    }

    pub(super) fn time(&mut self, precision: Precision, value: &mut Value, path: &Path) -> Result<(), Fatal> {
        let Value::Str(text) = value else {
            return Err(type_fault(json_kind(value), "string", path));
        };
        *value = time::normalize(text, precision)?.map_or(Value::Null, Value::Str);
        Ok(())
    }

    pub(super) fn quantity(&mut self, value: &mut Value) -> Result<(), Fatal> {
        let text = match &*value {
            Value::Str(text) => text.trim().to_owned(),
            other => json::to_string(other),
        };
        let canonical = Quantity::parse(&text)?.to_string();
        if value.as_str() != Some(&canonical) {
            *value = canonical.into();
        }
        Ok(())
    }

    pub(super) fn int_or_string(&mut self, value: &mut Value, path: &Path) -> Result<(), Fatal> {
        match value {
            Value::Str(_) => Ok(()),
            Value::Int(number) if i32::try_from(*number).is_ok() => Ok(()),
            other => {
                let found = number_text(other)
                    .map_or_else(|| json_kind(other).to_owned(), |text| format!("number {text}"));
                Err(type_fault(&found, "int32", path))
            }
        }
    }
}

/// A number as it stands in messages.
///
/// **Deviation**: Go prints the letters of the request, of which `1e3` and `1000.0` are the same to us.
fn number_text(value: &Value) -> Option<String> {
    match value {
        Value::Int(number) => Some(number.to_string()),
        Value::Float(number) => Some(format!("{number:?}")),
        _ => None,
    }
}
