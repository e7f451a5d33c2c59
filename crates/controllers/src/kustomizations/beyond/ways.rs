//! Ways to apply objects that Flux does not have: on in spite of errors, and with the hooks, waves and sync options of Argo CD.
//!
//! `sluice.dev/continue-on-error: enabled`: an object that the server refuses, or that cannot be deleted, holds up no others: all others are applied
//! and pruned, and the object is told to have failed with all that was refused. With Flux the first of them ends the run.
//!
//! `sluice.dev/hooks: enabled`: the annotations `argocd.argoproj.io/hook`, `hook-delete-policy`, `sync-wave` and `sync-options` of objects
//! count, and those of Helm's hooks, as the engine's README says. Objects are then applied in the order of Argo CD, wave by wave, each of which is waited for. Hooks run
//! with a new revision or a request, not when drift is put right; they are in no inventory, and what they fail with fails the run.

use engine::plan::{OnFailure, Order, Strategy};

use super::super::Settings;
use super::Asks;

/// How the objects of a Kustomization are looked after.
pub(in super::super) fn strategy(asks: &Asks, name: &str, namespace: &str, settings: &Settings) -> Strategy {
    let mut strategy = match asks.hooks {
        true => Strategy::flux_with_waves(name, namespace),
        false => Strategy {
            order: Order::Flux {
                custom: settings.custom_stage_kinds.clone(),
            },
            ..Strategy::flux(name, namespace)
        },
    };
    if asks.continue_on_error {
        strategy.on_failure = OnFailure::GoOn;
    }
    strategy
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_special_unless_it_is_asked_for() {
        let settings = Settings::default();
        let plain = strategy(&Asks::default(), "app", "team", &settings);
        assert_eq!(plain, Strategy::flux("app", "team"));
        let asks = Asks {
            continue_on_error: true,
            ..Asks::default()
        };
        assert_eq!(
            strategy(&asks, "app", "team", &settings).on_failure,
            OnFailure::GoOn
        );
        let asks = Asks {
            hooks: true,
            ..Asks::default()
        };
        assert!(strategy(&asks, "app", "team", &settings).hooks);
    }
}
