//! `sluice.dev/pin`: an earlier revision is applied instead of what the source has.
//!
//! A pin names a revision as the status and its history do: `main@sha1:…`. With `sluice.dev/rolled-back-from`, the revision that was bad, it
//! counts for as long as the source has that one; when the source has another, both annotations are taken away, which is told, and that
//! one is applied. `sluice rollback` writes both, `sluice pin` the first alone, and `sluice unpin` takes them away.
//!
//! The files of the earlier revision are had by [a source of its own](super::pinned_source).

use api::kustomize::Kustomization;
use kube::api::{Patch, PatchParams};
use kube::{Api, Client, ResourceExt};
use model::Revision;
use model::event::Severity;
use serde_json::json;

use super::super::source::revision_metadata;
use super::{Asks, FROM, PIN, Unclear};
use crate::kit::Notice;

/// The annotation with the revision that is applied.
pub const TO: &str = "sluice.dev/pin";
/// The annotation with the revision that it is applied instead of.
pub const ROLLED_BACK_FROM: &str = "sluice.dev/rolled-back-from";

/// A revision that is applied instead of what the source has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in super::super) struct Pin {
    /// Which.
    pub(in super::super) revision: Revision,
    /// It counts while the source has this one; if nothing is named, always.
    from: Option<String>,
}

impl Pin {
    pub(super) fn parse(to: Option<&str>, from: Option<&str>) -> Result<Option<Pin>, Unclear> {
        let unclear = |name: &str, why: String| Unclear {
            name: name.to_owned(),
            why,
        };
        let Some(to) = to else {
            return match from {
                None => Ok(None),
                Some(_) => Err(unclear(
                    FROM,
                    format!("there is no pin: set the annotation {TO} too"),
                )),
            };
        };
        let revision: Result<Revision, _> = to.parse();
        let revision = revision.ok().filter(|revision| revision.digest().is_some());
        let revision = revision.ok_or_else(|| {
            let why = format!(
                "{to:?} is no revision as the history of the status has it, such as main@sha1:<commit>"
            );
            unclear(PIN, why)
        })?;
        let from = from.map(str::to_owned);
        Ok(Some(Pin { revision, from }))
    }

    /// Whether it counts while the source has this revision.
    pub(in super::super) fn counts(&self, current: &str) -> bool {
        self.from.as_deref().is_none_or(|from| from == current)
    }
}

/// Whether an object has applied the revision that it is pinned to, and so will not get to a newer one.
pub(in super::super) fn is_kept_at_its_pin(object: &Kustomization) -> bool {
    let pin = Asks::or_careful(object).pin.map(|pin| pin.revision.to_string());
    let applied = object
        .status
        .as_ref()
        .and_then(|status| status.last_applied_revision.as_ref());
    pin.is_some() && pin.as_ref() == applied
}

/// Takes the pin of an object away, since its source has a newer revision than the bad one.
pub(in super::super) async fn released(
    client: &Client,
    object: &Kustomization,
    pin: &Pin,
    newer: &str,
) -> kube::Result<Option<Notice>> {
    let namespace = object.namespace().unwrap_or_default();
    let api: Api<Kustomization> = Api::namespaced(client.clone(), &namespace);
    // Somebody may have pinned it anew in the meantime: then this is refused, and what they want is seen soon.
    let path = |name: &str| format!("/metadata/annotations/{}", name.replace('/', "~1"));
    let patch = json!([
        {"op": "test", "path": path(TO), "value": object.annotations().get(TO)},
        {"op": "test", "path": path(ROLLED_BACK_FROM), "value": object.annotations().get(ROLLED_BACK_FROM)},
        {"op": "remove", "path": path(TO)},
        {"op": "remove", "path": path(ROLLED_BACK_FROM)},
    ]);
    let patch = serde_json::from_value(patch).map_err(kube::Error::SerdeError)?;
    let (name, by) = (object.name_any(), PatchParams::default());
    match api.patch(&name, &by, &Patch::<()>::Json(patch)).await {
        Ok(_) => {}
        Err(kube::Error::Api(status)) if matches!(status.code, 404 | 422) => return Ok(None),
        Err(error) => return Err(error),
    }
    Ok(Some(Notice {
        severity: Severity::Info,
        reason: api::Reason::PROGRESSING,
        message: format!(
            "Revision {newer} is newer than {}, which was bad: the pin to {} is taken away",
            pin.from.as_deref().unwrap_or_default(),
            pin.revision
        ),
        metadata: revision_metadata(newer, None),
    }))
}

#[cfg(test)]
mod tests {
    use super::super::tests::annotated;
    use super::*;

    const OLD: &str = "main@sha1:0123456789abcdef0123456789abcdef01234567";
    const BAD: &str = "main@sha1:89abcdef0123456789abcdef0123456701234567";

    #[test]
    fn a_pin_counts_always_or_while_the_source_has_the_bad_revision() {
        let pin = |from| Pin::parse(Some(OLD), from).unwrap().unwrap();
        assert!(pin(None).counts(BAD) && pin(None).counts(OLD));
        assert!(pin(Some(BAD)).counts(BAD));
        assert!(!pin(Some(BAD)).counts("main@sha1:77abcdef0123456789abcdef0123456701234567"));
    }

    #[test]
    fn what_is_no_revision_is_told() {
        for wrong in ["main", "v1.2.3", "main@sha1:12"] {
            let told = Asks::of(&annotated(&[("pin", wrong)])).unwrap_err().to_string();
            assert!(told.contains("is no revision"), "{told}");
        }
    }

    #[test]
    fn an_object_is_at_its_pin_once_it_has_applied_it() {
        let mut object = annotated(&[("pin", OLD)]);
        assert!(!is_kept_at_its_pin(&object));
        let status = object.status.get_or_insert_default();
        status.last_applied_revision = Some(OLD.to_owned());
        assert!(is_kept_at_its_pin(&object));
        let status = object.status.get_or_insert_default();
        status.last_applied_revision = Some(BAD.to_owned());
        assert!(!is_kept_at_its_pin(&object));
    }
}
