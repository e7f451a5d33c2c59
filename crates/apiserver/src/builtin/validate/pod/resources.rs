//! What containers and pods ask for and may use.

use std::collections::{BTreeMap, HashSet};

use super::super::amount::{
    amount, container_resource_name, is_huge_page, is_overcommit_allowed, of_resource, resource_name,
};
use super::super::at::At;
use super::super::errors::Errors;
use super::super::name;
use smd::go::Quantity;

type CheckName = fn(&str, &At, &mut Errors);

/// The resources of a container.
pub(super) fn of_container(at: &At, claims: &HashSet<&str>, errors: &mut Errors) {
    if at.is_set() {
        requirements(
            &at.get("limits"),
            &at.get("requests"),
            at,
            container_resource_name,
            errors,
        );
        claim_names(&at.get("claims"), claims, errors);
    }
}

/// What running a pod costs besides its containers. It stands for limits, without being called so.
pub(in super::super) fn overhead(at: &At, amounts: &At, errors: &mut Errors) {
    if amounts.is_set() {
        let limits = at.get("limits");
        let nothing = At::root(&model::Value::Null);
        requirements(
            &limits.with(amounts.value()),
            &nothing,
            at,
            container_resource_name,
            errors,
        );
    }
}

fn requirements(limits: &At, requests: &At, at: &At, check_name: CheckName, errors: &mut Errors) {
    let mut has_huge_pages = false;
    let mut has_compute = false;
    let mut look = |name: &str, one: &At, errors: &mut Errors| {
        has_compute |= matches!(name, "cpu" | "memory");
        if is_huge_page(name) {
            has_huge_pages = true;
            whole_pages(name, one, errors);
        }
    };
    for (name, limit) in limits.entries() {
        check_name(name, &limit, errors);
        of_resource(name, &limit, errors);
        look(name, &limit, errors);
    }
    for (name, request) in requests.entries() {
        check_name(name, &request, errors);
        of_resource(name, &request, errors);
        let limit = limits.key(name);
        if limit.is_set() {
            compare(name, requests, &request, &limit, errors);
        } else if !is_overcommit_allowed(name) {
            errors.required(limits, "Limit must be set for non overcommitable resources");
        }
        look(name, &request, errors);
    }
    if !has_compute && has_huge_pages {
        errors.forbidden(at, "HugePages require cpu or memory");
    }
}

fn compare(name: &str, requests: &At, request: &At, limit: &At, errors: &mut Errors) {
    if request.text() == limit.text() {
        return;
    }
    let (asked, most) = (amount(request.value()), amount(limit.value()));
    let relation = match is_overcommit_allowed(name) {
        false if asked != most => "equal to",
        _ if asked > most => "less than or equal to",
        _ => return,
    };
    let detail = format!("must be {relation} {name} limit of {most}");
    errors.invalid_value(requests, asked.to_string(), detail);
}

/// Huge pages come whole.
fn whole_pages(name: &str, at: &At, errors: &mut Errors) {
    let size = name.strip_prefix("hugepages-").unwrap_or_default();
    let fits = Quantity::parse(size).is_ok_and(|size| {
        let (size, all) = (size.as_u64(), amount(at.value()).as_u64());
        size.zip(all)
            .is_some_and(|(size, all)| size > 0 && all % size == 0)
    });
    if !fits {
        let detail = format!("{} is not positive integer multiple of {name}", at.text());
        errors.invalid(at, detail);
    }
}

