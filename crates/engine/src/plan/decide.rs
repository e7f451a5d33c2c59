//! What is done to one desired object.

use std::collections::HashSet;
use std::sync::Arc;

use model::ObjectKey;

use super::input::{Desired, Input, Live, Observed, Shared};
use super::markers;
use super::metadata::Metadata;
use super::objects::{Objects, Reference};
use super::order;
use super::refusal::Refusal;
use super::steps::{Action, Apply, Step, Target};
use super::strategy::Strategy;
use super::sync_options::SyncOptions;
use super::task::Task;

/// What is known of all desired objects together.
pub(super) struct Decider<'a> {
    input: &'a Input,
    strategy: &'a Strategy,
    kinds: HashSet<(&'a str, &'a str)>,
    /// Those of the kinds whose definition is not yet what it will be.
    changing_kinds: HashSet<(&'a str, &'a str)>,
    namespaces: HashSet<&'a str>,
    /// What the unit has already.
    had: HashSet<&'a ObjectKey>,
}

impl<'a> Decider<'a> {
    pub(super) fn new(input: &'a Input, strategy: &'a Strategy) -> Self {
        let objects = || input.desired.iter().map(|desired| &*desired.object);
        let namespace = |object: &'a model::Value| {
            let is_namespace =
                object.str_at(&["apiVersion"]) == "v1" && object.str_at(&["kind"]) == "Namespace";
            is_namespace.then(|| object.str_at(&["metadata", "name"]))
        };
        // If the definition is missing, so is the kind, and that was found out.
        let is_settled =
            |desired: &&Desired| matches!(desired.observed, Observed::Unchanged(_) | Observed::Missing);
        let changing = input.desired.iter().filter(|desired| !is_settled(desired));
        let changing_kinds = changing
            .filter_map(|desired| order::defined_kind(&desired.object))
            .collect();
        Decider {
            input,
            strategy,
            changing_kinds,
            kinds: objects().filter_map(order::defined_kind).collect(),
            namespaces: objects().filter_map(namespace).collect(),
            had: input.previous.entries.iter().map(|entry| &entry.id.0).collect(),
        }
    }

    /// What is done to the object, without its phase and wave.
    pub(super) fn task(&self, desired: &Desired, reference: Reference, objects: &mut Objects) -> Task {
        let key = desired.key(&self.input.options.namespace);
        let mut task = Task::new(Step {
            api_version: desired.object.str_at(&["apiVersion"]).to_owned(),
            action: Action::Skip,
            reason: String::new(),
            batch: 0,
            object: None,
            apply: Apply::default(),
            fields: Vec::new(),
            hook: None,
            key,
        });
        task.object = Some(Arc::clone(&desired.object));
        task.implied = desired.implied;
        match self.reason_to_skip(desired, &task.step.key) {
            Some(reason) => task.step.reason = reason,
            None => self.apply(desired, &mut task, objects),
        }
        if task.step.action.applies() {
            task.step.object = Some(reference);
            task.step.apply.had = self.had.contains(&task.step.key);
            self.verify_again(&mut task);
        }
        task
    }

    /// A dry run by a definition that is about to change tells little: it is made again when the new one is there.
    fn verify_again(&self, task: &mut Task) {
        let ObjectKey { group, kind, .. } = &task.step.key;
        if self.changing_kinds.contains(&(group.as_str(), kind.as_str())) {
            task.step.apply.verified = false;
            task.needs_definition = true;
        }
    }

    fn reason_to_skip(&self, desired: &Desired, key: &ObjectKey) -> Option<String> {
        let markers = &self.strategy.markers;
        let live = desired.observed.live();
        if !is_selected(self.input, key) {
            return Some("it is not selected".to_owned());
        }
        if let Some(marker) = markers::find(&markers.skip, &*desired.object) {
            return Some(format!("{}: {} is set", marker.key, marker.value));
        }
        if let Some(marker) = live.and_then(|live| markers::find(&markers.skip, live)) {
            return Some(format!("{}: {} is set in the cluster", marker.key, marker.value));
        }
        let create_only = markers::find(&markers.create_only, &*desired.object)?;
        live.map(|_| {
            format!(
                "{}: {} is set, and it is there",
                create_only.key, create_only.value
            )
        })
    }

    fn apply(&self, desired: &Desired, task: &mut Task, objects: &mut Objects) {
        let live = desired.observed.live();
        let asked = self.sync_options(desired, live);
        let force = self.strategy.forces(&self.input.options, &desired.object, live);
        task.step.apply.unchecked = asked.unchecked;
        task.step.apply.recreate = force && live.is_some();
        if let Some(live) = live.filter(|_| force) {
            task.step.apply.recreate_uid.clone_from(&live.uid);
            task.step.apply.recreate_seconds = self.input.options.stage_seconds;
        }
        if let Some(shared) = self.left_to(desired, &task.step.key) {
            let to = shared.unit.clone();
            let reason = format!("it differs, but unit {to:?} wants it too and has applied it last");
            return set(task, Action::Yield { to }, &reason);
        }
        match &desired.observed {
            Observed::Missing => {
                task.step.apply.verified = true;
                set(task, Action::Create, "it is missing");
            }
            Observed::Unchanged(_) => set(task, Action::Unchanged, "it is as desired"),
            Observed::Drifted { live, fields } => {
                task.step.fields.clone_from(fields);
                let (action, reason) = changed(&task.step.key, live, asked.replace, force);
                // What was dry-run is an apply. What takes the place of the object may lack what an apply leaves to others.
                task.step.apply.verified = action == Action::Patch;
                set(task, action, reason);
            }
            Observed::Uncompared(live) => {
                let (action, reason) = changed(&task.step.key, live, asked.replace, force);
                let reason = if action == Action::Patch {
                    "it was not compared"
                } else {
                    reason
                };
                set(task, action, reason);
            }
            Observed::Immutable { live, error } => {
                if force {
                    task.step.apply.verified = true;
                    set(
                        task,
                        Action::Recreate(target(live)),
                        "a field that cannot be changed differs",
                    );
                } else {
                    self.fail(desired, task, error, true);
                }
            }
            Observed::KindMissing { error } => {
                let ObjectKey { group, kind, .. } = &task.step.key;
                if self.kinds.contains(&(group.as_str(), kind.as_str())) {
                    task.needs_definition = true;
                    set(
                        task,
                        Action::Create,
                        "it is missing, and so is the definition of its kind",
                    );
                } else if asked.skip_missing_kind {
                    set(
                        task,
                        Action::Create,
                        "it is missing, and its kind is expected to come",
                    );
                } else {
                    self.fail(desired, task, error, false);
                }
            }
            Observed::NamespaceMissing { error } => {
                if self.namespaces.contains(task.step.key.namespace.as_str()) {
                    task.needs_definition = true;
                    set(task, Action::Create, "it is missing, and so is its namespace");
                } else {
                    self.fail(desired, task, error, false);
                }
            }
            Observed::Failed { error, .. } => self.fail(desired, task, error, false),
        }
        self.take_over(desired, live, task, objects);
    }

    /// The other unit that an object is left to although it is not as this unit wants it.
    fn left_to(&self, desired: &Desired, key: &ObjectKey) -> Option<&Shared> {
        let is_settled = matches!(desired.observed, Observed::Unchanged(_));
        let shared = self.input.shared.get(key)?;
        (self.input.yields && shared.holds && !is_settled).then_some(shared)
    }

    /// Fields that others have set by hand are taken over, unless the object asks to be merged. That alone is a change.
    fn take_over(&self, desired: &Desired, live: Option<&Live>, task: &mut Task, objects: &mut Objects) {
        let Some(patch) = live.and_then(|live| live.takeover.as_ref()) else {
            return;
        };
        if self.is_marked(&self.strategy.markers.merge, desired, live) {
            return;
        }
        if task.step.action == Action::Unchanged {
            task.step.apply.verified = true;
            set(task, Action::Patch, "fields that others have set are taken over");
        }
        if task.step.action == Action::Patch {
            task.step.apply.takeover = Some(objects.push(Arc::clone(patch)));
        }
    }

    /// The server does not accept it as things are; it is tried again if a stage before changes anything.
    fn fail(&self, desired: &Desired, task: &mut Task, error: &str, immutable: bool) {
        task.failure = Some(Refusal::Rejected {
            key: task.step.key.clone(),
            origin: desired.origin.as_ref().map(ToString::to_string),
            error: error.to_owned(),
            immutable,
        });
        let action = match desired.observed.live() {
            Some(_) => Action::Patch,
            None => Action::Create,
        };
        set(
            task,
            action,
            "it was refused, and is tried again after the stages before",
        );
    }

    fn is_marked(&self, markers: &[markers::Marker], desired: &Desired, live: Option<&Live>) -> bool {
        let in_cluster = live.and_then(|live| markers::find(markers, live));
        in_cluster
            .or_else(|| markers::find(markers, &*desired.object))
            .is_some()
    }

    /// What the object asks for, together with what the whole unit does. `Replace` and `Force` count on the live object too.
    fn sync_options(&self, desired: &Desired, live: Option<&Live>) -> SyncOptions {
        if !self.strategy.hooks {
            return SyncOptions::default();
        }
        let unit = &self.input.options.argo;
        let mut asked = SyncOptions::of(&*desired.object);
        let in_cluster = live.map(SyncOptions::of).unwrap_or_default();
        asked.replace |= unit.replace || in_cluster.replace;
        asked.unchecked |= unit.unchecked;
        asked.skip_missing_kind |= unit.skip_missing_kinds;
        asked
    }
}

