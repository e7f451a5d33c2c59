//! Events, as `kubectl describe` shows them.
//!
//! Like the real recorder: the same thing happening again raises a count, more than ten different messages for one
//! reason are combined, and no object gets more than a handful in a short time.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};
use model::{Str, Value, value};

use super::Kind;
use crate::kinds::Kinds;
use crate::server::{State, time_text};
use crate::store::Key;
use crate::strategy::Part;
use crate::verbs::delete::DeleteOptions;

/// So many different messages for one reason stand alone.
const ALONE: usize = 10;
/// So many writes an object's events may take at once, and one more each time this has passed.
const BURST: f64 = 25.0;
const REFILL: SignedDuration = SignedDuration::from_secs(300);
/// Events are forgotten after this time, as in the real store.
const KEPT: SignedDuration = SignedDuration::from_secs(3600);

/// How serious an event is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Level {
    Normal,
    Warning,
}

/// What happened.
pub(super) struct Happening<'a> {
    pub about: &'a Value,
    pub level: Level,
    pub reason: &'a str,
    pub message: &'a str,
    /// Who saw it.
    pub component: &'a str,
    /// The node it was seen on; empty elsewhere.
    pub host: &'a str,
    /// The part of the object it is about; empty for all of it.
    pub field: &'a str,
}

/// Writes events.
#[derive(Default)]
pub(super) struct Recorder {
    /// By the uid of what they are about.
    objects: HashMap<Str, Log>,
    /// In the order they were made.
    made: VecDeque<(Timestamp, Str, Key)>,
    /// Makes names unique where the clock stands still.
    count: u64,
}

/// The events about one object.
struct Log {
    tokens: f64,
    refilled: Timestamp,
    entries: Vec<Entry>,
}

struct Entry {
    reason: Str,
    field: Str,
    /// `None` for the one that combines all messages that no longer stand alone.
    message: Option<Str>,
    event: Key,
    count: i64,
}

impl Recorder {
    /// Records that something happened.
    pub(super) fn record(&mut self, state: &Arc<State>, kinds: &Kinds, happening: &Happening<'_>) {
        let now = state.now();
        self.expire(state, kinds, now);
        let uid: Str = happening.about.str_at(&["metadata", "uid"]).into();
        let log = self.objects.entry(uid.clone()).or_insert(Log {
            tokens: BURST,
            refilled: now,
            entries: Vec::new(),
        });
        if !log.spend(now) {
            return;
        }
        let served = Kind::Event.served(kinds);
        let slot = log.slot(happening);
        let text = match &slot {
            Slot::Combined => format!("(combined from similar events): {}", happening.message),
            _ => happening.message.to_owned(),
        };
        let same = |entry: &&mut Entry| entry.is(happening, &slot);
        if let Some(entry) = log.entries.iter_mut().find(same) {
            let (count, time) = (entry.count + 1, time_text(now));
            let written =
                state.update_inside(served, &entry.event, Part::Main, happening.component, |event| {
                    event.set_at(&["count"], count);
                    event.set_at(&["lastTimestamp"], time.as_str());
                    event.set_at(&["message"], text.as_str());
                });
            if written.is_ok() {
                entry.count = count;
                return;
            }
            // Somebody deleted it: it is made anew below.
        }
        log.entries.retain_mut(|entry| !same(&entry));
        self.count += 1;
        let event = happening.event(&text, now, self.count);
        if let Ok(event) = state.create_inside(served, event, happening.component) {
            log.entries.push(Entry {
                reason: happening.reason.into(),
                field: happening.field.into(),
                message: slot.message(happening.message).map(Str::from),
                event: event.key.clone(),
                count: 1,
            });
            self.made.push_back((now, uid, event.key.clone()));
        }
    }

    /// Removes the events whose time is over.
    fn expire(&mut self, state: &Arc<State>, kinds: &Kinds, now: Timestamp) {
        while let Some((made, _, _)) = self.made.front()
            && now.duration_since(*made) > KEPT
        {
            let Some((_, uid, event)) = self.made.pop_front() else {
                return;
            };
            state.delete_inside(Kind::Event.served(kinds), &event, &DeleteOptions::default());
            if let Some(log) = self.objects.get_mut(&uid) {
                log.entries.retain(|entry| entry.event != event);
                if log.entries.is_empty() {
                    self.objects.remove(&uid);
                }
            }
        }
    }
}

/// Where a message goes.
enum Slot {
    /// To an event of its own.
    Alone,
    /// To the event that stands for many.
    Combined,
}

impl Slot {
    fn message<'a>(&self, message: &'a str) -> Option<&'a str> {
        match self {
            Slot::Alone => Some(message),
            Slot::Combined => None,
        }
    }
}

