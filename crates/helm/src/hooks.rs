//! Which hooks run at an event, in which order, and when they are deleted.
//!
//! ```text
//!   each in its order:  delete if before-hook-creation ─▶ create ─▶ wait ─┬─▶ next …  ─▶ all deleted that say hook-succeeded, last first
//!                                                                         └─ failed: it if it says hook-failed, those before if hook-succeeded
//! ```

use crate::decision::Tests;
use crate::manifest::Event;
use crate::record::Hook;

/// Why a hook is deleted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "the names say it")]
pub enum DeletePolicy {
    BeforeHookCreation,
    HookSucceeded,
    HookFailed,
}

impl DeletePolicy {
    /// The name in annotations.
    pub fn as_str(self) -> &'static str {
        match self {
            DeletePolicy::BeforeHookCreation => "before-hook-creation",
            DeletePolicy::HookSucceeded => "hook-succeeded",
            DeletePolicy::HookFailed => "hook-failed",
        }
    }
}

/// The hooks of an event, by their places in the list, in the order in which they run: by weight and then by name; of one name by kind, which
/// is the order they are in.
pub fn order(hooks: &[Hook], event: Event) -> Vec<usize> {
    let mut places: Vec<usize> = (0..hooks.len()).filter(|at| hooks[*at].is_for(event)).collect();
    places.sort_by(|one, other| {
        let key = |at: usize| (hooks[at].weight, hooks[at].name.as_str());
        key(*one).cmp(&key(*other))
    });
    places
}

/// The tests that are run, by their places in the list, in their order.
pub fn order_of_tests(hooks: &[Hook], tests: &Tests) -> Vec<usize> {
    let mut places = order(hooks, Event::Test);
    places.retain(|at| tests.selects(&hooks[*at].name));
    places
}

/// The hooks after their tests were run: those that were not to be run stand first, as Helm writes them.
pub fn after_tests(hooks: Vec<Hook>, tests: &Tests) -> Vec<Hook> {
    if tests.filters.is_empty() {
        return hooks;
    }
    let (ran, mut skipped): (Vec<Hook>, Vec<Hook>) =
        hooks.into_iter().partition(|hook| tests.selects(&hook.name));
    skipped.extend(ran);
    skipped
}

/// Sets what Helm assumes of a hook that runs and does not say when it is deleted: before it is created anew.
pub fn set_default_policy(hook: &mut Hook) {
    if hook.delete_policies.is_empty() {
        let policy = DeletePolicy::BeforeHookCreation.as_str();
        hook.delete_policies.push(policy.to_owned());
    }
}

/// Whether a hook is deleted. Definitions of custom resources never are: everything made of them would go too.
pub fn is_deleted(hook: &Hook, policy: DeletePolicy) -> bool {
    if hook.kind == "CustomResourceDefinition" {
        return false;
    }
    if hook.delete_policies.is_empty() {
        return policy == DeletePolicy::BeforeHookCreation;
    }
    hook.delete_policies.iter().any(|known| known == policy.as_str())
}

/// The hooks that are deleted after all of an event went well, in this order: the last first.
pub fn deleted_after_success(hooks: &[Hook], order: &[usize]) -> Vec<usize> {
    let places = order.iter().rev().copied();
    places
        .filter(|at| is_deleted(&hooks[*at], DeletePolicy::HookSucceeded))
        .collect()
}

/// The hooks that are deleted after the one at a place of the order failed: first that one, if it wants to be, then those that went well.
pub fn deleted_after_failure(hooks: &[Hook], order: &[usize], failed: usize) -> Vec<usize> {
    let (before, rest) = order.split_at(failed.min(order.len()));
    let failed = rest.first().copied();
    let failed = failed.filter(|at| is_deleted(&hooks[*at], DeletePolicy::HookFailed));
    let before = before.iter().copied();
    let before = before.filter(|at| is_deleted(&hooks[*at], DeletePolicy::HookSucceeded));
    failed.into_iter().chain(before).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::decision::Filter;

    fn hook(name: &str, kind: &str, weight: i64, events: &[&str], policies: &[&str]) -> Hook {
        Hook {
            name: name.into(),
            kind: kind.into(),
            weight,
            events: events.iter().map(|event| (*event).to_owned()).collect(),
            delete_policies: policies.iter().map(|policy| (*policy).to_owned()).collect(),
            ..Hook::default()
        }
    }

    fn hooks() -> Vec<Hook> {
        vec![
            hook("b", "ServiceAccount", 0, &["pre-install"], &[]),
            hook(
                "c",
                "Job",
                -5,
                &["pre-install", "pre-upgrade"],
                &["hook-succeeded"],
            ),
            hook(
                "a",
                "Job",
                0,
                &["pre-install"],
                &["hook-succeeded", "hook-failed"],
            ),
            hook("b", "Job", 0, &["pre-install"], &["hook-failed"]),
            hook("t", "Pod", 1, &["test"], &[]),
            hook("u", "Pod", 0, &["test"], &[]),
            hook(
                "d",
                "CustomResourceDefinition",
                9,
                &["pre-install"],
                &["hook-succeeded"],
            ),
        ]
    }

    #[test]
    fn hooks_run_by_weight_then_name_then_kind() {
        assert_eq!(order(&hooks(), Event::PreInstall), [1, 2, 0, 3, 6]);
        assert_eq!(order(&hooks(), Event::PreUpgrade), [1]);
        assert!(order(&hooks(), Event::PostDelete).is_empty());
    }

    #[test]
    fn hooks_are_deleted_when_they_say_so_and_definitions_never() {
        let hooks = hooks();
        let order = order(&hooks, Event::PreInstall);
        assert_eq!(deleted_after_success(&hooks, &order), [2, 1]);
        assert_eq!(deleted_after_failure(&hooks, &order, 3), [3, 1, 2]);
        assert_eq!(deleted_after_failure(&hooks, &order, 1), [2, 1]);
        assert_eq!(deleted_after_failure(&hooks, &order, 0), [0; 0]);
        assert!(is_deleted(&hooks[0], DeletePolicy::BeforeHookCreation));
        assert!(!is_deleted(&hooks[1], DeletePolicy::BeforeHookCreation));
        let mut first = hooks[0].clone();
        set_default_policy(&mut first);
        assert_eq!(first.delete_policies, ["before-hook-creation"]);
    }

    #[test]
    fn tests_are_filtered_and_then_written_last() {
        let filter = |name: &str, exclude| Filter {
            name: name.to_owned(),
            exclude,
        };
        let with = |filters: Vec<Filter>| Tests {
            filters,
            ..Tests::default()
        };
        assert_eq!(order_of_tests(&hooks(), &with(vec![])), [5, 4]);
        assert_eq!(order_of_tests(&hooks(), &with(vec![filter("t", false)])), [4]);
        assert_eq!(order_of_tests(&hooks(), &with(vec![filter("t", true)])), [5]);
        let names = |tests: &Tests| -> Vec<String> {
            let hooks = after_tests(hooks(), tests);
            hooks.into_iter().map(|hook| hook.name).collect()
        };
        assert_eq!(names(&with(vec![])), ["b", "c", "a", "b", "t", "u", "d"]);
        assert_eq!(
            names(&with(vec![filter("t", false)])),
            ["b", "c", "a", "b", "u", "d", "t"]
        );
    }
}
