//! Union, intersection and difference. All walk two sorted lists side by side.

use std::cmp::Ordering;

use super::{FieldSet, Node};

impl FieldSet {
    /// The fields that are in either set.
    #[must_use]
    pub fn union(&self, other: &FieldSet) -> FieldSet {
        let mut union = self.clone();
        union.extend(other.clone());
        union
    }

    /// The fields that are in both sets.
    #[must_use]
    pub fn intersection(&self, other: &FieldSet) -> FieldSet {
        let mut nodes = Vec::new();
        for_pairs(&self.nodes, &other.nodes, |a, b| {
            let (member, below) = (a.member && b.member, a.below.intersection(&b.below));
            if member || !below.is_empty() {
                nodes.push(Node {
                    element: a.element.clone(),
                    member,
                    below,
                });
            }
        });
        FieldSet { nodes }
    }

    /// The fields that are in this set and not in the other. Each field stands for itself: what is below a field that
    /// is taken away stays.
    #[must_use]
    pub fn difference(&self, other: &FieldSet) -> FieldSet {
        let mut difference = self.clone();
        difference.subtract(other);
        difference
    }

    /// The fields that are in this set and neither in the other nor below a field of the other.
    #[must_use]
    pub fn recursive_difference(&self, other: &FieldSet) -> FieldSet {
        let mut difference = self.clone();
        difference.subtract_recursively(other);
        difference
    }

    /// The fields that have no field of the set below them.
    #[must_use]
    pub fn leaves(&self) -> FieldSet {
        let leaf = |node: &Node| Node {
            element: node.element.clone(),
            member: node.member && node.below.is_empty(),
            below: node.below.leaves(),
        };
        FieldSet {
            nodes: self.nodes.iter().map(leaf).collect(),
        }
    }

    /// Whether every field of this set is in the other.
    pub fn is_subset(&self, other: &FieldSet) -> bool {
        let mut rest = other.nodes.as_slice();
        self.nodes.iter().all(|node| match skip_to(&mut rest, node) {
            Some(same) => same.member >= node.member && node.below.is_subset(&same.below),
            None => false,
        })
    }

    /// Whether some field is in both sets.
    pub fn intersects(&self, other: &FieldSet) -> bool {
        let mut rest = other.nodes.as_slice();
        self.nodes.iter().any(|node| {
            skip_to(&mut rest, node)
                .is_some_and(|same| (same.member && node.member) || node.below.intersects(&same.below))
        })
    }

    /// Adds the fields of the other set.
    pub fn extend(&mut self, other: FieldSet) {
        if self.nodes.is_empty() {
            *self = other;
            return;
        }
        if other.nodes.is_empty() {
            return;
        }
        let mut nodes = Vec::with_capacity(self.nodes.len() + other.nodes.len());
        let mut ours = std::mem::take(&mut self.nodes).into_iter().peekable();
        for theirs in other.nodes {
            while let Some(node) = ours.next_if(|node| node.element < theirs.element) {
                nodes.push(node);
            }
            match ours.next_if(|node| node.element == theirs.element) {
                Some(mut node) => {
                    node.member |= theirs.member;
                    node.below.extend(theirs.below);
                    nodes.push(node);
                }
                None => nodes.push(theirs),
            }
        }
        nodes.extend(ours);
        self.nodes = nodes;
    }

    /// Takes the fields of the other set away; returns whether any was there.
    pub fn subtract(&mut self, other: &FieldSet) -> bool {
        let mut changed = false;
        let mut rest = other.nodes.as_slice();
        if rest.is_empty() {
            return false;
        }
        self.nodes.retain_mut(|node| {
            if let Some(same) = skip_to(&mut rest, node) {
                changed |= node.member && same.member;
                node.member &= !same.member;
                changed |= node.below.subtract(&same.below);
            }
            node.member || !node.below.is_empty()
        });
        changed
    }

    /// Takes the fields of the other set away and all that is below them; returns whether any was there.
    pub fn subtract_recursively(&mut self, other: &FieldSet) -> bool {
        let mut changed = false;
        let mut rest = other.nodes.as_slice();
        if rest.is_empty() {
            return false;
        }
        self.nodes.retain_mut(|node| match skip_to(&mut rest, node) {
            None => true,
            Some(same) if same.member => {
                changed = true;
                false
            }
            Some(same) => {
                changed |= node.below.subtract_recursively(&same.below);
                node.member || !node.below.is_empty()
            }
        });
        changed
    }
}

/// The node of `rest` with the same element as `node`. Nodes are asked for in ascending order, so what is smaller is
/// never needed again.
fn skip_to<'a>(rest: &mut &'a [Node], node: &Node) -> Option<&'a Node> {
    while let [first, others @ ..] = *rest {
        match first.element.cmp(&node.element) {
            Ordering::Less => *rest = others,
            Ordering::Equal => return Some(first),
            Ordering::Greater => return None,
        }
    }
    None
}

fn for_pairs(a: &[Node], b: &[Node], mut visit: impl FnMut(&Node, &Node)) {
    let mut rest = b;
    for node in a {
        if let Some(same) = skip_to(&mut rest, node) {
            visit(node, same);
        }
    }
}
