//! What was recorded from Flux, done by us.

use std::sync::Arc;

use engine::diff::takeover::{Takeover, migrate};
use engine::diff::{Drift, IgnoreRule, IgnoreRules, Normaliser, drift, mask};
use model::{Value, json};
use smd::Schema;

use super::recorded;

const CONTROLLER: &str = "kustomize-controller";

/// Fails with what is wrong in all cases, and not in the first alone.
fn check(test: &str, check: impl Fn(&Value) -> Result<(), String>) {
    let wrong: Vec<String> = recorded(test)
        .iter()
        .filter_map(|case| Some(format!("{}: {}", case.str_at(&["name"]), check(case).err()?)))
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

fn same(what: &str, got: Option<&Value>, wanted: Option<&Value>) -> Result<(), String> {
    let text = |value: Option<&Value>| value.map_or("nothing".to_owned(), json::to_string);
    if got == wanted {
        return Ok(());
    }
    Err(format!(
        "{what}\n  got    {}\n  wanted {}",
        text(got),
        text(wanted)
    ))
}

fn rules(case: &Value) -> IgnoreRules {
    let rules: Vec<IgnoreRule> = case
        .list_at(&["ignore"])
        .iter()
        .map(|rule| serde_json::from_str(&json::to_string(rule)).expect("it is a rule"))
        .collect();
    IgnoreRules::new(&rules).expect("the rules are right")
}

fn live(case: &Value) -> Option<&Value> {
    case.get("live").filter(|live| !live.is_null())
}

/// AP1: what is applied is normalised first.
#[test]
fn objects_are_normalised_as_by_flux() {
    let normaliser = Normaliser::new(Arc::new(Schema::builtin()));
    check("normalise", |case| {
        let mut object = case.get("object").expect("a case has an object").clone();
        normaliser.normalise(&mut object);
        same("normalised", Some(&object), case.get("result"))
    });
}

/// AP5: labels, annotations and everything but metadata and status; the metrics of autoscalers are made unique.
#[test]
fn drift_is_what_flux_calls_drift() {
    check("apply", |case| {
        let merged = case.get("merged").expect("a case has an answer");
        let found = match drift(live(case), merged, &rules(case)) {
            Drift::None => "unchanged",
            Drift::Created => "created",
            Drift::Changed(fields) if fields.is_empty() => return Err("nothing differs".to_owned()),
            Drift::Changed(_) => "configured",
        };
        // Flux also calls it configured where it only took an object over, and where it failed later on.
        let is_patched = case.get("patch").is_some() && found == "unchanged";
        let wanted = if case.get("error").is_some() {
            "configured"
        } else {
            case.str_at(&["action"])
        };
        if found == wanted || is_patched && wanted == "configured" {
            return Ok(());
        }
        Err(format!("{found} instead of {wanted}"))
    });
}

/// AP6 and AP9: who managed an object before gives it up, and all managed fields get the version that is applied.
#[test]
fn objects_are_taken_over_as_by_flux() {
    let takeover = Takeover::flux(CONTROLLER, "kustomize.toolkit.fluxcd.io", ["other"]);
    check("apply", |case| {
        let (Some(live), Some(desired)) = (live(case), case.get("desired")) else {
            return Ok(());
        };
        let patch = if case.get("takeover").is_some() {
            takeover.patch(live, desired).map_err(|error| error.to_string())?
        } else if case.get("migrate").is_some() {
            migrate(live, desired.str_at(&["apiVersion"]))
        } else {
            None
        };
        same(
            "patch",
            patch.as_ref(),
            case.get("patch").map(without_repeated).as_ref(),
        )
    });
}

/// A patch of Flux without what it says twice: where our entry stands behind one that is merged into it, the old one is left
/// in the list. The API server takes the last.
fn without_repeated(patch: &Value) -> Value {
    let mut patch = patch.clone();
    for operation in patch.as_array_mut().into_iter().flatten() {
        let Some(entries) = operation.get_mut("value").and_then(Value::as_array_mut) else {
            continue;
        };
        let who = |entry: &Value| {
            ["manager", "operation", "subresource"].map(|name| entry.str_at(&[name]).to_owned())
        };
        let all: Vec<_> = entries.iter().map(who).collect();
        let mut at = 0;
        entries.retain(|_| {
            at += 1;
            !all[at..].contains(&all[at - 1])
        });
    }
    patch
}

/// AP8: ignored fields stay as they are when an object is applied because of others.
#[test]
fn ignored_fields_are_kept_as_by_flux() {
    check("apply", |case| {
        let (Some(live), Some(merged)) = (live(case), case.get("merged")) else {
            return Ok(());
        };
        let mut applied = case.get("desired").expect("a case has a desired object").clone();
        let settled = rules(case).settle(&mut applied, live, merged, CONTROLLER);
        match (settled, case.get("applied"), case.get("error")) {
            (_, None, None) => Ok(()),
            (Ok(()), wanted @ Some(_), _) => same("applied", Some(&applied), wanted),
            (Err(_), _, Some(_)) => Ok(()),
            (settled, ..) => Err(format!("{settled:?}")),
        }
    });
}

/// What is shown of a change: Secrets are masked, and ignored fields are not among it.
#[test]
fn what_is_shown_is_masked_as_by_flux() {
    check("apply", |case| {
        let (Some(shown), Some(live)) = (case.get("shown"), live(case)) else {
            return Ok(());
        };
        let (mut live, mut merged) = (
            live.clone(),
            case.get("merged").expect("a case has an answer").clone(),
        );
        rules(case).strip(&mut live, &mut merged);
        for object in [&mut live, &mut merged] {
            object.remove_at(&["metadata", "managedFields"]);
        }
        mask(Some(&mut live), Some(&mut merged));
        same("live", Some(&live), shown.get("live"))?;
        same("merged", Some(&merged), shown.get("merged"))
    });
}
