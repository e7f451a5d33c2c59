//! Placing pods on nodes: as soon as the claims they use have volumes.

use model::{Value, value};

use super::status;
use crate::simulator::event::{Happening, Level};
use crate::simulator::node::FIRST;
use crate::simulator::placement::{Fit, fit};
use crate::simulator::{Kind, Step, children, condition, facts};
use crate::store::Key;

/// Who places pods.
const SCHEDULER: &str = "default-scheduler";

pub(super) fn advance(step: &mut Step<'_>, pod: &Value) {
    if !pod.list_at(&["spec", "schedulingGates"]).is_empty() {
        return;
    }
    make_claims(step, pod);
    if let Some(why) = obstacle(step, pod) {
        return hold(step, pod, &why);
    }
    let node = choose(step, pod);
    let Some(seen) = step.find(Kind::Pod, step.key) else {
        return;
    };
    let served = Kind::Pod.served(step.kinds);
    let mut bound = served.show(&seen);
    bound.set_at(&["spec", "nodeName"], node.as_str());
    status::set_condition(&mut bound, &step.now_text(), "PodScheduled", "True", "", "");
    // As in the real server, binding is not an update: no manager gets the field. Where the pod changed meanwhile, it
    // is looked at again because of that.
    if step.state.store_inside(served, &seen, bound).is_some() {
        let message = format!("Successfully assigned {} to {node}", step.key.text());
        tell(step, pod, Level::Normal, "Scheduled", &message);
    }
}

/// The node for a pod: the first one if it fits, else any that does.
///
/// **Deviation**: a pod that fits nowhere is placed all the same, as what it asks for is not simulated.
fn choose(step: &Step<'_>, pod: &Value) -> String {
    let empty = Value::Null;
    let spec = pod.get("spec").unwrap_or(&empty);
    let fits = |key: &&Key| {
        let node = step.read(Kind::Node, key);
        node.is_some_and(|node| fit(spec, &node) == Fit::Fits)
    };
    let first = Key::new("", FIRST);
    let others = step.index.nodes().filter(|key| **key != first);
    let found = std::iter::once(&first).chain(others).find(fits);
    found.map_or(FIRST, Key::name).to_owned()
}

/// Makes the claims of volumes that live as long as the pod.
fn make_claims(step: &Step<'_>, pod: &Value) {
    for volume in pod.list_at(&["spec", "volumes"]) {
        let Some(template) = volume.at(&["ephemeral", "volumeClaimTemplate"]) else {
            continue;
        };
        let name = format!("{}-{}", step.key.name(), volume.str_at(&["name"]));
        if step
            .find(Kind::Claim, &Key::new(step.key.namespace(), &name))
            .is_some()
        {
            continue;
        }
        let mut claim = value!({
            "metadata": {
                "name": name,
                "namespace": (step.key.namespace()),
                "ownerReferences": [(children::reference(pod))],
            },
            "spec": (template.get("spec").cloned().unwrap_or_default()),
        });
        for field in ["labels", "annotations"] {
            if let Some(value) = template.at(&["metadata", field]) {
                claim.set_at(&["metadata", field], value.clone());
            }
        }
        // It may be there already, or be refused; the pod then waits for it.
        let _ = step.create(Kind::Claim, claim);
    }
}

/// What keeps the pod from being placed.
fn obstacle(step: &Step<'_>, pod: &Value) -> Option<String> {
    for name in facts::claims(pod) {
        let Some(claim) = step.read(Kind::Claim, &Key::new(step.key.namespace(), &name)) else {
            return Some(format!("persistentvolumeclaim \"{name}\" not found"));
        };
        if claim.at(&["metadata", "deletionTimestamp"]).is_some() {
            return Some(format!("persistentvolumeclaim \"{name}\" is being deleted"));
        }
        if claim.str_at(&["status", "phase"]) != "Bound" {
            return Some("pod has unbound immediate PersistentVolumeClaims".to_owned());
        }
    }
    None
}

/// Says why the pod is not placed. It is looked at again when one of its claims changes.
fn hold(step: &mut Step<'_>, pod: &Value, why: &str) {
    let nodes = step.index.nodes().count();
    let message = format!(
        "0/{nodes} nodes are available: {why}. preemption: 0/{nodes} nodes are available: {nodes} Preemption is not helpful for scheduling."
    );
    let empty = Value::Null;
    let before = condition::find(pod.get("status").unwrap_or(&empty), "PodScheduled");
    if before.is_some_and(|before| before.str_at(&["message"]) == message) {
        return;
    }
    step.change_status(|pod| {
        let now = step.now_text();
        status::set_condition(pod, &now, "PodScheduled", "False", "Unschedulable", &message);
    });
    tell(step, pod, Level::Warning, "FailedScheduling", &message);
}

fn tell(step: &mut Step<'_>, pod: &Value, level: Level, reason: &str, message: &str) {
    step.happened(&Happening {
        about: pod,
        level,
        reason,
        message,
        component: SCHEDULER,
        host: "",
        field: "",
    });
}
