//! The health of objects by a user's own expressions and scripts, and by the built-in rules for everything else.

use jiff::Timestamp;
use model::{Health, Value};

use super::object::Object;
use super::{Rules, argo, cel, lua};

/// What tells how objects are doing. Reading expressions and scripts takes time: make one and share it.
#[derive(Debug, Default)]
pub struct Overrides {
    /// For kinds that nothing else is for.
    pub rules: Rules,
    /// Expressions, which come first.
    pub cel: Option<cel::Checks>,
    /// Scripts, which come second.
    pub lua: Option<lua::Scripts>,
}

impl From<Rules> for Overrides {
    fn from(rules: Rules) -> Self {
        Overrides {
            rules,
            ..Overrides::default()
        }
    }
}

impl Overrides {
    /// How an object is doing at this time; nothing where nobody says anything of it, which counts as well.
    pub fn assess(&self, object: &Value, now: Timestamp) -> Option<Health> {
        if let Some(health) = self.cel.as_ref().and_then(|checks| checks.assess(object)) {
            return Some(health);
        }
        // To Argo CD, what is being deleted is on its way, whatever scripts say.
        if let Some(scripts) = &self.lua
            && !argo::is_leaving(object)
            && let Some(health) = scripts.assess(object, now)
        {
            return health;
        }
        self.rules.assess(object, now)
    }
}

/// Whether an object may vanish after it was applied and counts as well then: a Job that is removed some time after it has
/// ended.
pub fn may_vanish(object: &Value) -> bool {
    let object = Object(object);
    object.text(&["kind"]) == "Job"
        && object.text(&["apiVersion"]).starts_with("batch/")
        && object.int(&["spec", "ttlSecondsAfterFinished"]).is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn overrides_can_be_shared() {
        fn shared<T: Send + Sync + 'static>() {}
        shared::<Overrides>();
    }
}
