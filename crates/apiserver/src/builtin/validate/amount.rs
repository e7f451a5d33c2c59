//! Amounts of resources, and the names that resources may have.

use model::Value;
use model::label::key_problems;

use super::at::At;
use super::errors::{Errors, NOT_NEGATIVE};
use smd::go::Quantity;

/// The amount at a place; zero where there is none. Decoding has read it before, so that it has the right form.
pub(super) fn amount(value: &Value) -> Quantity {
    let text = value.as_str().unwrap_or("0");
    Quantity::parse(text).unwrap_or_else(|_| Quantity::parse("0").expect("zero is an amount"))
}

/// An amount that is not below zero.
pub(super) fn not_negative(at: &At, errors: &mut Errors) {
    if amount(at.value()).is_negative() {
        errors.invalid(at, NOT_NEGATIVE);
    }
}

/// An amount that is above zero.
pub(super) fn positive(at: &At, errors: &mut Errors) {
    let amount = amount(at.value());
    if amount.is_negative() || amount.is_zero() {
        errors.invalid(at, "must be greater than zero");
    }
}

/// The amount of the resource called `name`.
pub(super) fn of_resource(name: &str, at: &At, errors: &mut Errors) {
    // Plain digits need no closer look, and most amounts have no more than a suffix.
    if at.text().starts_with(|c: char| c.is_ascii_digit()) && !is_counted(name) {
        return;
    }
    not_negative(at, errors);
    if is_counted(name) && !amount(at.value()).is_whole() {
        errors.invalid(at, "must be an integer");
    }
}

/// The name of a resource: one that is known, or one with a domain.
pub(super) fn resource_name(name: &str, at: &At, errors: &mut Errors) -> bool {
    let before = errors.len();
    for problem in key_problems(name) {
        errors.invalid_value(at, name, problem);
    }
    if errors.len() == before && !name.contains('/') && !is_standard(name) {
        errors.invalid_value(at, name, "must be a standard resource type or fully qualified");
    }
    errors.len() == before
}

/// The name of a resource that containers may ask for.
pub(super) fn container_resource_name(name: &str, at: &At, errors: &mut Errors) {
    if matches!(name, "cpu" | "memory" | "ephemeral-storage") {
        return;
    }
    resource_name(name, at, errors);
    if !name.contains('/') {
        if !is_for_containers(name) {
            errors.invalid_value(at, name, "must be a standard resource for containers");
        }
    } else if !is_native(name) && !is_extended(name) {
        errors.invalid_value(at, name, "doesn't follow extended resource name standard");
    }
}

/// The name of a resource that quotas may limit.
pub(super) fn quota_resource_name(name: &str, at: &At, errors: &mut Errors) {
    resource_name(name, at, errors);
    if !name.contains('/') && !is_for_quotas(name) {
        errors.invalid_value(at, name, "must be a standard resource for quota");
    }
}

/// Whether the resource is huge pages of some size.
pub(super) fn is_huge_page(name: &str) -> bool {
    name.starts_with("hugepages-")
}

/// Whether more of the resource may be promised than there is.
pub(super) fn is_overcommit_allowed(name: &str) -> bool {
    is_native(name) && !is_huge_page(name)
}

fn is_native(name: &str) -> bool {
    !name.contains('/') || name.contains("kubernetes.io/")
}

fn is_extended(name: &str) -> bool {
    !is_native(name) && !name.starts_with("requests.") && key_problems(&format!("requests.{name}")).is_empty()
}

fn is_for_containers(name: &str) -> bool {
    matches!(name, "cpu" | "memory" | "ephemeral-storage") || is_huge_page(name)
}

/// Whether there are only whole ones of the resource.
fn is_counted(name: &str) -> bool {
    match name {
        "pods"
        | "resourcequotas"
        | "services"
        | "replicationcontrollers"
        | "secrets"
        | "configmaps"
        | "persistentvolumeclaims"
        | "services.nodeports"
        | "services.loadbalancers" => true,
        name => name.contains('/') && is_extended(name),
    }
}

/// Whether quotas know the resource without a domain.
pub(super) fn is_for_quotas(name: &str) -> bool {
    name != "storage" && is_standard(name)
}

fn is_standard(name: &str) -> bool {
    matches!(
        name,
        "cpu"
            | "memory"
            | "storage"
            | "ephemeral-storage"
            | "requests.cpu"
            | "requests.memory"
            | "requests.storage"
            | "requests.ephemeral-storage"
            | "limits.cpu"
            | "limits.memory"
            | "limits.ephemeral-storage"
            | "pods"
            | "resourcequotas"
            | "services"
            | "replicationcontrollers"
            | "secrets"
            | "persistentvolumeclaims"
            | "configmaps"
            | "services.nodeports"
            | "services.loadbalancers"
    ) || is_huge_page(name)
        || name.starts_with("requests.hugepages-")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn resources_of_others_have_a_domain_and_are_counted() {
        assert!(is_counted("nvidia.com/gpu") && is_extended("nvidia.com/gpu"));
        assert!(!is_counted("cpu") && !is_extended("kubernetes.io/x"));
        assert!(!is_overcommit_allowed("nvidia.com/gpu") && !is_overcommit_allowed("hugepages-2Mi"));
        assert!(is_overcommit_allowed("memory"));
        assert!(is_for_quotas("requests.hugepages-2Mi") && !is_for_quotas("storage"));
    }
}
