//! The last attempts of a Kustomization, in its status.

use std::collections::BTreeMap;
use std::time::Duration;

use api::Reason;
use api::kustomize::HistoryEntry;
use model::Time;

/// How many entries are kept.
const MOST: usize = 5;

/// An attempt that has ended.
#[derive(Clone, Debug)]
pub(super) struct Attempt {
    /// The digest of what was built.
    pub(super) digest: String,
    /// How it ended.
    pub(super) status: Reason,
    /// When it ended.
    pub(super) at: Time,
    /// How long it took.
    pub(super) took: Duration,
    /// The revision, and that of its origin.
    pub(super) metadata: BTreeMap<String, String>,
}

/// Adds an attempt. Attempts that applied the same with the same result are one entry; the newest comes first.
pub(super) fn record(history: &mut Vec<HistoryEntry>, attempt: Attempt) {
    let status = attempt.status.as_str();
    let same =
        |entry: &HistoryEntry| entry.digest == attempt.digest && entry.last_reconciled_status == status;
    let mut entry = match history.iter().position(same) {
        Some(at) => history.remove(at),
        None => HistoryEntry {
            digest: attempt.digest.clone(),
            first_reconciled: Some(attempt.at),
            last_reconciled_status: status.to_owned(),
            ..HistoryEntry::default()
        },
    };
    entry.last_reconciled = Some(attempt.at);
    entry.last_reconciled_duration = attempt.took.into();
    entry.total_reconciliations += 1;
    entry.metadata = attempt.metadata;
    history.insert(0, entry);
    history.truncate(MOST);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_with_the_same_result_is_one_entry_and_the_newest_comes_first() {
        let mut history = Vec::new();
        let mut add = |digest: &str, status: Reason, second: i64| {
            let at = jiff::Timestamp::from_second(second).unwrap();
            record(
                &mut history,
                Attempt {
                    digest: digest.to_owned(),
                    status,
                    at: Time::new(at),
                    took: Duration::from_millis(1500),
                    metadata: BTreeMap::from([("revision".to_owned(), digest.to_owned())]),
                },
            );
            let shown = history.iter().map(|entry| {
                let (digest, total) = (&entry.digest, entry.total_reconciliations);
                format!("{digest} {} {total}", entry.last_reconciled_status)
            });
            shown.collect::<Vec<_>>()
        };
        let (good, bad) = (Reason::RECONCILIATION_SUCCEEDED, Reason::HEALTH_CHECK_FAILED);
        add("a", bad, 1);
        add("a", good, 2);
        assert_eq!(
            add("a", bad, 3),
            ["a HealthCheckFailed 2", "a ReconciliationSucceeded 1"]
        );
        for (at, digest) in ["b", "c", "d", "e"].into_iter().enumerate() {
            add(digest, good, 4 + i64::try_from(at).unwrap());
        }
        assert_eq!(history.len(), MOST);
        assert_eq!(history[0].digest, "e");
        assert_eq!(history[4].digest, "a");
        assert_eq!(history[4].total_reconciliations, 2);
        assert_eq!(
            history[4].first_reconciled.unwrap().to_string(),
            "1970-01-01T00:00:01Z"
        );
    }
}
