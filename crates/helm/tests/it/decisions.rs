//! The decision what to do next, beside the one that Flux takes in the same case, and over the whole space of cases.
//!
//! A case is one number for each thing that matters. `tests/data/flux/golden_test.go` builds the same cases from the same numbers.

mod world;

use std::fs;

use helm::decision::{
    Action, ActionKind, Counters, Drift, DriftMode, Next, Outcome, ReleaseAction, Remediation, Remedy, Run,
    SnapshotAction, Stall, State,
};
use helm::record::Status;
use model::Map;
use model::digest::Algorithm;
use world::{CHOICES, Case, Remembered, World, build, record};

/// The answer in the form of the recorded ones.
fn answer(world: &World) -> String {
    let (state, decision) = world.decide().unwrap();
    let (next, problem) = match decision.next {
        Next::Do(Action::UninstallRemediation) => ("uninstall-remediation", String::new()),
        Next::Do(action) => (action.name(), String::new()),
        Next::Nothing => ("none", String::new()),
        Next::Compare => ("compare", String::new()),
        Next::Stall(stall) => ("error", stall.to_string()),
    };
    let versions: Vec<String> = decision
        .history
        .snapshots()
        .iter()
        .map(|snapshot| snapshot.version.to_string())
        .collect();
    format!(
        "{}|{}|{next}|{problem}|{}",
        state.name(),
        state.reason(),
        versions.join(",")
    )
}

#[test]
fn decisions_are_those_of_flux() {
    let path = format!("{}/tests/data/flux/decisions.txt", env!("CARGO_MANIFEST_DIR"));
    let lines = fs::read_to_string(path).unwrap();
    let mut count = 0;
    let mut healed = 0;
    for line in lines.lines() {
        let (digits, wanted) = line.split_once('|').unwrap();
        let case: Vec<usize> = digits.bytes().map(|digit| usize::from(digit - b'0')).collect();
        let world = build(&case.try_into().unwrap());
        let found = answer(&world);
        count += 1;
        if wanted.starts_with("Unknown|") {
            // Where Flux can do nothing, the release is unlocked.
            assert!(
                found.starts_with("Locked|release with status '"),
                "{line}: {found}"
            );
            healed += 1;
            continue;
        }
        assert_eq!(found, wanted, "{digits}");
    }
    assert_eq!(count, 4000);
    assert!(healed > 50);
}

/// All cases but for those parts that are given.
fn each_case(fixed: &[(usize, usize)], mut check: impl FnMut(&Case)) {
    let mut case: Case = [0; 14];
    for (part, choice) in fixed {
        case[*part] = *choice;
    }
    loop {
        check(&case);
        let mut part = 0;
        loop {
            if part == case.len() {
                return;
            }
            if !fixed.iter().any(|(fixed, _)| *fixed == part) {
                case[part] += 1;
                if case[part] < CHOICES[part] {
                    break;
                }
                case[part] = 0;
            }
            part += 1;
        }
    }
}

/// What holds in every case.
fn check_invariants(case: &Case) {
    let world = build(case);
    let releases = Remembered(&world.stored);
    let (state, decision) = World::decide_on(&world.observed_in(&releases)).unwrap();
    let upgrade_fails_too_often = {
        let retries = world.policy.upgrade.remediation.retries;
        retries >= 0 && world.counters.upgrade > retries
    };
    match (&state, decision.next) {
        (_, Next::Compare) => panic!("{case:?}: nothing is to be compared"),
        (State::Absent(_), next) => {
            assert!(matches!(
                next,
                Next::Do(Action::Install) | Next::Stall(Stall::RetriesExceeded(_))
            ));
        }
        (State::Locked(_), next) => assert_eq!(next, Next::Do(Action::Unlock), "{case:?}"),
        (State::Unmanaged(_), next) => {
            assert_eq!(next, Next::Do(Action::Upgrade), "{case:?}");
            assert!(decision.history.snapshots().is_empty());
        }
        (State::OutOfSync(_), Next::Stall(_)) => assert!(upgrade_fails_too_often && !world.force, "{case:?}"),
        (State::OutOfSync(_), next) => assert_eq!(next, Next::Do(Action::Upgrade), "{case:?}"),
        (State::Untested, next) => assert_eq!(next, Next::Do(Action::Test), "{case:?}"),
        (State::InSync, Next::Do(action)) => assert!(world.force && action == Action::Upgrade, "{case:?}"),
        (State::InSync, next) => assert_eq!(next, Next::Nothing),
        (State::Failed(_), Next::Nothing | Next::Do(Action::Install | Action::Test)) => {
            panic!("{case:?}: a failure is tried again, undone, or stalls")
        }
        (State::Failed(_), Next::Do(Action::Rollback { to })) => {
            assert!(world.stored.iter().any(|record| record.version == to), "{case:?}");
            assert!(to < 2);
        }
        (State::Failed(_), _) => {}
        (State::Drifted | State::NotCompared, _) => panic!("{case:?}: drift is off"),
    }
    if world.force {
        assert!(
            !matches!(decision.next, Next::Stall(Stall::RetriesExceeded(_))),
            "{case:?}"
        );
    }
    if let Next::Stall(Stall::RetriesExceeded(_)) = decision.next {
        assert!(
            world.counters.upgrade > 0,
            "{case:?}: the first attempt is always made"
        );
        assert_ne!(world.policy.upgrade.remediation.retries, -1, "{case:?}");
    }
    // What is forgotten is a tail of what was known.
    let known = world.history.snapshots();
    let kept = decision.history.snapshots();
    assert!(known.starts_with(kept) && kept.len() <= 5);
}

