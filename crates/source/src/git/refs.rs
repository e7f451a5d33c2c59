//! What a server says about its references.

use gix_hash::ObjectId;

/// A reference of a remote repository.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ref {
    /// The full name, such as `refs/heads/main`, or `HEAD`.
    pub name: String,
    /// What it points to: a commit, or the tag object of an annotated tag.
    pub id: ObjectId,
    /// What an annotated tag leads to in the end.
    pub peeled: Option<ObjectId>,
}

impl Ref {
    /// The commit it leads to, if it leads to one.
    pub fn target(&self) -> ObjectId {
        self.peeled.unwrap_or(self.id)
    }

    pub(super) fn new(name: impl Into<String>, id: ObjectId) -> Self {
        Ref {
            name: name.into(),
            id,
            peeled: None,
        }
    }
}
