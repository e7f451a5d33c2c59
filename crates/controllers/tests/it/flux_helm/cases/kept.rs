//! Releases that stay, are asked for, or are changed by somebody else.

use serde_json::{Value, json};

use super::{Case, Chart, Step, case, config, data};

pub(super) fn cases() -> Vec<Case> {
    let app = || Chart::app("1.0.0");
    let by_hand = || data("ConfigMap", "app", "data", json!({"a": "hand"}));
    let both = || app().with("templates/two.yaml", &config("two", "x", ""));
    let gone = |history: Value| json!({"uninstall": history});
    vec![
        case("suspended", app(), json!({"suspend": true})),
        case("suspended-later", app(), json!({}))
            .then_spec(json!({"suspend": true, "values": {"a": "two"}}))
            .then_spec(json!({"suspend": false})),
        case("suspended-deleted", app(), json!({})).then_spec(json!({"suspend": true})).then_deleted(),
        case("forced", app(), json!({})).then_asked("forceAt"),
        case("reset", app(), json!({})).then_asked("resetAt"),
        case("drift-unseen", app(), json!({})).then_put(by_hand()),
        case("drift-warn", app(), json!({"driftDetection": {"mode": "warn"}})).then_put(by_hand()),
        case("drift-enabled", app(), json!({"driftDetection": {"mode": "enabled"}})).then_put(by_hand()),
        case(
            "drift-ignored",
            both(),
            json!({"driftDetection": {"mode": "enabled", "ignore": [{"paths": ["/data/a"], "target": {"kind": "ConfigMap", "name": "app"}}]}}),
        )
        .step(Step {
            objects: vec![by_hand(), data("ConfigMap", "two", "data", json!({"a": "hand", "b": "c"}))],
            ..Step::default()
        }),
        case("keep-history", app(), gone(json!({"keepHistory": true}))).then_deleted(),
        case("resource-policy", both().with("templates/kept.yaml", &config("kept", "x", "  annotations: {helm.sh/resource-policy: keep}\n")), json!({}))
            .then_deleted(),
        case("records-gone", app(), json!({})).step(Step {
            forgets: true,
            ..Step::default()
        }),
    ]
}
