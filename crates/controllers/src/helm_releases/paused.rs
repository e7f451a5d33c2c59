//! Deployments that somebody has paused: nobody waits for them, as nothing goes on.

use engine::cache::{Assess, OwnRules, Standard};
use engine::health::cel::{Check, Checks, Work};
use jiff::Timestamp;
use model::health::State;
use model::{Health, Value};

/// Rules by which a paused Deployment is as its user wants it, and all else is as expressions say.
struct UnlessPaused(Checks);

impl Assess for UnlessPaused {
    fn assess(&self, object: &Value, now: Timestamp) -> Option<Health> {
        match is_paused(object) {
            true => Some(Health::new(State::Healthy)),
            false => Assess::assess(&self.0, object, now),
        }
    }

    fn assess_within(&self, object: &Value, now: Timestamp, work: &mut Work) -> Option<Health> {
        match is_paused(object) {
            true => Some(Health::new(State::Healthy)),
            false => self.0.assess_within(object, now, work),
        }
    }

    fn is_about(&self, group: &str, kind: &str) -> bool {
        (group, kind) == ("apps", "Deployment") || self.0.is_about(group, kind)
    }
}

fn is_paused(object: &Value) -> bool {
    object.str_at(&["apiVersion"]) == "apps/v1"
        && object.str_at(&["kind"]) == "Deployment"
        && object.at(&["spec", "paused"]) == Some(&Value::Bool(true))
}

/// The rules of releases, with these expressions.
///
/// # Errors
/// The first expression that cannot be used.
pub(super) fn standard(checks: &[Check]) -> Result<Standard, String> {
    let rules = Checks::new(checks).map_err(|error| error.to_string())?;
    Ok(Standard {
        own: Some(OwnRules::new(
            format!("{checks:?} unless paused"),
            UnlessPaused(rules),
        )),
        rules: None,
    })
}
