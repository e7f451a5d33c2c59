//! Exchanging ReplicaSets, by the Deployment's strategy.

use model::Value;

use crate::simulator::Step;
use crate::simulator::amount::{self, Round};
use crate::simulator::step::number;

use super::set::{Set, Sets};
use super::{View, history, progress};

/// How large a Deployment is, and how far it may be from that while it is exchanged.
pub(super) struct Limits {
    pub wanted: i64,
    pub surge: i64,
    pub unavailable: i64,
}

impl Limits {
    pub(super) fn of(deployment: &Value) -> Self {
        let wanted = number(deployment, &["spec", "replicas"]);
        if !is_rolling(deployment) {
            return Limits {
                wanted,
                surge: 0,
                unavailable: 0,
            };
        }
        let share = |field: &str, round| {
            let amount = deployment.at(&["spec", "strategy", "rollingUpdate", field]);
            let share = amount.and_then(|amount| amount::of(amount, wanted, round));
            share.unwrap_or(0)
        };
        let surge = share("maxSurge", Round::Up);
        let unavailable = share("maxUnavailable", Round::Down);
        // One of them must leave room; a share may come out as nothing.
        let unavailable = if surge == 0 && unavailable == 0 {
            1
        } else {
            unavailable
        };
        Limits {
            wanted,
            surge,
            unavailable: unavailable.min(wanted),
        }
    }

    pub(super) fn least_available(&self) -> i64 {
        self.wanted - self.unavailable
    }
}

pub(super) fn is_rolling(deployment: &Value) -> bool {
    deployment.str_at(&["spec", "strategy", "type"]) != "Recreate"
}

/// Takes the next step of an exchange.
pub(super) fn advance(step: &mut Step<'_>, view: &mut View<'_>, sets: &mut Sets) {
    match is_rolling(view.deployment) {
        true => roll(step, view, sets),
        false => recreate(step, view, sets),
    }
}

fn roll(step: &mut Step<'_>, view: &mut View<'_>, sets: &mut Sets) {
    history::sync_or_create(step, view, sets);
    if grow_new(step, view, sets) || shrink_old(step, view, sets) {
        return;
    }
    if progress::is_complete(view.deployment, view.status) {
        history::clean_up(step, view, sets);
    }
}

/// How large a new ReplicaSet may be now.
pub(super) fn room_for_new(limits: &Limits, rolling: bool, current: i64, all: i64) -> i64 {
    if !rolling {
        return limits.wanted;
    }
    let room = limits.wanted + limits.surge - all;
    if room <= 0 {
        return current;
    }
    current + room.min(limits.wanted - current)
}

fn grow_new(step: &mut Step<'_>, view: &View<'_>, sets: &mut Sets) -> bool {
    let limits = Limits::of(view.deployment);
    let all = sets.sum(Set::wanted);
    let Some(new) = &mut sets.new else {
        return false;
    };
    let current = new.wanted();
    let size = if current > limits.wanted {
        limits.wanted
    } else {
        room_for_new(&limits, true, current, all)
    };
    new.scale(step, view, size)
}

/// Makes room: first what does not work anyway goes, then as much as may be missing.
fn shrink_old(step: &mut Step<'_>, view: &View<'_>, sets: &mut Sets) -> bool {
    let limits = Limits::of(view.deployment);
    let Some(new) = &sets.new else {
        return false;
    };
    if sets.old.iter().all(|set| set.wanted() == 0) {
        return false;
    }
    let unavailable_new = new.wanted() - new.available();
    let spare = sets.sum(Set::wanted) - limits.least_available() - unavailable_new;
    if spare <= 0 {
        return false;
    }
    let mut dropped = 0;
    for set in &mut sets.old {
        let unhealthy = set.wanted() - set.available();
        let count = unhealthy.min(spare - dropped).max(0);
        if count > 0 && set.scale(step, view, set.wanted() - count) {
            dropped += count;
        }
    }
    let spare = sets.sum(Set::available) - limits.least_available();
    let mut released = 0;
    for set in &mut sets.old {
        let count = set.wanted().min(spare - released).max(0);
        if count > 0 && set.scale(step, view, set.wanted() - count) {
            released += count;
        }
    }
    dropped + released > 0
}

/// Everything old goes before anything new comes.
fn recreate(step: &mut Step<'_>, view: &mut View<'_>, sets: &mut Sets) {
    history::sync(step, view, sets);
    let mut shrunk = false;
    for set in &mut sets.old {
        shrunk |= set.scale(step, view, 0);
    }
    if shrunk || old_pods_run(step, sets) {
        return;
    }
    history::sync_or_create(step, view, sets);
    let wanted = Limits::of(view.deployment).wanted;
    if let Some(new) = &mut sets.new {
        new.scale(step, view, wanted);
    }
    if progress::is_complete(view.deployment, view.status) {
        history::clean_up(step, view, sets);
    }
}

fn old_pods_run(step: &Step<'_>, sets: &Sets) -> bool {
    sets.old.iter().any(|set| {
        let uid = set.value.str_at(&["metadata", "uid"]);
        let pods = step.index.children(uid, crate::simulator::Kind::Pod);
        let mut pods = pods.filter_map(|key| step.index.pod(key));
        set.actual() > 0 || pods.any(|pod| !pod.is_done())
    })
}

#[cfg(test)]
mod tests {
    use model::value;

    use super::*;

    fn limits(replicas: i64, surge: Value, unavailable: Value) -> (i64, i64) {
        let limits = Limits::of(&value!({"spec": {
            "replicas": replicas,
            "strategy": {
                "type": "RollingUpdate",
                "rollingUpdate": {"maxSurge": surge, "maxUnavailable": unavailable},
            },
        }}));
        (limits.surge, limits.unavailable)
    }

    #[test]
    fn one_pod_may_be_missing_where_shares_come_out_as_nothing() {
        assert_eq!(limits(10, "25%".into(), "25%".into()), (3, 2));
        assert_eq!(limits(1, "25%".into(), "25%".into()), (1, 0));
        assert_eq!(limits(3, 0.into(), "10%".into()), (0, 1));
        assert_eq!(limits(2, 0.into(), 5.into()), (0, 2));
        assert_eq!(limits(0, 0.into(), 1.into()), (0, 0));
    }

    #[test]
    fn a_new_set_grows_as_far_as_the_surge_goes() {
        let limits = Limits {
            wanted: 10,
            surge: 3,
            unavailable: 2,
        };
        assert_eq!(room_for_new(&limits, true, 0, 10), 3);
        assert_eq!(room_for_new(&limits, true, 3, 13), 3);
        assert_eq!(room_for_new(&limits, true, 5, 11), 7);
        assert_eq!(room_for_new(&limits, true, 9, 9), 10);
        assert_eq!(room_for_new(&limits, false, 0, 10), 10);
    }
}