#[test]
fn every_case_has_one_action_and_none_is_stuck() {
    // The parts that depend on one another are all there; what cannot matter together is taken apart.
    each_case(&[(2, 0), (3, 0), (4, 0)], |case| {
        // Storage without our release decides alone, whatever the tests and the release before.
        let is_alone = case[0] != 1 && case[0] != 2 || case[1] == 0 || case[1] == 2 || case[1] == 4;
        if !is_alone || case[11] == 0 && case[13] == 0 {
            check_invariants(case);
        }
    });
    each_case(
        &[(0, 1), (1, 1), (8, 0), (11, 2), (13, 1), (9, 0)],
        check_invariants,
    );
}

/// Does what was decided, and tells whether it was fine: `works` for installs and upgrades.
fn perform(world: &mut World, action: Action, works: bool) {
    let next = world
        .stored
        .iter()
        .map(|record| record.version)
        .max()
        .unwrap_or(0)
        + 1;
    let finished = if works { "deployed" } else { "failed" };
    let made = |status: &str, manifest: &str, chart_version: &str, values: &Map| {
        let mut made = record(next, status, manifest);
        if let Some(metadata) = made.chart.as_mut().and_then(|chart| chart.metadata.as_mut()) {
            metadata.version = chart_version.to_owned();
        }
        made.config = Some(values.clone());
        made
    };
    let algorithm = Algorithm::Sha256;
    match action {
        Action::Install | Action::Upgrade => {
            let (kind, last) = match action {
                Action::Install => (SnapshotAction::Install, ReleaseAction::Install),
                _ => (SnapshotAction::Upgrade, ReleaseAction::Upgrade),
            };
            if action == Action::Install {
                world.history.clear();
                world.stored.clear();
            }
            world.last_action = Some(last);
            world.force = false;
            let mut written = vec![made(finished, "new", world.chart_version, &world.values)];
            if works {
                for old in &mut world.stored {
                    if old.info.status == Status::Deployed {
                        old.info.status = Status::Superseded;
                        written.push(old.clone());
                    }
                }
            } else {
                let counter = match last {
                    ReleaseAction::Install => &mut world.counters.install,
                    ReleaseAction::Upgrade => &mut world.counters.upgrade,
                };
                *counter += 1;
            }
            world.stored.push(written[0].clone());
            world.history.record_release(&written, kind, "", algorithm);
            world.is_new_generation = false;
        }
        Action::Test => {
            let tests = world.policy.tests.clone();
            let last = world.stored.iter().max_by_key(|record| record.version).unwrap();
            world.history.record_test(&last.clone(), &tests, algorithm);
        }
        Action::Rollback { to } => {
            let target = world
                .stored
                .iter()
                .find(|record| record.version == to)
                .unwrap()
                .clone();
            let mut back = target;
            back.version = next;
            back.info.status = Status::Deployed;
            world.stored.push(back.clone());
            world.history.record_rollback(&back, algorithm);
        }
        Action::UninstallRemediation => {
            let last = world
                .stored
                .iter_mut()
                .max_by_key(|record| record.version)
                .unwrap();
            last.info.status = Status::Uninstalled;
            let last = last.clone();
            let kind = SnapshotAction::UninstallRemediation;
            world.history.record_uninstall(&last, kind, algorithm);
        }
        Action::Unlock => {
            let last = world
                .stored
                .iter_mut()
                .max_by_key(|record| record.version)
                .unwrap();
            assert!(last.unlock().is_some());
            let last = last.clone();
            world.history.record_unlock(&last, algorithm);
        }
        Action::CorrectDrift => world.drift = Drift::None,
    }
}

