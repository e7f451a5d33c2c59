//! What a step of an object can see and do.

use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use model::Value;

use super::event::{Happening, Level, Recorder};
use super::facts::controller;
use super::index::Index;
use super::outcome::{self, Outcome};
use super::timers::Stages;
use super::{Kind, Options, Task};
use crate::error::Error;
use crate::kinds::Kinds;
use crate::server::{State, time_text};
use crate::store::{Key, Object};
use crate::strategy::Part;
use crate::verbs::delete::DeleteOptions;

/// One look at one object.
pub(super) struct Step<'a> {
    pub state: &'a Arc<State>,
    pub kinds: &'a Kinds,
    pub options: &'a Options,
    pub index: &'a Index,
    pub now: Timestamp,
    pub kind: Kind,
    pub key: &'a Key,
    task: &'a Task,
    stages: &'a mut Stages,
    recorder: &'a mut Recorder,
    wake: Option<Duration>,
}

/// What steps share.
pub(super) struct World<'a> {
    pub state: &'a Arc<State>,
    pub kinds: &'a Kinds,
    pub options: &'a Options,
    pub index: &'a Index,
    pub stages: &'a mut Stages,
    pub recorder: &'a mut Recorder,
}

impl<'a> Step<'a> {
    pub(super) fn new(world: World<'a>, task: &'a Task) -> Self {
        Step {
            state: world.state,
            kinds: world.kinds,
            options: world.options,
            index: world.index,
            now: world.state.now(),
            kind: task.0,
            key: &task.1,
            task,
            stages: world.stages,
            recorder: world.recorder,
            wake: None,
        }
    }

    /// After how long the object shall be looked at again without a change.
    pub(super) fn wake(&self) -> Option<Duration> {
        self.wake
    }

    /// Wants another look after `delay`, or earlier where that was wanted already.
    pub(super) fn look_again(&mut self, delay: Duration) {
        self.wake = Some(self.wake.map_or(delay, |wake| wake.min(delay)));
    }

    /// Whether the stage that began with the first such call still lasts; then another look follows at its end.
    pub(super) fn lasts(&mut self, stage: &'static str, delay: Duration) -> bool {
        let left = self.stages.left(self.task, stage, delay);
        if let Some(left) = left {
            self.look_again(left);
        }
        left.is_some()
    }

    /// Whether the stage began already.
    pub(super) fn is_in(&self, stage: &'static str) -> bool {
        self.stages.has(self.task, stage)
    }

    /// A stage is left, and begins anew when it is entered again.
    pub(super) fn leave(&mut self, stage: &'static str) {
        self.stages.end(self.task, stage);
    }

    /// Now, as objects have it.
    pub(super) fn now_text(&self) -> String {
        time_text(self.now)
    }

    /// The object this step is about.
    pub(super) fn own(&self) -> Option<Value> {
        self.read(self.kind, self.key)
    }

    /// An object.
    pub(super) fn read(&self, kind: Kind, key: &Key) -> Option<Value> {
        let object = self.find(kind, key)?;
        Some(kind.served(self.kinds).show(&object))
    }

    /// An object as it is stored.
    pub(super) fn find(&self, kind: Kind, key: &Key) -> Option<Arc<Object>> {
        let served = kind.served(self.kinds);
        self.state.store.get(&served.resource.storage, key)
    }

    /// Creates an object.
    pub(super) fn create(&self, kind: Kind, mut object: Value) -> Result<Value, Error> {
        object.set_at(&["apiVersion"], kind.api_version());
        object.set_at(&["kind"], kind.name());
        let served = kind.served(self.kinds);
        let made = self.state.create_inside(served, object, self.kind.manager())?;
        Ok(served.show(&made))
    }

    /// Changes an object besides its status. It may be gone meanwhile, which is as good.
    pub(super) fn change(&self, kind: Kind, key: &Key, change: impl Fn(&mut Value)) -> Option<Value> {
        self.write(kind, key, Part::Main, change)
    }

    /// Changes the status of the object this step is about.
    pub(super) fn change_status(&self, change: impl Fn(&mut Value)) -> Option<Value> {
        self.write(self.kind, self.key, Part::Status, change)
    }

    fn write(&self, kind: Kind, key: &Key, part: Part, change: impl Fn(&mut Value)) -> Option<Value> {
        let served = kind.served(self.kinds);
        let written = self
            .state
            .update_inside(served, key, part, self.kind.manager(), change);
        let written = written.ok()?;
        Some(served.show(&written))
    }

    /// Deletes an object if it is still there.
    pub(super) fn delete(&self, kind: Kind, key: &Key, options: &DeleteOptions) {
        self.state.delete_inside(kind.served(self.kinds), key, options);
    }

    /// Records that something happened to `about`.
    pub(super) fn event(&mut self, about: &Value, level: Level, reason: &str, message: &str) {
        let component = self.kind.component();
        let host = match self.kind {
            Kind::Pod => about.str_at(&["spec", "nodeName"]),
            _ => "",
        };
        self.happened(&Happening {
            about,
            level,
            reason,
            message,
            component,
            host,
            field: "",
        });
    }

    /// Records an event whose source is not the object's usual one.
    pub(super) fn happened(&mut self, happening: &Happening<'_>) {
        self.recorder.record(self.state, self.kinds, happening);
    }

    /// Says where the annotation of the object this step is about makes no sense, and returns whether it does not.
    pub(super) fn complain(&mut self, object: &Value, outcome: Outcome) -> bool {
        let unknown = outcome == Outcome::Unknown;
        if unknown {
            let message = outcome::unknown_message(object);
            self.event(object, Level::Warning, outcome::UNKNOWN, &message);
        }
        unknown
    }

    /// How the object this step is about turns out.
    pub(super) fn outcome(&self, object: &Value) -> Outcome {
        let annotated = Outcome::of(object);
        if annotated != Outcome::Fine {
            return annotated;
        }
        let namespace = self.key.namespace();
        let decided = |name: &str| self.state.outcomes.get(namespace, name);
        if let Some(outcome) = decided(self.key.name()) {
            return outcome;
        }
        // What the object belongs to, and what that belongs to.
        let mut current = self.find(self.kind, self.key);
        for _ in 0..2 {
            let Some(owner) = current.as_deref().and_then(controller) else {
                break;
            };
            if let Some(outcome) = decided(&owner.name) {
                return outcome;
            }
            let kind = Kind::of_reference(&owner.api_version, &owner.kind);
            current = kind.and_then(|kind| self.find(kind, &Key::new(namespace, &owner.name)));
        }
        Outcome::Fine
    }
}

/// The whole number at the end of `path`; 0 where there is none.
pub(super) fn number(object: &Value, path: &[&str]) -> i64 {
    object.at(path).and_then(Value::as_i64).unwrap_or(0)
}

/// Whether `true` is at the end of `path`.
pub(super) fn flag(object: &Value, path: &[&str]) -> bool {
    object.at(path).and_then(Value::as_bool).unwrap_or(false)
}

/// Whether an object is on its way out.
pub(super) fn deleting(object: &Value) -> bool {
    object.at(&["metadata", "deletionTimestamp"]).is_some()
}

/// Sets a number that is left out when it is 0.
pub(super) fn set_count(status: &mut Value, field: &str, count: i64) {
    match count {
        0 => drop(status.remove_at(&[field])),
        count => status.set_at(&[field], count),
    }
}
