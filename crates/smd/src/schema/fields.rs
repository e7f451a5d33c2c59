//! The fields of a struct, found by name.

use std::ops::Deref;

use super::Field;

/// The fields of a struct, sorted by name. Reads like a slice.
///
/// Every walk over a value looks up every field, so there is a small hash table besides the list.
#[derive(Clone, Debug, Default)]
pub struct Fields {
    list: Vec<Field>,
    /// Places in the list by the hash of the name, [`FREE`] where there is none. Empty where halving the list is as
    /// good or the names share too many hashes.
    table: Vec<u16>,
}

const FREE: u16 = u16::MAX;

/// Up to this many fields no table is needed.
const FEW: usize = 2;

/// More places than this are not tried for one name, so that ill-chosen names cost no more than a binary search would.
const MAX_TRIES: usize = 8;

impl Fields {
    /// No fields.
    pub(crate) const fn none() -> Self {
        Fields {
            list: Vec::new(),
            table: Vec::new(),
        }
    }

    /// These fields, in any order.
    pub fn new(mut list: Vec<Field>) -> Self {
        list.sort_by(|a, b| a.name.cmp(&b.name));
        let table = table(&list).unwrap_or_default();
        Fields { list, table }
    }

    /// The field called `name`.
    pub fn find(&self, name: &str) -> Option<&Field> {
        if self.table.is_empty() {
            let at = self
                .list
                .binary_search_by(|field| field.name.as_str().cmp(name))
                .ok()?;
            return Some(&self.list[at]);
        }
        for place in places(name, self.table.len()) {
            let at = self.table[place];
            if at == FREE {
                return None;
            }
            let field = &self.list[usize::from(at)];
            if field.name == name {
                return Some(field);
            }
        }
        None
    }
}

fn table(list: &[Field]) -> Option<Vec<u16>> {
    if list.len() <= FEW || list.len() >= usize::from(FREE) {
        return None;
    }
    let mut table = vec![FREE; (list.len() * 2).next_power_of_two()];
    for (at, field) in list.iter().enumerate() {
        let free = places(&field.name, table.len()).find(|place| table[*place] == FREE)?;
        table[free] = at as u16;
    }
    Some(table)
}

/// The places of a table of `size` (a power of two) to try for `name`, in order.
fn places(name: &str, size: usize) -> impl Iterator<Item = usize> {
    let first = hash(name);
    (0..MAX_TRIES).map(move |step| first.wrapping_add(step) & (size - 1))
}

/// Field names differ at their beginning or end, so that looking at sixteen bytes is enough.
fn hash(name: &str) -> usize {
    let bytes = name.as_bytes();
    let (head, tail) = match (bytes.first_chunk::<8>(), bytes.last_chunk::<8>()) {
        (Some(head), Some(tail)) => (u64::from_le_bytes(*head), u64::from_le_bytes(*tail)),
        _ => match (bytes.first_chunk::<4>(), bytes.last_chunk::<4>()) {
            (Some(head), Some(tail)) => (u32::from_le_bytes(*head).into(), u32::from_le_bytes(*tail).into()),
            _ => (bytes.iter().fold(0, |word, byte| word << 8 | u64::from(*byte)), 0),
        },
    };
    let mixed = (head ^ tail.rotate_left(23) ^ bytes.len() as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    (mixed >> 40) as usize
}

impl Deref for Fields {
    type Target = [Field];

    fn deref(&self) -> &[Field] {
        &self.list
    }
}

impl From<Vec<Field>> for Fields {
    fn from(list: Vec<Field>) -> Self {
        Fields::new(list)
    }
}

impl FromIterator<Field> for Fields {
    fn from_iter<I: IntoIterator<Item = Field>>(fields: I) -> Self {
        Fields::new(fields.into_iter().collect())
    }
}

impl<'f> IntoIterator for &'f Fields {
    type Item = &'f Field;
    type IntoIter = std::slice::Iter<'f, Field>;

    fn into_iter(self) -> Self::IntoIter {
        self.list.iter()
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Strategy, TypeId};
    use super::*;

    fn fields(names: impl IntoIterator<Item = String>) -> Fields {
        let field = |name: String| Field {
            name: name.into(),
            ty: TypeId(0),
            required: false,
            default: None,
            strategy: Strategy::default(),
        };
        names.into_iter().map(field).collect()
    }

    #[test]
    fn every_field_is_found_and_no_other() {
        for count in [0, 1, 2, 3, 40, 300] {
            let known = fields((0..count).map(|n| format!("field{n}")));
            assert!((0..count).all(|n| {
                known
                    .find(&format!("field{n}"))
                    .is_some_and(|f| f.name == format!("field{n}"))
            }));
            assert!((count..count + 100).all(|n| known.find(&format!("field{n}")).is_none()));
        }
    }

    #[test]
    fn names_that_share_their_hash_are_found_by_halving() {
        let name = |n: usize| format!("abcdefgh{n:03}abcdefgh");
        let known = fields((0..100).map(name));
        assert!(known.table.is_empty());
        assert!((0..100).all(|n| known.find(&name(n)).is_some_and(|field| field.name == name(n))));
        assert!(known.find(&name(100)).is_none());
    }
}
