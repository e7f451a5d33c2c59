//! The containers of a pod.

use std::collections::HashSet;

use super::super::at::At;
use super::super::errors::Errors;
use super::super::text::port_name;
use super::super::{name, port};
use super::volume::Volumes;
use super::{Holder, env, mount, probe, resources, security};

/// What containers need to know of their pod.
pub(super) struct Pod<'p, 'v> {
    pub(super) holder: &'p Holder<'v>,
    pub(super) volumes: Volumes<'v>,
    /// The names of the claims for devices.
    pub(super) claims: HashSet<&'v str>,
    pub(super) restart_policy: &'v str,
}

/// The containers that run the pod's programs.
pub(super) fn containers(at: &At, pod: &Pod, errors: &mut Errors) {
    if at.is_empty() {
        errors.required(at, "");
        return;
    }
    let mut names = HashSet::new();
    for container in at.items() {
        any(&container, pod, errors);
        if !names.insert(container.text_of("name")) {
            errors.duplicate(&container.txt("name"));
        }
        let hooks = container.get("lifecycle");
        if hooks.is_set() {
            probe::lifecycle(&hooks, pod.holder, errors);
        }
        probe::probes(&container, pod.holder, errors);
        restart_policy(&container, errors);
    }
    host_ports(at, &mut HashSet::new(), errors);
}

/// The containers that run before the others.
pub(super) fn init_containers(at: &At, others: &At, pod: &Pod, errors: &mut Errors) {
    let mut names: HashSet<&str> = others.items().map(|other| other.text_of("name")).collect();
    for container in at.items() {
        any(&container, pod, errors);
        init_restart_policy(&container, errors);
        let name_at = container.txt("name");
        if !names.insert(name_at.text()) {
            errors.duplicate(&name_at);
        } else if name_at.text().is_empty() {
            names.remove("");
        }
        // Each is looked at alone, as the first of its list.
        init_host_ports(at, &container, errors);
        if container.text_of("restartPolicy") == "Always" {
            let hooks = container.get("lifecycle");
            if hooks.is_set() {
                probe::lifecycle(&hooks, pod.holder, errors);
            }
            probe::probes(&container, pod.holder, errors);
            continue;
        }
        for field in ["lifecycle", "livenessProbe", "readinessProbe", "startupProbe"] {
            if container.has(field) {
                let detail = "may not be set for init containers without restartPolicy=Always";
                errors.forbidden(&container.get(field), detail);
            }
        }
    }
}

/// Containers for a look into a running pod.
pub(super) fn ephemeral_containers(at: &At, spec: &At, pod: &Pod, errors: &mut Errors) {
    if at.is_empty() {
        return;
    }
    let (main, init) = (spec.get("containers"), spec.get("initContainers"));
    let others: HashSet<&str> = main
        .items()
        .chain(init.items())
        .map(|other| other.text_of("name"))
        .collect();
    let mut names = others.clone();
    for container in at.items() {
        any(&container, pod, errors);
        image_spaces(&container, errors);
        if !names.insert(container.text_of("name")) {
            errors.duplicate(&container.txt("name"));
        }
        let target = container.txt("targetContainerName");
        if !target.text().is_empty() && !others.contains(target.text()) {
            errors.not_found(&target, "");
        }
        let detail = "cannot be set for an Ephemeral Container";
        for field in [
            "ports",
            "resources",
            "resizePolicy",
            "restartPolicy",
            "restartPolicyRules",
            "livenessProbe",
            "readinessProbe",
            "startupProbe",
            "lifecycle",
        ] {
            let part = container.get(field);
            if part.is_set() && !(part.map().is_some() && part.is_empty()) {
                errors.forbidden(&part, detail);
            }
        }
        for one in container.get("volumeMounts").items() {
            for field in ["subPath", "subPathExpr"] {
                if !one.text_of(field).is_empty() {
                    errors.forbidden(&one.txt(field), detail);
                }
            }
        }
    }
}

/// What holds for containers of any sort.
fn any(at: &At, pod: &Pod, errors: &mut Errors) {
    let name_at = at.txt("name");
    if errors.require_text(&name_at) {
        errors.each(&name_at, name::label(name_at.text()));
    }
    errors.require_text(&at.txt("image"));
    errors.one_of(
        &at.txt("terminationMessagePolicy"),
        &["File", "FallbackToLogsOnError"],
    );
    ports(&at.get("ports"), errors);
    env::variables(&at.get("env"), errors);
    env::sources(&at.get("envFrom"), errors);
    mount::mounts(at, &pod.volumes, errors);
    mount::devices(at, &pod.volumes, errors);
    pull_policy(&at.txt("imagePullPolicy"), errors);
    resources::of_container(&at.get("resources"), &pod.claims, errors);
    resize_policy(&at.get("resizePolicy"), pod.restart_policy, errors);
    security::of_container(&at.get("securityContext"), pod.holder, errors);
}

