//! What Kustomizations can ask for beyond Flux, each by an annotation. One without any of them is looked after as Flux does it.
//!
//! | annotation | value | what it asks for |
//! |---|---|---|
//! | `sluice.dev/observe` | `enabled` | [nothing is changed](observe): what would be is told |
//! | `sluice.dev/prune-budget` | `5`, `20%`, `5,20%` | [no more is pruned at once](budget) unless somebody confirms it |
//! | `sluice.dev/prune-confirmed` | as the message says | confirms one such prune |
//! | `sluice.dev/prune-empty` | `deny`, `allow` | with `deny`, [a build without objects](empty) prunes nothing |
//! | `sluice.dev/continue-on-error` | `enabled` | [objects that are refused](ways) hold up no others |
//! | `sluice.dev/hooks` | `enabled` | [hooks, waves and sync options](ways) of Argo CD count |
//! | `sluice.dev/skip-unread` | `enabled` | [revisions that change no file that is read](unread) are recorded without a run |
//! | `sluice.dev/pin` | a revision | [that revision](pin) is applied, whatever the source has |
//! | `sluice.dev/rolled-back-from` | a revision | the pin counts while the source has this one |

mod budget;
mod empty;
mod observe;
mod pin;
mod pinned_source;
mod unread;
mod ways;

use std::collections::BTreeMap;

use api::kustomize::Kustomization;

pub use budget::Budget;
pub(super) use budget::{Held, judged};
pub(super) use empty::with_remedy;
pub(super) use observe::observed;
pub(super) use pin::{Pin, is_kept_at_its_pin, released};
pub(super) use pinned_source::{Pinned, is_for_a_pin, name as pinned_name};
pub(super) use unread::{is_settled, is_unrecorded, recorded};
pub(super) use ways::strategy;

pub use pin::{ROLLED_BACK_FROM, TO as PINNED_TO};

/// What begins the names of all of them.
pub(super) const PREFIX: &str = crate::kit::ASKS;

const OBSERVE: &str = "observe";
const PRUNE_BUDGET: &str = "prune-budget";
const PRUNE_CONFIRMED: &str = "prune-confirmed";
const PRUNE_EMPTY: &str = "prune-empty";
const CONTINUE_ON_ERROR: &str = "continue-on-error";
const HOOKS: &str = "hooks";
const SKIP_UNREAD: &str = "skip-unread";
const PIN: &str = "pin";
const FROM: &str = "rolled-back-from";

/// All names, without what begins them.
const NAMES: [&str; 9] = [
    OBSERVE,
    PRUNE_BUDGET,
    PRUNE_CONFIRMED,
    PRUNE_EMPTY,
    CONTINUE_ON_ERROR,
    HOOKS,
    SKIP_UNREAD,
    PIN,
    FROM,
];

/// What an object asks for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Asks {
    /// Nothing is changed in the cluster.
    pub(super) observe: bool,
    /// How much may be pruned at once.
    pub(super) budget: Option<Budget>,
    /// Which prune over the budget is meant.
    pub(super) confirmed: Option<String>,
    /// A build without objects prunes nothing.
    pub(super) deny_empty: bool,
    /// What is refused holds up nothing else.
    pub(super) continue_on_error: bool,
    /// Hooks and waves count.
    pub(super) hooks: bool,
    /// Revisions that change nothing that is read are recorded without a run.
    pub(super) skip_unread: bool,
    /// The revision that is applied instead of the newest.
    pub(super) pin: Option<Pin>,
}

/// An annotation asks for something that nobody knows: nothing is done before it is corrected, since what was meant may be to do less.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("annotation {PREFIX}{name}: {why}")]
pub(super) struct Unclear {
    name: String,
    why: String,
}

impl Asks {
    /// What an object asks for.
    pub(super) fn of(object: &Kustomization) -> Result<Asks, Unclear> {
        let none = BTreeMap::new();
        let annotations = object.metadata.annotations.as_ref().unwrap_or(&none);
        let mut asked = annotations.keys().filter_map(|key| key.strip_prefix(PREFIX));
        if let Some(unknown) = asked.find(|name| !NAMES.contains(name)) {
            return Err(Unclear {
                name: unknown.to_owned(),
                why: format!("there is none of this name: the names are {}", NAMES.join(", ")),
            });
        }
        let value = |name: &str| {
            let value = annotations.get(&format!("{PREFIX}{name}"));
            value.map(|value| value.trim())
        };
        // A guard without a value would be none.
        if let Some(empty) = NAMES.iter().find(|name| value(name) == Some("")) {
            return Err(Unclear {
                name: (*empty).to_owned(),
                why: "it has no value: give it one, or remove the annotation".to_owned(),
            });
        }
        let is_on = |name: &str| switch(name, value(name));
        let budget = value(PRUNE_BUDGET).map(Budget::parse).transpose();
        Ok(Asks {
            observe: is_on(OBSERVE)?,
            budget: budget.map_err(|why| Unclear {
                name: PRUNE_BUDGET.to_owned(),
                why,
            })?,
            confirmed: value(PRUNE_CONFIRMED).map(str::to_owned),
            deny_empty: empty::denied(value(PRUNE_EMPTY))?,
            continue_on_error: is_on(CONTINUE_ON_ERROR)?,
            hooks: is_on(HOOKS)?,
            skip_unread: is_on(SKIP_UNREAD)?,
            pin: Pin::parse(value(PIN), value(FROM))?,
        })
    }

