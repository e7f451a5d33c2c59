//! Bringing a field set in line with a type that changed since the set was written.

use super::{Atom, TypeRef};
use crate::fieldset::{FieldSet, Node, PathElement};

impl TypeRef<'_> {
    /// Where a list or map is now owned as a whole, the owners of its parts become owners of the whole. Returns
    /// whether anything changed.
    pub(crate) fn reconcile(self, set: &mut FieldSet) -> bool {
        below(self.atom(None), set)
    }
}

fn below(atom: Atom<'_>, set: &mut FieldSet) -> bool {
    let mut changed = false;
    match atom {
        Atom::List(list) if !list.is_atomic() => {
            set.nodes
                .iter_mut()
                .for_each(|child| changed |= node(list.item, child));
        }
        Atom::Map(map) if !map.atomic && !map.is_deduced() => {
            for child in &mut set.nodes {
                let ty = match &child.element {
                    PathElement::Field(name) => map.type_of(name),
                    _ => map.element,
                };
                if let Some(ty) = ty {
                    changed |= node(ty, child);
                }
            }
        }
        _ => {}
    }
    changed
}

fn node(ty: TypeRef<'_>, node: &mut Node) -> bool {
    let atom = ty.atom(None);
    let is_whole = match atom {
        Atom::List(list) => list.is_atomic(),
        Atom::Map(map) => map.atomic,
        Atom::Scalar(_) => return false,
    };
    if !is_whole {
        return below(atom, &mut node.below);
    }
    let has_parts = !node.below.is_empty();
    if has_parts {
        node.member = true;
        node.below = FieldSet::new();
    }
    has_parts
}
