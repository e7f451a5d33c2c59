//! Nodes.

use std::collections::HashSet;

use model::label::value_problems;

use super::super::address::{self, Network};
use super::super::amount::of_resource;
use super::super::at::At;
use super::super::errors::Errors;
use super::super::pod::EFFECTS;
use super::super::selector::label_key;
use crate::field::{Error, Kind};

/// A new node.
///
/// **Deviation**: taints in annotations, the settings of kubelets and the list of features are not looked at.
pub(in super::super) fn node(object: &At, errors: &mut Errors) {
    taints(object, errors);
    amounts(object, errors);
    let networks = object.deep("spec.podCIDRs");
    for network in networks.items() {
        address::network(&network, errors);
    }
    if networks.len() < 2 {
        return;
    }
    let mut texts = networks.texts().enumerate();
    if let Some((index, text)) = texts.find(|(_, text)| Network::parse(text).is_none()) {
        let detail = format!(
            "invalid PodCIDRs. failed to check with dual stack with error:invalid CIDR[{index}]: <nil> (invalid CIDR \
             address: {text})"
        );
        errors.push(Error::new(Kind::Internal, networks.to_string(), "", detail));
    }
    let families = networks.texts().filter_map(|text| text.split('/').next());
    if networks.len() > 2 || !address::is_dual(families) {
        errors.invalid(&networks, "may specify no more than one CIDR for each IP family");
    }
}

/// The real server says that taints are part of the metadata.
fn taints(object: &At, errors: &mut Errors) {
    let list = object.deep("spec.taints");
    let metadata = object.get("metadata");
    let here = metadata.get("taints");
    let here = here.with(list.value());
    let mut seen = HashSet::new();
    for taint in here.items() {
        let (key, value, effect) = (taint.txt("key"), taint.txt("value"), taint.txt("effect"));
        label_key(&key, errors);
        let problems = value_problems(value.text());
        if !problems.is_empty() {
            errors.invalid(&value, problems.join(";"));
        }
        errors.one_of(&effect, &EFFECTS);
        if !seen.insert((effect.text(), key.text())) {
            errors.duplicate_as(
                &taint,
                "core.Taint",
                "taints must be unique by key and effect pair",
            );
        }
    }
}

fn amounts(object: &At, errors: &mut Errors) {
    let status = object.get("status");
    for list in ["capacity", "allocatable"] {
        let list = status.get(list);
        for (name, _) in list.entries() {
            of_resource(name, &list.get(name), errors);
        }
    }
}

/// A changed node.
pub(in super::super) fn node_update(object: &At, old: &At, errors: &mut Errors) {
    node(object, errors);
    node_status(object, old, errors);
}

/// What holds for a changed node and for a changed status of one.
pub(in super::super) fn node_status(object: &At, old: &At, errors: &mut Errors) {
    amounts(object, errors);
    let addresses = object.deep("status.addresses");
    let mut seen = HashSet::new();
    for one in addresses.items() {
        if !seen.insert((one.text_of("type"), one.text_of("address"))) {
            errors.duplicate_as(&one, "core.NodeAddress", "");
        }
    }
    let (spec, old_spec) = (object.get("spec"), old.get("spec"));
    let (networks, old_networks) = (spec.get("podCIDRs"), old_spec.get("podCIDRs"));
    if !old_networks.is_empty() && networks.value() != old_networks.value() {
        let detail = "node updates may not change podCIDR except from \"\" to valid";
        errors.forbidden(&networks, detail);
    }
    let provider = old_spec.text_of("providerID");
    if !provider.is_empty() && provider != spec.text_of("providerID") {
        let detail = "node updates may not change providerID except from \"\" to valid";
        errors.forbidden(&spec.get("providerID"), detail);
    }
    taints(object, errors);
    if spec.text_of("externalID") != old_spec.text_of("externalID") {
        errors.forbidden(&spec.get("externalID"), "may not be updated");
    }
}
