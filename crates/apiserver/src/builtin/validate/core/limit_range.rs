//! Limits for what is made in a namespace.

use std::collections::{BTreeSet, HashSet};

use super::super::amount::{amount, container_resource_name, is_overcommit_allowed, resource_name};
use super::super::at::At;
use super::super::errors::Errors;
use super::super::selector::label_key;
use smd::go::Quantity;

/// A limit range.
pub(in super::super) fn limit_range(object: &At, errors: &mut Errors) {
    let mut kinds = HashSet::new();
    for limit in object.deep("spec.limits").items() {
        let kind = limit.txt("type");
        type_name(&kind, errors);
        if !kinds.insert(kind.text()) {
            errors.duplicate(&kind);
        }
        let mut names = BTreeSet::new();
        let lists: &[&str] = match kind.text() {
            "Pod" => {
                for list in ["default", "defaultRequest"] {
                    if !limit.get(list).is_empty() {
                        errors.forbidden(&limit.get(list), "may not be specified when `type` is 'Pod'");
                    }
                }
                &["max", "min", "maxLimitRequestRatio"]
            }
            _ => &["max", "min", "default", "defaultRequest", "maxLimitRequestRatio"],
        };
        for list in lists {
            if *list == "maxLimitRequestRatio" {
                storage(&limit, errors);
            }
            for (name, at) in limit.get(list).entries() {
                match kind.text() {
                    "Pod" | "Container" => container_resource_name(name, &at, errors),
                    _ => drop(resource_name(name, &at, errors)),
                }
                names.insert(name);
            }
        }
        for name in names {
            compare(&limit, name, lists, errors);
        }
    }
}

fn type_name(at: &At, errors: &mut Errors) {
    let before = errors.len();
    label_key(at, errors);
    let known = matches!(at.text(), "Pod" | "Container" | "PersistentVolumeClaim");
    if errors.len() == before && !at.text().contains('/') && !known {
        errors.invalid(at, "must be a standard limit type or fully qualified");
    }
}

fn storage(limit: &At, errors: &mut Errors) {
    let has = |list: &str| limit.get(list).has("storage");
    if limit.text_of("type") == "PersistentVolumeClaim" && !has("min") && !has("max") {
        let detail = "either minimum or maximum storage value is required, but neither was provided";
        errors.required(&limit.get("limits"), detail);
    }
}

/// The amounts of one resource fit one another.
fn compare(limit: &At, name: &str, lists: &[&str], errors: &mut Errors) {
    let find = |list: &str| -> Option<Quantity> {
        let list = lists.contains(&list).then(|| limit.get(list))?;
        let at = list.key(name);
        at.is_set().then(|| amount(at.value()))
    };
    let (min, max) = (find("min"), find("max"));
    let (default, request) = (find("default"), find("defaultRequest"));
    let ratio = find("maxLimitRequestRatio");
    let mut check = |list: &str, shown: &Quantity, detail: String| {
        let list = limit.get(list);
        errors.invalid_value(&list.key(name), shown.to_string(), detail);
    };
    let mut above = |list: &str, shown: usize, pair: [&Option<Quantity>; 2], words: [&str; 2]| {
        if let [Some(low), Some(high)] = pair
            && low > high
        {
            let detail = format!("{} {low} is greater than {} {high}", words[0], words[1]);
            check(list, [low, high][shown], detail);
        }
    };
    above("min", 0, [&min, &max], ["min value", "max value"]);
    above(
        "defaultRequest",
        1,
        [&min, &request],
        ["min value", "default request value"],
    );
    above(
        "defaultRequest",
        0,
        [&request, &max],
        ["default request value", "max value"],
    );
    above(
        "defaultRequest",
        0,
        [&request, &default],
        ["default request value", "default limit value"],
    );
    above("default", 0, [&min, &default], ["min value", "default value"]);
    above("default", 1, [&default, &max], ["default value", "max value"]);
    if let Some(ratio) = &ratio {
        let one = Quantity::parse("1").expect("one is an amount");
        if *ratio < one {
            check(
                "maxLimitRequestRatio",
                ratio,
                format!("ratio {ratio} is less than 1"),
            );
        }
        if let (Some(min), Some(max)) = (&min, &max) {
            let most = max.as_f64() / min.as_f64();
            if ratio.as_f64() > most {
                let detail = format!("ratio {ratio} is greater than max/min = {most:.6}");
                check("maxLimitRequestRatio", ratio, detail);
            }
        }
    }
    if let (Some(default), Some(request)) = (&default, &request)
        && !is_overcommit_allowed(name)
        && default != request
    {
        let detail =
            format!("default value {default} must equal to defaultRequest value {request} in {name}");
        check("defaultRequest", request, detail);
    }
}
