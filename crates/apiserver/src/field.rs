//! Validation failures of single fields, worded as the real server words them.

use std::collections::HashSet;
use std::fmt;

use model::Value;

use crate::error::Cause;

/// What is wrong with a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Something it refers to is not there.
    NotFound,
    /// It must be there.
    Required,
    /// It stands twice.
    Duplicate,
    /// Its value is not allowed.
    Invalid,
    /// Its value is none of those listed.
    NotSupported,
    /// It may not be set here.
    Forbidden,
    /// It has too many bytes.
    TooLong,
    /// It has too many elements.
    TooMany,
    /// It has the wrong JSON type.
    TypeInvalid,
    /// Checking it failed.
    Internal,
}

/// A failure of one field.
#[derive(Clone, Debug, PartialEq)]
pub struct Error {
    /// What is wrong.
    pub kind: Kind,
    /// Where: `spec.template.spec.containers[0].name`.
    pub field: String,
    /// The value found, as it is printed; empty for kinds that print none, and where it is left out.
    pub value: String,
    /// Why.
    pub detail: String,
}

impl Error {
    /// A failure of any kind; `value` is as it is printed.
    pub fn new(
        kind: Kind,
        field: impl Into<String>,
        value: impl Into<String>,
        detail: impl Into<String>,
    ) -> Self {
        Error {
            kind,
            field: field.into(),
            value: value.into(),
            detail: detail.into(),
        }
    }

    /// A required field is missing. `detail` may be empty.
    pub fn required(field: impl Into<String>, detail: impl Into<String>) -> Self {
        Error {
            kind: Kind::Required,
            field: field.into(),
            value: String::new(),
            detail: detail.into(),
        }
    }

    /// A value is not allowed.
    pub fn invalid(field: impl Into<String>, value: &Value, detail: impl Into<String>) -> Self {
        Error {
            kind: Kind::Invalid,
            field: field.into(),
            value: print(value),
            detail: detail.into(),
        }
    }

    /// A value has the wrong JSON type.
    pub fn type_invalid(field: impl Into<String>, value: &Value, detail: impl Into<String>) -> Self {
        Error {
            kind: Kind::TypeInvalid,
            field: field.into(),
            value: print(value),
            detail: detail.into(),
        }
    }

    /// A value is none of `supported`.
    pub fn not_supported(field: impl Into<String>, value: &Value, supported: &[&str]) -> Self {
        let quoted: Vec<String> = supported.iter().map(|s| model::quote::quote(s)).collect();
        let detail = match supported {
            [] => String::new(),
            _ => format!("supported values: {}", quoted.join(", ")),
        };
        Error {
            kind: Kind::NotSupported,
            field: field.into(),
            value: print(value),
            detail,
        }
    }

    /// A value stands twice.
    pub fn duplicate(field: impl Into<String>, value: &Value) -> Self {
        Error {
            kind: Kind::Duplicate,
            field: field.into(),
            value: print(value),
            detail: String::new(),
        }
    }

    /// A field may not be set here.
    pub fn forbidden(field: impl Into<String>, detail: impl Into<String>) -> Self {
        Error {
            kind: Kind::Forbidden,
            field: field.into(),
            value: String::new(),
            detail: detail.into(),
        }
    }

    /// A text has more than `most` bytes.
    pub fn too_long(field: impl Into<String>, most: i64) -> Self {
        let bytes = if most == 1 { "byte" } else { "bytes" };
        Error {
            kind: Kind::TooLong,
            field: field.into(),
            value: String::new(),
            detail: format!("may not be more than {most} {bytes}"),
        }
    }

    /// There are `found` elements, and `most` are allowed.
    pub fn too_many(field: impl Into<String>, found: i64, most: i64) -> Self {
        let items = if most == 1 { "item" } else { "items" };
        Error {
            kind: Kind::TooMany,
            field: field.into(),
            value: found.to_string(),
            detail: format!("must have at most {most} {items}"),
        }
    }

    /// The field's failure as a cause of a `Status`.
    pub fn cause(&self) -> Cause {
        Cause {
            reason: self.kind.reason().into(),
            message: self.body(),
            field: self.field.clone(),
        }
    }

    /// The message without the path.
    pub fn body(&self) -> String {
        let mut text = self.kind.label().to_owned();
        let shows_value = !matches!(
            self.kind,
            Kind::Required | Kind::Forbidden | Kind::TooLong | Kind::Internal
        );
        if shows_value && !self.value.is_empty() {
            text.push_str(": ");
            text.push_str(&self.value);
        }
        if !self.detail.is_empty() {
            text.push_str(": ");
            text.push_str(&self.detail);
        }
        text
    }
}

impl Kind {
    fn label(self) -> &'static str {
        match self {
            Kind::NotFound => "Not found",
            Kind::Required => "Required value",
            Kind::Duplicate => "Duplicate value",
            Kind::Invalid | Kind::TypeInvalid => "Invalid value",
            Kind::NotSupported => "Unsupported value",
            Kind::Forbidden => "Forbidden",
            Kind::TooLong => "Too long",
            Kind::TooMany => "Too many",
            Kind::Internal => "Internal error",
        }
    }

    fn reason(self) -> &'static str {
        match self {
            Kind::NotFound => "FieldValueNotFound",
            Kind::Required => "FieldValueRequired",
            Kind::Duplicate => "FieldValueDuplicate",
            Kind::Invalid => "FieldValueInvalid",
            Kind::NotSupported => "FieldValueNotSupported",
            Kind::Forbidden => "FieldValueForbidden",
            Kind::TooLong => "FieldValueTooLong",
            Kind::TooMany => "FieldValueTooMany",
            Kind::TypeInvalid => "FieldValueTypeInvalid",
            Kind::Internal => "InternalError",
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.field, self.body())
    }
}

/// All failures as one text: a single one plain, several in brackets, each once.
pub fn join(errors: &[Error]) -> String {
    let mut seen = HashSet::new();
    let texts: Vec<String> = errors
        .iter()
        .map(Error::to_string)
        .filter(|text| seen.insert(text.clone()))
        .collect();
    match texts.as_slice() {
        [one] => one.clone(),
        many => format!("[{}]", many.join(", ")),
    }
}

/// A value as Go prints it in such messages: strings quoted, maps and lists as JSON.
pub(crate) fn print(value: &Value) -> String {
    match value {
        Value::Float(number) => smd::patch::go_text::float(*number),
        Value::Str(text) => model::quote::quote(text),
        other => model::json::to_string(other),
    }
}
