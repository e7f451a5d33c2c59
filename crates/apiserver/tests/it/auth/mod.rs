//! Who may do what. Messages and decisions that the tests expect were taken from kube-apiserver v1.35.8.

mod authenticate;
mod bootstrap;
mod escalation;
mod impersonate;
mod rbac;
mod rbac_properties;
mod recorded;
mod review;
mod token;
mod token_request;

use apiserver::auth::authenticate::Anonymous;
use apiserver::auth::{Authenticator, Issuer, Rbac, RbacKind, User};
use jiff::Timestamp;
use model::{Str, Value, value};

const ISSUER: &str = "https://kubernetes.default.svc";

/// The time of all tests.
fn now() -> Timestamp {
    "2026-11-15T19:49:13Z".parse().unwrap()
}

fn issuer() -> Issuer {
    Issuer::new(ISSUER, &[ISSUER], &Issuer::new_key().unwrap()).unwrap()
}

/// Knows the token of an administrator and that of a user without rights.
fn authenticator(anonymous: Anonymous) -> Authenticator {
    let admin = User {
        uid: "uid-1".into(),
        ..User::new("admin", &["system:masters"])
    };
    let nobody = User {
        uid: "uid-2".into(),
        ..User::new("nobody-yet", &[])
    };
    let tokens = [(Str::new("admin-token"), admin), (Str::new("user-token"), nobody)];
    Authenticator::new(tokens, issuer(), anonymous)
}

/// A lookup that finds nothing.
fn nothing(_: &str, _: &str, _: &str) -> Option<Value> {
    None
}

/// A lookup in a list of (resource, object).
fn among(objects: Vec<(&'static str, Value)>) -> impl Fn(&str, &str, &str) -> Option<Value> {
    move |resource, namespace, name| {
        let metadata = |object: &Value, key| object.str_at(&["metadata", key]).to_owned();
        let found = objects.iter().find(|(kind, object)| {
            *kind == resource
                && metadata(object, "namespace") == namespace
                && metadata(object, "name") == name
        });
        found.map(|(_, object)| object.clone())
    }
}

fn object(namespace: &str, name: &str, uid: &str) -> Value {
    let mut object = value!({ "metadata": { "name": name, "uid": uid } });
    if !namespace.is_empty() {
        object.set_at(&["metadata", "namespace"], namespace);
    }
    object
}

/// An index of these objects.
fn rbac(objects: &[Value]) -> Rbac {
    let mut rbac = Rbac::default();
    for object in objects {
        set(&mut rbac, object);
    }
    rbac
}

fn set(rbac: &mut Rbac, object: &Value) {
    let kind = match object.str_at(&["kind"]) {
        "Role" => RbacKind::Role,
        "ClusterRole" => RbacKind::ClusterRole,
        "RoleBinding" => RbacKind::RoleBinding,
        "ClusterRoleBinding" => RbacKind::ClusterRoleBinding,
        other => panic!("{other} is no kind of access control"),
    };
    let metadata = |key| object.str_at(&["metadata", key]);
    rbac.set(kind, metadata("namespace"), metadata("name"), Some(object));
}

fn cluster_role(name: &str, rules: Value) -> Value {
    value!({ "kind": "ClusterRole", "metadata": { "name": name }, "rules": rules })
}

fn role(namespace: &str, name: &str, rules: Value) -> Value {
    value!({ "kind": "Role", "metadata": { "name": name, "namespace": namespace }, "rules": rules })
}

fn cluster_binding(name: &str, role: &str, subjects: Value) -> Value {
    value!({
        "kind": "ClusterRoleBinding", "metadata": { "name": name },
        "roleRef": { "apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": role },
        "subjects": subjects,
    })
}

/// `role` is `Role/name` or `ClusterRole/name`.
fn binding(namespace: &str, name: &str, role: &str, subjects: Value) -> Value {
    let (kind, role) = role.split_once('/').expect("the role has a kind");
    value!({
        "kind": "RoleBinding", "metadata": { "name": name, "namespace": namespace },
        "roleRef": { "apiGroup": "rbac.authorization.k8s.io", "kind": kind, "name": role },
        "subjects": subjects,
    })
}

fn user(name: &str) -> Value {
    value!([{ "kind": "User", "apiGroup": "rbac.authorization.k8s.io", "name": name }])
}
