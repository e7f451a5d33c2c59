//! What can be done with objects, one file per verb.

pub(crate) mod create;
pub(crate) mod delete;
mod delete_options;
pub(crate) mod list;
pub(crate) mod options;
pub(crate) mod patch;
mod patched;
pub(crate) mod policy;
pub(crate) mod read;
pub(crate) mod scale;
pub(crate) mod selection;
pub(crate) mod update;
pub(crate) mod watch;
pub(crate) mod write;

use std::sync::Arc;

use parking_lot::Mutex;

use crate::auth::User;
use crate::http::{Request, Target};
use crate::kinds::Served;
use crate::server::State;
use crate::store::Key;
use crate::strategy::Part;

/// A request on a resource, by a user who may do it.
pub(crate) struct Call<'a> {
    pub state: &'a Arc<State>,
    pub served: Arc<Served>,
    pub target: &'a Target,
    pub request: &'a Request,
    pub user: &'a User,
    /// Remarks that go back in `Warning` headers.
    pub warnings: Mutex<Vec<String>>,
}

impl Call<'_> {
    /// The namespace objects are in; empty for resources of the cluster.
    pub(crate) fn namespace(&self) -> &str {
        if self.served.resource.namespaced {
            &self.target.namespace
        } else {
            ""
        }
    }

    /// Where the named object is stored.
    pub(crate) fn key(&self) -> Key {
        Key::new(self.namespace(), &self.target.name)
    }

    /// The part of the object the path names.
    pub(crate) fn part(&self) -> Part {
        if self.target.subresource == "status" {
            Part::Status
        } else {
            Part::Main
        }
    }

    /// Remembers a remark for the client.
    pub(crate) fn warn(&self, text: impl Into<String>) {
        let text = text.into();
        let mut warnings = self.warnings.lock();
        if !warnings.contains(&text) {
            warnings.push(text);
        }
    }
}
