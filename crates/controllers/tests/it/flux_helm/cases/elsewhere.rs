//! Releases in other places, under other names, and objects of others.

use serde_json::json;

use super::{Case, Chart, case, data};

pub(super) fn cases() -> Vec<Case> {
    let app = || Chart::app("1.0.0");
    let other = || {
        Chart::named("other", "1.0.0")
            .with("values.yaml", "a: one\n")
            .with("templates/config.yaml", super::CONFIG)
    };
    let owned = || {
        let mut object = data("ConfigMap", "app", "data", json!({"a": "theirs"}));
        object["metadata"]["labels"] = json!({"app.kubernetes.io/managed-by": "Helm"});
        object["metadata"]["annotations"] =
            json!({"meta.helm.sh/release-name": "other", "meta.helm.sh/release-namespace": "default"});
        object
    };
    let long = "a-name-that-is-far-too-long-for-a-release-of-helm-to-have";
    vec![
        case(
            "target",
            app(),
            json!({"targetNamespace": "target-2", "install": {"createNamespace": true}}),
        )
        .then_deleted(),
        case("no-target", app(), json!({"targetNamespace": "no-target-2"})),
        case(
            "storage",
            app(),
            json!({"targetNamespace": "storage", "storageNamespace": "storage"}),
        )
        .then_spec(json!({"values": {"a": "two"}})),
        case("named", app(), json!({"releaseName": "another"})),
        case(
            "long-name",
            app(),
            json!({"releaseName": null, "targetNamespace": long, "install": {"createNamespace": true}}),
        ),
        case("renamed", app(), json!({})).then_spec(json!({"releaseName": "another"})),
        case("moved", app(), json!({}))
            .then_spec(json!({"targetNamespace": "moved-2", "install": {"createNamespace": true}})),
        case("other-chart", app(), json!({})).chart(other()).then_chart(1),
        case(
            "other-chart-in-place",
            app(),
            json!({"upgrade": {"chartNameChangeStrategy": "InPlaceUpdate"}}),
        )
        .chart(other())
        .then_chart(1),
        case("taken-over", app(), json!({})).before(owned()),
        case(
            "not-taken-over",
            app(),
            json!({"install": {"disableTakeOwnership": true}}),
        )
        .before(owned()),
    ]
}