    /// The same, with a budget for an object that has none of its own.
    pub(super) fn or_budget(self, default: Option<Budget>) -> Asks {
        Asks {
            budget: self.budget.or(default),
            ..self
        }
    }

    /// What an object asks for. Where that is unclear nothing is changed: whoever builds it tells of it.
    pub(super) fn or_careful(object: &Kustomization) -> Asks {
        Asks::of(object).unwrap_or_else(|_| Asks {
            observe: true,
            ..Asks::default()
        })
    }
}

fn switch(name: &str, value: Option<&str>) -> Result<bool, Unclear> {
    match value.map(str::to_ascii_lowercase).as_deref() {
        Some("enabled" | "true") => Ok(true),
        None | Some("disabled" | "false") => Ok(false),
        Some(_) => Err(Unclear {
            name: name.to_owned(),
            why: "it is neither \"enabled\" nor \"disabled\"".to_owned(),
        }),
    }
}

#[cfg(test)]
pub(super) mod tests {
    use serde_json::json;

    use super::*;

    /// An object with annotations.
    pub(in crate::kustomizations) fn annotated(annotations: &[(&str, &str)]) -> Kustomization {
        let annotations: BTreeMap<String, &str> = annotations
            .iter()
            .map(|(name, value)| (format!("{PREFIX}{name}"), *value))
            .collect();
        serde_json::from_value(json!({
            "apiVersion": "kustomize.toolkit.fluxcd.io/v1", "kind": "Kustomization",
            "metadata": {"name": "app", "namespace": "team", "uid": "1", "annotations": annotations},
            "spec": {"interval": "1h", "prune": true, "sourceRef": {"kind": "GitRepository", "name": "app"}},
        }))
        .unwrap()
    }

    #[test]
    fn an_object_without_annotations_asks_for_nothing() {
        assert_eq!(Asks::of(&annotated(&[])), Ok(Asks::default()));
        let off = [
            ("observe", "disabled"),
            ("hooks", "false"),
            ("prune-empty", "allow"),
        ];
        assert_eq!(Asks::of(&annotated(&off)), Ok(Asks::default()));
    }

    #[test]
    fn each_annotation_asks_for_its_own() {
        let all = [
            ("observe", "Enabled"),
            ("continue-on-error", "true"),
            ("hooks", "enabled"),
            ("skip-unread", "enabled"),
            ("prune-confirmed", " 0f3a "),
            ("prune-empty", "Deny"),
        ];
        let asks = Asks::of(&annotated(&all)).unwrap();
        assert!(asks.deny_empty);
        assert!(asks.observe && asks.continue_on_error && asks.hooks && asks.skip_unread);
        assert_eq!(asks.confirmed.as_deref(), Some("0f3a"));
    }

    #[test]
    fn what_nobody_knows_is_told_and_nothing_is_changed_meanwhile() {
        for (name, value, why) in [
            ("obsrve", "enabled", "there is none of this name"),
            ("observe", "maybe", "neither \"enabled\" nor \"disabled\""),
            (
                "prune-budget",
                "some",
                "\"some\" is neither a number nor a share such as 20%",
            ),
            ("prune-empty", "maybe", "neither \"deny\" nor \"allow\""),
            ("prune-empty", "", "it has no value"),
            ("prune-budget", " ", "it has no value"),
            ("observe", "", "it has no value"),
            ("rolled-back-from", "main@sha1:1", "there is no pin"),
        ] {
            let object = annotated(&[(name, value)]);
            let told = Asks::of(&object).unwrap_err().to_string();
            assert!(
                told.starts_with(&format!("annotation sluice.dev/{name}: ")),
                "{told}"
            );
            assert!(told.contains(why), "{told}");
            assert!(Asks::or_careful(&object).observe);
        }
    }
}
