//! How often objects were put right lately. Where somebody else changes an object back at once, both would go on forever, each as fast as
//! it can: the pauses between our corrections of that object grow, and every other object is put right at once as ever.

use std::collections::HashMap;
use std::time::Duration;

use model::{Digest, ObjectKey};
use tokio::time::Instant;

use crate::plan::Plan;
use crate::unit::SyncUnit;

use super::Shared;
use super::intent::is_fresh;
use super::known::Known;

/// The pause after the first correction. Each further one is longer.
const FIRST: Duration = Duration::from_secs(2);
const FACTOR: u32 = 3;
const MOST: Duration = Duration::from_secs(300);

/// Whoever leaves an object alone for so long does not fight over it.
const QUIET: Duration = Duration::from_secs(60);

/// The corrections of a unit's objects.
#[derive(Debug, Default)]
pub(super) struct Corrections {
    /// What the objects were put right to. Something new to apply is no correction.
    basis: Option<Digest>,
    objects: HashMap<ObjectKey, Corrected>,
}

/// An object that was put right.
#[derive(Debug)]
struct Corrected {
    /// How often, without a time of quiet between.
    times: u32,
    last: Instant,
    /// When it was first seen to differ again.
    differs: Option<Instant>,
}

impl Corrections {
    /// How long it is until one of these objects, which differ now, may be put right.
    pub(super) fn wait<'a>(
        &mut self,
        basis: Digest,
        differ: impl IntoIterator<Item = &'a ObjectKey>,
        now: Instant,
    ) -> Duration {
        self.are_about(basis);
        // Each of them has to be noted, also if the first may be put right at once.
        let waits: Vec<Duration> = differ.into_iter().map(|key| self.wait_for(key, now)).collect();
        waits.into_iter().min().unwrap_or_default()
    }

    fn wait_for(&mut self, key: &ObjectKey, now: Instant) -> Duration {
        let Some(corrected) = self.objects.get_mut(key) else {
            return Duration::ZERO;
        };
        let differs = *corrected.differs.get_or_insert(now);
        if differs.saturating_duration_since(corrected.last) >= QUIET {
            self.objects.remove(key);
            return Duration::ZERO;
        }
        let due = corrected.last + pause(corrected.times);
        due.saturating_duration_since(now)
    }

    /// An object was applied. It was put right by that if it was applied before, or if nothing else is done but `corrects`.
    pub(super) fn made(&mut self, basis: Digest, key: &ObjectKey, corrects: bool, now: Instant) {
        self.are_about(basis);
        let times = match self.objects.get(key) {
            Some(corrected) => corrected.times.saturating_add(1),
            None => u32::from(corrects),
        };
        let corrected = Corrected {
            times,
            last: now,
            differs: None,
        };
        self.objects.insert(key.clone(), corrected);
    }

    /// What people should know of the objects among these that somebody changes again and again.
    pub(super) fn warnings<'a>(&self, differ: impl IntoIterator<Item = &'a ObjectKey>) -> Vec<String> {
        let fought = differ
            .into_iter()
            .filter_map(|key| Some((key, self.objects.get(key)?)))
            .filter(|(_, corrected)| corrected.times > 1);
        let warnings = fought.map(|(key, corrected)| {
            let (times, pause) = (corrected.times, pause(corrected.times).as_secs());
            format!(
                "{key} was put right {times} times and changed again each time; the next time is {pause} s after the last: \
                 have whoever changes it leave it alone, or ignore the difference"
            )
        });
        warnings.collect()
    }

    fn are_about(&mut self, basis: Digest) {
        if self.basis != Some(basis) {
            self.basis = Some(basis);
            self.objects.clear();
        }
    }
}

impl Shared {
    /// How long nothing is done about what differs, since somebody changes it back each time.
    pub(super) fn pause(
        &self,
        unit: &SyncUnit,
        known: &Known,
        plan: &Plan,
        basis: impl FnOnce() -> Digest,
    ) -> Option<Duration> {
        // What somebody asks for does not wait.
        let is_wanted = unit.policy.automatic || unit.operation.is_some();
        if is_fresh(unit) || !plan.changes_anything() || !is_wanted {
            return None;
        }
        let mut corrections = known.corrections.lock();
        let wait = corrections.wait(basis(), differ(plan), Instant::now());
        (!wait.is_zero()).then_some(wait)
    }
}

