//! The columns of a table.

use jiff::Timestamp;
use model::{Str, Value, value};

/// A column of a built-in table.
pub(super) struct Column {
    name: &'static str,
    kind: &'static str,
    format: &'static str,
    /// 0 is always shown, 1 only in wide output.
    priority: i64,
}

/// The columns of a kind and how an object fills them.
pub(super) struct Layout {
    pub(super) columns: &'static [Column],
    pub(super) cells: fn(&Value, Timestamp) -> Vec<Value>,
}

/// The column every table begins with.
pub(super) const NAME: Column = Column {
    name: "Name",
    kind: "string",
    format: "name",
    priority: 0,
};
/// How long ago the object was created.
pub(super) const AGE: Column = text("Age");

/// A column of text.
pub(super) const fn text(name: &'static str) -> Column {
    Column {
        name,
        kind: "string",
        format: "",
        priority: 0,
    }
}

/// A column of text that is only shown in wide output.
pub(super) const fn wide(name: &'static str) -> Column {
    Column {
        priority: 1,
        ..text(name)
    }
}

/// A column of names.
pub(super) const fn name(name: &'static str) -> Column {
    Column { name, ..NAME }
}

/// The name as a column that is only shown in wide output.
pub(super) const WIDE_NAME: Column = Column { priority: 1, ..NAME };

/// A column of whole numbers.
pub(super) const fn number(name: &'static str) -> Column {
    Column {
        kind: "integer",
        ..text(name)
    }
}

/// A column of yes and no.
pub(super) const fn flag(name: &'static str) -> Column {
    Column {
        kind: "boolean",
        ..text(name)
    }
}

/// A column of times that the client turns into ages.
pub(super) const fn date(name: &'static str) -> Column {
    Column {
        kind: "date",
        ..text(name)
    }
}

impl Column {
    /// The column as a table defines it.
    pub(super) fn definition(&self) -> Value {
        definition(self.name, self.kind, self.format, "", self.priority)
    }
}

/// A column as a table defines it.
pub(super) fn definition(name: &str, kind: &str, format: &str, description: &str, priority: i64) -> Value {
    value!({
        "name": name,
        "type": kind,
        "format": format,
        "description": (Str::new(description)),
        "priority": priority,
    })
}