impl Entry {
    /// Whether this is the event for what happened. The same of two parts of an object are two events, unless many are
    /// combined.
    fn is(&self, happening: &Happening<'_>, slot: &Slot) -> bool {
        let message = slot.message(happening.message);
        self.reason == happening.reason
            && self.message.as_deref() == message
            && (message.is_none() || self.field == happening.field)
    }
}

impl Log {
    fn spend(&mut self, now: Timestamp) -> bool {
        let passed = now.duration_since(self.refilled).as_secs_f64();
        self.tokens = (self.tokens + passed / REFILL.as_secs_f64()).min(BURST);
        self.refilled = now;
        let enough = self.tokens >= 1.0;
        if enough {
            self.tokens -= 1.0;
        }
        enough
    }

    fn slot(&self, happening: &Happening<'_>) -> Slot {
        let mut alike = self
            .entries
            .iter()
            .filter(|entry| entry.reason == happening.reason);
        let known = alike.clone().any(|entry| {
            entry.message.as_deref() == Some(happening.message) && entry.field == happening.field
        });
        if known || alike.by_ref().count() < ALONE {
            Slot::Alone
        } else {
            Slot::Combined
        }
    }
}

impl Happening<'_> {
    fn event(&self, message: &str, now: Timestamp, count: u64) -> Value {
        let about = |path: &[&str]| self.about.str_at(path);
        let name = about(&["metadata", "name"]);
        // What belongs to no namespace has its events in the default one.
        let namespace = match about(&["metadata", "namespace"]) {
            "" => "default",
            namespace => namespace,
        };
        let stamp = (now.as_nanosecond() as u64).wrapping_add(count);
        let time = time_text(now);
        let mut object = value!({
            "apiVersion": (about(&["apiVersion"])),
            "kind": (about(&["kind"])),
            "name": name,
            "resourceVersion": (about(&["metadata", "resourceVersion"])),
            "uid": (about(&["metadata", "uid"])),
        });
        for (field, text) in [
            ("namespace", about(&["metadata", "namespace"])),
            ("fieldPath", self.field),
        ] {
            if !text.is_empty() {
                object.set_at(&[field], text);
            }
        }
        let mut source = value!({"component": (self.component)});
        if !self.host.is_empty() {
            source.set_at(&["host"], self.host);
        }
        let level = match self.level {
            Level::Normal => "Normal",
            Level::Warning => "Warning",
        };
        value!({
            "apiVersion": "v1",
            "kind": "Event",
            "metadata": {"name": (format!("{name}.{stamp:x}")), "namespace": namespace},
            "involvedObject": object,
            "reason": (self.reason),
            "message": message,
            "source": source,
            "firstTimestamp": (time.as_str()),
            "lastTimestamp": (time.as_str()),
            "count": 1,
            "type": level,
            "eventTime": null,
            "reportingComponent": (self.component),
            "reportingInstance": (self.host),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn log() -> Log {
        Log {
            tokens: BURST,
            refilled: Timestamp::UNIX_EPOCH,
            entries: Vec::new(),
        }
    }

    #[test]
    fn an_object_has_a_burst_of_events_and_then_few() {
        let mut log = log();
        let now = Timestamp::UNIX_EPOCH;
        assert_eq!((0..100).filter(|_| log.spend(now)).count(), 25);
        let later = now + SignedDuration::from_secs(600);
        assert_eq!((0..100).filter(|_| log.spend(later)).count(), 2);
    }

    fn happening<'a>(about: &'a Value, reason: &'a str, message: &'a str, field: &'a str) -> Happening<'a> {
        Happening {
            about,
            level: Level::Normal,
            reason,
            message,
            component: "kubelet",
            host: "",
            field,
        }
    }

    fn entry(reason: &str, message: &str, field: &str) -> Entry {
        Entry {
            reason: reason.into(),
            field: field.into(),
            message: Some(message.into()),
            event: Key::new("default", "e"),
            count: 1,
        }
    }

    #[test]
    fn many_different_messages_are_combined() {
        let mut log = log();
        let about = Value::object();
        let slot = |log: &Log, reason: &str, message: &str| log.slot(&happening(&about, reason, message, ""));
        for number in 0..10 {
            assert!(matches!(slot(&log, "Created", &number.to_string()), Slot::Alone));
            log.entries.push(entry("Created", &number.to_string(), ""));
        }
        assert!(matches!(slot(&log, "Created", "10"), Slot::Combined));
        assert!(matches!(slot(&log, "Created", "3"), Slot::Alone));
        assert!(matches!(slot(&log, "Deleted", "10"), Slot::Alone));
    }

    #[test]
    fn the_same_of_two_containers_happened_twice() {
        let about = Value::object();
        let first = entry("Started", "Container started", "spec.containers{a}");
        let happened = |field| happening(&about, "Started", "Container started", field);
        assert!(first.is(&happened("spec.containers{a}"), &Slot::Alone));
        assert!(!first.is(&happened("spec.containers{b}"), &Slot::Alone));
    }
}
