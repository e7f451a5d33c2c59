//! The set of fields that a value mentions.

use model::{Map, Value};

use super::{Atom, ListAtom, MapAtom, TypeRef};
use crate::fieldset::{Branch, FieldSet, PathElement};

impl TypeRef<'_> {
    /// Every field, list element and map entry that `value` mentions. Structs are not in the set, what is in them is.
    pub fn field_set(self, value: &Value) -> FieldSet {
        branch(self, value).below
    }
}

fn branch(ty: TypeRef<'_>, value: &Value) -> Branch {
    match (ty.atom(Some(value)), value) {
        (Atom::Scalar(_), _) => Branch::leaf(),
        (Atom::List(list), _) if list.is_atomic() => Branch::leaf(),
        (Atom::Map(map), _) if map.atomic => Branch::leaf(),
        (Atom::List(list), Value::Array(items)) => Branch {
            member: false,
            below: items_set(list, items),
        },
        (Atom::Map(map), Value::Object(fields)) => Branch {
            member: false,
            below: fields_set(map, fields),
        },
        _ => Branch::default(),
    }
}

fn fields_set(map: MapAtom<'_>, fields: &Map) -> FieldSet {
    let mut set = FieldSet::new();
    set.nodes.reserve_exact(fields.len());
    for (name, value) in fields.iter() {
        let declared = map.declared(name);
        let mut found = branch(declared.unwrap_or_else(|| map.type_or_deduced(name)), value);
        let is_empty = match value {
            Value::Null => true,
            Value::Object(fields) => fields.is_empty(),
            _ => false,
        };
        found.member |= is_empty || declared.is_none();
        set.add(PathElement::field(name), found);
    }
    set
}

/// Elements that are there twice belong to the set, but nothing that is in them.
fn items_set(list: ListAtom<'_>, items: &[Value]) -> FieldSet {
    let sorted = list.sorted(items);
    let mut set = FieldSet::new();
    set.nodes.reserve_exact(sorted.len());
    let mut rest = sorted.into_iter().peekable();
    while let Some((element, at)) = rest.next() {
        let mut is_twice = false;
        while rest.next_if(|(next, _)| *next == element).is_some() {
            is_twice = true;
        }
        let below = if is_twice {
            FieldSet::new()
        } else {
            branch(list.item, &items[at]).below
        };
        set.add(element, Branch { member: true, below });
    }
    set
}
