//! Revisions of the history of a Kustomization.

use anyhow::{Context as _, bail};
use api::kustomize::{HistoryEntry, Kustomization};
use controllers::kustomizations::ROLLED_BACK_FROM;
use model::Revision;

const SUCCESS: &str = "ReconciliationSucceeded";

fn revision(entry: &HistoryEntry) -> Option<&str> {
    entry.metadata.get("revision").map(String::as_str)
}

fn entries(object: &Kustomization) -> &[HistoryEntry] {
    object.status.as_ref().map_or(&[], |status| &status.history)
}

/// The revision that somebody means: one of the history, by its beginning too, or any that is written out.
pub(super) fn resolved(object: &Kustomization, meant: &str) -> anyhow::Result<String> {
    let begins = |revision: &str| {
        let digest = revision.rsplit_once('@').map_or(revision, |(_, digest)| digest);
        let hex = digest.split_once(':').map_or(digest, |(_, hex)| hex);
        revision == meant || digest.starts_with(meant) || hex.starts_with(meant)
    };
    let known = entries(object).iter().filter_map(revision);
    let mut found: Vec<&str> = known.filter(|revision| begins(revision)).collect();
    found.sort_unstable();
    found.dedup();
    match found[..] {
        [one] => return Ok(one.to_owned()),
        [] => {}
        _ => bail!("{meant:?} may be {}: write more of it", found.join(" or ")),
    }
    let written: Result<Revision, _> = meant.parse();
    if written.is_ok_and(|revision| revision.digest().is_some()) {
        return Ok(meant.to_owned());
    }
    bail!(
        "{meant:?} is none of the revisions of its history: {}",
        listed(object)
    )
}

/// The last revision that was applied with success before what is there now.
pub(super) fn earlier(object: &Kustomization) -> anyhow::Result<String> {
    let entries = entries(object);
    let attempted = object
        .status
        .as_ref()
        .and_then(|status| status.last_attempted_revision.as_deref());
    // What could not even be built is not in the history: then its newest entry is what was before.
    let now = entries.first().filter(|newest| {
        let is_applied = newest.last_reconciled_status == SUCCESS && bad(object).ok().as_deref() == attempted;
        revision(newest) == attempted || is_applied && applied(object) == attempted
    });
    let from = rolled_back_from(object);
    let mut before = entries.iter().filter(|entry| {
        let is_other = now.is_none_or(|now| now.digest != entry.digest);
        // Whoever has gone back already goes back further: neither to what was bad nor to what came in between.
        let is_further = from.is_none_or(|from| {
            let is_older = now.is_none_or(|now| entry.first_reconciled <= now.first_reconciled);
            revision(entry) != Some(from) && is_older
        });
        entry.last_reconciled_status == SUCCESS && is_other && is_further
    });
    let found = before.find_map(revision);
    let found = found.with_context(|| {
        format!(
            "no earlier revision in its history was applied with success: {}",
            listed(object)
        )
    });
    found.map(str::to_owned)
}

fn rolled_back_from(object: &Kustomization) -> Option<&str> {
    let annotations = object.metadata.annotations.as_ref()?;
    annotations.get(ROLLED_BACK_FROM).map(String::as_str)
}

fn applied(object: &Kustomization) -> Option<&str> {
    let status = object.status.as_ref()?;
    status.last_applied_revision.as_deref()
}

/// The revision that one goes back from: of what is rolled back already, still the same.
pub(super) fn bad(object: &Kustomization) -> anyhow::Result<String> {
    let before = rolled_back_from(object).map(str::to_owned);
    let attempted = object
        .status
        .as_ref()
        .and_then(|status| status.last_attempted_revision.clone());
    before
        .or(attempted)
        .context("nothing was attempted yet: there is nothing to go back from")
}

