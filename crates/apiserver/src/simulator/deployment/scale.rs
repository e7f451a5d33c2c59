//! Scaling a Deployment while it is exchanged or paused: all its ReplicaSets take part, by their size.

use std::cmp::Reverse;

use crate::simulator::Step;
use crate::simulator::step::number;

use super::View;
use super::rollout::{Limits, is_rolling};
use super::set::{DESIRED, MAXIMUM, Set, Sets};

/// Whether the Deployment's size is another than the one its ReplicaSets were made for.
pub(super) fn is_wanted(view: &View<'_>, sets: &Sets) -> bool {
    let wanted = number(view.deployment, &["spec", "replicas"]);
    let mut active = sets.all().filter(|set| set.wanted() > 0);
    active.any(|set| {
        let noted: Result<i64, _> = set.annotation(DESIRED).parse();
        noted.is_ok_and(|noted| noted != wanted)
    })
}

/// Brings the ReplicaSets to the Deployment's size.
pub(super) fn proportionally(step: &mut Step<'_>, view: &View<'_>, sets: &mut Sets) {
    let limits = Limits::of(view.deployment);
    let mut active: Vec<&mut Set> = sets.all_mut().filter(|set| set.wanted() > 0).collect();
    match active.as_mut_slice() {
        [only] => {
            only.scale(step, view, limits.wanted);
            return;
        }
        [] => {
            let newest = match &mut sets.new {
                Some(new) => Some(new),
                None => sets.old.last_mut(),
            };
            if let Some(set) = newest {
                set.scale(step, view, limits.wanted);
            }
            return;
        }
        _ => {}
    }
    if sets.new.as_ref().is_some_and(|new| is_saturated(new, &limits)) {
        for set in &mut sets.old {
            set.scale(step, view, 0);
        }
        return;
    }
    if is_rolling(view.deployment) {
        distribute(step, view, sets, &limits);
    }
}

/// Whether a ReplicaSet is all that the Deployment wants.
fn is_saturated(set: &Set, limits: &Limits) -> bool {
    let noted: i64 = set.annotation(DESIRED).parse().unwrap_or(-1);
    [set.wanted(), noted, set.available()]
        .iter()
        .all(|size| *size == limits.wanted)
}

/// Spreads what is to be added or taken away over the ReplicaSets that have pods, the larger ones first.
fn distribute(step: &mut Step<'_>, view: &View<'_>, sets: &mut Sets, limits: &Limits) {
    let allowed = match limits.wanted {
        0 => 0,
        wanted => wanted + limits.surge,
    };
    let total = sets.sum(Set::wanted);
    let change = allowed - total;
    let deployed = number(view.status, &["replicas"]);
    let mut active: Vec<&mut Set> = sets.all_mut().filter(|set| set.wanted() > 0).collect();
    // Of equal ones newer ones grow first and older ones shrink first.
    active.sort_by(|a, b| {
        let by_size = Reverse(a.wanted()).cmp(&Reverse(b.wanted()));
        let by_age = if change > 0 {
            b.age().cmp(&a.age())
        } else {
            a.age().cmp(&b.age())
        };
        by_size.then(by_age)
    });
    let mut given = 0;
    let mut sizes: Vec<i64> = Vec::new();
    for set in &active {
        let part = match change - given {
            0 => 0,
            left => {
                let fraction = fraction(set, limits, deployed);
                if change > 0 {
                    fraction.min(left)
                } else {
                    fraction.max(left)
                }
            }
        };
        given += part;
        sizes.push(set.wanted() + part);
    }
    if let Some(first) = sizes.first_mut() {
        *first = (*first + change - given).max(0);
    }
    for (set, size) in active.into_iter().zip(sizes) {
        set.resize(step, view, size);
    }
}

/// By how much a ReplicaSet changes if it keeps its share of the Deployment.
fn fraction(set: &Set, limits: &Limits, deployed: i64) -> i64 {
    if limits.wanted == 0 {
        return -set.wanted();
    }
    let before = set.annotation(MAXIMUM).parse().unwrap_or(0);
    let before = if before > 0 { before } else { deployed };
    if before == 0 {
        return 0;
    }
    let size = (set.wanted() * (limits.wanted + limits.surge)) as f64 / before as f64;
    size.round() as i64 - set.wanted()
}
