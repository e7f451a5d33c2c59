//! How pods are spread over nodes, and the labels of the pod itself that take part in selecting its neighbours.

use std::collections::{HashMap, HashSet};

use super::super::at::At;
use super::super::errors::Errors;
use super::super::selector::{label_key, selector};

/// The rules for spreading.
pub(super) fn constraints(at: &At, errors: &mut Errors) {
    let pair = |one: &At| {
        let action = one.txt("whenUnsatisfiable");
        format!("{{{}, {}}}", one.text_of("topologyKey"), action.text())
    };
    // Of equal rules all but the last are told.
    let mut later = HashSet::new();
    let repeated: Vec<bool> = (0..at.len())
        .rev()
        .map(|index| !later.insert(pair(&at.index(index))))
        .collect();
    for (index, one) in at.items().enumerate() {
        errors.positive(&one.num("maxSkew"));
        let key = one.txt("topologyKey");
        if key.text().is_empty() {
            errors.required(&key, "can not be empty");
        }
        let action = one.txt("whenUnsatisfiable");
        if !matches!(action.text(), "DoNotSchedule" | "ScheduleAnyway") {
            errors.not_supported(&action, &["DoNotSchedule", "ScheduleAnyway"]);
        }
        if repeated[at.len() - 1 - index] {
            errors.duplicate_value(&one.get("{topologyKey, whenUnsatisfiable}"), pair(&one));
        }
        let domains = one.get("minDomains");
        if domains.is_set() {
            errors.positive(&domains);
            if action.text() != "DoNotSchedule" {
                let detail = format!(
                    "can only use minDomains if whenUnsatisfiable=DoNotSchedule, not {}",
                    action.text()
                );
                errors.invalid(&domains, detail);
            }
        }
        errors.one_of_if_set(&one.get("nodeAffinityPolicy"), &["Honor", "Ignore"]);
        errors.one_of_if_set(&one.get("nodeTaintsPolicy"), &["Honor", "Ignore"]);
        label_keys(&one, errors);
        selector(&one.get("labelSelector"), errors);
    }
}

/// Keys whose values come from the pod's own labels.
pub(super) fn label_keys(at: &At, errors: &mut Errors) {
    let labels = at.get("labelSelector");
    let (same, other) = (at.get("matchLabelKeys"), at.get("mismatchLabelKeys"));
    for keys in [&same, &other] {
        if !keys.is_empty() && !labels.is_set() {
            errors.forbidden(keys, "must not be specified when labelSelector is not set");
        } else {
            for key in keys.items() {
                label_key(&key, errors);
            }
        }
    }
    let places: HashMap<&str, usize> = same.texts().enumerate().map(|(at, key)| (key, at)).collect();
    let mut selected: HashSet<&str> = labels.get("matchLabels").entries().map(|(key, _)| key).collect();
    for expression in labels.get("matchExpressions").items() {
        let key = expression.text_of("key");
        if let Some(index) = places.get(key).copied()
            && selected.contains(key)
        {
            // The real server counts from the term, not from the list of keys.
            let list = at.with(same.value());
            let detail = "exists in both matchLabelKeys and labelSelector";
            errors.invalid_value(&list.index(index), key, detail);
        }
        selected.insert(key);
    }
    let others: HashSet<&str> = other.texts().collect();
    for key in same.items() {
        if others.contains(key.text()) {
            errors.invalid(&key, "exists in both matchLabelKeys and mismatchLabelKeys");
        }
    }
}
