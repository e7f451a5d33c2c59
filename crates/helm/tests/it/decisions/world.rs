//! Cases, and everything that is observed in them.

use std::cell::RefCell;
use std::collections::HashMap;

use helm::chart::Metadata;
use helm::decision::{
    ActionPolicy, Counters, Decision, Digests, Drift, DriftMode, History, Observed, Policy, ReleaseAction,
    Releases, Remediation, Remedy, Snapshot, State, Stored, Strategy, TestHook, Tests, UnknownState,
    Verified, decide, determine,
};
use helm::digest;
use helm::record::{Info, Record, Status, StoredChart};
use model::digest::Algorithm;
use model::{Map, Value};

/// How many choices each part of a case has.
pub(super) const CHOICES: [usize; 14] = [7, 5, 2, 2, 4, 3, 3, 3, 3, 2, 3, 8, 2, 6];

pub(super) type Case = [usize; 14];

/// Everything that a case consists of.
pub(super) struct World {
    pub(super) stored: Vec<Record>,
    pub(super) history: History,
    pub(super) chart_version: &'static str,
    pub(super) values: Map,
    pub(super) is_new_generation: bool,
    pub(super) post_renderers: String,
    pub(super) common_metadata: String,
    pub(super) policy: Policy,
    pub(super) last_action: Option<ReleaseAction>,
    pub(super) counters: Counters,
    pub(super) force: bool,
    pub(super) drift: Drift<'static>,
}

pub(super) fn record(version: i64, status: &str, manifest: &str) -> Record {
    let at = Some("2026-01-02T03:04:05Z".parse().unwrap());
    Record {
        name: "web".into(),
        namespace: "shop".into(),
        version,
        manifest: manifest.into(),
        info: Info {
            first_deployed: at,
            last_deployed: at,
            status: Status::parse(status),
            ..Info::default()
        },
        chart: Some(StoredChart {
            metadata: Some(Metadata {
                name: "app".into(),
                version: "1.0.0".into(),
                api_version: "v2".into(),
                ..Metadata::default()
            }),
            ..StoredChart::default()
        }),
        config: Some([("a", "b")].into_iter().collect()),
        ..Record::default()
    }
}

pub(super) fn hooks(phase: &str) -> Option<std::collections::BTreeMap<String, TestHook>> {
    let hook = TestHook {
        phase: phase.to_owned(),
        ..TestHook::default()
    };
    Some([("t".to_owned(), hook)].into())
}

thread_local! {
    /// Snapshots that were taken before: there are few, and their digests are the work.
    static TAKEN: RefCell<HashMap<(i64, String, String), Snapshot>> = RefCell::default();
}

pub(super) fn snapshot(record: &Record) -> Snapshot {
    let key = (
        record.version,
        record.info.status.to_string(),
        record.manifest.clone(),
    );
    TAKEN.with_borrow_mut(|taken| {
        let take = || Snapshot::of(record, None, "", Algorithm::Sha256);
        taken.entry(key).or_insert_with(take).clone()
    })
}

/// What storage holds, with digests that were made before.
pub(super) struct Remembered<'r>(pub(super) &'r [Record]);

impl Releases for Remembered<'_> {
    fn last(&self) -> Option<Stored<'_>> {
        Releases::last(self.0)
    }

    fn verify(&self, version: i64, known: &Snapshot) -> Option<Verified> {
        let record = self.0.iter().find(|record| record.version == version)?;
        Some(match known.digest.as_str() {
            _ if known.api_version != "v2" => Verified::Yes,
            "nonsense" => Verified::NoDigest,
            digest if digest == snapshot(record).digest => Verified::Yes,
            _ => Verified::NotObserved,
        })
    }
}

