//! Which taints of nodes a pod bears.

use model::label::value_problems;

use super::super::at::At;
use super::super::errors::Errors;
use super::super::selector::label_key;

pub(in super::super) const EFFECTS: [&str; 3] = ["NoSchedule", "PreferNoSchedule", "NoExecute"];

/// The tolerations of a pod.
pub(in super::super) fn tolerations(at: &At, errors: &mut Errors) {
    for one in at.items() {
        let (key, operator) = (one.txt("key"), one.txt("operator"));
        let (value, effect) = (one.txt("value"), one.txt("effect"));
        if !key.text().is_empty() {
            label_key(&key, errors);
        } else if operator.text() != "Exists" {
            let detail =
                "operator must be Exists when `key` is empty, which means \"match all values and all keys\"";
            errors.invalid(&operator, detail);
        }
        if one.has("tolerationSeconds") && effect.text() != "NoExecute" {
            errors.invalid(
                &effect,
                "effect must be 'NoExecute' when `tolerationSeconds` is set",
            );
        }
        match operator.text() {
            "" | "Equal" => {
                let problems = value_problems(value.text());
                if !problems.is_empty() {
                    errors.invalid_value(&operator, value.text(), problems.join(";"));
                }
            }
            "Exists" => {
                if !value.text().is_empty() {
                    let detail = "value must be empty when `operator` is 'Exists'";
                    errors.invalid_value(&operator, value.text(), detail);
                }
            }
            "Lt" | "Gt" => errors.not_supported(&operator, &["Equal", "Exists", "Lt", "Gt"]),
            _ => errors.not_supported(&operator, &["Equal", "Exists"]),
        }
        if !effect.text().is_empty() {
            errors.one_of(&effect, &EFFECTS);
        }
    }
}
