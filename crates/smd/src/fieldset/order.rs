//! The order of values that Kubernetes sorts the elements of a field set by.

use std::cmp::Ordering;

use model::{Map, Value};

/// Orders any two values: numbers first, then strings, booleans, lists, maps and null.
///
/// Whole and other numbers are compared as numbers.
pub(super) fn compare(a: &Value, b: &Value) -> Ordering {
    match (a, b) {
        (Value::Int(a), Value::Int(b)) => a.cmp(b),
        (Value::Int(_) | Value::Float(_), Value::Int(_) | Value::Float(_)) => {
            let (a, b) = (a.as_f64().unwrap_or_default(), b.as_f64().unwrap_or_default());
            a.partial_cmp(&b).unwrap_or(Ordering::Equal)
        }
        (Value::Str(a), Value::Str(b)) => a.cmp(b),
        (Value::Bool(a), Value::Bool(b)) => a.cmp(b),
        (Value::Array(a), Value::Array(b)) => {
            let unequal = a
                .iter()
                .zip(b.iter())
                .map(|(a, b)| compare(a, b))
                .find(|order| order.is_ne());
            unequal.unwrap_or_else(|| a.len().cmp(&b.len()))
        }
        (Value::Object(a), Value::Object(b)) => compare_maps(a, b),
        _ => rank(a).cmp(&rank(b)),
    }
}

fn compare_maps(a: &Map, b: &Map) -> Ordering {
    let sorted = |map: &Map| {
        let mut map = map.clone();
        map.sort();
        map
    };
    let (a, b) = (sorted(a), sorted(b));
    let unequal = a
        .iter()
        .zip(b.iter())
        .map(|(a, b)| a.0.cmp(b.0).then_with(|| compare(a.1, b.1)));
    unequal
        .into_iter()
        .find(|order| order.is_ne())
        .unwrap_or_else(|| a.len().cmp(&b.len()))
}

fn rank(value: &Value) -> u8 {
    match value {
        Value::Int(_) | Value::Float(_) => 0,
        Value::Str(_) => 1,
        Value::Bool(_) => 2,
        Value::Array(_) => 3,
        Value::Object(_) => 4,
        Value::Null => 5,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::value;

    #[test]
    fn values_of_different_types_have_an_order() {
        let ascending = [
            value!(-1),
            value!(80),
            value!(443),
            value!("a"),
            value!(false),
            value!([]),
            value!({}),
            Value::Null,
        ];
        assert!(ascending.is_sorted_by(|a, b| compare(a, b).is_lt()));
        assert!(compare(&Value::Int(1), &Value::Float(1.0)).is_eq());
        assert!(compare(&Value::Int(1), &Value::Float(1.5)).is_lt());
    }

    #[test]
    fn lists_and_maps_are_compared_by_their_parts() {
        assert!(compare(&value!([1, 2]), &value!([1, 2, 3])).is_lt());
        assert!(compare(&value!([1, 3]), &value!([1, 2, 3])).is_gt());
        assert!(compare(&value!({ "a": 1 }), &value!({ "a": 2 })).is_lt());
        assert!(compare(&value!({ "b": 1 }), &value!({ "a": 2 })).is_gt());
    }
}
