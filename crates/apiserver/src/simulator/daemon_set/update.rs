//! Which pods of a DaemonSet come and go: one on each node that suits, and new ones in place of outdated ones.

use jiff::Timestamp;

use super::{Plan, View};
use crate::simulator::amount::{self, Round};
use crate::simulator::facts::{Phase, PodFacts};
use crate::simulator::placement::Fit;

/// How far an exchange may go at once.
struct Limits {
    surge: i64,
    unavailable: i64,
}

/// The pods on one node that stay: at most one of each revision.
struct OnNode<'a> {
    new: Option<&'a PodFacts>,
    old: Option<&'a PodFacts>,
}

impl<'a> View<'a> {
    /// A pod on each node that suits, none elsewhere, and no two of a kind.
    pub(super) fn plan_presence(&self) -> Plan<'a> {
        let mut plan = Plan::default();
        let surges = self.limits(1).surge > 0;
        for (node, fit) in &self.nodes {
            let pods = self.pods.get(node).map(Vec::as_slice).unwrap_or_default();
            let staying = || pods.iter().copied().filter(|pod| !pod.deleting());
            match fit {
                Fit::Unwanted | Fit::Repelled => plan.delete.extend(staying()),
                Fit::Fits if pods.is_empty() => plan.create.push(node.clone()),
                Fit::Fits | Fit::Closed => {
                    let (ended, running): (Vec<_>, Vec<_>) =
                        staying().partition(|pod| matches!(pod.phase, Phase::Failed | Phase::Succeeded));
                    plan.delete.extend(ended);
                    if surges && running.is_empty() && *fit == Fit::Fits && staying().next().is_none() {
                        plan.create.push(node.clone());
                    }
                    plan.delete.extend(self.surplus(&running, surges));
                }
            }
        }
        for (node, pods) in &self.pods {
            if !self.nodes.contains_key(node) {
                let unplaced = pods.iter().filter(|pod| pod.node.is_empty() && !pod.deleting());
                plan.delete.extend(unplaced);
            }
        }
        plan
    }

    /// All but the oldest; where two may be on a node, all but the oldest of each revision.
    fn surplus(&self, running: &[&'a PodFacts], surges: bool) -> Vec<&'a PodFacts> {
        if !surges {
            return running.iter().skip(1).copied().collect();
        }
        let (new, old): (Vec<&PodFacts>, Vec<&PodFacts>) =
            running.iter().partition(|pod| self.is_updated(pod));
        let mut surplus: Vec<&PodFacts> = new.iter().skip(1).chain(old.iter().skip(1)).copied().collect();
        if let (Some(_), Some(old)) = (new.first(), old.first())
            && !old.is_ready()
        {
            surplus.push(old);
        }
        surplus
    }

    /// Exchanges outdated pods, as many at once as the strategy allows.
    pub(super) fn plan_update(&self, now: Timestamp) -> Plan<'a> {
        let suitable = self.nodes.values().filter(|fit| **fit == Fit::Fits).count() as i64;
        let limits = self.limits(suitable);
        match limits.surge {
            0 => self.replace(limits.unavailable, now),
            surge => self.surge(surge, now),
        }
    }

    fn limits(&self, suitable: i64) -> Limits {
        let share = |field: &str| {
            let amount = self.set.at(&["spec", "updateStrategy", "rollingUpdate", field]);
            amount
                .and_then(|amount| amount::of(amount, suitable, Round::Up))
                .unwrap_or(0)
        };
        let surge = if self.is_rolling() { share("maxSurge") } else { 0 };
        let unavailable = share("maxUnavailable");
        Limits {
            surge,
            unavailable: if surge == 0 {
                unavailable.max(1)
            } else {
                unavailable
            },
        }
    }

    fn on_node(&self, pods: &[&'a PodFacts]) -> OnNode<'a> {
        let mut staying = pods.iter().copied().filter(|pod| !pod.deleting());
        let new = staying.clone().find(|pod| self.is_updated(pod));
        let old = staying.find(|pod| !self.is_updated(pod));
        OnNode { new, old }
    }

    /// The pods of each node that counts.
    fn by_node(&self) -> impl Iterator<Item = (&model::Str, OnNode<'a>)> {
        let suits =
            |node: &&model::Str| self.nodes.get(*node) == Some(&Fit::Fits) || self.pods.contains_key(*node);
        let nodes = self.nodes.keys().filter(suits);
        nodes.map(|node| {
            let pods = self.pods.get(node).map(Vec::as_slice).unwrap_or_default();
            (node, self.on_node(pods))
        })
    }

    /// Deletes outdated pods; those that are not available anyway do not count.
    fn replace(&self, most_unavailable: i64, now: Timestamp) -> Plan<'a> {
        let mut unavailable = 0;
        let mut plan = Plan::default();
        let mut candidates = Vec::new();
        for (_, on_node) in self.by_node() {
            match (on_node.new, on_node.old) {
                (None, Some(old)) if old.is_available(self.min_ready, now) => candidates.push(old),
                (None, Some(old)) => {
                    plan.delete.push(old);
                    unavailable += 1;
                }
                (Some(new), None) => unavailable += i64::from(!new.is_available(self.min_ready, now)),
                _ => unavailable += 1,
            }
        }
        let room = usize::try_from(most_unavailable - unavailable).unwrap_or(0);
        plan.delete.extend(candidates.into_iter().take(room));
        plan
    }

    /// Makes new pods beside outdated ones, which go when the new ones are available.
    fn surge(&self, most: i64, now: Timestamp) -> Plan<'a> {
        let mut surging = 0;
        let mut plan = Plan::default();
        let mut candidates = Vec::new();
        for (node, on_node) in self.by_node() {
            match (on_node.new, on_node.old) {
                (None, Some(old)) if old.is_available(self.min_ready, now) => candidates.push(node.clone()),
                (None, Some(_)) => plan.create.push(node.clone()),
                (Some(new), Some(old)) if new.is_available(self.min_ready, now) => plan.delete.push(old),
                (Some(_), Some(_)) => surging += 1,
                (_, None) => {}
            }
        }
        let room = usize::try_from(most - surging).unwrap_or(0);
        plan.create.extend(candidates.into_iter().take(room));
        plan
    }
}