/// The objects that a plan changes.
pub(super) fn differ(plan: &Plan) -> impl Iterator<Item = &ObjectKey> {
    let changed = plan
        .steps()
        .filter(|step| step.action.writes() && step.hook.is_none());
    changed.map(|step| &step.key)
}

/// The pause after so many corrections.
fn pause(times: u32) -> Duration {
    let Some(earlier) = times.checked_sub(1) else {
        return Duration::ZERO;
    };
    let factor = FACTOR.saturating_pow(earlier);
    FIRST.saturating_mul(factor).min(MOST)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(name: &str) -> ObjectKey {
        ObjectKey {
            group: "".into(),
            kind: "ConfigMap".into(),
            namespace: "shop".into(),
            name: name.into(),
        }
    }

    fn basis(text: &str) -> Digest {
        crate::plan::objects::digest(&model::Value::from(text))
    }

    /// Somebody changes the object back at once, for so many times: after how many seconds it is put right.
    fn fight(corrections: &mut Corrections, now: &mut Instant, times: usize) -> Vec<u64> {
        let fight = (0..times).map(|_| {
            let wait = corrections.wait(basis("v1"), [&key("a")], *now);
            *now += wait;
            assert!(corrections.wait(basis("v1"), [&key("a")], *now).is_zero());
            corrections.made(basis("v1"), &key("a"), true, *now);
            wait.as_secs()
        });
        fight.collect()
    }

    #[test]
    fn the_first_correction_is_at_once_and_the_pauses_grow() {
        let (mut corrections, mut now) = (Corrections::default(), Instant::now());
        assert_eq!(
            fight(&mut corrections, &mut now, 9),
            [0, 2, 6, 18, 54, 162, 300, 300, 300]
        );
        let told = corrections.warnings([&key("a"), &key("b")]);
        assert_eq!(told.len(), 1);
        assert!(
            told[0].starts_with("ConfigMap/shop/a was put right 9 times"),
            "{told:?}"
        );
    }

    #[test]
    fn what_is_undone_before_it_was_all_applied_is_put_right_at_once_and_then_with_pauses_too() {
        let (mut corrections, mut now) = (Corrections::default(), Instant::now());
        corrections.made(basis("v1"), &key("a"), false, now);
        assert_eq!(fight(&mut corrections, &mut now, 3), [0, 2, 6]);
    }

    #[test]
    fn other_objects_are_put_right_at_once() {
        let (mut corrections, mut now) = (Corrections::default(), Instant::now());
        fight(&mut corrections, &mut now, 5);
        assert!(!corrections.wait(basis("v1"), [&key("a")], now).is_zero());
        assert!(
            corrections
                .wait(basis("v1"), [&key("a"), &key("b")], now)
                .is_zero()
        );
    }

    #[test]
    fn after_some_quiet_everything_is_at_once_again() {
        let (mut corrections, mut now) = (Corrections::default(), Instant::now());
        fight(&mut corrections, &mut now, 5);
        // It differs at once, and a pause is no quiet however long it is.
        assert!(!corrections.wait(basis("v1"), [&key("a")], now).is_zero());
        assert!(
            corrections
                .wait(basis("v1"), [&key("a")], now + 2 * QUIET)
                .as_secs()
                > 0
        );
        now += MOST;
        corrections.made(basis("v1"), &key("a"), true, now);
        assert!(corrections.wait(basis("v1"), [&key("a")], now + QUIET).is_zero());
        corrections.made(basis("v1"), &key("a"), true, now + QUIET);
        assert_eq!(
            corrections.wait(basis("v1"), [&key("a")], now + QUIET),
            FIRST,
            "it begins anew"
        );
    }

    #[test]
    fn something_new_to_apply_waits_for_nothing() {
        let (mut corrections, mut now) = (Corrections::default(), Instant::now());
        fight(&mut corrections, &mut now, 5);
        assert!(corrections.wait(basis("v2"), [&key("a")], now).is_zero());
        assert!(corrections.wait(basis("v1"), [&key("a")], now).is_zero());
    }
}
