use apiserver::auth::{Attributes, Rbac, Resource, User};
use model::{Value, value};

use super::*;

fn pods(namespace: &str) -> Resource<'_> {
    Resource {
        resource: "pods",
        namespace,
        ..Resource::default()
    }
}

fn read_pods() -> Value {
    value!([{ "verbs": ["get"], "apiGroups": [""], "resources": ["pods"] }])
}

/// Whether it is allowed, and the reason.
fn decide(rbac: &Rbac, user: &User, verb: &str, resource: Resource<'_>) -> (bool, String) {
    let request = Attributes::resource(user, verb, resource);
    let decision = rbac.authorize(&request);
    (decision.allowed, decision.reason())
}

#[test]
fn a_cluster_role_binding_gives_rights_everywhere_and_says_so() {
    let rbac = rbac(&[
        cluster_role("auth-rbac-editor", read_pods()),
        cluster_binding("auth-carl", "auth-rbac-editor", user("carl")),
    ]);
    let carl = User::new("carl", &[]);
    let reason =
        r#"RBAC: allowed by ClusterRoleBinding "auth-carl" of ClusterRole "auth-rbac-editor" to User "carl""#;
    assert_eq!(
        decide(&rbac, &carl, "get", pods("auth")),
        (true, reason.to_owned())
    );
    assert_eq!(decide(&rbac, &carl, "get", pods("")), (true, reason.to_owned()));
    assert_eq!(decide(&rbac, &carl, "list", pods("auth")), (false, String::new()));
    assert_eq!(
        decide(&rbac, &User::new("jane", &["carl"]), "get", pods("auth")),
        (false, String::new())
    );
}

#[test]
fn a_role_binding_gives_rights_in_its_namespace_only() {
    let account = value!([{ "kind": "ServiceAccount", "name": "default" }]);
    let rbac = rbac(&[
        cluster_role("view", read_pods()),
        binding("auth", "b4", "ClusterRole/view", account),
    ]);
    let account = User::service_account("auth", "default", "");
    let reason =
        r#"RBAC: allowed by RoleBinding "b4/auth" of ClusterRole "view" to ServiceAccount "default/auth""#;
    assert_eq!(
        decide(&rbac, &account, "get", pods("auth")),
        (true, reason.to_owned())
    );
    assert!(!decide(&rbac, &account, "get", pods("other")).0);
    assert!(!decide(&rbac, &account, "get", pods("")).0);
    assert!(
        !decide(
            &rbac,
            &User::service_account("other", "default", ""),
            "get",
            pods("auth")
        )
        .0
    );
}

#[test]
fn a_service_account_in_a_cluster_role_binding_needs_a_namespace() {
    let account = value!([{ "kind": "ServiceAccount", "name": "default" }]);
    let rbac = rbac(&[
        cluster_role("view", read_pods()),
        cluster_binding("b", "view", account),
    ]);
    assert!(!decide(&rbac, &User::service_account("", "default", ""), "get", pods("")).0);
}

#[test]
fn the_first_subject_that_applies_is_named() {
    let subjects = value!([{ "kind": "Group", "name": "devs" }, { "kind": "User", "name": "carl" }]);
    let rbac = rbac(&[
        cluster_role("view", read_pods()),
        cluster_binding("b", "view", subjects),
    ]);
    let carl = User::new("carl", &["devs"]);
    assert!(
        decide(&rbac, &carl, "get", pods(""))
            .1
            .ends_with(r#"to Group "devs""#)
    );
    let carl = User::new("carl", &[]);
    assert!(
        decide(&rbac, &carl, "get", pods(""))
            .1
            .ends_with(r#"to User "carl""#)
    );
}

#[test]
fn roles_that_are_missing_are_the_reason_of_a_refusal() {
    let mut rbac = rbac(&[binding("auth", "b2", "Role/none", user("carl"))]);
    let carl = User::new("carl", &[]);
    let reason = r#"RBAC: role.rbac.authorization.k8s.io "none" not found"#;
    assert_eq!(
        decide(&rbac, &carl, "list", pods("auth")),
        (false, reason.to_owned())
    );
    set(
        &mut rbac,
        &binding("auth", "b3", "ClusterRole/none-c", user("carl")),
    );
    set(&mut rbac, &cluster_binding("auth-carl2", "none-cc", user("carl")));
    let reason = r#"RBAC: [clusterrole.rbac.authorization.k8s.io "none-cc" not found, role.rbac.authorization.k8s.io "none" not found, clusterrole.rbac.authorization.k8s.io "none-c" not found]"#;
    assert_eq!(
        decide(&rbac, &carl, "list", pods("auth")),
        (false, reason.to_owned())
    );
    // The same role missing twice is told once, as one message.
    let mut twice = Rbac::default();
    set(&mut twice, &cluster_binding("a", "none", user("carl")));
    set(&mut twice, &cluster_binding("b", "none", user("carl")));
    let reason = r#"RBAC: clusterrole.rbac.authorization.k8s.io "none" not found"#;
    assert_eq!(
        decide(&twice, &carl, "list", pods("auth")),
        (false, reason.to_owned())
    );
}

#[test]
fn masters_may_do_everything_without_a_reason() {
    let master = User::new("root", &["system:masters"]);
    assert_eq!(
        decide(&Rbac::default(), &master, "delete", pods("x")),
        (true, String::new())
    );
    let request = Attributes::path(&master, "get", "/metrics");
    assert!(Rbac::default().authorize(&request).allowed);
}

#[test]
fn changed_and_removed_objects_change_the_answer() {
    let mut rbac = rbac(&[
        cluster_role("view", read_pods()),
        cluster_binding("b", "view", user("carl")),
        role("auth", "local", read_pods()),
        binding("auth", "b", "Role/local", user("jane")),
    ]);
    let (carl, jane) = (User::new("carl", &[]), User::new("jane", &[]));
    assert!(decide(&rbac, &carl, "get", pods("")).0);
    assert!(decide(&rbac, &jane, "get", pods("auth")).0);

    set(&mut rbac, &cluster_binding("b", "view", user("jane")));
    assert!(!decide(&rbac, &carl, "get", pods("")).0);
    assert!(decide(&rbac, &jane, "get", pods("")).0);

    rbac.set(RbacKind::ClusterRoleBinding, "", "b", None);
    rbac.set(RbacKind::Role, "auth", "local", None);
    assert!(!decide(&rbac, &jane, "get", pods("")).0);
    assert!(
        decide(&rbac, &jane, "get", pods("auth"))
            .1
            .contains("\"local\" not found")
    );
    rbac.set(RbacKind::RoleBinding, "auth", "b", None);
    assert_eq!(decide(&rbac, &jane, "get", pods("auth")), (false, String::new()));
    rbac.set(RbacKind::RoleBinding, "auth", "never-there", None);
}

#[test]
fn a_refused_check_is_the_forbidden_error_with_the_reason() {
    let rbac = rbac(&[binding("auth", "b2", "Role/none", user("carl"))]);
    let carl = User::new("carl", &[]);
    let secrets = Resource {
        resource: "secrets",
        namespace: "auth",
        ..Resource::default()
    };
    let error = rbac
        .check(&Attributes::resource(&carl, "list", secrets))
        .unwrap_err();
    assert_eq!(error.code, 403);
    assert_eq!(
        error.message,
        r#"secrets is forbidden: User "carl" cannot list resource "secrets" in API group "" in the namespace "auth": RBAC: role.rbac.authorization.k8s.io "none" not found"#
    );
}