/// One run of a controller, step by step.
fn run(world: &mut World, works: bool) -> Outcome {
    let mut run = Run::default();
    for _ in 0..10 {
        let (_, decision) = world.decide().unwrap();
        world.history = decision.history;
        let action = match decision.next {
            Next::Do(action) => action,
            Next::Nothing => return Outcome::Done,
            Next::Stall(stall) => return Outcome::Stall(stall),
            Next::Compare => panic!("drift is off"),
        };
        if let Some(outcome) = run.before(action, &world.observed()) {
            return outcome;
        }
        perform(world, action, works);
        if let Some(outcome) = run.after(action, &world.observed()) {
            return outcome;
        }
    }
    panic!("a run does not end");
}

#[test]
fn once_actions_work_every_case_ends_in_sync() {
    let mut count = 0;
    each_case(&[(2, 0), (4, 0), (10, 0), (13, 1)], |case| {
        // Each case takes several steps with true digests, so that only some are gone through.
        count += 1;
        if count % 67 != 0 {
            return;
        }
        let mut world = build(case);
        // What changed forgets failures, as it does for every new input.
        world.counters = Counters::default();
        for _ in 0..6 {
            if run(&mut world, true) == Outcome::Done {
                break;
            }
        }
        let (state, decision) = world.decide().unwrap();
        assert_eq!((state, decision.next), (State::InSync, Next::Nothing), "{case:?}");
    });
}

#[test]
fn while_actions_fail_retries_end_and_a_change_goes_on() {
    for retries in [0, 1, 3] {
        for remedy in [Remedy::Rollback, Remedy::Uninstall] {
            for last in [None, Some(true), Some(false)] {
                let mut world = build(&[1, 1, 1, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 1]);
                world.policy.upgrade.remediation = Remediation {
                    retries,
                    remediate_last_failure: last,
                    remedy,
                    ..Remediation::default()
                };
                world.policy.install.remediation.retries = retries;
                let mut runs = 0;
                loop {
                    let outcome = run(&mut world, false);
                    runs += 1;
                    assert!(runs < 40, "{retries} {remedy:?} {last:?}: {outcome:?}");
                    if matches!(outcome, Outcome::Stall(_)) {
                        break;
                    }
                }
                let failures = world.counters.upgrade.max(world.counters.install);
                assert_eq!(failures, retries + 1, "{remedy:?} {last:?}");
                // A new chart: failures are forgotten, and it works.
                world.chart_version = "1.2.0";
                world.counters = Counters::default();
                for _ in 0..3 {
                    run(&mut world, true);
                }
                assert_eq!(world.decide().unwrap().0, State::InSync);
            }
        }
    }
}

#[test]
fn drift_is_compared_last_and_set_right_only_if_wanted() {
    let mut world = build(&[1, 1, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 0]);
    world.policy.drift = DriftMode::Enabled;
    assert_eq!(world.decide().unwrap().1.next, Next::Compare);
    world.drift = Drift::Found;
    assert_eq!(world.decide().unwrap().1.next, Next::Do(Action::CorrectDrift));
    world.policy.drift = DriftMode::Warn;
    let (state, decision) = world.decide().unwrap();
    assert_eq!((state, decision.next), (State::Drifted, Next::Nothing));
    world.drift = Drift::None;
    assert_eq!(world.decide().unwrap().0, State::InSync);
    world.drift = Drift::Failed("no connection");
    assert_eq!(
        world.decide().unwrap_err().to_string(),
        "unable to determine cluster state: no connection"
    );
    // A release that is not what is wanted is upgraded without a look at the cluster.
    world.chart_version = "1.1.0";
    assert_eq!(world.decide().unwrap().1.next, Next::Do(Action::Upgrade));
    assert_eq!(Action::CorrectDrift.kind(), ActionKind::DriftCorrection);
}