/// When images are fetched.
pub(super) fn pull_policy(at: &At, errors: &mut Errors) {
    errors.one_of(at, &["Always", "IfNotPresent", "Never"]);
}

/// Names of images have no spaces around them; only pods are asked for that.
pub(super) fn image_spaces(container: &At, errors: &mut Errors) {
    let image = container.txt("image");
    if image.text().trim() != image.text() {
        errors.invalid(&image, "must not have leading or trailing whitespace");
    }
}

fn ports(at: &At, errors: &mut Errors) {
    let mut names = HashSet::new();
    for one in at.items() {
        let name_at = one.txt("name");
        if !name_at.text().is_empty() {
            let problems = port_name(name_at.text());
            match problems.is_empty() {
                false => errors.each(&name_at, problems),
                true if !names.insert(name_at.text()) => errors.duplicate(&name_at),
                true => {}
            }
        }
        let number = one.num("containerPort");
        match number.int() {
            0 => errors.required(&number, ""),
            _ => port::number(&number, errors),
        }
        let host = one.num("hostPort");
        if host.int() != 0 {
            port::number(&host, errors);
        }
        port::protocol(&one.txt("protocol"), errors);
    }
}

/// No two containers can have the same port of the host.
fn host_ports(containers: &At, taken: &mut HashSet<String>, errors: &mut Errors) {
    for container in containers.items() {
        for one in container.get("ports").items() {
            let number = one.int_of("hostPort");
            if number == 0 {
                continue;
            }
            let key = format!("{}/{}/{number}", one.text_of("protocol"), one.text_of("hostIP"));
            match taken.contains(&key) {
                true => errors.duplicate_value(&one.num("hostPort"), key),
                false => drop(taken.insert(key)),
            }
        }
    }
}

fn init_host_ports(list: &At, container: &At, errors: &mut Errors) {
    if container.get("ports").len() > 1 {
        let alone = model::Value::from(vec![container.value().clone()]);
        host_ports(&list.with(&alone), &mut HashSet::new(), errors);
    }
}

fn resize_policy(at: &At, pod_restart_policy: &str, errors: &mut Errors) {
    let mut names = HashSet::new();
    for one in at.items() {
        let (name_at, policy) = (one.txt("resourceName"), one.txt("restartPolicy"));
        if !names.insert(name_at.text()) {
            errors.duplicate_value(&one, name_at.text());
        }
        errors.one_of(&at.with(name_at.value()), &["cpu", "memory"]);
        errors.one_of(&at.with(policy.value()), &["NotRequired", "RestartContainer"]);
        if pod_restart_policy == "Never" && policy.text() != "NotRequired" {
            let detail = "must be 'NotRequired' when `restartPolicy` is 'Never'";
            errors.invalid_value(at, policy.text(), detail);
        }
    }
}

fn init_restart_policy(container: &At, errors: &mut Errors) {
    let rules = container.get("restartPolicyRules");
    match container.get("restartPolicy").text() {
        "Always" => {
            if !rules.is_empty() {
                let detail =
                    "restartPolicyRules are not allowed for init containers with restart policy Always";
                errors.forbidden(&rules, detail);
            }
        }
        _ => restart_policy(container, errors),
    }
}

fn restart_policy(container: &At, errors: &mut Errors) {
    let (policy, rules) = (
        container.get("restartPolicy"),
        container.get("restartPolicyRules"),
    );
    if !policy.is_set() && rules.is_empty() {
        return;
    }
    if !policy.is_set() {
        errors.required(&policy, "must specify restartPolicy when restart rules are used");
    }
    errors.one_of_if_set(&policy, &["Always", "Never", "OnFailure"]);
    if rules.len() > 20 {
        errors.too_long(&rules, 20);
    }
    for rule in rules.items() {
        let action = rule.txt("action");
        if action.text() != "Restart" {
            errors.not_supported(&action, &["Restart"]);
        }
        let codes = rule.get("exitCodes");
        if !codes.is_set() {
            errors.required(&codes, "must be specified");
            continue;
        }
        let operator = codes.txt("operator");
        if !matches!(operator.text(), "In" | "NotIn") {
            errors.not_supported(&operator, &["In", "NotIn"]);
        }
        if codes.get("values").len() > 255 {
            errors.too_long(&codes.get("values"), 255);
        }
    }
}
