//! What a patch has written over scalars that stand in several places of an object (`field::Writes`).

use yaml::node::{Node, Scalar};

use super::set_anew;
use crate::field::{WRITTEN, Writes};

/// Spreads what a patch has written, which the scalars are marked with. kyaml merges maps in the order of their keys, and so
/// the last of several writes wins.
pub(super) fn spread_written(object: &mut Node) {
    let mut writes = Writes::default();
    collect(object, &mut writes);
    writes.spread(object);
}

fn collect(node: &mut Node, writes: &mut Writes) {
    match node {
        Node::Scalar(scalar) if scalar.group == 0 => {}
        Node::Scalar(scalar) => visit(scalar, writes),
        Node::List(items) => items.iter_mut().for_each(|item| collect(item, writes)),
        Node::Map(map) => {
            let mut fields: Vec<(&str, &mut Node)> = map.iter_mut().collect();
            fields.sort_unstable_by_key(|(key, _)| *key);
            fields.into_iter().for_each(|(_, value)| collect(value, writes));
        }
    }
}

/// What kyaml does to a scalar with what it has done to it elsewhere.
fn visit(scalar: &mut Scalar, writes: &mut Writes) {
    let is_written = scalar.group & WRITTEN != 0;
    scalar.group &= !WRITTEN;
    match writes.last(scalar.group) {
        Some(before) if is_written => scalar.take_style(before),
        // The patch says nothing about it here, and so it is set anew.
        Some(before) => return set_anew(before),
        None => {}
    }
    writes.note(scalar);
}
