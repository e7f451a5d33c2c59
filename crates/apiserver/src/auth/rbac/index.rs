//! The index of roles and bindings.
//!
//! Bindings are found by whom they name: a request looks at the bindings of its user and of the user's groups, and at
//! no others, however many there are.

use std::collections::{BTreeMap, HashMap};
use std::ops::ControlFlow;
use std::sync::Arc;

use model::{Str, Value};

use super::RbacKind;
use super::binding::{Binding, Identity, RoleRef};
use super::decision::{Decision, Unresolved};
use super::rule::Rule;
use crate::auth::attributes::Attributes;
use crate::auth::user::User;
use crate::error;

/// All roles and bindings.
#[derive(Debug, Default)]
pub struct Rbac {
    cluster_roles: HashMap<Str, Vec<Rule>>,
    cluster: Bindings,
    namespaces: HashMap<Str, Namespace>,
}

/// What one namespace has.
#[derive(Debug, Default)]
struct Namespace {
    roles: HashMap<Str, Vec<Rule>>,
    bindings: Bindings,
}

type ByName = BTreeMap<Str, Arc<Binding>>;

/// The bindings of one scope, by name and by whom they name.
#[derive(Debug, Default)]
struct Bindings {
    all: ByName,
    by_user: HashMap<Str, ByName>,
    by_group: HashMap<Str, ByName>,
}

impl Rbac {
    /// Takes in an object that is new or changed; `None` takes it out. `namespace` is empty for cluster-wide kinds.
    pub fn set(&mut self, kind: RbacKind, namespace: &str, name: &str, object: Option<&Value>) {
        match kind {
            RbacKind::ClusterRole => set_role(&mut self.cluster_roles, name, object),
            RbacKind::ClusterRoleBinding => self.cluster.set("", name, object),
            RbacKind::Role => {
                self.in_namespace(namespace, |inside| set_role(&mut inside.roles, name, object))
            }
            RbacKind::RoleBinding => {
                self.in_namespace(namespace, |inside| inside.bindings.set(namespace, name, object));
            }
        }
    }

    fn in_namespace(&mut self, namespace: &str, change: impl FnOnce(&mut Namespace)) {
        let inside = self.namespaces.entry(Str::new(namespace)).or_default();
        change(inside);
        if inside.roles.is_empty() && inside.bindings.all.is_empty() {
            self.namespaces.remove(namespace);
        }
    }

    /// Whether the request is allowed.
    pub fn authorize<'a>(&'a self, request: &Attributes<'a>) -> Decision<'a> {
        if request.user.is_master() {
            return Decision::master();
        }
        let mut unresolved = Vec::new();
        let granted = self.visit(request.user, request.namespace(), |binding, rules| match rules {
            Ok(rules) if rules.iter().any(|rule| rule.allows(request)) => ControlFlow::Break(binding),
            Ok(_) => ControlFlow::Continue(()),
            Err(missing) => {
                unresolved.push(missing);
                ControlFlow::Continue(())
            }
        });
        match granted {
            ControlFlow::Break(binding) => Decision::granted(binding, request.user),
            ControlFlow::Continue(()) => Decision::refused(unresolved),
        }
    }

    /// Passes if the request is allowed.
    ///
    /// # Errors
    /// `Forbidden` with the message that says who cannot do what.
    pub fn check(&self, request: &Attributes<'_>) -> error::Result<()> {
        let decision = self.authorize(request);
        match decision.allowed {
            true => Ok(()),
            false => Err(request.forbidden(&decision.reason())),
        }
    }

    /// All rules that hold for a user in a namespace (or at the cluster scope, where it is empty), and the roles that
    /// could not be found.
    pub fn rules_for(&self, user: &User, namespace: &str) -> (Vec<&Rule>, Vec<Unresolved>) {
        let (mut found, mut unresolved) = (Vec::new(), Vec::new());
        let _ = self.visit(user, namespace, |_, rules| {
            match rules {
                Ok(rules) => found.extend(rules),
                Err(missing) => unresolved.push(missing),
            }
            ControlFlow::<()>::Continue(())
        });
        (found, unresolved)
    }

