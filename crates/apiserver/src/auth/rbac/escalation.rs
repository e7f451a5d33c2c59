//! Nobody gives away rights they do not have.
//!
//! Who writes a role must hold all rights in it (or have the verb `escalate` on it); who writes a binding must hold
//! all rights of its role (or have the verb `bind` on it). Called before the object is validated, as the real server
//! does.

use model::quote::quote;
use model::{Str, Value};

use super::binding::RoleRef;
use super::covers;
use super::decision::{Unresolved, join};
use super::index::Rbac;
use super::rule::Rule;
use super::{GROUP, RbacKind};
use crate::auth::attributes::{Attributes, Resource, Target};
use crate::auth::quote::quote_list;
use crate::error::{Error, Result};
use crate::field;

/// Checks a write of a role or binding. `request` is the request as it was authorized, `object` what would be stored
/// (defaults filled in), `old` what an update replaces. Other resources pass.
///
/// # Errors
/// `Forbidden` with the list of missing rights, or what is wrong with the role a binding names.
pub fn check(rbac: &Rbac, request: &Attributes<'_>, object: &Value, old: Option<&Value>) -> Result<()> {
    let Target::Resource(target) = request.target else {
        return Ok(());
    };
    let kind = match RbacKind::of_resource(target.resource) {
        Some(kind) if target.group == GROUP && target.subresource.is_empty() => kind,
        _ => return Ok(()),
    };
    if request.user.is_master() || old.is_some_and(|old| only_collector_fields_differ(object, old)) {
        return Ok(());
    }
    match kind {
        RbacKind::RoleBinding | RbacKind::ClusterRoleBinding => check_binding(rbac, request, target, object),
        RbacKind::Role | RbacKind::ClusterRole if may(rbac, request, "escalate", target) => Ok(()),
        RbacKind::Role => check_rules(rbac, request, target, object),
        RbacKind::ClusterRole => {
            check_rules(rbac, request, target, object)?;
            check_aggregation(rbac, request, target, object, old)
        }
    }
}

/// What is wrong with an update of a binding that names another role; the role of a binding never changes.
pub fn role_ref_change(binding: &Value, old: &Value) -> Option<field::Error> {
    let (role, old) = (RoleRef::from_value(binding), RoleRef::from_value(old));
    (role != old).then(|| field::Error {
        kind: field::Kind::Invalid,
        field: "roleRef".into(),
        value: format!(
            "{{\"APIGroup\":{},\"Kind\":{},\"Name\":{}}}",
            quote(&role.group),
            quote(&role.kind),
            quote(&role.name)
        ),
        detail: "cannot change roleRef".into(),
    })
}

fn check_rules(rbac: &Rbac, request: &Attributes<'_>, target: Resource<'_>, role: &Value) -> Result<()> {
    confirm(rbac, request, target, &Rule::all_of(role)).map_err(|why| refuse(target, role, &why))
}

/// An aggregated role gathers whatever rules appear later, so who writes one must hold all rights there are.
fn check_aggregation(
    rbac: &Rbac,
    request: &Attributes<'_>,
    target: Resource<'_>,
    role: &Value,
    old: Option<&Value>,
) -> Result<()> {
    let aggregates = |role: &Value| {
        !role
            .list_at(&["aggregationRule", "clusterRoleSelectors"])
            .is_empty()
    };
    if !aggregates(role) && !old.is_some_and(aggregates) {
        return Ok(());
    }
    let why = "must have cluster-admin privileges to use the aggregationRule";
    confirm(rbac, request, target, &everything()).map_err(|_| refuse(target, role, why))
}

fn check_binding(rbac: &Rbac, request: &Attributes<'_>, target: Resource<'_>, binding: &Value) -> Result<()> {
    let role = RoleRef::from_value(binding);
    let resource = match role.kind.as_str() {
        "ClusterRole" => "clusterroles",
        "Role" => "roles",
        _ => "",
    };
    let bound = Resource {
        group: &role.group,
        resource,
        subresource: "",
        namespace: target.namespace,
        name: &role.name,
    };
    if !resource.is_empty() && may(rbac, request, "bind", bound) {
        return Ok(());
    }
    if resource == "roles" && target.namespace.is_empty() {
        return Err(Error::bad_request("Namespace parameter required."));
    }
    let rules = rbac
        .rules_of(&role, target.namespace)
        .map_err(|missing| match &missing {
            Unresolved::UnknownKind(_) => Error::new(500, "", missing.to_string()),
            Unresolved::Role(name) | Unresolved::ClusterRole(name) => {
                Error::not_found(GROUP, target.resource, name)
            }
        })?;
    confirm(rbac, request, target, rules).map_err(|why| refuse(target, binding, &why))
}

fn may(rbac: &Rbac, request: &Attributes<'_>, verb: &str, resource: Resource<'_>) -> bool {
    rbac.authorize(&Attributes::resource(request.user, verb, resource))
        .allowed
}

fn refuse(target: Resource<'_>, object: &Value, why: &str) -> Error {
    Error::forbidden(
        target.group,
        target.resource,
        object.str_at(&["metadata", "name"]),
        why,
    )
}

/// Passes if the user holds all these rights where the request applies, else says which are missing.
fn confirm(
    rbac: &Rbac,
    request: &Attributes<'_>,
    target: Resource<'_>,
    rules: &[Rule],
) -> std::result::Result<(), String> {
    let user = request.user;
    let (owned, unresolved) = rbac.rules_for(user, target.namespace);
    let missing = match covers::missing(&owned, rules) {
        Some(missing) if missing.is_empty() => return Ok(()),
        Some(missing) => covers::describe(missing).join("\n"),
        None => "more combinations than can be checked".to_owned(),
    };
    let mut why = format!(
        "user {} (groups={}) is attempting to grant RBAC permissions not currently held:\n{missing}",
        quote(&user.name),
        quote_list(&user.groups)
    );
    if !unresolved.is_empty() {
        let errors = join(
            unresolved
                .iter()
                .map(|missing| missing.in_request(target.resource)),
        );
        why.push_str(&format!("; resolution errors: [{errors}]"));
    }
    Err(why)
}

fn everything() -> [Rule; 2] {
    let all = || vec![Str::new("*")];
    [
        Rule {
            verbs: all(),
            groups: all(),
            resources: all(),
            ..Rule::default()
        },
        Rule {
            verbs: all(),
            urls: all(),
            ..Rule::default()
        },
    ]
}

/// Whether an update touches nothing but what the garbage collector writes: it must be able to do its work whatever
/// rights it holds.
fn only_collector_fields_differ(object: &Value, old: &Value) -> bool {
    let strip = |object: &Value| {
        let mut object = object.clone();
        for key in ["finalizers", "managedFields", "ownerReferences", "selfLink"] {
            object.remove_at(&["metadata", key]);
        }
        object
    };
    strip(object) == strip(old)
}