pub(super) fn build(case: &Case) -> World {
    let status = [
        "",
        "deployed",
        "failed",
        "uninstalled",
        "pending-upgrade",
        "uninstalling",
        "superseded",
    ][case[0]];
    let current = record(2, status, "current");
    let mut latest = snapshot(&current);
    latest.test_hooks = match case[11] {
        2 => hooks("Succeeded"),
        3..=5 => hooks("Failed"),
        6 => Some([].into()),
        7 => hooks("Running"),
        _ => None,
    };
    match case[1] {
        2 => latest.digest = format!("sha256:{}", "0".repeat(64)),
        3 => (latest.api_version, latest.digest) = (String::new(), "nonsense".into()),
        4 => latest.digest = "nonsense".into(),
        _ => {}
    }
    let mut stored = Vec::new();
    if case[0] > 0 {
        stored.push(current);
    }
    let mut snapshots = Vec::new();
    if case[1] > 0 {
        snapshots.push(latest);
        if case[13] > 0 {
            let status = if case[13] == 4 { "failed" } else { "superseded" };
            let mut previous = record(1, status, "previous");
            let mut taken = snapshot(&previous);
            if case[13] == 5 {
                taken.test_hooks = hooks("Failed");
            }
            snapshots.push(taken);
            if case[13] == 3 {
                previous.manifest = "changed".into();
            }
            if case[13] != 2 && case[0] > 0 {
                stored.push(previous);
            }
        }
    }
    let retry = Some(Strategy::RetryOnFailure { interval: None });
    let action = |remedy| ActionPolicy {
        remediation: Remediation {
            retries: [0, 1, -1][case[7]],
            ignore_test_failures: (case[11] == 5).then_some(true),
            remediate_last_failure: [None, Some(true), Some(false)][case[8]],
            remedy,
        },
        strategy: retry.filter(|_| case[10] == 1),
    };
    let failures = i64::try_from(case[6]).unwrap();
    let labels: Value = model::json::parse(br#"{"labels":{"a":"b"}}"#).unwrap();
    let renderers: Value = model::json::parse(b"[{}]").unwrap();
    World {
        stored,
        history: History::new(snapshots),
        chart_version: ["1.0.0", "1.1.0"][case[2]],
        values: [("a", ["b", "c"][case[3]])].into_iter().collect(),
        is_new_generation: case[4] > 0,
        post_renderers: digest::of_post_renderers((case[4] == 2).then_some(&renderers)),
        common_metadata: digest::of_common_metadata((case[4] == 3).then_some(&labels)),
        policy: Policy {
            install: action(Remedy::default()),
            upgrade: action([Remedy::Rollback, Remedy::Uninstall][case[9]]),
            tests: Tests {
                enabled: case[11] > 0,
                ignore_failures: case[11] == 4,
                ..Tests::default()
            },
            drift: DriftMode::Disabled,
            retry_by_default: case[10] == 2,
        },
        last_action: [None, Some(ReleaseAction::Install), Some(ReleaseAction::Upgrade)][case[5]],
        counters: Counters {
            failures,
            install: failures,
            upgrade: failures,
        },
        force: case[12] == 1,
        drift: Drift::NotCompared,
    }
}

impl World {
    pub(super) fn observed(&self) -> Observed<'_> {
        self.observed_in(&self.stored)
    }

    pub(super) fn observed_in<'w>(&'w self, releases: &'w dyn Releases) -> Observed<'w> {
        Observed {
            releases,
            history: &self.history,
            chart_name: "app",
            chart_version: self.chart_version,
            values: &self.values,
            is_new_generation: self.is_new_generation,
            post_renderers: Digests {
                wanted: &self.post_renderers,
                observed: "",
            },
            common_metadata: Digests {
                wanted: &self.common_metadata,
                observed: "",
            },
            policy: &self.policy,
            last_action: self.last_action,
            counters: self.counters,
            force: self.force,
            drift: self.drift,
        }
    }

    pub(super) fn decide(&self) -> Result<(State, Decision), UnknownState> {
        Self::decide_on(&self.observed())
    }

    pub(super) fn decide_on(observed: &Observed<'_>) -> Result<(State, Decision), UnknownState> {
        let state = determine(observed)?;
        let decision = decide(&state, observed);
        Ok((state, decision))
    }
}
