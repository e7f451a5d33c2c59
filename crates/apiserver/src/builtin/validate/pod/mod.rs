//! Pods, and the templates that others make pods from.
//!
//! The checks follow the order of the real server, so that messages come in its order.

mod affinity;
mod annotation;
mod container;
mod dns;
mod env;
mod mount;
mod path;
mod probe;
mod projected;
mod resources;
mod security;
mod spread;
mod status;
mod template;
mod toleration;
mod update;
mod volume;
mod windows;

use std::collections::HashSet;

pub(super) use affinity::node_selector;
pub(super) use path::not_up;
pub(super) use resources::overhead;
pub(super) use status::status_update;
pub(super) use template::{
    holder, runs_for_good, selected, selected_by_labels, template, template_of_replicas,
};
pub(super) use toleration::{EFFECTS, tolerations};
pub(super) use update::update;

use super::at::At;
use super::errors::Errors;
use super::text::range;
use super::{name, selector};

/// What the parts of a pod need to know of the whole.
struct Holder<'v> {
    /// The pod's name; nothing for templates.
    name: Option<&'v str>,
    /// How long it may take to stop.
    grace: Option<i64>,
    /// Its operating system; empty where it does not say.
    os: &'v str,
    /// Whether users in containers are those of the host.
    host_users: bool,
}

impl<'v> Holder<'v> {
    fn is_pod(&self) -> bool {
        self.name.is_some()
    }

    /// The pod's name, if it has one.
    fn pod_name(&self) -> Option<&'v str> {
        self.name.filter(|name| !name.is_empty())
    }
}

/// A new pod.
pub(super) fn create(pod: &At, errors: &mut Errors) {
    pod_itself(pod, errors);
    let spec = pod.get("spec");
    if !spec.get("ephemeralContainers").is_empty() {
        errors.forbidden(&spec.get("ephemeralContainers"), "cannot be set on create");
    }
    if !spec.text_of("nodeName").is_empty() && !spec.get("schedulingGates").is_empty() {
        let detail = "cannot be set until all schedulingGates have been cleared";
        errors.forbidden(&spec.get("nodeName"), detail);
    }
    let metadata = pod.get("metadata");
    annotation::match_fields(&metadata.get("annotations"), &spec, errors);
}

/// What holds for new pods and for changed ones.
fn pod_itself(pod: &At, errors: &mut Errors) {
    let (metadata, spec_at) = (pod.get("metadata"), pod.get("spec"));
    annotation::annotations(&metadata.get("annotations"), &spec_at, errors);
    spec(&spec_at, Some(metadata.text_of("name")), errors);
    if spec_at.text_of("serviceAccountName").is_empty() {
        for volume in spec_at.get("volumes").items() {
            let projected = volume.get("projected");
            for source in projected.get("sources").items() {
                let token = source.get("serviceAccountToken");
                if token.is_set() {
                    let detail = "must not be specified when serviceAccountName is not set";
                    errors.forbidden(&token, detail);
                }
            }
        }
    }
    for list in ["containers", "initContainers"] {
        for one in spec_at.get(list).items() {
            container::image_spaces(&one, errors);
        }
    }
}

/// The spec of a pod; `name` is that of the pod, if it is not a template.
fn spec(at: &At, name: Option<&str>, errors: &mut Errors) {
    let grace = at.get("terminationGracePeriodSeconds");
    if !grace.is_set() {
        errors.required(&grace, "");
    }
    let holder = Holder {
        name,
        grace: grace.is_set().then(|| grace.int()),
        os: at.get("os").text_of("name"),
        host_users: !at.has("hostUsers") || at.flag_of("hostUsers"),
    };
    let volumes = volume::volumes(&at.get("volumes"), &holder, errors);
    device_claims(&at.get("resourceClaims"), errors);
    let claims = at.get("resourceClaims");
    let pod = container::Pod {
        holder: &holder,
        volumes,
        claims: claims
            .items()
            .map(|claim| claim.text_of("name"))
            .filter(|name| !name.is_empty())
            .collect(),
        restart_policy: at.text_of("restartPolicy"),
    };
    let containers = at.get("containers");
    container::containers(&containers, &pod, errors);
    container::init_containers(&at.get("initContainers"), &containers, &pod, errors);
    container::ephemeral_containers(&at.get("ephemeralContainers"), at, &pod, errors);
    resources::of_pod(at, errors);
    host_network(at, &holder, errors);
    errors.one_of(&at.txt("restartPolicy"), &["Always", "OnFailure", "Never"]);
    errors.one_of(
        &at.txt("dnsPolicy"),
        &["ClusterFirstWithHostNet", "ClusterFirst", "Default", "None"],
    );
    selector::labels(&at.get("nodeSelector"), errors);
    security::of_pod(at, errors);
    affinity::affinity(&at.get("affinity"), errors);
    dns::config(at, errors);
    gates(at, errors);
    spread::constraints(&at.get("topologySpreadConstraints"), errors);
    windows::host_processes(at, errors);
    windows::own_users(at, errors);
    dns::hostname_override(at, errors);
    names(at, errors);
    toleration::tolerations(&at.get("tolerations"), errors);
    dns::host_aliases(&at.get("hostAliases"), errors);
    classes(at, errors);
    resources::overhead(&at.get("overhead"), &at.get("overhead"), errors);
    windows::os(at, errors);
    workload(&at.get("workloadRef"), errors);
    volume::variable_files(at, errors);
}

