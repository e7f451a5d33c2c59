//! The templates that a StatefulSet or DaemonSet had, kept as ControllerRevisions so that one can go back.

use std::collections::HashSet;

use model::selector::LabelSelector;
use model::{Map, Value, value};

use super::step::number;
use super::{Kind, Step, children, hash};
use crate::store::Key;
use crate::verbs::delete::DeleteOptions;

/// One template.
#[derive(Clone)]
pub(super) struct Revision {
    pub name: String,
    pub number: i64,
    /// The short text that stands for it.
    pub hash: String,
    pub template: Value,
}

/// The template of a workload in the form in which it is kept: as a patch that brings it back.
fn snapshot(owner: &Value) -> Value {
    let mut template = owner.at(&["spec", "template"]).cloned().unwrap_or_default();
    template.set_at(&["$patch"], "replace");
    value!({"spec": {"template": template}})
}

impl Revision {
    fn of(object: &Value, label: &str) -> Self {
        let mut template = object
            .at(&["data", "spec", "template"])
            .cloned()
            .unwrap_or_default();
        template.remove_at(&["$patch"]);
        Revision {
            name: object.str_at(&["metadata", "name"]).to_owned(),
            number: number(object, &["revision"]),
            hash: object.str_at(&["metadata", "labels", label]).to_owned(),
            template,
        }
    }
}

/// The revisions of a workload.
pub(super) struct History {
    /// The label that holds the hash.
    label: &'static str,
    /// The oldest first.
    revisions: Vec<Revision>,
}

impl History {
    /// The revisions of `owner` so far.
    pub(super) fn of(step: &Step<'_>, owner: &Value, selector: &LabelSelector, label: &'static str) -> Self {
        let keys = children::of(step, owner, Kind::ControllerRevision, selector);
        let objects = keys
            .iter()
            .filter_map(|key| step.read(Kind::ControllerRevision, key));
        let mut revisions: Vec<Revision> = objects.map(|object| Revision::of(&object, label)).collect();
        revisions.sort_by(|a, b| (a.number, &a.name).cmp(&(b.number, &b.name)));
        History { label, revisions }
    }

    /// The revision of this name.
    pub(super) fn get(&self, name: &str) -> Option<&Revision> {
        self.revisions.iter().find(|revision| revision.name == name)
    }

    /// The revision with the owner's template of now: the newest one. One that had it before is the newest again; else
    /// it is made. `collisions` counts how often two templates shared a hash.
    pub(super) fn current(
        &mut self,
        step: &Step<'_>,
        owner: &Value,
        collisions: &mut Option<i64>,
    ) -> Option<Revision> {
        let template = owner.at(&["spec", "template"])?;
        let next = self.revisions.last().map_or(0, |newest| newest.number) + 1;
        let same = self
            .revisions
            .iter()
            .rposition(|revision| revision.template == *template);
        match same {
            Some(at) if at + 1 == self.revisions.len() => Some(self.revisions[at].clone()),
            Some(at) => {
                let mut revision = self.revisions.remove(at);
                revision.number = next;
                let key = Key::new(step.key.namespace(), &revision.name);
                step.change(Kind::ControllerRevision, &key, |object| {
                    object.set_at(&["revision"], next);
                });
                self.revisions.push(revision.clone());
                Some(revision)
            }
            None => {
                let revision = self.create(step, owner, next, collisions)?;
                self.revisions.push(revision.clone());
                Some(revision)
            }
        }
    }

    fn create(
        &self,
        step: &Step<'_>,
        owner: &Value,
        next: i64,
        collisions: &mut Option<i64>,
    ) -> Option<Revision> {
        let data = snapshot(owner);
        // Each try makes another hash; a few are far more than it ever takes.
        for _ in 0..10 {
            let hash = hash::of(&data, *collisions);
            let object = self.object(owner, &data, &hash, next);
            match step.create(Kind::ControllerRevision, object) {
                Ok(object) => return Some(Revision::of(&object, self.label)),
                Err(error) if error.code == 409 => *collisions = Some(collisions.unwrap_or(0) + 1),
                // The namespace is on its way out.
                Err(_) => return None,
            }
        }
        None
    }

    fn object(&self, owner: &Value, data: &Value, hash: &str, next: i64) -> Value {
        let labels = owner.at(&["spec", "template", "metadata", "labels"]);
        let mut labels = labels.cloned().unwrap_or_else(Value::object);
        labels.set_at(&[self.label], hash);
        let name: String = owner.str_at(&["metadata", "name"]).chars().take(223).collect();
        let mut object = value!({
            "metadata": {
                "name": (format!("{name}-{hash}")),
                "namespace": (owner.str_at(&["metadata", "namespace"])),
                "labels": labels,
                "ownerReferences": [(children::reference(owner))],
            },
            "data": (data.clone()),
            "revision": next,
        });
        let annotations = owner.at(&["metadata", "annotations"]).and_then(Value::as_object);
        if let Some(annotations) = annotations.filter(|annotations: &&Map| !annotations.is_empty()) {
            object.set_at(&["metadata", "annotations"], annotations.clone());
        }
        object
    }

    /// Deletes the oldest revisions beyond the owner's limit, but for those that are in use.
    pub(super) fn truncate(&self, step: &Step<'_>, owner: &Value, live: &HashSet<&str>) {
        let limit = owner
            .at(&["spec", "revisionHistoryLimit"])
            .and_then(Value::as_i64);
        let Ok(limit) = usize::try_from(limit.unwrap_or(10)) else {
            return;
        };
        let is_live = |revision: &&Revision| {
            live.contains(revision.name.as_str()) || live.contains(revision.hash.as_str())
        };
        let idle: Vec<&Revision> = self.revisions.iter().filter(|one| !is_live(one)).collect();
        for revision in idle.iter().take(idle.len().saturating_sub(limit)) {
            let key = Key::new(step.key.namespace(), &revision.name);
            step.delete(Kind::ControllerRevision, &key, &DeleteOptions::default());
        }
    }
}
