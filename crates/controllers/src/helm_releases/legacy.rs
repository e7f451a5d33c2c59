//! How Helm 3 tells that objects are ready, for releases with `waitStrategy: legacy`.

use engine::cache::{Assess, OwnRules, Standard};
use helm::ready::{self, Readiness};
use jiff::Timestamp;
use model::health::State;
use model::{Health, Value};

struct Legacy;

impl Assess for Legacy {
    fn assess(&self, object: &Value, _: Timestamp) -> Option<Health> {
        Some(match ready::of(object) {
            Readiness::Ready => Health::new(State::Healthy),
            Readiness::Waiting(why) => Health::because(State::Progressing, why),
            Readiness::Failed(why) => Health::because(State::Degraded, why),
        })
    }
}

/// The rules of Helm 3.
pub(super) fn standard() -> Standard {
    Standard {
        own: Some(OwnRules::new("waitStrategy: legacy", Legacy)),
        rules: None,
    }
}
