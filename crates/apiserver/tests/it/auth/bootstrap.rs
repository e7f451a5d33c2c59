use apiserver::auth::bootstrap::{objects, rbac as bootstrap_rbac};
use apiserver::auth::{Attributes, Resource, User};
use model::json;

use super::*;

fn named<'a>(objects: &'a [Value], kind: &str, name: &str) -> &'a Value {
    let matches =
        |object: &&Value| object.str_at(&["kind"]) == kind && object.str_at(&["metadata", "name"]) == name;
    objects
        .iter()
        .find(matches)
        .unwrap_or_else(|| panic!("there is no {kind} {name}"))
}

// The file holds the rules of these roles as kube-apiserver and kube-controller-manager v1.35.8 make them.
#[test]
fn aggregated_roles_have_the_rules_of_the_real_server() {
    let recorded = json::parse(include_bytes!("aggregated_roles.json")).unwrap();
    let objects = bootstrap_rbac();
    for (name, rules) in recorded.as_object().unwrap().iter() {
        assert_eq!(
            named(&objects, "ClusterRole", name).get("rules"),
            Some(rules),
            "{name}"
        );
    }
}

#[test]
fn every_object_says_what_it_is_and_that_it_was_there_from_the_start() {
    for object in bootstrap_rbac() {
        assert_eq!(object.str_at(&["apiVersion"]), "rbac.authorization.k8s.io/v1");
        assert_eq!(
            object.str_at(&["metadata", "labels", "kubernetes.io/bootstrapping"]),
            "rbac-defaults"
        );
        let auto_update = [
            "metadata",
            "annotations",
            "rbac.authorization.kubernetes.io/autoupdate",
        ];
        assert_eq!(object.str_at(&auto_update), "true");
        let namespaced = !object.str_at(&["kind"]).starts_with("Cluster");
        assert_eq!(namespaced, object.at(&["metadata", "namespace"]).is_some());
    }
}

#[test]
fn a_new_cluster_has_its_namespaces_classes_and_service() {
    let objects = objects(6443);
    for name in ["default", "kube-system", "kube-public", "kube-node-lease"] {
        assert_eq!(
            named(&objects, "Namespace", name).str_at(&["status", "phase"]),
            "Active"
        );
    }
    assert_eq!(
        named(&objects, "PriorityClass", "system-node-critical").get("value"),
        Some(&Value::Int(2_000_001_000))
    );
    let service = named(&objects, "Service", "kubernetes");
    assert_eq!(
        service.list_at(&["spec", "ports"])[0].get("targetPort"),
        Some(&Value::Int(6443))
    );
}

#[test]
fn everyone_may_look_around_and_ask_about_oneself() {
    let rbac = rbac(&bootstrap_rbac());
    let jane = User::new("jane", &["system:authenticated"]);
    for path in ["/api", "/apis/apps/v1", "/openapi/v3", "/version", "/healthz"] {
        assert!(
            rbac.authorize(&Attributes::path(&jane, "get", path)).allowed,
            "{path}"
        );
    }
    let request = Attributes::path(&jane, "get", "/api");
    assert_eq!(
        rbac.authorize(&request).reason(),
        r#"RBAC: allowed by ClusterRoleBinding "system:discovery" of ClusterRole "system:discovery" to Group "system:authenticated""#
    );
    let ask = Resource {
        group: "authorization.k8s.io",
        resource: "selfsubjectaccessreviews",
        ..Resource::default()
    };
    assert!(
        rbac.authorize(&Attributes::resource(&jane, "create", ask))
            .allowed
    );
    assert!(
        !rbac
            .authorize(&Attributes::path(&jane, "get", "/metrics"))
            .allowed
    );

    let nobody = User::anonymous();
    assert!(
        rbac.authorize(&Attributes::path(&nobody, "get", "/version"))
            .allowed
    );
    assert!(!rbac.authorize(&Attributes::path(&nobody, "get", "/api")).allowed);
}
