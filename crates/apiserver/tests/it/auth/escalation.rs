use apiserver::auth::rbac::escalation::{check, role_ref_change};
use apiserver::auth::{Attributes, Rbac, Resource, User};
use apiserver::error::{Error, Result};
use model::{Value, value};

use super::*;

const GROUP: &str = "rbac.authorization.k8s.io";

fn carl() -> User {
    User::new("carl", &["devs", "system:authenticated"])
}

/// Carl may write roles and bindings, and read pods and two paths.
fn base() -> Rbac {
    rbac(&[
        cluster_role(
            "cluster-admin",
            value!([
                { "verbs": ["*"], "apiGroups": ["*"], "resources": ["*"] },
                { "verbs": ["*"], "nonResourceURLs": ["*"] },
            ]),
        ),
        cluster_role(
            "auth-rbac-editor",
            value!([
                { "verbs": ["create", "update"], "apiGroups": [GROUP], "resources": ["roles", "rolebindings", "clusterroles", "clusterrolebindings"] },
                { "verbs": ["get"], "apiGroups": [""], "resources": ["pods"] },
                { "verbs": ["get"], "nonResourceURLs": ["/healthz"] },
            ]),
        ),
        cluster_binding("auth-carl", "auth-rbac-editor", user("carl")),
    ])
}

fn create(rbac: &Rbac, user: &User, resource: &str, object: &Value) -> Result<()> {
    let namespace = object.str_at(&["metadata", "namespace"]);
    let target = Resource {
        group: GROUP,
        resource,
        namespace,
        ..Resource::default()
    };
    check(rbac, &Attributes::resource(user, "create", target), object, None)
}

fn refusal(resource: &str, object: &Value) -> Error {
    create(&base(), &carl(), resource, object).unwrap_err()
}

#[test]
fn rights_that_one_has_can_be_given() {
    let rules = value!([{ "verbs": ["get"], "apiGroups": [""], "resources": ["pods"] }]);
    assert_eq!(
        create(&base(), &carl(), "roles", &role("auth", "r1", rules)),
        Ok(())
    );
}

#[test]
fn missing_rights_on_resources_are_listed_by_resource() {
    let rules = value!([
        { "verbs": ["get", "list", "delete"], "apiGroups": ["", "apps"], "resources": ["pods", "secrets"] },
        { "verbs": ["get"], "apiGroups": [""], "resources": ["configmaps"], "resourceNames": ["a", "b"] },
    ]);
    let error = refusal("roles", &role("auth", "r2", rules));
    assert_eq!(error.code, 403);
    assert_eq!(
        error.message,
        r#"roles.rbac.authorization.k8s.io "r2" is forbidden: user "carl" (groups=["devs" "system:authenticated"]) is attempting to grant RBAC permissions not currently held:
{APIGroups:[""], Resources:["configmaps"], ResourceNames:["a"], Verbs:["get"]}
{APIGroups:[""], Resources:["configmaps"], ResourceNames:["b"], Verbs:["get"]}
{APIGroups:[""], Resources:["pods"], Verbs:["list" "delete"]}
{APIGroups:[""], Resources:["secrets"], Verbs:["get" "list" "delete"]}
{APIGroups:["apps"], Resources:["pods"], Verbs:["get" "list" "delete"]}
{APIGroups:["apps"], Resources:["secrets"], Verbs:["get" "list" "delete"]}"#
    );
}

#[test]
fn missing_rights_on_paths_are_listed_one_by_one() {
    let rules = value!([{ "verbs": ["get", "post"], "nonResourceURLs": ["/healthz", "/x/*"] }]);
    assert_eq!(
        refusal("clusterroles", &cluster_role("auth-r3", rules)).message,
        r#"clusterroles.rbac.authorization.k8s.io "auth-r3" is forbidden: user "carl" (groups=["devs" "system:authenticated"]) is attempting to grant RBAC permissions not currently held:
{NonResourceURLs:["/healthz"], Verbs:["post"]}
{NonResourceURLs:["/x/*"], Verbs:["get"]}
{NonResourceURLs:["/x/*"], Verbs:["post"]}"#
    );
}

#[test]
fn aggregating_takes_all_rights_there_are() {
    let mut role = cluster_role("auth-r4", value!([]));
    role.set_at(
        &["aggregationRule", "clusterRoleSelectors"],
        value!([{ "matchLabels": { "a": "b" } }]),
    );
    let message = r#"clusterroles.rbac.authorization.k8s.io "auth-r4" is forbidden: must have cluster-admin privileges to use the aggregationRule"#;
    assert_eq!(refusal("clusterroles", &role).message, message);

    // An update that drops the rule needs the rights as well.
    let target = Resource {
        group: GROUP,
        resource: "clusterroles",
        name: "auth-r4",
        ..Resource::default()
    };
    let carl = carl();
    let request = Attributes::resource(&carl, "update", target);
    let error = check(
        &base(),
        &request,
        &cluster_role("auth-r4", value!([])),
        Some(&role),
    )
    .unwrap_err();
    assert_eq!(error.message, message);

    let mut rbac = base();
    set(&mut rbac, &cluster_binding("all", "cluster-admin", user("carl")));
    assert_eq!(create(&rbac, &carl, "clusterroles", &role), Ok(()));
}

#[test]
fn a_binding_needs_the_rights_of_its_role() {
    assert_eq!(
        refusal(
            "rolebindings",
            &binding("auth", "b1", "ClusterRole/cluster-admin", user("carl"))
        )
        .message,
        r#"rolebindings.rbac.authorization.k8s.io "b1" is forbidden: user "carl" (groups=["devs" "system:authenticated"]) is attempting to grant RBAC permissions not currently held:
{APIGroups:["*"], Resources:["*"], Verbs:["*"]}
{NonResourceURLs:["*"], Verbs:["*"]}"#
    );
}