/// How an object that differs is brought in line. Definitions and namespaces are never deleted for that: all objects of the
/// kind, or in the namespace, would go with them.
fn changed(key: &ObjectKey, live: &Live, replace: bool, force: bool) -> (Action, &'static str) {
    match (replace, force && !order::is_definition(key)) {
        (false, _) => (Action::Patch, "it differs"),
        (true, false) => (Action::Replace(target(live)), "it differs, and is to be replaced"),
        (true, true) => (
            Action::Recreate(target(live)),
            "it differs, and is to be replaced by force",
        ),
    }
}

fn set(task: &mut Task, action: Action, reason: &str) {
    task.step.action = action;
    task.step.reason = reason.to_owned();
}

/// The live object as the target of a destructive action.
pub(super) fn target(live: &Live) -> Target {
    Target {
        uid: live.uid.clone(),
        resource_version: live.resource_version.clone(),
    }
}

/// Whether the run is about this object.
pub(super) fn is_selected(input: &Input, key: &ObjectKey) -> bool {
    let only = input.options.only.as_ref();
    only.is_none_or(|only| only.contains(key))
}

/// What the object asks for.
pub(super) fn options_of(object: &impl Metadata, strategy: &Strategy) -> SyncOptions {
    match strategy.hooks {
        true => SyncOptions::of(object),
        false => SyncOptions::default(),
    }
}
