//! Releases that fail, and what is done about it.

use serde_json::{Value, json};

use super::{Case, judged};

pub(super) fn cases() -> Vec<Case> {
    let bad = || json!({"a": "bad"});
    let good = || json!({"values": {"a": "good"}});
    let upgrade = |upgrade: Value| json!({"upgrade": upgrade});
    let fails = || json!({"values": {"a": "bad"}});
    vec![
        judged("install-fails", json!({"values": bad()})).then().then_spec(good()),
        judged("install-fails-twice", json!({"values": bad(), "install": {"remediation": {"retries": 1}}})),
        judged(
            "install-fails-undone",
            json!({"values": bad(), "install": {"remediation": {"retries": 1, "remediateLastFailure": true}}}),
        )
        .then_asked("resetAt")
        .then_spec(good()),
        judged(
            "install-retried",
            json!({"values": bad(), "install": {"strategy": {"name": "RetryOnFailure", "retryInterval": "1h"}}}),
        )
        .then_spec(good()),
        judged("upgrade-fails", json!({})).then_spec(fails()).then_spec(good()),
        judged("upgrade-fails-forced", json!({})).then_spec(fails()).then_asked("forceAt"),
        judged("upgrade-rolled-back", upgrade(json!({"remediation": {"retries": 1}})))
            .then_spec(fails())
            .then_spec(good()),
        judged("upgrade-rolled-back-last", upgrade(json!({"remediation": {"remediateLastFailure": true}})))
            .then_spec(fails())
            .then_spec(json!({"values": null})),
        judged(
            "upgrade-uninstalled",
            upgrade(json!({"remediation": {"remediateLastFailure": true, "strategy": "uninstall"}})),
        )
        .then_spec(fails())
        .then_spec(good()),
        judged(
            "upgrade-retried",
            upgrade(json!({"strategy": {"name": "RetryOnFailure", "retryInterval": "1h"}})),
        )
        .then_spec(fails())
        .then_spec(good()),
        judged("upgrade-cleaned", upgrade(json!({"cleanupOnFail": true}))).then_spec(fails()).then_deleted(),
        judged("nothing-to-go-back-to", json!({"values": bad(), "upgrade": {"remediation": {"retries": 0, "remediateLastFailure": true}}}))
            .then_spec(json!({"values": {"a": "bad too"}})),
    ]
}
