//! Labels and selectors of labels.

use model::Value;
use model::label::{key_problems, value_problems};

use super::at::At;
use super::errors::Errors;

/// A map of labels.
pub(super) fn labels(at: &At, errors: &mut Errors) {
    for (key, value) in at.entries() {
        for problem in key_problems(key) {
            errors.invalid_value(at, key, problem);
        }
        for problem in value_problems(value.text()) {
            errors.invalid_value(at, value.text(), problem);
        }
    }
}

/// A map of annotations.
pub(super) fn annotations(at: &At, errors: &mut Errors) {
    const MOST_BYTES: usize = 256 * 1024;
    let mut size = 0;
    for (key, value) in at.entries() {
        for problem in key_problems(&key.to_lowercase()) {
            errors.invalid_value(at, key, problem);
        }
        size += key.len() + value.text().len();
    }
    if size > MOST_BYTES {
        errors.too_long(at, MOST_BYTES);
    }
}

/// The key of a label, or any other name with an optional domain.
pub(super) fn label_key(at: &At, errors: &mut Errors) {
    errors.each(at, key_problems(at.text()));
}

/// A selector with `matchLabels` and `matchExpressions`. Returns whether it can be used.
pub(super) fn selector(at: &At, errors: &mut Errors) -> bool {
    let before = errors.len();
    labels(&at.get("matchLabels"), errors);
    for requirement in at.get("matchExpressions").items() {
        let values = requirement.get("values");
        match requirement.text_of("operator") {
            "In" | "NotIn" if values.is_empty() => {
                errors.required(&values, "must be specified when `operator` is 'In' or 'NotIn'");
            }
            "Exists" | "DoesNotExist" if !values.is_empty() => errors.forbidden(
                &values,
                "may not be specified when `operator` is 'Exists' or 'DoesNotExist'",
            ),
            "In" | "NotIn" | "Exists" | "DoesNotExist" => {}
            _ => errors.invalid(&requirement.txt("operator"), "not a valid selector operator"),
        }
        label_key(&requirement.txt("key"), errors);
        for value in values.items() {
            errors.each(&value, value_problems(value.text()));
        }
    }
    errors.len() == before
}

/// Whether a selector selects everything because it asks for nothing.
pub(super) fn is_empty(selector: &At) -> bool {
    selector.is_set() && selector.get("matchLabels").is_empty() && selector.get("matchExpressions").is_empty()
}

/// Whether `labels` are selected by a selector that can be used; none are where there is no selector.
pub(super) fn selects(selector: &At, labels: &Value) -> bool {
    let found = |key: &str| labels.get(key).and_then(Value::as_str);
    selector.is_set()
        && selector
            .get("matchLabels")
            .entries()
            .all(|(key, value)| found(key) == Some(value.text()))
        && selector.get("matchExpressions").items().all(|requirement| {
            let has = |value: &str| requirement.get("values").texts().any(|one| one == value);
            match (requirement.text_of("operator"), found(requirement.text_of("key"))) {
                ("In", value) => value.is_some_and(has),
                ("NotIn", value) => !value.is_some_and(has),
                ("Exists", value) => value.is_some(),
                (_, value) => value.is_none(),
            }
        })
}

#[cfg(test)]
mod tests {
    use model::value;

    use super::*;

    #[test]
    fn a_selector_selects_what_fulfils_all_of_it() {
        let selector = value!({
            "matchLabels": { "a": "1" },
            "matchExpressions": [
                { "key": "b", "operator": "In", "values": ["2", "3"] },
                { "key": "c", "operator": "DoesNotExist" },
                { "key": "d", "operator": "NotIn", "values": ["4"] },
            ],
        });
        let at = At::root(&selector);
        assert!(self::selector(&at, &mut Errors::default()));
        assert!(selects(&at, &value!({ "a": "1", "b": "3" })));
        assert!(!selects(&at, &value!({ "a": "1", "b": "3", "c": "" })));
        assert!(!selects(&at, &value!({ "a": "1", "b": "3", "d": "4" })));
        assert!(!selects(&at, &value!({ "a": "2", "b": "3" })));
        assert!(!selects(&at, &Value::Null));
        assert!(!selects(&At::root(&Value::Null), &value!({})));
        assert!(selects(&At::root(&value!({})), &Value::Null));
    }
}