fn listed(object: &Kustomization) -> String {
    let all = entries(object).iter().filter_map(|entry| {
        let revision = revision(entry)?;
        Some(format!("{revision} ({})", entry.last_reconciled_status))
    });
    let all: Vec<String> = all.collect();
    match all.is_empty() {
        true => "it has none".to_owned(),
        false => all.join(", "),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// An object with a history: digest, commit and how it ended, the newest first.
    fn object(history: &[(&str, &str, &str)], attempted: &str) -> Kustomization {
        let history: Vec<_> = history
            .iter()
            .map(|(digest, commit, status)| {
                json!({
                    "digest": digest, "firstReconciled": null, "lastReconciled": null, "lastReconciledDuration": "1s",
                    "lastReconciledStatus": status, "totalReconciliations": 1, "metadata": {"revision": commit},
                })
            })
            .collect();
        serde_json::from_value(json!({
            "apiVersion": "kustomize.toolkit.fluxcd.io/v1", "kind": "Kustomization", "metadata": {"name": "app"},
            "spec": {"interval": "1h", "prune": true, "sourceRef": {"kind": "GitRepository", "name": "app"}},
            "status": {"history": history, "lastAttemptedRevision": attempted},
        }))
        .unwrap()
    }

    const FAILED: &str = "HealthCheckFailed";

    #[test]
    fn one_goes_back_to_the_last_that_went_well_and_was_something_else() {
        let history = [
            ("c", "main@sha1:33", FAILED),
            ("c", "main@sha1:22", SUCCESS),
            ("b", "main@sha1:11", FAILED),
            ("a", "main@sha1:00", SUCCESS),
        ];
        assert_eq!(
            earlier(&object(&history, "main@sha1:33")).unwrap(),
            "main@sha1:00"
        );
        assert_eq!(bad(&object(&history, "main@sha1:33")).unwrap(), "main@sha1:33");
        // What could not be built is in no history.
        assert_eq!(
            earlier(&object(&history[3..], "main@sha1:33")).unwrap(),
            "main@sha1:00"
        );
        let none = earlier(&object(&history[..1], "main@sha1:33"))
            .unwrap_err()
            .to_string();
        assert!(none.contains("main@sha1:33 (HealthCheckFailed)"), "{none}");
    }

    /// The newest entry is what was applied last, so each rollback puts another one there.
    #[test]
    fn whoever_goes_back_again_goes_back_further() {
        let object = |history: &[(&str, &str, &str)]| {
            let mut object = object(history, history[0].1);
            let from = (ROLLED_BACK_FROM.to_owned(), "main@sha1:33".to_owned());
            object.metadata.annotations = Some([from].into());
            let history = &mut object.status.as_mut().unwrap().history;
            for entry in history {
                let minute = entry.metadata["revision"].chars().last().unwrap();
                let time = json!(format!("2026-01-01T00:0{minute}:00Z"));
                entry.first_reconciled = serde_json::from_value(time).unwrap();
            }
            object
        };
        let at_2 = [
            ("c", "main@sha1:22", SUCCESS),
            ("d", "main@sha1:33", SUCCESS),
            ("b", "main@sha1:11", SUCCESS),
        ];
        assert_eq!(earlier(&object(&at_2)).unwrap(), "main@sha1:11");
        let at_1 = [at_2[2], at_2[0], at_2[1]];
        assert!(earlier(&object(&at_1)).is_err(), "there is nothing before it");
    }

    #[test]
    fn a_revision_is_meant_by_its_beginning() {
        let history = [("b", "main@sha1:1234", SUCCESS), ("a", "main@sha1:1299", SUCCESS)];
        let object = object(&history, "main@sha1:1234");
        let meant = |text: &str| resolved(&object, text).map_err(|error| error.to_string());
        for text in ["123", "sha1:1234", "main@sha1:1234"] {
            assert_eq!(meant(text).as_deref(), Ok("main@sha1:1234"), "{text}");
        }
        assert!(meant("12").unwrap_err().contains("write more of it"));
        assert!(
            meant("77")
                .unwrap_err()
                .contains("main@sha1:1299 (ReconciliationSucceeded)")
        );
        let whole = "main@sha1:0123456789abcdef0123456789abcdef01234567";
        assert_eq!(meant(whole).as_deref(), Ok(whole));
    }
}
