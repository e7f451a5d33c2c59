//! The index against a plain reading of all objects: scan every binding, match every rule by its definition.

use apiserver::auth::{Attributes, Rbac, RbacKind, Resource, Target, User};
use model::{Value, value};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::{select, subsequence};

use super::*;

fn some(words: &'static [&'static str]) -> impl Strategy<Value = Value> {
    subsequence(words.to_vec(), 0..=2).prop_map(|words| words.into_iter().collect::<Value>())
}

fn rule() -> impl Strategy<Value = Value> {
    let resources = some(&[
        "pods",
        "pods/log",
        "*/scale",
        "deployments",
        "*",
        "pods/scale",
        "xpods",
    ]);
    (
        some(&["get", "list", "*"]),
        some(&["", "apps", "*"]),
        resources,
        some(&["a", "b"]),
        some(&["/api", "/api/*", "*"]),
    )
        .prop_map(|(verbs, groups, resources, names, urls)| {
            value!({
                "verbs": verbs, "apiGroups": groups, "resources": resources,
                "resourceNames": names, "nonResourceURLs": urls,
            })
        })
}

fn subject() -> impl Strategy<Value = Value> {
    let kind = select(vec!["User", "Group", "ServiceAccount", "Robot"]);
    let name = select(vec!["jane", "devs", "bot", "system:serviceaccount:one:bot"]);
    (kind, name, select(vec!["", "one", "two"])).prop_map(|(kind, name, namespace)| {
        let mut subject = value!({ "kind": kind, "name": name });
        if !namespace.is_empty() {
            subject.set_at(&["namespace"], namespace);
        }
        subject
    })
}

/// A role or binding; few names, so that objects replace one another and references hit.
fn object() -> impl Strategy<Value = Value> {
    let kind = select(vec!["Role", "ClusterRole", "RoleBinding", "ClusterRoleBinding"]);
    let name = select(vec!["x", "y", "z"]);
    let reference = (
        select(vec!["Role", "ClusterRole"]),
        select(vec!["x", "y", "none"]),
    );
    (
        kind,
        select(vec!["one", "two"]),
        name,
        vec(rule(), 0..3),
        reference,
        vec(subject(), 0..3),
    )
        .prop_map(|(kind, namespace, name, rules, (role_kind, role), subjects)| {
            let mut object = value!({ "kind": kind, "metadata": { "name": name } });
            if !kind.starts_with("Cluster") {
                object.set_at(&["metadata", "namespace"], namespace);
            }
            match kind.ends_with("Binding") {
                true => {
                    object.set_at(&["roleRef"], value!({ "kind": role_kind, "name": role }));
                    object.set_at(&["subjects"], subjects);
                }
                false => object.set_at(&["rules"], rules),
            }
            object
        })
}

/// Objects as they are written one after the other, and whether each is removed again.
fn history() -> impl Strategy<Value = Vec<(Value, bool)>> {
    vec((object(), prop::bool::weighted(0.15)), 0..20)
}

fn asking() -> impl Strategy<Value = User> {
    let name = select(vec![
        "jane",
        "bot",
        "system:serviceaccount:one:bot",
        "system:serviceaccount:two:bot",
    ]);
    (name, subsequence(vec!["devs", "jane"], 0..=2)).prop_map(|(name, groups)| User::new(name, &groups))
}

fn target() -> impl Strategy<Value = Target<'static>> {
    let resource = (
        select(vec!["", "apps"]),
        select(vec!["pods", "deployments"]),
        select(vec!["", "log", "scale"]),
        select(vec!["", "one", "two"]),
        select(vec!["", "a", "c"]),
    )
        .prop_map(|(group, resource, subresource, namespace, name)| {
            Target::Resource(Resource {
                group,
                resource,
                subresource,
                namespace,
                name,
            })
        });
    prop_oneof![4 => resource, 1 => select(vec!["/api", "/api/v1", "/other"]).prop_map(Target::Path)]
}

fn words(value: &Value, key: &str) -> Vec<String> {
    value
        .list_at(&[key])
        .iter()
        .filter_map(Value::as_str)
        .map(str::to_owned)
        .collect()
}

