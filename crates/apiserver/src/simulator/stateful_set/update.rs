//! Making, replacing and removing the pods of a StatefulSet, in order.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use super::identity::ordinal;
use super::{POD_REVISION, View};
use crate::simulator::event::Level;
use crate::simulator::facts::{Phase, PodFacts};
use crate::simulator::template::is_ending_namespace;
use crate::simulator::{Kind, Step};
use crate::store::Key;
use crate::verbs::delete::DeleteOptions;

/// So many pods are made in one look.
const BURST: usize = 500;
/// After something was refused, it is tried again.
const TRY_AGAIN: Duration = Duration::from_secs(5);

/// What a look did.
#[derive(Default)]
pub(super) struct Done {
    /// The revisions of the pods that it made.
    pub made: Vec<String>,
    /// The pods that it deleted.
    pub deleted: BTreeSet<Key>,
}

/// Whether the look goes on with the next pod.
#[derive(PartialEq, Eq)]
enum Next {
    Goes,
    Waits,
}

pub(super) fn advance(step: &mut Step<'_>, view: &View<'_>, pods: &[&PodFacts]) -> Done {
    let mut done = Done::default();
    let mut replicas: BTreeMap<i64, &PodFacts> = BTreeMap::new();
    let mut condemned: BTreeMap<i64, &PodFacts> = BTreeMap::new();
    for pod in pods {
        match ordinal(view.name, pod.key().name()) {
            Some(number) if view.is_wanted(number) => replicas.insert(number, pod),
            Some(number) => condemned.insert(number, pod),
            None => None,
        };
    }
    for number in view.start..view.start + view.wanted {
        let next = view.advance_replica(step, number, replicas.get(&number).copied(), &mut done);
        // What is made brings the next look.
        if next == Next::Waits && (view.ordered || done.made.len() >= BURST) {
            return done;
        }
    }
    for (number, pod) in &condemned {
        view.own_claims(step, *number, Some(pod));
    }
    let unavailable = |pod: &PodFacts| !pod.is_available(view.min_ready, step.now) || pod.deleting();
    let first_unavailable = condemned.iter().find(|(_, pod)| unavailable(pod));
    let first_unavailable = first_unavailable.map(|(number, _)| *number);
    for (number, pod) in condemned.iter().rev() {
        let next = view.advance_condemned(step, pod, first_unavailable == Some(*number), &mut done);
        if next == Next::Waits && view.ordered {
            return done;
        }
    }
    if view.is_rolling() && done.made.is_empty() {
        view.replace_outdated(step, &replicas, &mut done);
    }
    done
}

impl View<'_> {
    /// Looks at a pod that shall be there.
    fn advance_replica(
        &self,
        step: &mut Step<'_>,
        number: i64,
        pod: Option<&PodFacts>,
        done: &mut Done,
    ) -> Next {
        let Some(pod) = pod else {
            return self.make(step, number, done);
        };
        if pod.is_done() {
            // Whatever the reason is for which it ended, it is made anew when it is gone.
            if !pod.deleting() {
                self.remove(step, pod, done);
            }
            return Next::Waits;
        }
        if pod.phase == Phase::Pending && !self.make_claims(step, number) {
            step.look_again(TRY_AGAIN);
            return Next::Waits;
        }
        let available = pod.phase == Phase::Running && pod.is_available(self.min_ready, step.now);
        if pod.deleting() || !available {
            return Next::Waits;
        }
        self.own_claims(step, number, Some(pod));
        Next::Goes
    }

    fn make(&self, step: &mut Step<'_>, number: i64, done: &mut Done) -> Next {
        if self.has_stale_claim(step, number) || !self.make_claims(step, number) {
            step.look_again(TRY_AGAIN);
            return Next::Waits;
        }
        let revision = self.revision_for(number);
        let name = self.pod_name(number);
        match step.create(Kind::Pod, self.pod(number, revision)) {
            Ok(_) => {
                self.tell(step, "Create", &name, None);
                done.made.push(revision.name.clone());
                self.own_claims(step, number, None);
            }
            Err(error) if is_ending_namespace(&error) => {}
            Err(error) => {
                self.tell(step, "Create", &name, Some(&error.message));
                step.look_again(TRY_AGAIN);
            }
        }
        // Where pods come in order, the next one comes when this one is available.
        Next::Waits
    }

    /// Looks at a pod that shall go.
    fn advance_condemned(
        &self,
        step: &mut Step<'_>,
        pod: &PodFacts,
        is_first_unavailable: bool,
        done: &mut Done,
    ) -> Next {
        if pod.deleting() {
            return Next::Waits;
        }
        let available = pod.phase == Phase::Running && pod.is_available(self.min_ready, step.now);
        if self.ordered && !available && !is_first_unavailable {
            return Next::Waits;
        }
        self.remove(step, pod, done);
        Next::Waits
    }

    /// Replaces the last pod that has another revision, if those after it are well.
    fn replace_outdated(&self, step: &mut Step<'_>, replicas: &BTreeMap<i64, &PodFacts>, done: &mut Done) {
        let first = self.start + self.partition();
        for (_, pod) in replicas.range(first.min(self.start + self.wanted)..).rev() {
            let updated = pod.object.label(POD_REVISION) == Some(&self.update.name);
            if !updated && !pod.deleting() {
                return self.remove(step, pod, done);
            }
            if pod.deleting() || !pod.is_available(self.min_ready, step.now) {
                return;
            }
        }
    }

    fn remove(&self, step: &mut Step<'_>, pod: &PodFacts, done: &mut Done) {
        step.delete(Kind::Pod, pod.key(), &DeleteOptions::default());
        self.tell(step, "Delete", pod.key().name(), None);
        done.deleted.insert(pod.key().clone());
    }

    fn tell(&self, step: &mut Step<'_>, verb: &str, pod: &str, error: Option<&str>) {
        let what = format!("{verb} Pod {pod} in StatefulSet {}", self.name);
        match error {
            None => {
                let reason = format!("Successful{verb}");
                step.event(self.set, Level::Normal, &reason, &format!("{what} successful"));
            }
            Some(error) => {
                let reason = format!("Failed{verb}");
                let message = format!("{what} failed error: {error}");
                step.event(self.set, Level::Warning, &reason, &message);
            }
        }
    }
}
