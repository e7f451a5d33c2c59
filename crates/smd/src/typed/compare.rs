//! What changed from one value to another.

use model::{Map, Value};

use super::{Atom, ListAtom, MapAtom, TypeRef};
use crate::fieldset::{Branch, FieldSet, PathElement};

/// The fields that differ between two values; none is in more than one of the sets.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Comparison {
    /// Fields that the old value has and the new one has not.
    pub removed: FieldSet,
    /// Fields that both have, with different values.
    pub modified: FieldSet,
    /// Fields that only the new value has.
    pub added: FieldSet,
}

impl Comparison {
    /// Whether nothing changed.
    pub fn is_same(&self) -> bool {
        self.removed.is_empty() && self.modified.is_empty() && self.added.is_empty()
    }
}

impl TypeRef<'_> {
    /// Compares an old with a new value of this type.
    pub fn compare(self, old: &Value, new: &Value) -> Comparison {
        change(self, Some(old), Some(new)).into_comparison()
    }
}

/// A list element's path element and place.
type Keyed = (PathElement, usize);

/// The part of a [`Comparison`] that is about one field and what is below it.
#[derive(Default)]
pub(super) struct Change {
    removed: Branch,
    modified: Branch,
    added: Branch,
}

/// Whether a field was looked at as one thing or through its parts.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Seen {
    Whole,
    Parts,
}

/// Compares an old with a new value, of which one may be missing.
pub(super) fn change(ty: TypeRef<'_>, old: Option<&Value>, new: Option<&Value>) -> Change {
    let mut change = Change::default();
    let atom = ty.atom(new.or(old));
    if let (Some(old), Some(new)) = (old, new) {
        // Where the kind of value changed, the old one's fields are gone and the new one's are there.
        let before = ty.atom(Some(old));
        if !before.is_same_kind(&atom) {
            change.visit(before, Some(old), Some(new));
        }
    }
    if change.visit(atom, old, new) == Seen::Parts {
        change.added.member |= old.is_none();
        change.removed.member |= new.is_none();
    }
    change
}

impl Change {
    fn is_empty(&self) -> bool {
        self.removed.is_empty() && self.modified.is_empty() && self.added.is_empty()
    }

    pub(super) fn into_comparison(self) -> Comparison {
        Comparison {
            removed: self.removed.below,
            modified: self.modified.below,
            added: self.added.below,
        }
    }

    fn visit(&mut self, atom: Atom<'_>, old: Option<&Value>, new: Option<&Value>) -> Seen {
        match atom {
            Atom::Scalar(_) => self.leaf(old, new),
            Atom::List(list) => {
                let (before, after) = (items(old), items(new));
                if list.is_atomic() || (before.is_empty() && after.is_empty()) {
                    return self.leaf(old, new);
                }
                self.items(list, before, after);
                Seen::Parts
            }
            Atom::Map(map) => {
                let (before, after) = (fields(old), fields(new));
                let is_empty = |fields: Option<&Map>| fields.is_none_or(Map::is_empty);
                if map.atomic || (is_empty(before) && is_empty(after)) {
                    return self.leaf(old, new);
                }
                self.fields(map, before, after);
                Seen::Parts
            }
        }
    }

    fn leaf(&mut self, old: Option<&Value>, new: Option<&Value>) -> Seen {
        match (old, new) {
            (None, _) => self.added.member = true,
            (_, None) => self.removed.member = true,
            (Some(old), Some(new)) if old != new => self.modified.member = true,
            _ => {}
        }
        Seen::Whole
    }

    fn fields(&mut self, map: MapAtom<'_>, old: Option<&Map>, new: Option<&Map>) {
        let mut visit = |name: &str, old: Option<&Value>, new: Option<&Value>| {
            let found = change(map.type_or_deduced(name), old, new);
            self.add(|| PathElement::field(name), found);
        };
        match (old, new) {
            (Some(old), Some(new)) if old.is_sorted() && new.is_sorted() => side_by_side(old, new, visit),
            (old, new) => {
                let both = old.into_iter().flat_map(Map::iter);
                both.for_each(|(name, value)| visit(name, Some(value), new.and_then(|new| new.get(name))));
                let added = new.into_iter().flat_map(Map::iter);
                let added = added.filter(|(name, _)| old.is_none_or(|old| !old.contains_key(name)));
                added.for_each(|(name, value)| visit(name, None, Some(value)));
            }
        }
    }

