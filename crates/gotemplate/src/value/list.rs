//! Lists, which are Go's slices.

use std::sync::{Arc, OnceLock};

use super::{Type, Value, drop};

/// A list of values, shared and not changed, but for `sortAlpha`, which sorts a `[]string` where it is.
#[derive(Clone)]
pub struct List(Arc<Data>);

struct Data {
    element: Type,
    /// Go tells a `nil` slice from an empty one, and so does JSON.
    is_nil: bool,
    items: Box<[Value]>,
    /// The items once `sortAlpha` has seen them. It is the only function that changes a list in place, and what is sorted
    /// stays sorted, so that one change is all a list can have, and reading needs no lock.
    sorted: OnceLock<Box<[Value]>>,
}

impl List {
    /// A `[]interface {}`.
    pub fn new(items: Vec<Value>) -> List {
        List::of(Type::Any, items)
    }

    /// A list of elements of one type, which the caller keeps to.
    pub fn of(element: Type, items: Vec<Value>) -> List {
        List(Arc::new(Data {
            element,
            is_nil: false,
            items: items.into_boxed_slice(),
            sorted: OnceLock::new(),
        }))
    }

    /// `nil` of a list type: without items, and `null` in JSON.
    pub fn nil(element: Type) -> List {
        List(Arc::new(Data {
            element,
            is_nil: true,
            items: Box::default(),
            sorted: OnceLock::new(),
        }))
    }

    /// The bytes that a list of so many items takes, without what the items share.
    pub const fn size(items: usize) -> usize {
        // What counts the references, and what the heap needs around both blocks.
        size_of::<Data>() + 48 + items.saturating_mul(size_of::<Value>())
    }

    /// The items.
    pub fn items(&self) -> &[Value] {
        self.0.sorted.get().unwrap_or(&self.0.items)
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.0.items.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.0.items.is_empty()
    }

    /// Whether it is Go's `nil` and not just empty.
    pub fn is_nil(&self) -> bool {
        self.0.is_nil
    }

    /// The type of the elements.
    pub fn element(&self) -> Type {
        self.0.element
    }

    /// Puts the items of this very list into the order in which `sorted` gives them. Only the first order counts.
    pub(crate) fn sort_in_place(&self, sort: impl FnOnce(&mut [Value])) {
        self.0.sorted.get_or_init(|| {
            let mut items = self.0.items.clone();
            sort(&mut items);
            items
        });
    }

    /// The items of a list that nobody else has, which then is empty.
    pub(super) fn into_items(self) -> Option<Box<[Value]>> {
        let mut data = Arc::into_inner(self.0)?;
        data.sorted.take();
        Some(std::mem::take(&mut data.items))
    }

    pub(super) fn same(&self, other: &List) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Drop for Data {
    fn drop(&mut self) {
        if self.items.iter().any(drop::has_parts) {
            drop::all(std::mem::take(&mut self.items).into_vec());
        }
    }
}

impl FromIterator<Value> for List {
    fn from_iter<I: IntoIterator<Item = Value>>(items: I) -> List {
        List::new(items.into_iter().collect())
    }
}
