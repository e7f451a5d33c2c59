//! How one plan differs from another.

use std::collections::BTreeMap;
use std::fmt;

use model::{Digest, ObjectKey};
use serde::Serialize;

use super::steps::{Action, Phase, Plan, Step};

/// How one plan differs from another, object by object.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Difference {
    /// In order of the objects' keys.
    pub changes: Vec<Change>,
}

/// What one plan does with an object and another does not.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Change {
    /// Which object.
    pub key: ObjectKey,
    /// What the first plan does: the stage and the action. Nothing if the object is not in it.
    pub before: Option<(String, Action)>,
    /// What the second plan does.
    pub after: Option<(String, Action)>,
    /// Whether the object that would be written is another one.
    pub object: bool,
}

impl Plan {
    /// What `later` does otherwise than this plan. Two plans that do the same differ in nothing, even if they have different
    /// reasons or revisions.
    pub fn difference(&self, later: &Plan) -> Difference {
        let mut places: BTreeMap<Place<'_>, [Option<(&str, &Step)>; 2]> = BTreeMap::new();
        for (at, plan) in [self, later].into_iter().enumerate() {
            for stage in &plan.stages {
                for step in &stage.steps {
                    let place = Place::of(step);
                    places.entry(place).or_default()[at] = Some((&stage.name, step));
                }
            }
        }
        let changes = places
            .into_iter()
            .filter_map(|(place, [before, after])| change(place, before, after));
        Difference {
            changes: changes.collect(),
        }
    }
}

impl Difference {
    /// Whether both plans do the same.
    pub fn is_empty(&self) -> bool {
        self.changes.is_empty()
    }
}

/// A hook may be in a plan several times: once deleted and once created in each of its phases.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Place<'a>(&'a ObjectKey, Option<Phase>, bool);

impl<'a> Place<'a> {
    fn of(step: &'a Step) -> Self {
        let phase = step.hook.as_ref().map(|hook| hook.phase);
        Place(&step.key, phase, matches!(step.action, Action::DeleteHook { .. }))
    }
}

fn change(place: Place<'_>, before: Option<(&str, &Step)>, after: Option<(&str, &Step)>) -> Option<Change> {
    let digest = |step: Option<(&str, &Step)>| -> Option<Digest> { Some(step?.1.object?.digest) };
    let object = digest(before) != digest(after);
    let doing =
        |step: Option<(&str, &Step)>| step.map(|(stage, step)| (stage.to_owned(), step.action.clone()));
    let (before, after) = (doing(before), doing(after));
    let same_kind = match (&before, &after) {
        // That the version of a live object has moved on makes no other plan.
        (Some((stage, action)), Some((other_stage, other))) => {
            stage == other_stage && std::mem::discriminant(action) == std::mem::discriminant(other)
        }
        _ => false,
    };
    (object || !same_kind).then(|| Change {
        key: place.0.clone(),
        before,
        after,
        object,
    })
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let doing = |step: &Option<(String, Action)>| match step {
            Some((stage, action)) => format!("{} ({stage})", action.sign()),
            None => "nothing".to_owned(),
        };
        for Change {
            key,
            before,
            after,
            object,
        } in &self.changes
        {
            let other = if *object { ", with another object" } else { "" };
            writeln!(f, "{key}: {} → {}{other}", doing(before), doing(after))?;
        }
        Ok(())
    }
}
