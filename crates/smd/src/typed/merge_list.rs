//! Merging lists whose elements are told apart by keys or by value.

use std::collections::VecDeque;

use model::Value;
use model::value::List;

use super::ListAtom;
use super::compare::Change;
use super::merge::merge;
use crate::fieldset::PathElement;

impl ListAtom<'_> {
    /// Merges `config` into `live`, neither of which is owned as a whole. `live` is not empty.
    pub(super) fn merge(&self, live: &mut List, config: &List) -> Change {
        let mut changed = Change::default();
        if config.is_empty() {
            return changed;
        }
        if self.is_aligned(live, config) {
            for (live, config) in live.iter_mut().zip(config) {
                let found = merge(self.item, live, config);
                changed.add(|| self.known_element(config), found);
            }
            return changed;
        }
        let old = live.clone();
        *live = Lists::new(self, std::mem::take(live), config).merge();
        changed.items(*self, &old, live);
        changed
    }
}

/// Two lists that are being merged.
struct Lists<'a, 's> {
    list: &'a ListAtom<'s>,
    /// Elements of the live list, taken out one by one.
    old: Vec<Option<Value>>,
    old_elements: Vec<PathElement>,
    old_places: Places,
    new: &'a [Value],
    new_elements: Vec<PathElement>,
    new_places: Places,
    /// The places in `new` of elements that are in both lists and not merged yet, in the order of `new`.
    shared: VecDeque<usize>,
    is_merged: Vec<bool>,
}

impl<'a, 's> Lists<'a, 's> {
    fn new(list: &'a ListAtom<'s>, old: List, new: &'a [Value]) -> Self {
        // Elements without key or value are told apart by their place: they match nothing and stay where they are.
        let element = |(at, item)| list.element(item).unwrap_or(PathElement::Index(at as i64));
        let old_elements: Vec<_> = old.iter().enumerate().map(element).collect();
        let new_elements: Vec<_> = new.iter().enumerate().map(element).collect();
        let old: Vec<_> = old.into_iter().map(Some).collect();
        let (old_places, new_places) = (Places::new(&old_elements), Places::new(&new_elements));
        let is_shared = |at: &usize| old_places.find(&old_elements, &new_elements[*at]).is_some();
        let shared = (0..new_elements.len()).filter(is_shared).collect();
        let is_merged = vec![false; new_elements.len()];
        Lists {
            list,
            old,
            old_elements,
            old_places,
            new,
            new_elements,
            new_places,
            shared,
            is_merged,
        }
    }

    /// Walks both lists. An element of one list is taken where it stands; one that is in both is taken at the place
    /// that keeps the order of `new`.
    fn merge(mut self) -> List {
        let mut out = List::with_capacity(self.old.len().max(self.new_elements.len()));
        let (mut l, mut r) = (0, 0);
        while l < self.old.len() || r < self.new_elements.len() {
            if l < self.old.len() && r < self.new_elements.len() {
                if self.old_elements[l] == self.new_elements[r] {
                    out.push(self.take_both(r));
                    self.shared.pop_front();
                    (l, r) = (l + 1, r + 1);
                    continue;
                }
                let next = self.shared.front().map(|at| &self.new_elements[*at]);
                if self.in_new(l).is_some() && next.is_some_and(|next| *next != self.old_elements[l]) {
                    l += 1;
                    continue;
                }
            }
            if l < self.old.len() {
                match self.in_new(l) {
                    None => {
                        out.extend(self.old[l].take());
                        l += 1;
                        continue;
                    }
                    Some(at) if self.is_merged[at] => l += 1,
                    Some(_) => {}
                }
            }
            if r < self.new_elements.len() {
                out.push(self.take_both(r));
                if self
                    .shared
                    .front()
                    .is_some_and(|at| self.new_elements[*at] == self.new_elements[r])
                {
                    self.shared.pop_front();
                }
                r += 1;
            }
        }
        out
    }

    /// The element at `r` of the new list, merged into the one of the live list if there is exactly one.
    fn take_both(&mut self, r: usize) -> Value {
        self.is_merged[r] = true;
        let place = self.old_places.find(&self.old_elements, &self.new_elements[r]);
        match place
            .filter(|place| place.is_only)
            .and_then(|place| self.old[place.at].take())
        {
            Some(mut item) => {
                merge(self.list.item, &mut item, &self.new[r]);
                item
            }
            None => self.new[r].clone(),
        }
    }

    fn in_new(&self, l: usize) -> Option<usize> {
        self.new_places
            .find(&self.new_elements, &self.old_elements[l])
            .map(|place| place.at)
    }
}

/// Where elements are in a list: their places, sorted by element.
struct Places(Vec<usize>);

struct Place {
    at: usize,
    is_only: bool,
}

impl Places {
    fn new(elements: &[PathElement]) -> Self {
        let mut places: Vec<_> = (0..elements.len()).collect();
        places.sort_by(|a, b| elements[*a].cmp(&elements[*b]));
        Places(places)
    }

    fn find(&self, elements: &[PathElement], element: &PathElement) -> Option<Place> {
        let first = self.0.partition_point(|at| elements[*at] < *element);
        let is_same = |place: usize| self.0.get(place).is_some_and(|at| elements[*at] == *element);
        is_same(first).then(|| Place {
            at: self.0[first],
            is_only: !is_same(first + 1),
        })
    }
}
