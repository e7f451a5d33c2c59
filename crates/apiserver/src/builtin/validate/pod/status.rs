//! The status of a pod.

use super::super::at::At;
use super::super::errors::Errors;
use super::super::selector::label_key;
use super::super::{address, name};
use super::{annotation, security};

/// A changed status.
///
/// **Deviation**: claims for devices in the status are not looked at.
pub(in super::super) fn status_update(pod: &At, old: &At, errors: &mut Errors) {
    let (metadata, old_metadata) = (pod.get("metadata"), old.get("metadata"));
    let notes = metadata.get("annotations");
    annotation::update(&notes, &old_metadata.get("annotations"), errors);
    annotation::annotations(&notes, &pod.get("spec"), errors);
    let (status, old_status) = (pod.get("status"), old.get("status"));
    conditions(&status.get("conditions"), errors);
    nominated_node(&status, &old_status, old, errors);
    if status.int_of("observedGeneration") < 0 {
        errors.invalid(
            &status.num("observedGeneration"),
            "must be a non-negative integer",
        );
    }
    let class = status.txt("qosClass");
    errors.immutable(&class, &old_status.txt("qosClass"));
    for (list, containers) in [
        ("containerStatuses", "containers"),
        ("initContainerStatuses", "initContainers"),
        ("ephemeralContainerStatuses", ""),
    ] {
        ended(
            &status.get(list),
            &old_status.get(list),
            &old.get("spec"),
            containers,
            errors,
        );
    }
    addresses(&status.get("podIPs"), "core.PodIP", errors);
    let hosts = status.get("hostIPs");
    if !hosts.is_empty() {
        let first = hosts.index(0);
        let first = first.txt("ip");
        if first.text() != status.text_of("hostIP") {
            errors.invalid(&first, "must be equal to `hostIP`");
        }
        addresses(&hosts, "core.HostIP", errors);
    }
    for list in [
        "containerStatuses",
        "initContainerStatuses",
        "ephemeralContainerStatuses",
    ] {
        users(&status.get(list), pod.deep("spec.os.name").text(), errors);
    }
}

fn conditions(at: &At, errors: &mut Errors) {
    for condition in at.items() {
        if condition.int_of("observedGeneration") < 0 {
            let detail = "must be a non-negative integer";
            errors.invalid(&condition.num("observedGeneration"), detail);
        }
        let kind = condition.txt("type");
        if !matches!(kind.text(), "PodScheduled" | "Ready" | "Initialized") {
            label_key(&kind.called("Type"), errors);
        }
    }
}

fn nominated_node(status: &At, old_status: &At, old: &At, errors: &mut Errors) {
    let at = status.txt("nominatedNodeName");
    if at.text().is_empty() || at.text() == old_status.text_of("nominatedNodeName") {
        return;
    }
    errors.each(&at, name::subdomain(at.text()));
    if !old.get("spec").text_of("nodeName").is_empty() {
        errors.forbidden(&at, "may not be set on pods that are already bound to a node");
    }
}

/// What has ended does not run again, unless it is restarted.
fn ended(at: &At, old: &At, spec: &At, containers: &str, errors: &mut Errors) {
    for before in old.items() {
        let state = before.get("state");
        let end = state.get("terminated");
        let same = |status: &At| status.text_of("name") == before.text_of("name");
        let Some(now) = at.items().find(same).filter(|_| end.is_set()) else {
            continue;
        };
        let runs = !now.get("state").has("terminated");
        if runs && !restarts(spec, containers, before.text_of("name"), end.int_of("exitCode")) {
            let place = old.items().position(|one| same(&one)).unwrap_or_default();
            let place = at.index(place);
            errors.forbidden(
                &place.get("state"),
                "may not be transitioned to non-terminated state",
            );
        }
    }
}

/// Whether a container is started again after it ended with `code`.
fn restarts(spec: &At, containers: &str, name: &str, code: i64) -> bool {
    let list = spec.get(containers);
    let Some(container) = list.items().find(|one| one.text_of("name") == name) else {
        return false;
    };
    for rule in container.get("restartPolicyRules").items() {
        let codes = rule.get("exitCodes");
        let listed = codes
            .get("values")
            .list()
            .iter()
            .any(|one| one.as_i64() == Some(code));
        if listed == (codes.text_of("operator") == "In") {
            return true;
        }
    }
    match (container.text_of("restartPolicy"), spec.text_of("restartPolicy")) {
        ("Always", _) | ("", "Always") => true,
        ("OnFailure", _) | ("", "OnFailure") => code != 0,
        _ => false,
    }
}

fn addresses(at: &At, ty: &str, errors: &mut Errors) {
    for one in at.items() {
        let ip = one.txt("ip");
        address::address(&one.with(ip.value()), errors);
    }
    let ips = || at.list().iter().map(|one| one.str_at(&["ip"]));
    if at.len() > 1 && (at.len() > 2 || !address::is_dual(ips())) {
        let detail = "may specify no more than one IP for each IP family";
        errors.invalid_as(at, &format!("[]{ty}"), detail);
    }
}

fn users(at: &At, os: &str, errors: &mut Errors) {
    for status in at.items() {
        let user = status.get("user");
        let linux = user.get("linux");
        if !linux.is_set() {
            continue;
        }
        if os == "windows" {
            errors.forbidden(&linux, "cannot be set for a windows pod");
            continue;
        }
        security::id(&linux.num("uid"), errors);
        security::id(&linux.num("gid"), errors);
        for group in linux.get("supplementalGroups").items() {
            security::id(&group, errors);
        }
    }
}
