use model::convert::{from_serde, to_serde};
use model::inventory::{Entry, Id};
use model::{Inventory, ObjectKey, value};
use proptest::prelude::*;

fn key(group: &str, kind: &str, namespace: &str, name: &str) -> ObjectKey {
    ObjectKey {
        group: group.into(),
        kind: kind.into(),
        namespace: namespace.into(),
        name: name.into(),
    }
}

#[test]
fn ids_are_read_and_printed() {
    let cases = [
        (
            "shop_web_apps_Deployment",
            key("apps", "Deployment", "shop", "web"),
        ),
        ("shop_config__ConfigMap", key("", "ConfigMap", "shop", "config")),
        ("_shop__Namespace", key("", "Namespace", "", "shop")),
        (
            "_system__web__reader_rbac.authorization.k8s.io_ClusterRole",
            key(
                "rbac.authorization.k8s.io",
                "ClusterRole",
                "",
                "system:web:reader",
            ),
        ),
        (
            "a_r__b_rbac.authorization.k8s.io_RoleBinding",
            key("rbac.authorization.k8s.io", "RoleBinding", "a", "r:b"),
        ),
        (
            "_my_role_rbac.authorization.k8s.io_ClusterRole",
            key("rbac.authorization.k8s.io", "ClusterRole", "", "my_role"),
        ),
        ("_a:b_x.example_Thing", key("x.example", "Thing", "", "a:b")),
        ("a_b_c_apps_Deployment", key("apps", "Deployment", "a", "b_c")),
        ("a__b__ConfigMap", key("", "ConfigMap", "a", "_b")),
    ];
    for (text, key) in cases {
        assert_eq!(text.parse::<Id>().unwrap().0, key);
        assert_eq!(Id(key).to_string(), text);
    }
}

#[test]
fn what_is_no_id_is_refused_with_the_reason() {
    let message = |text: &str| text.parse::<Id>().unwrap_err().to_string();
    for text in ["", "a", "a_b", "a_b_c"] {
        assert_eq!(
            message(text),
            format!("inventory entry {text:?} must look like <namespace>_<name>_<group>_<kind>")
        );
    }
    assert_eq!(
        message("a__apps_Deployment"),
        r#"inventory entry "a__apps_Deployment" has no name"#
    );
    assert_eq!(message("a_b_apps_"), r#"inventory entry "a_b_apps_" has no kind"#);
}

#[test]
fn an_entry_that_cannot_be_read_takes_no_other_with_it() {
    let status = value!({ "entries": [
        { "id": "shop_web_apps_Deployment", "v": "v1" },
        { "id": "what is this?", "v": "v1" },
        { "v": "v1" },
        { "id": "shop_a_b__ConfigMap", "v": "v1" },
    ] });
    let inventory: Inventory = to_serde(&status).unwrap();
    let ids: Vec<_> = inventory
        .entries
        .iter()
        .map(|entry| entry.id.to_string())
        .collect();
    assert_eq!(ids, ["shop_web_apps_Deployment", "shop_a_b__ConfigMap"]);
    let nothing: Inventory = to_serde(&value!({ "entries": null })).unwrap();
    assert_eq!(nothing, Inventory::default());
}

#[test]
fn names_that_would_read_back_as_others_are_known() {
    let rbac = |name: &str| Id(key("rbac.authorization.k8s.io", "ClusterRole", "", name)).reads_back();
    assert!(rbac("a:b") && rbac("a_b") && rbac("a"));
    assert!(!rbac("a__b") && !rbac("a_:b"));
    assert!(Id(key("", "ConfigMap", "shop", "a__b")).reads_back());
    assert!(!Id(key("", "ConfigMap", "a_b", "c")).reads_back());
}

#[test]
fn an_inventory_is_what_stands_in_the_status() {
    let status = value!({ "entries": [
        { "id": "shop_web_apps_Deployment", "v": "v1" },
        { "id": "_shop__Namespace", "v": "v1" },
    ] });
    let inventory: Inventory = to_serde(&status).unwrap();
    assert!(inventory.contains(&key("", "Namespace", "", "shop")));
    assert_eq!(from_serde(&inventory).unwrap(), status);
    assert_eq!(to_serde::<Inventory>(&value!({})).unwrap(), Inventory::default());
}

#[test]
fn what_the_newer_inventory_lacks_is_to_be_pruned_whatever_the_version() {
    let entry = |id: &str, version: &str| Entry {
        id: id.parse().unwrap(),
        version: version.to_owned(),
    };
    let old = Inventory {
        entries: vec![entry("a_x_batch_CronJob", "v1beta1"), entry("a_y__Secret", "v1")],
    };
    let new = Inventory {
        entries: vec![entry("a_x_batch_CronJob", "v1")],
    };
    assert_eq!(old.without(&new), [&old.entries[1]]);
    assert_eq!(new.without(&old), Vec::<&Entry>::new());
}

proptest! {
    #[test]
    fn every_id_reads_back(namespace in "[a-z-]{0,5}", name in "[a-z][a-z:.-]{0,8}", kind in "ClusterRole|Role") {
        let id = Id(key("rbac.authorization.k8s.io", &kind, &namespace, &name));
        prop_assert_eq!(id.to_string().parse(), Ok(id));
    }

    #[test]
    fn an_id_that_says_so_reads_back(name in "[a-z_:]{1,8}", kind in "ClusterRole|ConfigMap", namespace in "[a-z]{0,3}") {
        let group = if kind == "ConfigMap" { "" } else { "rbac.authorization.k8s.io" };
        let id = Id(key(group, &kind, &namespace, &name));
        prop_assert_eq!(id.to_string().parse().as_ref() == Ok(&id), id.reads_back());
    }

    #[test]
    fn no_text_makes_the_parser_panic(text in "[a-z_:]{0,12}") {
        let _ = text.parse::<Id>();
    }
}
