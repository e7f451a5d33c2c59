//! Who may do what. Messages and decisions that the tests expect were taken from kube-apiserver v1.35.8.

mod escalation;
mod rbac;
mod rbac_properties;

use apiserver::auth::{Rbac, RbacKind};
use model::{Value, value};

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
