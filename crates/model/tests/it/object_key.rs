use model::object_key::split_api_version;
use model::{ObjectKey, value};

#[test]
fn the_key_of_an_object_leaves_the_version_out() {
    let object = value!({ "apiVersion": "apps/v1", "kind": "Deployment", "metadata": { "namespace": "shop", "name": "web" } });
    let key = ObjectKey::of(&object);
    assert_eq!(key.group, "apps");
    assert_eq!(key.to_string(), "Deployment/shop/web");
    let core =
        ObjectKey::of(&value!({ "apiVersion": "v1", "kind": "Namespace", "metadata": { "name": "shop" } }));
    assert_eq!(
        (core.group.as_str(), core.to_string().as_str()),
        ("", "Namespace/shop")
    );
}

#[test]
fn keys_sort_by_group_kind_namespace_and_name() {
    let key = |group: &str, kind: &str, namespace: &str, name: &str| ObjectKey {
        group: group.into(),
        kind: kind.into(),
        namespace: namespace.into(),
        name: name.into(),
    };
    let sorted = [
        key("", "Z", "z", "z"),
        key("a", "A", "z", "z"),
        key("a", "B", "a", "z"),
        key("a", "B", "b", "a"),
    ];
    assert!(sorted.is_sorted());
}

#[test]
fn an_api_version_is_split_at_the_slash() {
    assert_eq!(split_api_version("apps/v1"), ("apps", "v1"));
    assert_eq!(split_api_version("v1"), ("", "v1"));
    assert_eq!(split_api_version(""), ("", ""));
}
