//! The schemas of types that are not declared with `record!`.

use std::collections::BTreeMap;

use model::{Inventory, Time, Value};

use super::{Field, Presence, Schema};

/// A type that says what the API server checks of it.
pub trait Described {
    /// The schema of this type.
    fn schema() -> Schema;

    /// Whether the value is one that is left out when an object is written, as Go's `omitempty` does.
    fn is_absent(&self) -> bool {
        false
    }
}

/// [`Described::is_absent`] as a function, for serde's `skip_serializing_if`.
pub fn is_absent<T: Described>(value: &T) -> bool {
    value.is_absent()
}

impl Described for String {
    fn schema() -> Schema {
        Schema::string()
    }
}

/// Left out when false. Where that must be told apart from nothing, the field is an `Option<bool>`.
impl Described for bool {
    fn schema() -> Schema {
        Schema::boolean()
    }

    fn is_absent(&self) -> bool {
        !*self
    }
}

impl Described for i64 {
    fn schema() -> Schema {
        Schema::integer().with("format", "int64")
    }
}

impl<T: Described> Described for Option<T> {
    fn schema() -> Schema {
        T::schema()
    }

    fn is_absent(&self) -> bool {
        self.is_none()
    }
}

impl<T: Described> Described for Vec<T> {
    fn schema() -> Schema {
        Schema::list(T::schema())
    }

    fn is_absent(&self) -> bool {
        self.is_empty()
    }
}

impl<T: Described> Described for BTreeMap<String, T> {
    fn schema() -> Schema {
        Schema::map(T::schema())
    }

    fn is_absent(&self) -> bool {
        self.is_empty()
    }
}

impl Described for Time {
    fn schema() -> Schema {
        Schema::string().with("format", "date-time")
    }
}

/// Anything, as the values of a Helm release are.
impl Described for Value {
    fn schema() -> Schema {
        Schema::any()
    }
}

/// What was applied: the keys of the objects.
impl Described for Inventory {
    fn schema() -> Schema {
        let field = |name, about| {
            Field::new(
                name,
                &[],
                Presence::Required,
                String::schema().described(&[about]),
            )
        };
        let entry = Schema::object(vec![
            field("id", "The object: `<namespace>_<name>_<group>_<kind>`."),
            field("v", "The version that it was applied in."),
        ]);
        let entries = Schema::list(entry.described(&["One object."])).described(&["The objects."]);
        Schema::object(vec![Field::new("entries", &[], Presence::Required, entries)])
    }
}
