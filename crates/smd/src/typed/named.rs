//! Struct fields as members of a set.

use super::{Atom, TypeRef};
use crate::fieldset::{FieldSet, PathElement};

impl TypeRef<'_> {
    /// Adds to `set` every declared field that has fields of the set below it. Sets otherwise hold structs only
    /// through their fields, which is not enough to remove or keep a struct as such.
    pub(crate) fn add_named_fields(self, set: &mut FieldSet) {
        add(Some(self), set);
    }
}

fn add(ty: Option<TypeRef<'_>>, set: &mut FieldSet) {
    for node in &mut set.nodes {
        if node.below.is_empty() {
            continue;
        }
        // A set says nothing about the value's kind, so that a type that allows several counts as a map for fields.
        let below = match (&node.element, ty.map(|ty| ty.atom(None))) {
            (PathElement::Field(name), Some(Atom::Map(map))) => {
                node.member |= map.field(name).is_some();
                map.type_of(name)
            }
            (PathElement::Key(_), Some(Atom::List(list))) => Some(list.item),
            _ => None,
        };
        add(below, &mut node.below);
    }
}
