//! Selectors in access reviews. Roles do not look at them, but what is wrong with them is told.

use model::Value;
use model::label;
use model::selector::{FieldSelector, LabelSelector, Operator, Requirement};

use crate::field;

/// What is wrong with the selectors of `resourceAttributes`.
pub(super) fn validate(attributes: &Value) -> Vec<field::Error> {
    let mut errors = Vec::new();
    for (key, is_label) in [("fieldSelector", false), ("labelSelector", true)] {
        let Some(selector) = attributes.get(key).filter(|selector| !selector.is_null()) else {
            continue;
        };
        let place = format!("spec.resourceAttributes.{key}");
        let (raw, requirements) = (
            selector.str_at(&["rawSelector"]),
            selector.list_at(&["requirements"]),
        );
        if !raw.is_empty() && !requirements.is_empty() {
            let why = "may not specified at the same time as requirements";
            errors.push(field::Error::invalid(
                format!("{place}.rawSelector"),
                &Value::str(raw),
                why,
            ));
        }
        if raw.is_empty() && requirements.is_empty() {
            let why = format!("when {place} is specified, requirements or rawSelector is required");
            errors.push(field::Error::required(format!("{place}.requirements"), why));
        }
        for (index, requirement) in requirements.iter().enumerate() {
            let place = format!("{place}.requirements[{index}]");
            if !is_label && requirement.str_at(&["key"]).is_empty() {
                errors.push(field::Error::required(
                    format!("{place}.key"),
                    "must be specified",
                ));
            }
            errors.extend(validate_values(&place, requirement));
            if is_label {
                errors.extend(validate_label(&place, requirement));
            }
        }
    }
    errors
}

fn validate_values(place: &str, requirement: &Value) -> Option<field::Error> {
    let place = format!("{place}.values");
    match (
        requirement.str_at(&["operator"]),
        requirement.list_at(&["values"]),
    ) {
        ("In" | "NotIn", []) => Some(field::Error::required(
            place,
            "must be specified when `operator` is 'In' or 'NotIn'",
        )),
        ("Exists" | "DoesNotExist", [_, ..]) => {
            let why = "may not be specified when `operator` is 'Exists' or 'DoesNotExist'";
            Some(field::Error::forbidden(place, why))
        }
        // Newer clients may know more operators.
        _ => None,
    }
}

fn validate_label(place: &str, requirement: &Value) -> Vec<field::Error> {
    let key = requirement.str_at(&["key"]);
    let keys = label::key_problems(key).into_iter();
    let mut errors: Vec<field::Error> = keys
        .map(|why| field::Error::invalid(format!("{place}.key"), &Value::str(key), why))
        .collect();
    for (index, value) in requirement.list_at(&["values"]).iter().enumerate() {
        let problems = label::value_problems(value.as_str().unwrap_or_default()).into_iter();
        errors.extend(
            problems.map(|why| field::Error::invalid(format!("{place}.values[{index}]"), value, why)),
        );
    }
    errors
}

/// What could not be understood of the selectors, as `status.evaluationError` tells it.
pub(super) fn problems(spec: &Value) -> String {
    let mut problems: Vec<String> = Vec::new();
    for (key, read) in [
        ("fieldSelector", read_field as fn(&Value) -> Reading),
        ("labelSelector", read_label),
    ] {
        let Some(selector) = spec.at(&["resourceAttributes", key]) else {
            continue;
        };
        let how_much = match read(selector) {
            Reading::Whole => continue,
            Reading::Partly => "partially ignored",
            Reading::NotAtAll => "ignored",
        };
        problems.push(format!(
            "spec.resourceAttributes.{key} {how_much} due to parse error"
        ));
    }
    problems.join("; ")
}

/// How much of a selector was understood.
enum Reading {
    Whole,
    Partly,
    NotAtAll,
}

impl Reading {
    fn of(understood: impl Iterator<Item = bool>) -> Self {
        let understood: Vec<bool> = understood.collect();
        match (understood.contains(&true), understood.contains(&false)) {
            (_, false) => Reading::Whole,
            (true, true) => Reading::Partly,
            (false, true) => Reading::NotAtAll,
        }
    }
}

fn read_field(selector: &Value) -> Reading {
    let raw = selector.str_at(&["rawSelector"]);
    if !raw.is_empty() {
        return Reading::of(std::iter::once(raw.parse::<FieldSelector>().is_ok()));
    }
    Reading::of(selector.list_at(&["requirements"]).iter().map(|requirement| {
        let one_value = requirement.list_at(&["values"]).len() == 1;
        one_value && matches!(requirement.str_at(&["operator"]), "In" | "NotIn")
    }))
}

fn read_label(selector: &Value) -> Reading {
    let raw = selector.str_at(&["rawSelector"]);
    if !raw.is_empty() {
        return Reading::of(std::iter::once(raw.parse::<LabelSelector>().is_ok()));
    }
    Reading::of(selector.list_at(&["requirements"]).iter().map(|requirement| {
        let operator = match requirement.str_at(&["operator"]) {
            "In" => Operator::In,
            "NotIn" => Operator::NotIn,
            "Exists" => Operator::Exists,
            "DoesNotExist" => Operator::DoesNotExist,
            _ => return false,
        };
        let values = requirement
            .list_at(&["values"])
            .iter()
            .filter_map(Value::as_str)
            .map(str::to_owned);
        Requirement::new(requirement.str_at(&["key"]), operator, values.collect()).is_ok()
    }))
}
