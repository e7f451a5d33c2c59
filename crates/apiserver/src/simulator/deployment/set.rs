//! The ReplicaSets of a Deployment.

use model::Value;
use model::selector::LabelSelector;

use crate::simulator::event::Level;
use crate::simulator::step::number;
use crate::simulator::{Kind, Step, children};
use crate::store::Key;

use super::View;
use super::rollout::Limits;

/// The label that tells the pods of one ReplicaSet from those of another.
pub(super) const HASH_LABEL: &str = "pod-template-hash";
pub(super) const REVISION: &str = "deployment.kubernetes.io/revision";
pub(super) const REVISION_HISTORY: &str = "deployment.kubernetes.io/revision-history";
pub(super) const DESIRED: &str = "deployment.kubernetes.io/desired-replicas";
pub(super) const MAXIMUM: &str = "deployment.kubernetes.io/max-replicas";

/// One ReplicaSet.
pub(super) struct Set {
    pub value: Value,
    pub key: Key,
}

/// All ReplicaSets of a Deployment.
pub(super) struct Sets {
    /// The one with the Deployment's template.
    pub new: Option<Set>,
    /// The others, the oldest first.
    pub old: Vec<Set>,
}

impl Set {
    pub(super) fn new(value: Value) -> Self {
        let key = Key::new(
            value.str_at(&["metadata", "namespace"]),
            value.str_at(&["metadata", "name"]),
        );
        Set { value, key }
    }

    pub(super) fn name(&self) -> &str {
        self.key.name()
    }

    /// How many pods it shall have.
    pub(super) fn wanted(&self) -> i64 {
        number(&self.value, &["spec", "replicas"])
    }

    /// How many pods it has.
    pub(super) fn actual(&self) -> i64 {
        number(&self.value, &["status", "replicas"])
    }

    pub(super) fn available(&self) -> i64 {
        number(&self.value, &["status", "availableReplicas"])
    }

    pub(super) fn annotation(&self, name: &str) -> &str {
        self.value.str_at(&["metadata", "annotations", name])
    }

    pub(super) fn revision(&self) -> i64 {
        self.annotation(REVISION).parse().unwrap_or(0)
    }

    /// What the older of two equal sets is told by.
    pub(super) fn age(&self) -> (&str, &str) {
        (self.value.str_at(&["metadata", "creationTimestamp"]), self.name())
    }

    /// Gives it another size and tells about it; returns whether it has another size now.
    pub(super) fn scale(&mut self, step: &mut Step<'_>, view: &View<'_>, size: i64) -> bool {
        let before = self.wanted();
        if before == size {
            return false;
        }
        self.resize(step, view, size)
    }

    /// The same, but its annotations are brought up to date also where the size stays.
    pub(super) fn resize(&mut self, step: &mut Step<'_>, view: &View<'_>, size: i64) -> bool {
        let before = self.wanted();
        let limits = Limits::of(view.deployment);
        let written = step.change(Kind::ReplicaSet, &self.key, |set| {
            set.set_at(&["spec", "replicas"], size);
            set_sizes(set, &limits);
        });
        let Some(written) = written else {
            return false;
        };
        self.value = written;
        if before != size {
            let way = if before < size { "up" } else { "down" };
            let message = format!("Scaled {way} replica set {} from {before} to {size}", self.name());
            step.event(view.deployment, Level::Normal, "ScalingReplicaSet", &message);
        }
        before != size
    }
}

/// Notes on a ReplicaSet how large its Deployment is, by which proportional scaling goes.
pub(super) fn set_sizes(set: &mut Value, limits: &Limits) {
    set.set_at(&["metadata", "annotations", DESIRED], limits.wanted.to_string());
    let most = limits.wanted + limits.surge;
    set.set_at(&["metadata", "annotations", MAXIMUM], most.to_string());
}

impl Sets {
    /// The ReplicaSets that belong to the Deployment.
    pub(super) fn of(step: &Step<'_>, deployment: &Value, selector: &LabelSelector) -> Self {
        let keys = children::of(step, deployment, Kind::ReplicaSet, selector);
        let values = keys.iter().filter_map(|key| step.read(Kind::ReplicaSet, key));
        let mut old: Vec<Set> = values.map(Set::new).collect();
        old.sort_by(|a, b| a.age().cmp(&b.age()));
        let template = deployment.at(&["spec", "template"]);
        let is_new = |set: &Set| {
            let own = set.value.at(&["spec", "template"]);
            template.is_some_and(|template| own.is_some_and(|own| same_template(template, own)))
        };
        let new = old.iter().position(is_new).map(|at| old.remove(at));
        Sets { new, old }
    }

    /// The new one and the old ones.
    pub(super) fn all(&self) -> impl Iterator<Item = &Set> {
        self.old.iter().chain(&self.new)
    }

    pub(super) fn all_mut(&mut self) -> impl Iterator<Item = &mut Set> {
        self.old.iter_mut().chain(&mut self.new)
    }

    /// The sum of something over all of them.
    pub(super) fn sum(&self, count: impl Fn(&Set) -> i64) -> i64 {
        self.all().map(count).sum()
    }
}

/// Whether two templates are the same but for the label that tells ReplicaSets apart.
fn same_template(one: &Value, other: &Value) -> bool {
    without_hash(one) == without_hash(other)
}

fn without_hash(template: &Value) -> Value {
    let mut template = template.clone();
    template.remove_at(&["metadata", "labels", HASH_LABEL]);
    template
}