fn rule_allows(rule: &Value, verb: &str, target: Target<'_>) -> bool {
    let any = |key: &str, wanted: &[String]| {
        words(rule, key)
            .iter()
            .any(|word| word == "*" || wanted.contains(word))
    };
    if !any("verbs", &[verb.to_owned()]) {
        return false;
    }
    match target {
        Target::Path(path) => words(rule, "nonResourceURLs")
            .iter()
            .any(|url| match url.strip_suffix('*') {
                Some(start) => path.starts_with(start),
                None => url == path,
            }),
        Target::Resource(target) => {
            let names = words(rule, "resourceNames");
            let resources = match target.subresource {
                "" => vec![target.resource.to_owned()],
                sub => vec![format!("{}/{sub}", target.resource), format!("*/{sub}")],
            };
            any("apiGroups", &[target.group.to_owned()])
                && any("resources", &resources)
                && (names.is_empty() || names.contains(&target.name.to_owned()))
        }
    }
}

fn subject_is(subject: &Value, namespace: &str, user: &User) -> bool {
    let name = subject.str_at(&["name"]);
    let subject_namespace = match subject.str_at(&["namespace"]) {
        "" => namespace,
        own => own,
    };
    match subject.str_at(&["kind"]) {
        "User" => user.name == name,
        "Group" => user.groups.iter().any(|group| group == name),
        "ServiceAccount" => {
            !subject_namespace.is_empty()
                && user.name == format!("system:serviceaccount:{subject_namespace}:{name}")
        }
        _ => false,
    }
}

/// The plain reading.
fn allowed(objects: &[Value], request: &Attributes<'_>) -> bool {
    let namespace = request.namespace();
    let of = |object: &Value, key: &str| object.str_at(&["metadata", key]).to_owned();
    objects.iter().any(|binding| {
        let reaches = match binding.str_at(&["kind"]) {
            "ClusterRoleBinding" => true,
            "RoleBinding" => !namespace.is_empty() && of(binding, "namespace") == namespace,
            _ => false,
        };
        let names_user = || {
            let subjects = binding.list_at(&["subjects"]);
            subjects
                .iter()
                .any(|subject| subject_is(subject, &of(binding, "namespace"), request.user))
        };
        let role = objects.iter().find(|role| {
            role.str_at(&["kind"]) == binding.str_at(&["roleRef", "kind"])
                && of(role, "name") == binding.str_at(&["roleRef", "name"])
                && (role.str_at(&["kind"]) == "ClusterRole"
                    || of(role, "namespace") == of(binding, "namespace"))
        });
        let rules = role.map(|role| role.list_at(&["rules"])).unwrap_or_default();
        reaches
            && names_user()
            && rules
                .iter()
                .any(|rule| rule_allows(rule, request.verb, request.target))
    })
}

fn key(object: &Value) -> (String, String, String) {
    let metadata = |key| object.str_at(&["metadata", key]).to_owned();
    (
        object.str_at(&["kind"]).to_owned(),
        metadata("namespace"),
        metadata("name"),
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1024))]
    #[test]
    fn the_index_decides_as_the_plain_reading(history in history(), user in asking(), targets in vec(target(), 1..5)) {
        let mut index = Rbac::default();
        let mut objects: Vec<Value> = Vec::new();
        for (object, removed) in history {
            objects.retain(|old| key(old) != key(&object));
            set(&mut index, &object);
            if removed {
                let (_, namespace, name) = key(&object);
                let resource = format!("{}s", object.str_at(&["kind"]).to_lowercase());
                let kind = RbacKind::of_resource(&resource).expect("it is one of the four");
                index.set(kind, &namespace, &name, None);
            } else {
                objects.push(object);
            }
        }
        for target in targets {
            for verb in ["get", "list", "delete"] {
                let request = Attributes { user: &user, verb, target };
                let decision = index.authorize(&request);
                prop_assert_eq!(decision.allowed, allowed(&objects, &request), "{:?} {:?}", target, objects);
                let reason = decision.reason();
                prop_assert_eq!(decision.allowed, reason.starts_with("RBAC: allowed by "), "{}", reason);
            }
        }
    }
}
