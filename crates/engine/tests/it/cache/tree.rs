//! What belongs to what.

use engine::cache::{Interest, Tree, Uid};
use model::{ObjectKey, Value, value};

use super::{Fixture, config_map};

fn owned(fixture: &Fixture, name: &str, owner: &Value) -> Value {
    let mut object = config_map(&fixture.space, name, "one");
    object.set_at(
        &["metadata", "ownerReferences"],
        value!([{
            "apiVersion": (owner.str_at(&["apiVersion"])), "kind": (owner.str_at(&["kind"])),
            "name": (owner.str_at(&["metadata", "name"])), "uid": (owner.str_at(&["metadata", "uid"])),
        }]),
    );
    object
}

/// `a(b(c),d)`
fn shape(tree: &Tree) -> String {
    let children: Vec<String> = tree.children.iter().map(shape).collect();
    match children.is_empty() {
        true => tree.entry.name().to_owned(),
        false => format!("{}({})", tree.entry.name(), children.join(",")),
    }
}

fn named(fixture: &Fixture, api: &str, kind: &str, name: &str) -> Value {
    value!({
        "apiVersion": api, "kind": kind,
        "metadata": { "name": name, "namespace": (fixture.space.as_str()) },
    })
}

#[tokio::test]
async fn children_are_found_over_several_generations_and_kinds() {
    let fixture = Fixture::start().await;
    let root = fixture.apply("root", "one").await;
    let child = fixture.apply_object(&owned(&fixture, "child", &root)).await;
    let mut secret = named(&fixture, "v1", "Secret", "grandchild");
    secret.set_at(
        &["metadata", "ownerReferences"],
        owned(&fixture, "any", &child)
            .at(&["metadata", "ownerReferences"])
            .unwrap()
            .clone(),
    );
    fixture.apply_object(&secret).await;
    let _maps = fixture.follow(fixture.maps()).await;
    let _secrets = fixture.follow(fixture.interest("", "Secret")).await;
    let tree = fixture.cache.tree(&fixture.key("root")).unwrap();
    assert_eq!(shape(&tree), "root(child(grandchild))");
    assert_eq!(tree.entries().len(), 3);
    let uid = Uid::new(root.str_at(&["metadata", "uid"]));
    let children = fixture.cache.children(&uid);
    assert_eq!(children.len(), 1);
    assert_eq!(
        (children[0].name(), children[0].owners()[0].name.as_str()),
        ("child", "root")
    );

    // An object that gets another owner moves.
    let mut changes = fixture.subscribe();
    let other = fixture.apply("other", "one").await;
    fixture.apply_object(&owned(&fixture, "child", &other)).await;
    while super::told(&mut changes).await != "updated child" {}
    assert!(fixture.cache.children(&uid).is_empty());
    let tree = fixture.cache.tree(&fixture.key("other")).unwrap();
    assert_eq!(shape(&tree), "other(child(grandchild))");
    fixture.test.finish().await;
}

#[tokio::test]
async fn objects_that_own_each_other_are_told_once() {
    let fixture = Fixture::embedded().await;
    let first = fixture.apply("first", "one").await;
    let second = fixture.apply_object(&owned(&fixture, "second", &first)).await;
    let third = fixture.apply_object(&owned(&fixture, "third", &second)).await;
    fixture.apply_object(&owned(&fixture, "first", &third)).await;
    let itself = fixture.apply("itself", "one").await;
    fixture.apply_object(&owned(&fixture, "itself", &itself)).await;
    let _maps = fixture.follow(fixture.maps()).await;
    let tree = |name| shape(&fixture.cache.tree(&fixture.key(name)).unwrap());
    assert_eq!(tree("first"), "first(second(third))");
    assert_eq!(tree("third"), "third(first(second))");
    assert_eq!(tree("itself"), "itself");
}

