//! Bounds of what patches do to objects, for whoever builds what others wrote.

use std::sync::Arc;

use yaml::node::Node;

use crate::resource::Resource;

/// The memory of a value besides its text, about.
const VALUE: usize = 48;

/// Decides whether patches may go on.
pub trait Guard: Send + Sync {
    /// Is asked before each patch, and after each object that a patch of several objects has changed, with the bytes by which the object is
    /// larger now.
    ///
    /// # Errors
    /// Why not: the build fails with that.
    fn may_go_on(&self, grown: isize) -> Result<(), String>;
}

/// A guard, if there is one.
#[derive(Clone, Default)]
pub(crate) struct Guarded(pub(crate) Option<Arc<dyn Guard>>);

impl Guarded {
    /// Whether to begin with a patch.
    pub(crate) fn begin(&self) -> Result<(), String> {
        self.0.as_ref().map_or(Ok(()), |guard| guard.may_go_on(0))
    }

    /// The size of a resource, if somebody wants to know.
    pub(crate) fn size(&self, resource: &Resource) -> isize {
        match &self.0 {
            Some(_) => size(&resource.node).cast_signed(),
            None => 0,
        }
    }

    /// Whether to go on after a change of a resource that had this size before.
    pub(crate) fn changed(&self, resource: &Resource, before: isize) -> Result<(), String> {
        match &self.0 {
            Some(guard) => guard.may_go_on(self.size(resource) - before),
            None => Ok(()),
        }
    }
}

/// The memory of a node, about.
fn size(node: &Node) -> usize {
    VALUE
        + match node {
            Node::Map(map) => map.iter().map(|(key, value)| key.len() + size(value)).sum(),
            Node::List(items) => items.iter().map(size).sum(),
            Node::Scalar(scalar) => scalar.text.as_str().len(),
        }
}