    /// Shows each binding that applies to the user, with the rules of its role: first those of the cluster, then those
    /// of the namespace, by name.
    fn visit<'a, B>(
        &'a self,
        user: &User,
        namespace: &str,
        mut visitor: impl FnMut(&'a Binding, Result<&'a [Rule], Unresolved>) -> ControlFlow<B>,
    ) -> ControlFlow<B> {
        let local = self
            .namespaces
            .get(namespace)
            .map(|inside| inside.bindings.of(user))
            .unwrap_or_default();
        for binding in self.cluster.of(user).into_iter().chain(local) {
            visitor(binding, self.rules_of(&binding.role, &binding.namespace))?;
        }
        ControlFlow::Continue(())
    }

    /// The rules of the role that a binding in this namespace names.
    pub(super) fn rules_of(&self, role: &RoleRef, namespace: &str) -> Result<&[Rule], Unresolved> {
        let name = role.name.as_str();
        match role.kind.as_str() {
            "ClusterRole" => {
                let rules = self.cluster_roles.get(name);
                rules
                    .map(Vec::as_slice)
                    .ok_or_else(|| Unresolved::ClusterRole(role.name.clone()))
            }
            "Role" => {
                let rules = self
                    .namespaces
                    .get(namespace)
                    .and_then(|inside| inside.roles.get(name));
                rules
                    .map(Vec::as_slice)
                    .ok_or_else(|| Unresolved::Role(role.name.clone()))
            }
            _ => Err(Unresolved::UnknownKind(role.kind.clone())),
        }
    }
}

fn set_role(roles: &mut HashMap<Str, Vec<Rule>>, name: &str, object: Option<&Value>) {
    match object {
        Some(role) => roles.insert(Str::new(name), Rule::all_of(role)),
        None => roles.remove(name),
    };
}

impl Bindings {
    fn set(&mut self, namespace: &str, name: &str, object: Option<&Value>) {
        if let Some(old) = self.all.remove(name) {
            self.unlink(&old);
        }
        if let Some(object) = object {
            self.link(Arc::new(Binding::from_value(namespace, name, object)));
        }
    }

    fn link(&mut self, binding: Arc<Binding>) {
        for identity in binding
            .subjects
            .iter()
            .filter_map(|subject| binding.identity(subject))
        {
            let names = match identity {
                Identity::User(name) => self.by_user.entry(name).or_default(),
                Identity::Group(name) => self.by_group.entry(name).or_default(),
            };
            names.insert(binding.name.clone(), Arc::clone(&binding));
        }
        self.all.insert(binding.name.clone(), binding);
    }

    fn unlink(&mut self, binding: &Binding) {
        for identity in binding
            .subjects
            .iter()
            .filter_map(|subject| binding.identity(subject))
        {
            let (map, key) = match identity {
                Identity::User(name) => (&mut self.by_user, name),
                Identity::Group(name) => (&mut self.by_group, name),
            };
            if let Some(names) = map.get_mut(&key) {
                names.remove(&binding.name);
                if names.is_empty() {
                    map.remove(&key);
                }
            }
        }
    }

    /// The bindings that name the user or one of the groups, by name, each once.
    fn of(&self, user: &User) -> Vec<&Binding> {
        let own = self.by_user.get(&user.name);
        let groups = user.groups.iter().filter_map(|group| self.by_group.get(group));
        let mut found: Vec<&Binding> = own
            .into_iter()
            .chain(groups)
            .flat_map(|names| names.values())
            .map(Arc::as_ref)
            .collect();
        found.sort_unstable_by(|a, b| a.name.cmp(&b.name));
        found.dedup_by(|a, b| a.name == b.name);
        found
    }
}
