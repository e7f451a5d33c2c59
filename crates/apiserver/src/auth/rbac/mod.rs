//! Role-based access control: roles say what may be done, bindings say by whom.

pub mod aggregate;
mod binding;
mod covers;
mod decision;
pub mod escalation;
mod index;
mod rule;

pub use aggregate::aggregate;
pub(crate) use decision::join;
pub use decision::{Decision, Unresolved};
pub use index::Rbac;
pub use rule::Rule;

/// The API group of roles and bindings.
pub const GROUP: &str = "rbac.authorization.k8s.io";

/// The four kinds of objects that access control is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RbacKind {
    /// Rights in one namespace.
    Role,
    /// Rights in all namespaces, or in those where a role binding gives them.
    ClusterRole,
    /// Gives a role's rights in one namespace.
    RoleBinding,
    /// Gives a cluster role's rights everywhere.
    ClusterRoleBinding,
}

impl RbacKind {
    /// The kind that a resource name stands for.
    pub fn of_resource(resource: &str) -> Option<Self> {
        match resource {
            "roles" => Some(RbacKind::Role),
            "clusterroles" => Some(RbacKind::ClusterRole),
            "rolebindings" => Some(RbacKind::RoleBinding),
            "clusterrolebindings" => Some(RbacKind::ClusterRoleBinding),
            _ => None,
        }
    }
}
