//! The answer to the question whether a request is allowed.

use std::fmt;

use model::Str;
use model::quote::quote;

use super::GROUP;
use super::binding::Binding;
use crate::auth::user::User;

/// Whether a request is allowed, and why.
#[derive(Clone, Debug)]
pub struct Decision<'a> {
    /// Whether it is allowed.
    pub allowed: bool,
    why: Why<'a>,
}

#[derive(Clone, Debug)]
enum Why<'a> {
    Master,
    Granted { binding: &'a Binding, user: &'a User },
    Refused { unresolved: Vec<Unresolved> },
}

impl<'a> Decision<'a> {
    pub(super) fn master() -> Self {
        Decision {
            allowed: true,
            why: Why::Master,
        }
    }

    pub(super) fn granted(binding: &'a Binding, user: &'a User) -> Self {
        Decision {
            allowed: true,
            why: Why::Granted { binding, user },
        }
    }

    pub(super) fn refused(unresolved: Vec<Unresolved>) -> Self {
        Decision {
            allowed: false,
            why: Why::Refused { unresolved },
        }
    }

    /// The reason as reviews give it; empty where there is nothing to say. It is put together only when asked for,
    /// because most requests never need it.
    pub fn reason(&self) -> String {
        match &self.why {
            Why::Master => String::new(),
            Why::Granted { binding, user } => {
                format!("RBAC: allowed by {}", binding.describe(binding.subject_of(user)))
            }
            Why::Refused { unresolved } if unresolved.is_empty() => String::new(),
            Why::Refused { unresolved } => {
                format!("RBAC: {}", join(unresolved.iter().map(ToString::to_string)))
            }
        }
    }
}

/// A binding that applies names a role that cannot be found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unresolved {
    /// There is no such role.
    Role(Str),
    /// There is no such cluster role.
    ClusterRole(Str),
    /// What it names is no kind of role.
    UnknownKind(Str),
}

impl Unresolved {
    /// The message of a write to `resource`. The real server looks roles up on behalf of that request, and its
    /// "not found" then names the request's resource.
    pub(super) fn in_request(&self, resource: &str) -> String {
        match self {
            Unresolved::Role(name) | Unresolved::ClusterRole(name) => {
                format!("{resource}.{GROUP} {} not found", quote(name))
            }
            Unresolved::UnknownKind(_) => self.to_string(),
        }
    }
}

impl fmt::Display for Unresolved {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Unresolved::Role(name) => write!(f, "role.{GROUP} {} not found", quote(name)),
            Unresolved::ClusterRole(name) => write!(f, "clusterrole.{GROUP} {} not found", quote(name)),
            Unresolved::UnknownKind(kind) => write!(f, "unsupported role reference kind: {}", quote(kind)),
        }
    }
}

/// Several messages as one: each once, in brackets where there is more than one.
pub(crate) fn join(messages: impl IntoIterator<Item = String>) -> String {
    let mut texts: Vec<String> = Vec::new();
    for message in messages {
        if !texts.contains(&message) {
            texts.push(message);
        }
    }
    match texts.as_slice() {
        [one] => one.clone(),
        many => format!("[{}]", many.join(", ")),
    }
}
