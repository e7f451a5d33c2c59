//! The table in `tests/rows.md`: each row of the contract with the tests that show it.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

const TABLE: &str = include_str!("../rows.md");

/// The rows that must be shown: all of §1 and §5 without which the engine would be wrong, and the defects of §1.7.
const ROWS: &[&str] = &[
    "1.1:run 1.1:settings 1.1:before-sync 1.1:sync-completed 1.1:cache-initialized 1.1:resource-updated",
    "1.1:resource-removed 1.1:unit-event 1.1:unsubscribe 1.1:unit-store 1.1:instance-label 1.1:filter 1.1:overrides",
    "1.1:clusters 1.1:generator",
    "1.2:kinds 1.2:relist 1.2:definitions 1.2:rights 1.2:noise 1.2:owners 1.2:hierarchy 1.2:managed 1.2:lazy 1.2:stream",
    "1.2:readers 1.2:backoff 1.2:batches 1.2:stale",
    "1.3:pairs 1.3:scope 1.3:duplicates 1.3:shared 1.3:candidates",
    "1.4:flux 1.4:cached 1.4:masked 1.4:ignored 1.4:normalised 1.4:offline",
    "1.5:kstatus 1.5:cel 1.5:argo 1.5:lua 1.5:ttl 1.5:fail-fast",
    "1.6:phases 1.6:hook-names 1.6:delete-policies 1.6:waves 1.6:order 1.6:create-namespace 1.6:missing-kinds",
    "1.6:prune-waves 1.6:prune-last 1.6:dry-run-first 1.6:failure 1.6:terminate 1.6:replace 1.6:force 1.6:confirm",
    "1.6:deletion 1.6:deletion-hooks 1.6:selective 1.6:options 1.6:automatic 1.6:empty 1.6:self-heal",
    "1.7:27507 1.7:ttl-jobs 1.7:last-wave 1.7:namespace-hook 1.7:phases-in-order 1.7:deadlocks 1.7:poisoned-cache",
    "1.7:held-hooks 1.7:unknown-hooks 1.7:14410 1.7:520 1.7:11157",
    "1.9:flux 1.9:helm 1.9:flux-v1 1.9:argo 1.9:gated 1.9:takeover 1.9:policies 1.9:failure-unit",
    "5:cache 5:diff 5:apply 5:errors 5:health 5:worker-slots 5:pre-empted 5:deadlines 5:prune 5:survivors 5:budget",
    "5:confirm 5:empty 5:serialisable 5:resumable 5:callbacks 5:strategies 5:concurrency 5:requests",
];

/// What is pure: no cluster sees anything of it that it does not see of other rows.
const PURE: &[&str] = &[
    "1.3:pairs",
    "1.3:scope",
    "1.3:duplicates",
    "1.4:masked",
    "1.4:offline",
    "1.5:kstatus",
    "1.5:lua",
    "1.6:order",
    "1.7:namespace-hook",
    "1.7:phases-in-order",
    "1.9:helm",
    "1.9:flux-v1",
    "1.9:failure-unit",
    "5:serialisable",
];

/// The tests of each row in the table.
fn table() -> BTreeMap<&'static str, Vec<&'static str>> {
    let mut rows = BTreeMap::new();
    for line in TABLE.lines().filter(|line| line.starts_with("| ")) {
        let cells: Vec<&str> = line.trim_matches('|').split('|').map(str::trim).collect();
        let [row, tests] = cells[..] else {
            panic!("{line:?} has not two cells");
        };
        if row != "row" {
            let tests = tests.split_whitespace().collect();
            assert!(rows.insert(row, tests).is_none(), "{row} is there twice");
        }
    }
    rows
}

/// All tests in a folder, by their names, and whether each is of a file that has a cluster.
fn tests_in(folder: &Path, found: &mut BTreeMap<String, bool>) {
    for entry in std::fs::read_dir(folder).unwrap().flatten() {
        let path = entry.path();
        if path.is_dir() {
            tests_in(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            tests_of(&std::fs::read_to_string(&path).unwrap(), found);
        }
    }
}

/// A test has a cluster if it begins one: a bed, or a fixture.
fn tests_of(text: &str, found: &mut BTreeMap<String, bool>) {
    let mut is_test = false;
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        let plain = line.trim();
        if plain.starts_with("#[test]") || plain.starts_with("#[tokio::test") {
            is_test = true;
            continue;
        }
        let name = plain.trim_start_matches("async ").strip_prefix("fn ");
        let Some((name, _)) = name.and_then(|line| line.split_once('(')) else {
            continue;
        };
        if std::mem::take(&mut is_test) {
            let end = format!("{}}}", &line[..line.len() - line.trim_start().len()]);
            let body: String = lines.by_ref().take_while(|line| *line != end).collect();
            let begins = [
                "Bed::",
                "Fixture::",
                "testkit::Cluster::",
                "synced().await",
                "nothing_is_missed",
            ];
            let has_cluster = plain.starts_with("async ") && begins.iter().any(|word| body.contains(word));
            *found.entry(name.to_owned()).or_default() |= has_cluster;
        }
    }
}

#[test]
fn every_row_of_the_contract_is_shown_by_a_test_on_a_cluster_or_is_pure() {
    let table = table();
    let wanted: BTreeSet<&str> = ROWS.iter().flat_map(|rows| rows.split(' ')).collect();
    let listed: BTreeSet<&str> = table.keys().copied().collect();
    assert_eq!(listed, wanted, "the rows of the table and those of the contract");
    let mut tests = BTreeMap::new();
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    tests_in(&folder.join("src"), &mut tests);
    tests_in(&folder.join("tests"), &mut tests);
    let mut weak = Vec::new();
    for (row, named) in table {
        for name in &named {
            assert!(tests.contains_key(*name), "{row}: there is no test {name}");
        }
        let on_cluster = named.iter().any(|name| tests[*name]);
        if named.is_empty() || (!on_cluster && !PURE.contains(&row)) {
            weak.push(row);
        }
    }
    assert_eq!(weak, [""; 0], "rows that no test on a cluster shows");
}
