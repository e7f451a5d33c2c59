//! `sluice.dev/prune-budget`: how much may be pruned at once. A prune of more waits until somebody confirms it, and is told meanwhile; all
//! else of the revision is applied.
//!
//! The budget is a number of objects, a share of those that the Kustomization has (rounded up), or both, of which the smaller counts.
//! `sluice.dev/prune-confirmed` confirms one prune, by the name that the condition has for it: the name is made of the revision and of
//! what would be deleted, so that nothing else is confirmed with it. A Kustomization that is deleted itself has no budget.
//!
//! `--default-prune-budget` is the budget of all Kustomizations without the annotation; `100%` takes one of them out of it.

use engine::plan::{Action, Note, Plan, Step};
use engine::unit::SyncUnit;
use model::ObjectKey;
use sha2::{Digest as _, Sha256};

use super::{Asks, PREFIX, PRUNE_CONFIRMED};

/// How many objects are named of those that would be pruned.
const NAMED: usize = 10;
/// How long the name of a prune is, in bytes.
const NAME: usize = 6;

/// How much may be pruned at once.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Budget {
    count: Option<usize>,
    percent: Option<usize>,
}

impl Budget {
    /// Reads `5`, `20%` or `5,20%`.
    ///
    /// # Errors
    /// What is wrong with the text.
    pub fn parse(text: &str) -> Result<Budget, String> {
        let mut budget = Budget::default();
        for part in text.split(',').map(str::trim) {
            let unclear = || format!("{part:?} is neither a number nor a share such as 20%");
            match part.strip_suffix('%') {
                Some(share) => {
                    let share = share.trim().parse().ok().filter(|share| *share <= 100);
                    budget.percent = Some(share.ok_or_else(unclear)?);
                }
                None => budget.count = Some(part.parse().map_err(|_| unclear())?),
            }
        }
        Ok(budget)
    }

    /// How many of so many objects may be pruned.
    fn allows(self, total: usize) -> usize {
        let share = self.percent.map(|percent| (total * percent).div_ceil(100));
        [self.count, share].into_iter().flatten().min().unwrap_or(total)
    }
}

/// A prune that waits to be confirmed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in super::super) struct Held {
    objects: Vec<ObjectKey>,
    total: usize,
    allowed: usize,
    /// What it is confirmed by.
    name: String,
}

impl std::fmt::Display for Held {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let named: Vec<String> = self.objects.iter().take(NAMED).map(ToString::to_string).collect();
        write!(
            f,
            "{} of {} objects would be pruned, but the budget allows {}: {}",
            self.objects.len(),
            self.total,
            self.allowed,
            named.join(", ")
        )?;
        match self.objects.len().saturating_sub(NAMED) {
            0 => {}
            more => write!(f, " and {more} more")?,
        }
        write!(
            f,
            "; if this is meant, confirm it with the annotation {PREFIX}{PRUNE_CONFIRMED}: \"{}\"",
            self.name
        )
    }
}

/// The plan without what waits to be confirmed, and that.
pub(in super::super) fn judged(asks: &Asks, unit: &SyncUnit, mut plan: Plan) -> (Plan, Option<Held>) {
    let Some(budget) = asks.budget.filter(|_| !unit.is_deleting()) else {
        return (plan, None);
    };
    let prunes = |step: &Step| matches!(step.action, Action::Prune { .. });
    let mut objects: Vec<ObjectKey> = plan
        .steps()
        .filter(|step| prunes(step))
        .map(|step| step.key.clone())
        .collect();
    let total = unit.status.inventory.entries.len();
    let allowed = budget.allows(total);
    if objects.len() <= allowed {
        return (plan, None);
    }
    objects.sort();
    let name = name(&plan.revision, &objects);
    if asks.confirmed.as_deref() == Some(&name) {
        return (plan, None);
    }
    for stage in &mut plan.stages {
        stage.steps.retain(|step| !prunes(step));
    }
    let held = Held {
        objects,
        total,
        allowed,
        name,
    };
    // Whoever is shown the plan would take it for all that the revision asks for.
    plan.notes.push(Note {
        key: None,
        text: held.to_string(),
    });
    (plan, Some(held))
}