fn claim_names(at: &At, known: &HashSet<&str>, errors: &mut Errors) {
    let mut names: HashSet<String> = HashSet::new();
    for claim in at.items() {
        let (name, request) = (claim.text_of("name"), claim.text_of("request"));
        if name.is_empty() {
            errors.required(&claim, "");
            continue;
        }
        if names.contains(name) {
            errors.duplicate_value(&claim, name);
        } else {
            let mut key = name.to_owned();
            if !request.is_empty() {
                errors.each(&claim.txt("request"), name::label(request));
                key = format!("{name}/{request}");
            }
            let prefix = format!("{name}/");
            if names.contains(&key) {
                errors.duplicate_value(&claim, key.as_str());
            } else if request.is_empty() {
                for _ in names.iter().filter(|other| other.starts_with(&prefix)) {
                    errors.duplicate_value(&claim, name);
                }
            }
            names.insert(key);
        }
        if !known.contains(name) {
            let mut all: Vec<&str> = known.iter().copied().collect();
            all.sort_unstable();
            let detail = match all.is_empty() {
                true => " which is empty".to_owned(),
                false => format!(": {}", all.join(", ")),
            };
            let here = claim.with(claim.txt("name").value());
            errors.not_found(
                &here,
                format!("must be one of the names in pod.spec.resourceClaims{detail}"),
            );
        }
    }
}

/// The resources of a pod as a whole.
pub(super) fn of_pod(spec: &At, errors: &mut Errors) {
    let at = spec.get("resources");
    if !at.is_set() {
        return;
    }
    if spec.get("os").text_of("name") == "windows" {
        errors.forbidden(&at, "may not be set for a windows pod");
        return;
    }
    if at.has("claims") {
        let detail = "claims may not be set for Resources at pod-level";
        errors.forbidden(&at.get("claims"), detail);
    }
    requirements(
        &at.get("limits"),
        &at.get("requests"),
        &at,
        pod_resource_name,
        errors,
    );
    totals(spec, &at, errors);
}

fn pod_resource_name(name: &str, at: &At, errors: &mut Errors) {
    if resource_name(name, at, errors) && !matches!(name, "cpu" | "memory") && !is_huge_page(name) {
        let shown = model::Value::str(name);
        errors.not_supported(&at.with(&shown), &["cpu", "hugepages-", "memory"]);
    }
}

/// A pod has at least what its containers ask for together.
fn totals(spec: &At, at: &At, errors: &mut Errors) {
    let containers = spec.get("containers");
    let asked = requests_of_all(spec);
    let requests = at.get("requests");
    for (name, sum) in &asked {
        let own = requests.key(name);
        if own.is_set() && *sum > amount(own.value()) {
            let detail = format!("must be greater than or equal to aggregate container requests of {sum}");
            errors.invalid(&own, detail);
        }
    }
    let most = at.get("limits");
    let list = at.get("containers");
    for (index, container) in containers.items().enumerate() {
        let resources = container.get("resources");
        for (name, limit) in resources.get("limits").entries() {
            let own = most.key(name);
            if own.is_set() && amount(limit.value()) > amount(own.value()) {
                let place = list.index(index);
                let place = place.key(name);
                let detail = format!("must be less than or equal to pod limits of {}", own.text());
                errors.invalid_value(&place.get("limits"), limit.text(), detail);
            }
        }
    }
}

type Amounts<'v> = BTreeMap<&'v str, Quantity>;

/// What all containers ask for at the same time: those that go on running together, or one that runs before them
/// together with those that were started before it.
fn requests_of_all<'v>(spec: &At<'_, 'v>) -> Amounts<'v> {
    let mut together = Amounts::new();
    for container in spec.get("containers").items() {
        add(&mut together, &container);
    }
    let mut started = Amounts::new();
    let mut first = Amounts::new();
    for container in spec.get("initContainers").items() {
        let mut now = started.clone();
        add(&mut now, &container);
        if container.text_of("restartPolicy") == "Always" {
            add(&mut together, &container);
            started.clone_from(&now);
        }
        keep_larger(&mut first, now);
    }
    keep_larger(&mut together, first);
    together
}

fn add<'v>(sum: &mut Amounts<'v>, container: &At<'_, 'v>) {
    let resources = container.get("resources");
    for (name, request) in resources.get("requests").entries() {
        let more = amount(request.value());
        match sum.get_mut(name) {
            Some(amount) => *amount = amount.plus(&more),
            None => drop(sum.insert(name, more)),
        }
    }
}

fn keep_larger<'v>(most: &mut Amounts<'v>, other: Amounts<'v>) {
    for (name, amount) in other {
        let kept = most.entry(name).or_insert_with(|| amount.clone());
        if amount > *kept {
            *kept = amount;
        }
    }
}