#[test]
fn a_binding_to_a_role_that_is_missing_is_not_found_under_its_own_resource() {
    for role in ["ClusterRole/none", "Role/none"] {
        let error = refusal("rolebindings", &binding("auth", "b1", role, user("carl")));
        assert_eq!((error.code, error.reason), (404, "NotFound"));
        assert_eq!(
            error.message,
            r#"rolebindings.rbac.authorization.k8s.io "none" not found"#
        );
    }
}

#[test]
fn a_binding_to_something_else_than_a_role_fails_as_on_the_real_server() {
    let error = refusal("rolebindings", &binding("auth", "b1", "Foo/none", user("carl")));
    assert_eq!((error.code, error.reason), (500, ""));
    assert_eq!(error.message, r#"unsupported role reference kind: "Foo""#);
    let mut in_cluster = cluster_binding("b1", "none", user("carl"));
    in_cluster.set_at(&["roleRef", "kind"], "Role");
    let error = refusal("clusterrolebindings", &in_cluster);
    assert_eq!(
        (error.code, error.message.as_str()),
        (400, "Namespace parameter required.")
    );
}

#[test]
fn roles_that_could_not_be_looked_up_are_mentioned() {
    let mut rbac = base();
    set(&mut rbac, &binding("auth", "b2", "Role/none", user("carl")));
    set(
        &mut rbac,
        &binding("auth", "b3", "ClusterRole/none-c", user("carl")),
    );
    set(&mut rbac, &cluster_binding("auth-carl2", "none-cc", user("carl")));
    let rules = value!([{ "verbs": ["list"], "apiGroups": ["apps"], "resources": ["secrets"] }]);
    assert_eq!(
        create(&rbac, &carl(), "roles", &role("auth", "r2", rules))
            .unwrap_err()
            .message,
        r#"roles.rbac.authorization.k8s.io "r2" is forbidden: user "carl" (groups=["devs" "system:authenticated"]) is attempting to grant RBAC permissions not currently held:
{APIGroups:["apps"], Resources:["secrets"], Verbs:["list"]}; resolution errors: [[roles.rbac.authorization.k8s.io "none-cc" not found, roles.rbac.authorization.k8s.io "none" not found, roles.rbac.authorization.k8s.io "none-c" not found]]"#
    );
}

#[test]
fn the_verbs_escalate_and_bind_lift_the_limits() {
    let mut rbac = base();
    set(
        &mut rbac,
        &role(
            "auth",
            "lift",
            value!([
                { "verbs": ["escalate"], "apiGroups": [GROUP], "resources": ["roles"] },
                { "verbs": ["bind"], "apiGroups": [GROUP], "resources": ["clusterroles"], "resourceNames": ["cluster-admin"] },
            ]),
        ),
    );
    set(&mut rbac, &binding("auth", "lift", "Role/lift", user("carl")));
    let secrets = value!([{ "verbs": ["*"], "apiGroups": [""], "resources": ["secrets"] }]);
    assert_eq!(
        create(&rbac, &carl(), "roles", &role("auth", "r", secrets.clone())),
        Ok(())
    );
    assert!(create(&rbac, &carl(), "roles", &role("other", "r", secrets)).is_err());
    let bound = |namespace| binding(namespace, "b", "ClusterRole/cluster-admin", user("carl"));
    assert_eq!(create(&rbac, &carl(), "rolebindings", &bound("auth")), Ok(()));
    assert!(create(&rbac, &carl(), "rolebindings", &bound("other")).is_err());
    assert!(
        create(
            &rbac,
            &carl(),
            "clusterrolebindings",
            &cluster_binding("b", "cluster-admin", user("x"))
        )
        .is_err()
    );
}

#[test]
fn masters_and_the_garbage_collector_are_not_held_up() {
    let master = User::new("root", &["system:masters"]);
    let everything = cluster_role(
        "r",
        value!([{ "verbs": ["*"], "apiGroups": ["*"], "resources": ["*"] }]),
    );
    assert_eq!(
        create(&Rbac::default(), &master, "clusterroles", &everything),
        Ok(())
    );

    let mut collected = everything.clone();
    collected.set_at(&["metadata", "finalizers"], value!(["x"]));
    let target = Resource {
        group: GROUP,
        resource: "clusterroles",
        name: "r",
        ..Resource::default()
    };
    let carl = carl();
    let request = Attributes::resource(&carl, "update", target);
    assert_eq!(check(&base(), &request, &collected, Some(&everything)), Ok(()));
    collected.set_at(&["metadata", "labels", "a"], "b");
    assert!(check(&base(), &request, &collected, Some(&everything)).is_err());
}

#[test]
fn other_resources_are_of_no_interest() {
    let target = Resource {
        group: "example.org",
        resource: "roles",
        ..Resource::default()
    };
    let carl = carl();
    let everything = role(
        "auth",
        "r",
        value!([{ "verbs": ["*"], "apiGroups": ["*"], "resources": ["*"] }]),
    );
    assert_eq!(
        check(
            &base(),
            &Attributes::resource(&carl, "create", target),
            &everything,
            None
        ),
        Ok(())
    );
}

#[test]
fn the_role_of_a_binding_never_changes() {
    let old = binding("auth", "b2", "Role/none", user("carl"));
    let new = binding("auth", "b2", "Role/x", user("jane"));
    assert_eq!(
        role_ref_change(&new, &old).expect("it changed").to_string(),
        r#"roleRef: Invalid value: {"APIGroup":"rbac.authorization.k8s.io","Kind":"Role","Name":"x"}: cannot change roleRef"#
    );
    assert_eq!(
        role_ref_change(&binding("auth", "b2", "Role/none", user("jane")), &old),
        None
    );
}