/// What a prune is called: another revision, or other objects, have another name.
fn name(revision: &str, objects: &[ObjectKey]) -> String {
    let mut digest = Sha256::new().chain_update(revision);
    for object in objects {
        digest.update(format!("\n{object:?}"));
    }
    let digest = digest.finalize();
    digest[..NAME].iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use engine::plan::{Propagation, Purpose, Stage, Target};
    use model::inventory::{Entry, Id};

    use super::*;

    fn key(name: &str) -> ObjectKey {
        ObjectKey {
            group: "".into(),
            kind: "ConfigMap".into(),
            namespace: "team".into(),
            name: name.into(),
        }
    }

    fn step(name: &str, action: Action) -> Step {
        Step {
            key: key(name),
            api_version: "v1".to_owned(),
            action,
            reason: String::new(),
            batch: 0,
            object: None,
            apply: Default::default(),
            fields: Vec::new(),
            hook: None,
        }
    }

    /// A unit of four objects, and a plan that changes one and prunes the named.
    fn planned(pruned: &[&str]) -> (SyncUnit, Plan) {
        let mut unit = SyncUnit::new("team/app");
        let entries = ["a", "b", "c", "d"].map(|name| Entry {
            id: Id(key(name)),
            version: "v1".to_owned(),
        });
        unit.status.inventory.entries = entries.to_vec();
        let mut apply = Stage::new("apply", Purpose::Apply);
        apply.steps.push(step("a", Action::Patch));
        let mut prune = Stage::new("prune", Purpose::Prune);
        let gone = |name: &&str| {
            let (propagation, target) = (Propagation::Background, Target::default());
            step(name, Action::Prune { propagation, target })
        };
        prune.steps.extend(pruned.iter().map(gone));
        let plan = Plan {
            revision: "main@sha1:1".to_owned(),
            stages: vec![apply, prune],
            ..Plan::default()
        };
        (unit, plan)
    }

    fn asks(budget: &str, confirmed: Option<&str>) -> Asks {
        Asks {
            budget: Some(Budget::parse(budget).unwrap()),
            confirmed: confirmed.map(str::to_owned),
            ..Asks::default()
        }
    }

    #[test]
    fn a_budget_is_a_number_a_share_or_the_smaller_of_both() {
        let allows = |text: &str, total| Budget::parse(text).map(|budget| budget.allows(total));
        assert_eq!(allows("3", 100), Ok(3));
        assert_eq!(allows("20%", 100), Ok(20));
        assert_eq!(allows("20%", 4), Ok(1), "rounded up");
        assert_eq!(allows("5, 20%", 100), Ok(5));
        assert_eq!(allows("50,20%", 100), Ok(20));
        assert_eq!(allows("0", 100), Ok(0));
        for wrong in ["", "x", "-1", "120%", "5,", "%"] {
            assert!(allows(wrong, 1).is_err(), "{wrong}");
        }
    }

    #[test]
    fn what_is_within_the_budget_is_pruned() {
        let (unit, plan) = planned(&["b"]);
        assert_eq!(judged(&asks("1", None), &unit, plan.clone()), (plan, None));
    }

    #[test]
    fn a_prune_over_the_budget_waits_alone_until_its_name_is_confirmed() {
        let (unit, plan) = planned(&["c", "b"]);
        let (left, held) = judged(&asks("1", None), &unit, plan.clone());
        assert!(left.steps().all(|step| step.action == Action::Patch), "{left:?}");
        let held = held.unwrap();
        let told = held.to_string();
        let noted: Vec<&str> = left.notes.iter().map(|note| note.text.as_str()).collect();
        assert_eq!(noted, [told.as_str()], "whoever is shown the plan is told");
        assert!(
            told.starts_with("2 of 4 objects would be pruned, but the budget allows 1: ConfigMap/team/b, ConfigMap/team/c; "),
            "{told}"
        );
        assert!(
            told.ends_with(&format!("sluice.dev/prune-confirmed: \"{}\"", held.name)),
            "{told}"
        );
        let confirmed = asks("1", Some(&held.name));
        assert_eq!(judged(&confirmed, &unit, plan.clone()).1, None);
        // Neither another revision nor other objects are confirmed with it.
        let (_, more) = planned(&["b", "c", "d"]);
        assert!(judged(&confirmed, &unit, more).1.is_some());
        let newer = Plan {
            revision: "main@sha1:2".to_owned(),
            ..plan
        };
        assert!(judged(&confirmed, &unit, newer).1.is_some());
    }
}