#[tokio::test]
async fn a_service_has_its_endpoints_and_a_service_account_its_tokens() {
    let fixture = Fixture::start().await;
    let mut service = named(&fixture, "v1", "Service", "web");
    service.set_at(&["spec", "ports"], value!([{ "port": 80 }]));
    fixture.apply_object(&service).await;
    let mut endpoints = named(&fixture, "v1", "Endpoints", "web");
    endpoints.set_at(&["subsets"], value!([]));
    fixture.apply_object(&endpoints).await;
    fixture
        .apply_object(&named(&fixture, "v1", "ServiceAccount", "robot"))
        .await;
    let mut token = named(&fixture, "v1", "Secret", "robot-token");
    token.set_at(&["type"], "kubernetes.io/service-account-token");
    token.set_at(
        &["metadata", "annotations", "kubernetes.io/service-account.name"],
        "robot",
    );
    fixture.apply_object(&token).await;
    let mut follows = Vec::new();
    for kind in ["Service", "Endpoints", "ServiceAccount", "Secret"] {
        follows.push(fixture.follow(fixture.interest("", kind)).await);
    }
    let tree = |object: &Value| shape(&fixture.cache.tree(&ObjectKey::of(object)).unwrap());
    assert_eq!(tree(&service), "web(web)");
    let account = named(&fixture, "v1", "ServiceAccount", "robot");
    // A real cluster gives the token the account's uid as soon as it sees it.
    assert_eq!(tree(&account), "robot(robot-token)");
    fixture.test.finish().await;
}

#[tokio::test]
async fn a_stateful_set_has_the_claims_of_its_templates_and_no_others() {
    let fixture = Fixture::start().await;
    let mut set = named(&fixture, "apps/v1", "StatefulSet", "web");
    set.set_at(
        &["spec"],
        value!({
            "serviceName": "web", "replicas": 0,
            "selector": { "matchLabels": { "app": "web" } },
            "template": {
                "metadata": { "labels": { "app": "web" } },
                "spec": { "containers": [{ "name": "web", "image": "example.com/web" }] },
            },
            "volumeClaimTemplates": [{
                "metadata": { "name": "data" },
                "spec": { "accessModes": ["ReadWriteOnce"], "resources": { "requests": { "storage": "1Gi" } } },
            }],
        }),
    );
    fixture.apply_object(&set).await;
    for name in [
        "data-web-0",
        "data-web-1",
        "data-web-x",
        "data-other-0",
        "logs-web-0",
    ] {
        let mut claim = named(&fixture, "v1", "PersistentVolumeClaim", name);
        claim.set_at(
            &["spec"],
            value!({
                "accessModes": ["ReadWriteOnce"], "storageClassName": "none",
                "resources": { "requests": { "storage": "1Gi" } },
            }),
        );
        fixture.apply_object(&claim).await;
    }
    let _sets = fixture.follow(fixture.interest("apps", "StatefulSet")).await;
    let _claims = fixture
        .follow(fixture.interest("", "PersistentVolumeClaim"))
        .await;
    let tree = fixture.cache.tree(&ObjectKey::of(&set)).unwrap();
    assert_eq!(shape(&tree), "web(data-web-0,data-web-1)");
    fixture.test.finish().await;
}

#[tokio::test]
async fn an_operator_group_has_the_versions_that_name_it() {
    let fixture = Fixture::embedded().await;
    for (plural, kind, version) in [
        ("operatorgroups", "OperatorGroup", "v1"),
        ("clusterserviceversions", "ClusterServiceVersion", "v1alpha1"),
    ] {
        let definition = serde_json::json!({
            "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
            "metadata": { "name": format!("{plural}.operators.coreos.com"), "annotations": { "api-approved.kubernetes.io": "unapproved" } },
            "spec": {
                "group": "operators.coreos.com", "scope": "Namespaced",
                "names": { "plural": plural, "singular": kind.to_lowercase(), "kind": kind },
                "versions": [{
                    "name": version, "served": true, "storage": true,
                    "schema": { "openAPIV3Schema": { "type": "object", "x-kubernetes-preserve-unknown-fields": true } },
                }],
            },
        });
        fixture.test.establish(&definition).await;
    }
    let group = named(&fixture, "operators.coreos.com/v1", "OperatorGroup", "global");
    fixture.apply_object(&group).await;
    let mut version = named(
        &fixture,
        "operators.coreos.com/v1alpha1",
        "ClusterServiceVersion",
        "etcd",
    );
    version.set_at(&["metadata", "annotations", "olm.operatorGroup"], "global");
    fixture.apply_object(&version).await;
    let _groups = fixture
        .follow(Interest::in_all("operators.coreos.com", "OperatorGroup"))
        .await;
    let _versions = fixture
        .follow(Interest::in_all("operators.coreos.com", "ClusterServiceVersion"))
        .await;
    assert_eq!(
        shape(&fixture.cache.tree(&ObjectKey::of(&group)).unwrap()),
        "global(etcd)"
    );
}
