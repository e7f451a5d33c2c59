//! Bindings, as the index keeps them.

use std::fmt;

use model::quote::quote;
use model::{Str, Value};

use crate::auth::user::{User, service_account_name};

/// A role binding or, without a namespace, a cluster role binding.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Binding {
    pub(super) namespace: Str,
    pub(super) name: Str,
    pub(super) role: RoleRef,
    pub(super) subjects: Vec<Subject>,
}

/// The role that a binding gives.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct RoleRef {
    pub(super) group: Str,
    pub(super) kind: Str,
    pub(super) name: Str,
}

/// Somebody that a binding names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Subject {
    pub(super) kind: Str,
    pub(super) namespace: Str,
    pub(super) name: Str,
}

/// What identifies those that a subject stands for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Identity {
    /// The user of this name.
    User(Str),
    /// Everyone in this group.
    Group(Str),
}

impl Binding {
    pub(super) fn from_value(namespace: &str, name: &str, binding: &Value) -> Self {
        Binding {
            namespace: Str::new(namespace),
            name: Str::new(name),
            role: RoleRef::from_value(binding),
            subjects: binding
                .list_at(&["subjects"])
                .iter()
                .map(Subject::from_value)
                .collect(),
        }
    }

    pub(super) fn identity(&self, subject: &Subject) -> Option<Identity> {
        match subject.kind.as_str() {
            "User" => Some(Identity::User(subject.name.clone())),
            "Group" => Some(Identity::Group(subject.name.clone())),
            "ServiceAccount" => {
                let namespace = self.subject_namespace(subject);
                (!namespace.is_empty())
                    .then(|| Identity::User(service_account_name(namespace, &subject.name)))
            }
            _ => None,
        }
    }

    /// A subject without a namespace is in the binding's own.
    fn subject_namespace<'a>(&'a self, subject: &'a Subject) -> &'a Str {
        match subject.namespace.is_empty() {
            true => &self.namespace,
            false => &subject.namespace,
        }
    }

    /// The first subject that stands for the user.
    pub(super) fn subject_of(&self, user: &User) -> Option<&Subject> {
        self.subjects.iter().find(|subject| match self.identity(subject) {
            Some(Identity::User(name)) => name == user.name,
            Some(Identity::Group(group)) => user.in_group(&group),
            None => false,
        })
    }

    /// The binding, the role and the subject as reasons name them.
    pub(super) fn describe(&self, subject: Option<&Subject>) -> String {
        let (kind, name) = match self.namespace.is_empty() {
            true => ("ClusterRoleBinding", self.name.to_string()),
            false => ("RoleBinding", format!("{}/{}", self.name, self.namespace)),
        };
        let subject = match subject {
            Some(subject) if subject.kind == "ServiceAccount" => {
                let name = format!("{}/{}", subject.name, self.subject_namespace(subject));
                format!("ServiceAccount {}", quote(&name))
            }
            Some(subject) => format!("{} {}", subject.kind, quote(&subject.name)),
            None => String::new(),
        };
        format!("{kind} {} of {} to {subject}", quote(&name), self.role)
    }
}

impl RoleRef {
    pub(super) fn from_value(binding: &Value) -> Self {
        let part = |key| Str::new(binding.str_at(&["roleRef", key]));
        RoleRef {
            group: part("apiGroup"),
            kind: part("kind"),
            name: part("name"),
        }
    }
}

impl fmt::Display for RoleRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.kind, quote(&self.name))
    }
}

impl Subject {
    fn from_value(subject: &Value) -> Self {
        let part = |key| Str::new(subject.str_at(&[key]));
        Subject {
            kind: part("kind"),
            namespace: part("namespace"),
            name: part("name"),
        }
    }
}
