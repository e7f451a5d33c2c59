//! Where the embedded server differs from the real one.

/// One check that the embedded server fails.
#[derive(Clone, Copy, Debug)]
pub struct Deviation {
    /// The check, as `cargo test` names it: `area::the_check`.
    pub check: &'static str,
    /// Why the difference is accepted.
    pub reason: &'static str,
}

/// Every accepted deviation, by area. On the embedded server such a check has to fail.
pub fn deviations() -> &'static [Deviation] {
    DEVIATIONS
}

const DEVIATIONS: &[Deviation] = &[
    Deviation {
        check: "defaults_workloads::a_pod_gets_a_service_account_and_tolerations",
        reason: "no service account token is mounted into pods, as nothing runs in them",
    },
    Deviation {
        check: "definitions::a_rule_compiles",
        reason: "rules are parsed and their functions looked up, but fields that they name are not checked against the schema",
    },
    Deviation {
        check: "read::yaml_is_written_to_who_asks_for_it",
        reason: "answers are JSON only: every client that we know takes it",
    },
    Deviation {
        check: "watch::the_old_path_of_a_watch_works",
        reason: "watches below /watch/ are deprecated since 2018, and no client that we know uses them",
    },
];

/// The deviation of a check, by its full path: the name of the test program is not part of the list.
pub(crate) fn of(path: &str) -> Option<&'static Deviation> {
    DEVIATIONS.iter().find(|deviation| name(path) == deviation.check)
}

fn name(path: &str) -> &str {
    path.split_once("::").map_or(path, |(_, name)| name)
}