fn device_claims(at: &At, errors: &mut Errors) {
    let mut names = HashSet::new();
    for claim in at.items() {
        let name_at = claim.txt("name");
        if errors.require_text(&name_at) {
            match names.insert(name_at.text()) {
                false => errors.duplicate(&name_at),
                true => errors.each(&name_at, name::label(name_at.text())),
            }
        }
        let (own, template) = (
            claim.get("resourceClaimName"),
            claim.get("resourceClaimTemplateName"),
        );
        match (own.is_set(), template.is_set()) {
            (true, true) => errors.invalid_as(
                &claim,
                "core.PodResourceClaim",
                "at most one of `resourceClaimName` or `resourceClaimTemplateName` may be specified",
            ),
            (false, false) => errors.invalid_as(
                &claim,
                "core.PodResourceClaim",
                "must specify one of: `resourceClaimName`, `resourceClaimTemplateName`",
            ),
            _ => {}
        }
        for reference in [own, template] {
            if reference.is_set() {
                errors.each(&reference, name::subdomain(reference.text()));
            }
        }
    }
}

/// On the host's network ports are those of the host.
fn host_network(spec: &At, holder: &Holder, errors: &mut Errors) {
    if !spec.flag_of("hostNetwork") {
        return;
    }
    for container in spec.get("containers").items() {
        for port in container.get("ports").items() {
            let host = port.num("hostPort");
            if (holder.is_pod() || host.int() != 0) && host.int() != port.int_of("containerPort") {
                errors.invalid(&host, "must match `containerPort` when `hostNetwork` is true");
            }
        }
    }
}

fn gates(spec: &At, errors: &mut Errors) {
    for gate in spec.get("readinessGates").items() {
        selector::label_key(&gate.txt("conditionType"), errors);
    }
    let mut seen = HashSet::new();
    for gate in spec.get("schedulingGates").items() {
        let name_at = gate.txt("name");
        let here = gate.with(name_at.value());
        selector::label_key(&here, errors);
        if !seen.insert(name_at.text()) {
            errors.duplicate(&here);
        }
    }
}

fn names(spec: &At, errors: &mut Errors) {
    for field in ["serviceAccountName", "nodeName"] {
        let at = spec.txt(field);
        if !at.text().is_empty() {
            errors.each(&at, name::subdomain(at.text()));
        }
    }
    let deadline = spec.get("activeDeadlineSeconds");
    let most = i64::from(i32::MAX);
    if deadline.is_set() && !(1..=most).contains(&deadline.int()) {
        errors.invalid(&deadline, range(1, most));
    }
    for field in ["hostname", "subdomain"] {
        let at = spec.txt(field);
        if !at.text().is_empty() {
            errors.each(&at, name::label(at.text()));
        }
    }
}

fn classes(spec: &At, errors: &mut Errors) {
    let priority = spec.txt("priorityClassName");
    if !priority.text().is_empty() {
        errors.each(&priority, name::subdomain(priority.text()));
    }
    let runtime = spec.get("runtimeClassName");
    if runtime.is_set() {
        errors.each(&runtime, name::subdomain(runtime.text()));
    }
    let preemption = spec.get("preemptionPolicy");
    if preemption.is_set() {
        errors.one_of(&preemption, &["PreemptLowerPriority", "Never"]);
    }
}

fn workload(at: &At, errors: &mut Errors) {
    if !at.is_set() {
        return;
    }
    let name_at = at.txt("name");
    errors.each(&name_at, name::subdomain(name_at.text()));
    let group = at.txt("podGroup");
    errors.each(&group, name::label(group.text()));
    let key = at.txt("podGroupReplicaKey");
    if !key.text().is_empty() {
        errors.each(&key, name::label(key.text()));
    }
}

/// Visits all containers of a pod.
fn each_container(spec: &At, visit: &mut dyn FnMut(&At)) {
    for list in ["initContainers", "containers", "ephemeralContainers"] {
        for container in spec.get(list).items() {
            visit(&container);
        }
    }
}
