//! What applying an object would do to the one in the cluster.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use engine::cluster::{Apply, Cluster};
use engine::diff::{Drift, IgnoreRules, drift, drop_unreadable_authority, dry_run_failure, is_secret, mask};
use model::object_key::split_api_version;
use model::{ObjectKey, Value};

use crate::commands::build::SOPS_MASK;

/// Labels and annotations of objects that are left alone.
const LEFT_ALONE: [(&str, &str); 2] = [
    ("kustomize.toolkit.fluxcd.io/reconcile", "disabled"),
    ("kustomize.toolkit.fluxcd.io/ssa", "ignore"),
];
/// The same of objects that are left alone once they are there.
const IF_MISSING: (&str, &str) = ("kustomize.toolkit.fluxcd.io/ssa", "ifnotpresent");
/// The same of objects that are deleted and made anew where they cannot be changed.
const FORCED: (&str, &str) = ("kustomize.toolkit.fluxcd.io/force", "enabled");

/// What applying an object would do.
pub(super) enum Change {
    Created,
    Deleted,
    Unchanged,
    Skipped,
    /// It would be changed from the one into the other.
    Drifted(Box<(Value, Value)>),
}

/// How objects are applied.
pub(super) struct How {
    /// Who applies them.
    pub(super) manager: &'static str,
    /// Whether one that cannot be changed is deleted and made anew.
    pub(super) force: bool,
    /// Whether objects can ask to be left alone, as those of Kustomizations can.
    pub(super) heeds_marks: bool,
    /// What does not count.
    pub(super) ignored: IgnoreRules,
}

/// What applying an object would do.
///
/// # Errors
/// The cluster refuses it, or cannot be asked.
pub(super) async fn change(cluster: &Cluster, object: &mut Value, how: &How) -> anyhow::Result<Change> {
    let ignored = &how.ignored;
    drop_unreadable_authority(object);
    let key = ObjectKey::of(object);
    let (group, version) = split_api_version(object.str_at(&["apiVersion"]));
    let failed = |error| anyhow::anyhow!("{key} {}", dry_run_failure(&key.namespace, &error));
    let resource = cluster
        .resource(group, version, &key.kind)
        .await
        .map_err(failed)?;
    let live = cluster
        .get(&resource, &key.namespace, &key.name)
        .await
        .map_err(failed)?;
    let is_marked = |object: &Value| LEFT_ALONE.iter().any(|mark| has(object, mark));
    let asks = is_marked(object)
        || live.as_ref().is_some_and(is_marked)
        || (live.is_some() && has(object, &IF_MISSING));
    if how.heeds_marks && asks {
        return Ok(Change::Skipped);
    }
    let options = Apply {
        dry_run: true,
        ..Apply::by(how.manager)
    };
    let merged = match cluster.apply(&resource, object, &options).await {
        Ok(merged) => merged,
        Err(error) if error.is_immutable() && (how.force || how.heeds_marks && has(object, &FORCED)) => {
            return Ok(Change::Created);
        }
        Err(error) => return Err(failed(error)),
    };
    match drift(live.as_ref(), &merged, ignored) {
        Drift::Created => Ok(Change::Created),
        Drift::None => Ok(Change::Unchanged),
        Drift::Changed(_) => Ok(drifted(object, live.unwrap_or_default(), merged, ignored)),
    }
}

/// The two objects as they may be shown: without what is secret, ignored or told of who wrote what.
fn drifted(object: &Value, mut live: Value, mut merged: Value, ignored: &IgnoreRules) -> Change {
    for one in [&mut live, &mut merged] {
        one.remove_at(&["metadata", "managedFields"]);
    }
    ignored.strip(&mut live, &mut merged);
    mask(Some(&mut live), Some(&mut merged));
    if is_secret(object) && is_encrypted(object) {
        // Nobody here knows what is in it: only what it is called is compared.
        for one in [&mut live, &mut merged] {
            hide(one);
        }
        let keys = |one: &Value| -> Vec<String> {
            let data = one.get("data").and_then(Value::as_object);
            data.into_iter()
                .flat_map(|data| data.keys())
                .map(str::to_owned)
                .collect()
        };
        let (mut before, mut after) = (keys(&live), keys(&merged));
        before.sort_unstable();
        after.sort_unstable();
        if before == after {
            return Change::Unchanged;
        }
    }
    Change::Drifted(Box::new((live, merged)))
}

fn has(object: &Value, (key, value): &(&str, &str)) -> bool {
    ["labels", "annotations"].into_iter().any(|map| {
        let found = object.str_at(&["metadata", map, key]);
        found.eq_ignore_ascii_case(value)
    })
}

/// Whether a Secret was built of encrypted values, which are masked.
fn is_encrypted(object: &Value) -> bool {
    let data = object.get("data").and_then(Value::as_object);
    let mut values = data.into_iter().flat_map(|data| data.values());
    values.any(|value| {
        let decoded = value.as_str().and_then(|text| STANDARD.decode(text).ok());
        decoded.is_some_and(|decoded| String::from_utf8_lossy(&decoded).contains(SOPS_MASK))
    })
}

fn hide(object: &mut Value) {
    if let Some(data) = object.get_mut("data").and_then(Value::as_object_mut) {
        for (_, value) in data.iter_mut() {
            *value = Value::str("*****");
        }
    }
}
