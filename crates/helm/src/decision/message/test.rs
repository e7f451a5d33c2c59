//! What is told about tests.

use super::{Told, of};
use crate::decision::Snapshot;
use crate::decision::ready::{ConditionType, Truth};

/// All went well.
pub fn test_succeeded(snapshot: &Snapshot) -> Told {
    let count = snapshot
        .test_hooks
        .as_ref()
        .map_or(0, std::collections::BTreeMap::len);
    let hooks = match count {
        0 => "no test hooks".to_owned(),
        1 => "1 test hook completed successfully".to_owned(),
        count => format!("{count} test hooks completed successfully"),
    };
    Told {
        condition: ConditionType::TestSuccess,
        status: Truth::True,
        reason: "TestSucceeded",
        message: format!("Helm test succeeded for {}: {hooks}", of(snapshot)),
        is_warning: false,
    }
}

/// One did not.
pub fn test_failed(snapshot: &Snapshot, problem: &str) -> Told {
    Told {
        condition: ConditionType::TestSuccess,
        status: Truth::False,
        reason: "TestFailed",
        message: format!("Helm test failed for {}: {}", of(snapshot), problem.trim()),
        is_warning: true,
    }
}