    pub(super) fn items(&mut self, list: ListAtom<'_>, old: &[Value], new: &[Value]) {
        if list.is_aligned(old, new) {
            for (old, new) in old.iter().zip(new) {
                let found = change(list.item, Some(old), Some(new));
                self.add(|| list.known_element(new), found);
            }
            return;
        }
        let (before, after) = (list.sorted(old), list.sorted(new));
        let (mut before, mut after) = (before.as_slice(), after.as_slice());
        while let Some(element) = smaller(before.first(), after.first()) {
            let (gone, left) = split_equal(before, element);
            let (come, right) = split_equal(after, element);
            let found = items_change(list, gone, old, come, new);
            self.add(|| element.clone(), found);
            (before, after) = (left, right);
        }
    }

    pub(super) fn add(&mut self, element: impl Fn() -> PathElement, found: Change) {
        if found.is_empty() {
            return;
        }
        let places = [&mut self.removed, &mut self.modified, &mut self.added];
        for (place, branch) in places
            .into_iter()
            .zip([found.removed, found.modified, found.added])
        {
            if !branch.is_empty() {
                place.below.add(element(), branch);
            }
        }
    }
}

/// Compares the elements of two lists that share a path element. One that is there twice is compared as a whole.
fn items_change(list: ListAtom<'_>, gone: &[Keyed], old: &[Value], come: &[Keyed], new: &[Value]) -> Change {
    let only = |places: &[Keyed]| places.first().map(|(_, at)| *at);
    match (gone.len(), come.len()) {
        (0 | 1, 0 | 1) => change(
            list.item,
            only(gone).map(|at| &old[at]),
            only(come).map(|at| &new[at]),
        ),
        (2.., 2..) => {
            let same = gone
                .iter()
                .map(|(_, at)| &old[*at])
                .eq(come.iter().map(|(_, at)| &new[*at]));
            let mut found = Change::default();
            found.modified.member = !same;
            found
        }
        (2.., _) => {
            let mut found = only(come)
                .map(|at| change(list.item, None, Some(&new[at])))
                .unwrap_or_default();
            found.removed.member = true;
            found
        }
        (_, _) => {
            let mut found = only(gone)
                .map(|at| change(list.item, Some(&old[at]), None))
                .unwrap_or_default();
            found.added.member = true;
            found
        }
    }
}

fn smaller<'a>(a: Option<&'a Keyed>, b: Option<&'a Keyed>) -> Option<&'a PathElement> {
    match (a, b) {
        (Some(a), Some(b)) => Some(if a.0 <= b.0 { &a.0 } else { &b.0 }),
        (a, b) => a.or(b).map(|(element, _)| element),
    }
}

fn split_equal<'a>(items: &'a [Keyed], element: &PathElement) -> (&'a [Keyed], &'a [Keyed]) {
    let count = items.iter().take_while(|(other, _)| other == element).count();
    items.split_at(count)
}

fn side_by_side(old: &Map, new: &Map, mut visit: impl FnMut(&str, Option<&Value>, Option<&Value>)) {
    let (mut before, mut after) = (old.iter().peekable(), new.iter().peekable());
    loop {
        match (before.peek(), after.peek()) {
            (None, None) => return,
            (Some((a, _)), Some((b, _))) if a == b => {
                let (gone, come) = (before.next(), after.next());
                visit(
                    gone.map(|(name, _)| name).unwrap_or_default(),
                    gone.map(|g| g.1),
                    come.map(|c| c.1),
                );
            }
            (Some((a, _)), b) if b.is_none_or(|(b, _)| a < b) => {
                if let Some((name, value)) = before.next() {
                    visit(name, Some(value), None);
                }
            }
            _ => {
                if let Some((name, value)) = after.next() {
                    visit(name, None, Some(value));
                }
            }
        }
    }
}

fn items(value: Option<&Value>) -> &[Value] {
    value
        .and_then(Value::as_array)
        .map(|items| items.as_slice())
        .unwrap_or_default()
}

fn fields(value: Option<&Value>) -> Option<&Map> {
    value.and_then(Value::as_object)
}
