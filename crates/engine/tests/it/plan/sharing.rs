//! What other units have to do with objects.

use engine::plan::{Action, Shared};

use super::*;

fn shared_with(input: &mut Input, text: &str, has: bool, holds: bool) {
    let shared = Shared {
        unit: "other".to_owned(),
        has,
        holds,
    };
    input.shared.insert(ObjectKey::of(&object(text)), shared);
}

#[test]
fn what_another_unit_wants_is_not_pruned_whatever_the_ownership() {
    let old = "v1 ConfigMap shop/old";
    let strategies = [
        flux(),
        waves(),
        Strategy::helm(),
        Strategy::flux_v1("set"),
        Strategy::argo("apps"),
    ];
    for strategy in strategies {
        let mut marked = object(old);
        strategy.ownership.mark(&mut marked);
        let mut input = input(vec![missing("v1 ConfigMap shop/new")]);
        was_applied(&mut input, [marked]);
        assert_eq!(planned(&input, &strategy).counts().prune, 1);
        shared_with(&mut input, old, true, true);
        let plan = planned(&input, &strategy);
        assert_eq!(plan.counts().prune, 0, "{plan}");
        assert_eq!(plan.inventory.entries.len(), 1, "the other has it");
        shared_with(&mut input, old, false, false);
        let plan = planned(&input, &strategy);
        assert_eq!(plan.counts().prune, 0, "{plan}");
        assert_eq!(plan.inventory.entries.len(), 2, "the other does not have it yet");
    }
}

#[test]
fn an_object_that_another_unit_holds_is_left_to_it_unless_there_is_something_new() {
    let text = "v1 ConfigMap shop/a";
    let mut input = input(vec![drifted(object(text))]);
    shared_with(&mut input, text, true, true);
    let plan = planned(&input, &flux());
    assert_eq!(step(&plan, "ConfigMap/shop/a").action, Action::Patch);
    input.yields = true;
    let plan = planned(&input, &flux());
    let to = "other".to_owned();
    assert_eq!(step(&plan, "ConfigMap/shop/a").action, Action::Yield { to });
    assert!(plan.yields_anything() && !plan.changes_anything());
    assert!(plan.inventory.entries.is_empty(), "it is in that of the other");
    shared_with(&mut input, text, true, false);
    let plan = planned(&input, &flux());
    assert_eq!(step(&plan, "ConfigMap/shop/a").action, Action::Patch);
}
