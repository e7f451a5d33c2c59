//! A digest of what an object is meant to be, by which changes that matter are told from noise.

use model::Value;

/// What the server keeps count of, which says nothing about the object.
const NOISE: [&str; 7] = [
    "creationTimestamp",
    "deletionGracePeriodSeconds",
    "deletionTimestamp",
    "generation",
    "managedFields",
    "resourceVersion",
    "uid",
];

/// Annotations that count something: one that an old kind of leader election renews every two seconds, and one by which the cluster
/// numbers the revisions of a Deployment.
const COUNTS: [&str; 2] = [
    "control-plane.alpha.kubernetes.io/leader",
    "deployment.kubernetes.io/revision",
];

/// A digest of everything but `status` and what the server keeps count of: equal for two states of an object that differ
/// in nothing that somebody asked for.
pub fn digest(object: &Value) -> u128 {
    let mut hasher = blake3::Hasher::new();
    let Some(map) = object.as_object() else { return 0 };
    for (key, value) in map.iter().filter(|(key, _)| *key != "status") {
        text(&mut hasher, key);
        match key {
            "metadata" => metadata(&mut hasher, value),
            _ => add(&mut hasher, value),
        }
    }
    let digest = hasher.finalize();
    let (first, _) = digest.as_bytes().split_at(16);
    u128::from_le_bytes(first.try_into().expect("it was split there"))
}

fn metadata(hasher: &mut blake3::Hasher, metadata: &Value) {
    let pairs = metadata.as_object().into_iter().flat_map(|map| map.iter());
    for (key, value) in pairs.filter(|(key, _)| !NOISE.contains(key)) {
        match (key, value) {
            ("annotations", Value::Object(map)) => {
                for (key, value) in map.iter().filter(|(key, _)| !COUNTS.contains(key)) {
                    text(hasher, "annotations");
                    text(hasher, key);
                    add(hasher, value);
                }
            }
            _ => {
                text(hasher, key);
                add(hasher, value);
            }
        }
    }
}

/// Each value begins with a letter for its type and says where it ends, so that no two give the same bytes.
fn add(hasher: &mut blake3::Hasher, value: &Value) {
    match value {
        Value::Null => drop(hasher.update(b"n")),
        Value::Bool(flag) => drop(hasher.update(if *flag { b"t" } else { b"f" })),
        Value::Int(number) => drop(hasher.update(b"i").update(&number.to_le_bytes())),
        // Equal numbers have equal digests, whichever way they are written.
        Value::Float(number) if number.fract() == 0.0 && number.abs() < 1e15 => {
            add(hasher, &Value::Int(*number as i64));
        }
        Value::Float(number) => drop(hasher.update(b"d").update(&number.to_le_bytes())),
        Value::Str(string) => text(hasher, string),
        Value::Array(items) => {
            hasher.update(b"[");
            items.iter().for_each(|item| add(hasher, item));
            hasher.update(b"]");
        }
        Value::Object(map) => {
            hasher.update(b"{");
            for (key, value) in map.iter() {
                text(hasher, key);
                add(hasher, value);
            }
            hasher.update(b"}");
        }
    }
}

fn text(hasher: &mut blake3::Hasher, text: &str) {
    hasher
        .update(b"s")
        .update(&(text.len() as u64).to_le_bytes())
        .update(text.as_bytes());
}

#[cfg(test)]
mod tests {
    use model::value;

    use super::*;

    fn object() -> Value {
        value!({
            "kind": "Deployment",
            "metadata": { "name": "web", "annotations": { "note": "a" } },
            "spec": { "replicas": 2, "list": ["a", "b"] },
        })
    }

    fn with(path: &[&str], value: Value) -> u128 {
        let mut object = object();
        object.set_at(path, value);
        digest(&object)
    }

    #[test]
    fn what_the_server_counts_and_status_make_no_difference() {
        let plain = digest(&object());
        for path in [
            &["status", "readyReplicas"][..],
            &["metadata", "resourceVersion"],
            &["metadata", "generation"],
            &["metadata", "uid"],
            &["metadata", "managedFields"],
            &["metadata", "creationTimestamp"],
            &["metadata", "deletionTimestamp"],
            &["metadata", "annotations", COUNTS[0]],
            &["metadata", "annotations", COUNTS[1]],
        ] {
            assert_eq!(with(path, value!("any")), plain, "{path:?}");
        }
        assert_eq!(with(&["spec", "replicas"], Value::Float(2.0)), plain);
        let mut counted = value!({ "metadata": {} });
        let without = digest(&counted);
        counted.set_at(&["metadata", "annotations", COUNTS[1]], "1");
        assert_eq!(digest(&counted), without);
    }

    #[test]
    fn everything_else_makes_one() {
        let plain = digest(&object());
        for (path, value) in [
            (&["spec", "replicas"][..], value!(3)),
            (&["spec", "replicas"], value!("2")),
            (&["spec", "replicas"], Value::Float(2.5)),
            (&["spec", "list"], value!(["ab"])),
            (&["spec", "list"], value!([["a"], "b"])),
            (&["metadata", "annotations", "note"], value!("b")),
            (&["metadata", "labels", "app"], value!("web")),
            (&["metadata", "finalizers"], value!(["a"])),
            (&["data"], value!(null)),
        ] {
            assert_ne!(with(path, value), plain, "{path:?}");
        }
    }
}
