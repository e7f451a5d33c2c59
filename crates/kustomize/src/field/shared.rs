//! Scalars that stand in several places of an object.
//!
//! kustomize puts one and the same node wherever a transformer adds a label or an annotation: to the object, its selector and
//! its template. Whatever is later written over one of them in place, by labels of an overlay, a strategic merge patch, a
//! replacement or a var, is so written over all; what removes one or puts another node there leaves the others alone. Here
//! such scalars have a number in common ([`Scalar::group`]), and those that write in place do so through [`Writes`].

use yaml::node::{Node, Scalar};

/// The bit of a group's number that says that a patch has written over the scalar.
pub(crate) const WRITTEN: u16 = 1 << 15;

/// What was written over scalars that stand elsewhere too.
#[derive(Debug, Default)]
pub(crate) struct Writes(Vec<Scalar>);

impl Writes {
    /// Changes a node in place.
    pub(crate) fn change<T>(&mut self, node: &mut Node, change: impl FnOnce(&mut Node) -> T) -> T {
        let group = match node {
            Node::Scalar(scalar) if scalar.group != 0 => scalar.group,
            _ => return change(node),
        };
        if let Some(written) = self.last(group) {
            *node = Node::Scalar(written.clone());
        }
        let result = change(node);
        if let Node::Scalar(scalar) = node {
            scalar.group = group;
            self.note(scalar);
        }
        result
    }

    /// Remembers what was written over a scalar.
    pub(crate) fn note(&mut self, scalar: &Scalar) {
        if scalar.group == 0 {
            return;
        }
        match self.last(scalar.group) {
            Some(written) => *written = scalar.clone(),
            None => self.0.push(scalar.clone()),
        }
    }

    /// What was written last over the scalars of a group.
    pub(crate) fn last(&mut self, group: u16) -> Option<&mut Scalar> {
        self.0.iter_mut().find(|written| written.group == group)
    }

    /// Writes the same over the other scalars of the object.
    pub(crate) fn spread(self, object: &mut Node) {
        if !self.0.is_empty() {
            spread(object, &self.0);
        }
    }
}

fn spread(node: &mut Node, writes: &[Scalar]) {
    match node {
        Node::Scalar(scalar) if scalar.group != 0 => {
            if let Some(written) = writes.iter().find(|written| written.group == scalar.group) {
                *scalar = written.clone();
            }
        }
        Node::Scalar(_) => {}
        Node::List(items) => items.iter_mut().for_each(|item| spread(item, writes)),
        Node::Map(map) => map.iter_mut().for_each(|(_, value)| spread(value, writes)),
    }
}

/// Makes the scalars of a node ones of their own: of a copy, for example.
pub(crate) fn unlink(node: &mut Node) {
    match node {
        Node::Scalar(scalar) => scalar.group = 0,
        Node::List(items) => items.iter_mut().for_each(unlink),
        Node::Map(map) => map.iter_mut().for_each(|(_, value)| unlink(value)),
    }
}
