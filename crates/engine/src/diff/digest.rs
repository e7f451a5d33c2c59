//! A name for what is wanted of an object, by which an answer of the API server is found again.

use blake3::Hasher;
use model::digest::Algorithm;
use model::{Digest, Value};

/// The digest of a desired object and of what else the comparison depends on: field manager, ignore rules, policies.
///
/// Together with the `resourceVersion` of the live object it is the key of a cache of dry runs: where neither changed, the
/// server would give the same answer. Objects that are equal have equal digests, whatever the order of their keys.
pub fn digest(desired: &Value, settings: &[&str]) -> Digest {
    let mut hasher = Hasher::new();
    count(&mut hasher, b's', settings.len());
    for setting in settings {
        text(&mut hasher, setting);
    }
    value(&mut hasher, desired);
    Digest::new(Algorithm::Blake3, hasher.finalize().as_bytes()).expect("a hash of BLAKE3 has its length")
}

/// Each part begins with its kind and its length, so that different objects are different sequences of bytes.
fn value(hasher: &mut Hasher, part: &Value) {
    match part {
        Value::Null => count(hasher, b'0', 0),
        Value::Bool(flag) => count(hasher, b'b', usize::from(*flag)),
        Value::Int(number) => float(hasher, *number as f64, *number),
        // Whole numbers are equal to themselves as floats.
        Value::Float(number) => float(hasher, *number, *number as i64),
        Value::Str(part) => text(hasher, part),
        Value::Array(items) => {
            count(hasher, b'[', items.len());
            items.iter().for_each(|item| value(hasher, item));
        }
        Value::Object(map) => {
            count(hasher, b'{', map.len());
            let mut pairs: Vec<(&str, &Value)> = map.iter().collect();
            pairs.sort_by_key(|(name, _)| *name);
            for (name, part) in pairs {
                text(hasher, name);
                value(hasher, part);
            }
        }
    }
}

fn float(hasher: &mut Hasher, number: f64, whole: i64) {
    // Zero has two signs and is equal to itself.
    let number = if number == 0.0 { 0.0 } else { number };
    hasher
        .update(b"n")
        .update(&number.to_le_bytes())
        .update(&whole.to_le_bytes());
}

fn text(hasher: &mut Hasher, part: &str) {
    count(hasher, b't', part.len());
    hasher.update(part.as_bytes());
}

fn count(hasher: &mut Hasher, kind: u8, length: usize) {
    hasher.update(&[kind]).update(&(length as u64).to_le_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::value;

    #[test]
    fn equal_objects_have_equal_digests() {
        let mut ordered = model::Map::new();
        ordered.push("b".into(), value!([0.0, { "x": null }]));
        ordered.push("a".into(), value!(1.0));
        let (ordered, sorted) = (
            Value::Object(ordered),
            value!({ "a": 1, "b": [0, { "x": null }] }),
        );
        assert_eq!(ordered, sorted);
        assert_eq!(digest(&ordered, &["m"]), digest(&sorted, &["m"]));
    }

    #[test]
    fn different_objects_and_settings_have_different_digests() {
        let objects = [
            value!({}),
            value!([]),
            value!(null),
            value!(""),
            value!({ "a": "b" }),
            value!({ "ab": "" }),
            value!({ "a": { "b": "" } }),
            value!(["a", "b"]),
            value!(["ab"]),
            value!([["a"], "b"]),
            value!(0),
            value!(false),
            value!(true),
            value!(0.5),
            value!(9007199254740993i64),
            value!(9007199254740992i64),
        ];
        let mut seen = std::collections::HashSet::new();
        for object in &objects {
            assert!(seen.insert(digest(object, &[]).to_string()), "{object:?}");
            assert!(seen.insert(digest(object, &["x"]).to_string()), "{object:?}");
        }
        assert_ne!(digest(&objects[0], &["a", "b"]), digest(&objects[0], &["ab"]));
    }
}
