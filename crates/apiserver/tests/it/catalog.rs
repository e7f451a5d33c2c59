//! Which resources a catalog holds and in which order.

use apiserver::catalog::{Catalog, CustomDefinition, CustomVersion, Origin};

fn definition(group: &str, plural: &str, kind: &str, versions: &[&str]) -> CustomDefinition {
    let versions = versions.iter().enumerate().map(|(at, name)| CustomVersion {
        name: (*name).into(),
        served: true,
        storage: at == 0,
        ..CustomVersion::default()
    });
    CustomDefinition {
        group: group.into(),
        plural: plural.into(),
        kind: kind.into(),
        namespaced: true,
        versions: versions.collect(),
        ..CustomDefinition::default()
    }
}

#[test]
fn built_in_resources_are_found_by_path_and_by_kind() {
    let catalog = Catalog::builtin();
    let deployments = catalog.lookup("apps", "v1", "deployments").unwrap();
    assert_eq!(deployments.list_kind, "DeploymentList");
    assert_eq!(deployments.short_names, ["deploy"]);
    assert!(deployments.namespaced && deployments.allows("patch"));
    assert_eq!(deployments.api_version(), "apps/v1");
    assert_eq!(deployments.path(), "/apis/apps/v1/deployments");
    let scale = deployments.subresource("scale").unwrap();
    assert_eq!(
        (scale.api_version().as_str(), scale.kind.as_str()),
        ("autoscaling/v1", "Scale")
    );
    assert_eq!(catalog.by_kind("apps", "v1", "Deployment"), Some(deployments));
    let status = catalog
        .lookup("", "v1", "pods")
        .and_then(|pods| pods.subresource("status"))
        .unwrap();
    assert_eq!(
        (status.api_version().as_str(), status.kind.as_str()),
        ("v1", "Pod")
    );
    assert_eq!(catalog.lookup("apps", "v1", "deployment"), None);
    assert_eq!(catalog.by_kind("", "v1", "Deployment"), None);
}

#[test]
fn every_group_that_a_repository_meets_is_there() {
    let catalog = Catalog::builtin();
    let groups: Vec<&str> = catalog.groups().iter().map(|group| group.name.as_str()).collect();
    let expected = [
        "",
        "apiregistration.k8s.io",
        "apps",
        "events.k8s.io",
        "authentication.k8s.io",
        "authorization.k8s.io",
        "autoscaling",
        "batch",
        "certificates.k8s.io",
        "networking.k8s.io",
        "policy",
        "rbac.authorization.k8s.io",
        "storage.k8s.io",
        "admissionregistration.k8s.io",
        "apiextensions.k8s.io",
        "scheduling.k8s.io",
        "coordination.k8s.io",
        "node.k8s.io",
        "discovery.k8s.io",
        "flowcontrol.apiserver.k8s.io",
    ];
    assert_eq!(groups, expected);
    assert_eq!(catalog.iter().count(), 61);
}

#[test]
fn versions_and_groups_that_show_the_same_objects_share_storage() {
    let catalog = Catalog::builtin();
    let storage = |group, version, plural| catalog.lookup(group, version, plural).unwrap().storage.clone();
    assert_eq!(
        storage("", "v1", "events"),
        storage("events.k8s.io", "v1", "events")
    );
    let autoscalers = storage("autoscaling", "v1", "horizontalpodautoscalers");
    assert_eq!(
        autoscalers,
        storage("autoscaling", "v2", "horizontalpodautoscalers")
    );
    assert_eq!(autoscalers.to_string(), "horizontalpodautoscalers.autoscaling");
    assert_eq!(
        catalog
            .group("autoscaling")
            .and_then(|group| group.preferred())
            .unwrap()
            .name,
        "v2"
    );
}

#[test]
fn custom_groups_follow_the_built_in_ones_by_name_and_their_versions_by_preference() {
    let custom = [
        definition(
            "z.example.com",
            "widgets",
            "Widget",
            &["v1alpha1", "v1", "v1beta1"],
        ),
        definition("a.example.com", "gadgets", "Gadget", &["v1"]),
        definition("z.example.com", "apples", "Apple", &["v1"]),
    ];
    let catalog = Catalog::builtin().with_custom(custom);
    let names: Vec<&str> = catalog
        .groups()
        .iter()
        .rev()
        .take(3)
        .map(|group| group.name.as_str())
        .collect();
    assert_eq!(
        names,
        ["z.example.com", "a.example.com", "flowcontrol.apiserver.k8s.io"]
    );
    let group = catalog.group("z.example.com").unwrap();
    let versions: Vec<&str> = group
        .versions
        .iter()
        .map(|version| version.name.as_str())
        .collect();
    assert_eq!(versions, ["v1", "v1beta1", "v1alpha1"]);
    let plurals: Vec<&str> = group.versions[0]
        .resources
        .iter()
        .map(|resource| resource.plural.as_str())
        .collect();
    assert_eq!(plurals, ["apples", "widgets"]);
    let widgets = catalog.lookup("z.example.com", "v1beta1", "widgets").unwrap();
    assert_eq!(widgets.origin, Origin::Custom);
    assert_eq!(
        (widgets.singular.as_str(), widgets.list_kind.as_str()),
        ("widget", "WidgetList")
    );
}

#[test]
fn a_version_that_is_not_served_is_not_there() {
    let mut widgets = definition("example.com", "widgets", "Widget", &["v2", "v1"]);
    widgets.versions[0].served = false;
    let catalog = Catalog::builtin().with_custom([widgets]);
    assert_eq!(catalog.lookup("example.com", "v2", "widgets"), None);
    assert_eq!(catalog.group("example.com").unwrap().versions.len(), 1);
}

#[test]
fn a_definition_that_is_gone_takes_its_group_with_it() {
    let builtin = Catalog::builtin();
    let with = builtin.with_custom([definition("example.com", "widgets", "Widget", &["v1"])]);
    assert!(with.group("example.com").is_some());
    let without = with.with_custom([]);
    assert!(without.group("example.com").is_none());
    assert_eq!(without.iter().count(), builtin.iter().count());
}

#[test]
fn a_built_in_resource_cannot_be_replaced_by_a_definition() {
    let catalog = Catalog::builtin().with_custom([definition("apps", "deployments", "Custom", &["v1"])]);
    assert_eq!(
        catalog.lookup("apps", "v1", "deployments").unwrap().origin,
        Origin::Builtin
    );
}

#[test]
fn objects_of_a_definition_that_is_being_deleted_can_only_be_read_and_deleted() {
    let mut widgets = definition("example.com", "widgets", "Widget", &["v1"]);
    widgets.terminating = true;
    let catalog = Catalog::builtin().with_custom([widgets]);
    let widgets = catalog.lookup("example.com", "v1", "widgets").unwrap();
    assert_eq!(
        widgets.verbs,
        ["delete", "deletecollection", "get", "list", "watch"]
    );
}
