//! The addresses of services, which they are given before they are checked.

use std::collections::HashSet;
use std::net::IpAddr;

use super::super::address;
use super::super::at::At;
use super::super::errors::Errors;
use super::service::is_headless;

const FAMILIES: [&str; 2] = ["IPv4", "IPv6"];
const POLICIES: [&str; 3] = ["PreferDualStack", "RequireDualStack", "SingleStack"];

/// Addresses, families of addresses, and how many of them a service wants.
pub(super) fn addresses(spec: &At, errors: &mut Errors) {
    if spec.text_of("type") == "ExternalName" {
        return;
    }
    let (first, list) = (spec.text_of("clusterIP"), spec.get("clusterIPs"));
    let families = spec.get("ipFamilies");
    match (first.is_empty(), list.is_empty()) {
        (false, false) if list.texts().next() != Some(first) => {
            errors.invalid(&list, "first value must match `clusterIP`");
        }
        (false, true) => errors.required(&list, ""),
        (true, false) => errors.invalid(&list, "must be empty when `clusterIP` is not specified"),
        _ => {}
    }
    let mut seen = HashSet::new();
    for family in families.items() {
        if !FAMILIES.contains(&family.text()) {
            errors.not_supported(&family, &FAMILIES);
        }
        if !seen.insert(family.text()) {
            errors.duplicate(&family);
        }
    }
    errors.one_of_if_set(&spec.get("ipFamilyPolicy"), &POLICIES);
    if !each_address(&list, errors) {
        return;
    }
    if list.len() > 1 && !address::is_dual(list.texts()) {
        errors.invalid(&list, "may specify no more than one IP for each IP family");
    }
    if is_headless(spec) {
        return;
    }
    for (index, (one, family)) in list.items().zip(families.items()).enumerate() {
        let is_v6 = matches!(address::parse(one.text()), Some(IpAddr::V6(_)));
        let expected = match family.text() {
            "IPv4" if is_v6 => "IPv4",
            "IPv6" if !is_v6 => "IPv6",
            _ => continue,
        };
        let detail = format!("expected an {expected} value as indicated by `ipFamilies[{index}]`");
        errors.invalid(&one, detail);
    }
}

/// What a cluster with one family of addresses cannot do.
pub(super) fn one_family(spec: &At, errors: &mut Errors) {
    if spec.text_of("type") == "ExternalName" {
        return;
    }
    let (policy, families) = (spec.get("ipFamilyPolicy"), spec.get("ipFamilies"));
    if policy.text() == "SingleStack" {
        for (list, what) in [("clusterIPs", "cluster IPs"), ("ipFamilies", "IP families")] {
            if spec.get(list).len() == 2 {
                let detail = format!(
                    "must be 'RequireDualStack' or 'PreferDualStack' when multiple {what} are specified"
                );
                errors.invalid(&policy, detail);
            }
        }
    }
    if errors.len() > 0 || (is_headless(spec) && spec.get("selector").is_empty()) {
        return;
    }
    if policy.text() == "RequireDualStack" {
        errors.invalid(&policy, "this cluster is not configured for dual-stack services");
    }
    for family in families.items().filter(|family| family.text() == "IPv6") {
        errors.invalid(&family, "not configured on this cluster");
    }
}

/// Returns whether all are addresses.
fn each_address(list: &At, errors: &mut Errors) -> bool {
    let mut right = true;
    for (index, one) in list.items().enumerate() {
        if index == 0 && one.text() == "None" {
            if list.len() > 1 {
                right = false;
                errors.invalid(list, "'None' must be the first and only value");
            }
            continue;
        }
        right &= address::address(&one, errors);
    }
    if list.len() > 2 {
        errors.invalid(list, "may only hold up to 2 values");
    }
    right
}

/// Addresses that a service has it keeps.
pub(super) fn address_update(object: &At, old: &At, errors: &mut Errors) {
    let (spec, old_spec) = (object.get("spec"), old.get("spec"));
    if spec.text_of("type") == "ExternalName" || old_spec.text_of("type") == "ExternalName" {
        return;
    }
    let (headless, was_headless) = (is_headless(&spec), is_headless(&old_spec));
    if !(headless && was_headless) {
        kept_addresses(&spec, &old_spec, errors);
    }
    if !headless && !was_headless {
        kept_families(&spec, &old_spec, errors);
    }
}

fn kept_addresses(spec: &At, old_spec: &At, errors: &mut Errors) {
    let (list, old) = (spec.get("clusterIPs"), old_spec.get("clusterIPs"));
    let place = |index: usize| list.index(index);
    const CHANGED: &str = "may not change once set";
    if list.len() == old.len() {
        for (index, (one, before)) in list.texts().zip(old.texts()).enumerate() {
            if one != before {
                errors.invalid(&place(index).with(list.value()), CHANGED);
            }
        }
        return;
    }
    if list.is_empty() {
        errors.invalid(&place(0).with(list.value()), "primary clusterIP can not be unset");
    } else if !old.is_empty() && list.texts().next() != old.texts().next() {
        errors.invalid(&place(0).with(list.value()), CHANGED);
    }
    if list.len() == 1 && old.len() > 1 {
        single(spec, "clusterIP", errors);
    }
}

fn single(spec: &At, what: &str, errors: &mut Errors) {
    let policy = spec.get("ipFamilyPolicy");
    if policy.text() != "SingleStack" {
        let detail = format!("must be set to 'SingleStack' when releasing the secondary {what}");
        errors.invalid(&policy, detail);
    }
}

fn kept_families(spec: &At, old_spec: &At, errors: &mut Errors) {
    let (list, old) = (spec.get("ipFamilies"), old_spec.get("ipFamilies"));
    let addresses = spec.get("clusterIPs");
    let first = list.index(0);
    const CHANGED: &str = "may not change once set";
    if list.len() == old.len() {
        for _ in list
            .texts()
            .zip(old.texts())
            .filter(|(one, before)| one != before)
        {
            errors.invalid(&first.with(list.value()), CHANGED);
        }
        return;
    }
    if list.len() < old.len() && addresses.is_empty() {
        errors.invalid(&first.with(list.value()), "primary ipFamily can not be unset");
    }
    if !list.is_empty() && !old.is_empty() && list.texts().next() != old.texts().next() {
        // The real server shows the addresses here.
        errors.invalid(&first.with(addresses.value()), CHANGED);
    }
    if list.len() == 1 && old.len() > 1 {
        single(spec, "ipFamily", errors);
    }
}
