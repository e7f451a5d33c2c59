//! How objects are applied: order, takeover, force, markers, ignored fields.

use std::time::Duration;

use engine::cluster::Write;
use engine::diff::{IgnoreRule, IgnoreRules, Takeover};
use engine::plan::GroupKind;
use engine::unit::{ReconciliationSettings, ResourceOverride, SyncUnit};
use model::{Value, value};

use super::{Bed, config_map};

const GROUP: &str = "kustomize.toolkit.fluxcd.io";

/// A unit with this rule, by which `data.theirs` is nobody's business.
fn ignoring(mut unit: SyncUnit) -> SyncUnit {
    let rule = IgnoreRule {
        paths: vec!["/data/theirs".to_owned()],
        ..IgnoreRule::default()
    };
    unit.policy.ignore = IgnoreRules::new(&[rule]).unwrap();
    unit
}

fn with_theirs(key: &str, theirs: &str) -> Value {
    let mut object = config_map("a", key);
    object.set_at(&["data", "theirs"], theirs);
    object
}

/// AP6
#[tokio::test(flavor = "multi_thread")]
async fn fields_that_kubectl_has_set_are_taken_over_and_go_if_nobody_wants_them() {
    let bed = Bed::start().await;
    let mut object = config_map("a", "old");
    object.set_at(&["data", "extra"], "by kubectl");
    object.set_at(&["metadata", "namespace"], bed.space.as_str());
    let config_maps = bed.resource("", "ConfigMap").await;
    let by = Write::by("kubectl-client-side-apply");
    bed.cluster.create(&config_maps, &object, &by).await.unwrap();
    let mut unit = bed.unit("shop");
    unit.policy.manager = "kustomize-controller".to_owned();
    unit.policy.takeover = Takeover::flux("kustomize-controller", GROUP, []);
    bed.units.put(unit);
    bed.sync("shop", "v1", [config_map("a", "new")]);
    bed.applied("shop", "v1").await;
    let live = bed.get("", "ConfigMap", "a").await.unwrap();
    assert_eq!(live.str_at(&["data", "key"]), "new");
    assert!(live.at(&["data", "extra"]).is_none(), "{live:?}");
    let managers: Vec<&str> = live
        .list_at(&["metadata", "managedFields"])
        .iter()
        .map(|entry| entry.str_at(&["manager"]))
        .collect();
    assert_eq!(managers, ["kustomize-controller"]);
    bed.finish().await;
}

/// AP7
#[tokio::test(flavor = "multi_thread")]
async fn what_cannot_be_changed_is_made_anew_by_force_alone() {
    let bed = Bed::start().await;
    let fixed = |key: &str| {
        let mut object = config_map("a", key);
        object.set_at(&["immutable"], true);
        object
    };
    bed.sync("shop", "v1", [fixed("1"), config_map("b", "1")]);
    bed.applied("shop", "v1").await;
    let before = bed.uid("a").await.unwrap();
    bed.sync("shop", "v2", [fixed("2"), config_map("b", "2")]);
    let status = bed.until("shop", |status| !status.errors.is_empty()).await;
    assert!(
        status.errors[0].contains("dry-run failed (Invalid)"),
        "{:?}",
        status.errors
    );
    let live = bed.get("", "ConfigMap", "b").await.unwrap();
    assert_eq!(
        live.str_at(&["data", "key"]),
        "1",
        "nothing is written if something is refused"
    );
    let mut forced = fixed("2");
    forced.set_at(&["metadata", "annotations", &format!("{GROUP}/force")], "enabled");
    bed.sync("shop", "v3", [forced, config_map("b", "2")]);
    bed.applied("shop", "v3").await;
    let live = bed.get("", "ConfigMap", "a").await.unwrap();
    assert_eq!(live.str_at(&["data", "key"]), "2");
    assert_ne!(live.str_at(&["metadata", "uid"]), before);
    bed.finish().await;
}

/// AP3
#[tokio::test(flavor = "multi_thread")]
async fn a_definition_and_its_objects_are_applied_in_one_go() {
    let bed = Bed::start().await;
    let group = format!("{}.example.com", bed.test.prefix());
    let definition = value!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": { "name": (format!("widgets.{group}")) },
        "spec": {
            "group": (group.as_str()), "scope": "Namespaced",
            "names": { "kind": "Widget", "plural": "widgets", "singular": "widget", "listKind": "WidgetList" },
            "versions": [{
                "name": "v1", "served": true, "storage": true,
                "schema": { "openAPIV3Schema": {
                    "type": "object", "x-kubernetes-preserve-unknown-fields": true,
                } },
            }],
        },
    });
    let widget = value!({
        "apiVersion": (format!("{group}/v1")), "kind": "Widget",
        "metadata": { "name": "w" }, "spec": { "size": 1 },
    });
    bed.test.delete_at_end(format!(
        "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/widgets.{group}"
    ));
    let mut unit = bed.unit("shop");
    // A second try would come too late.
    unit.policy.retry = Duration::from_secs(3600);
    bed.units.put(unit);
    bed.sync("shop", "v1", [widget, definition]);
    let status = bed.applied("shop", "v1").await;
    let kinds: Vec<String> = status
        .inventory
        .entries
        .iter()
        .map(|entry| entry.id.0.kind.to_string())
        .collect();
    assert_eq!(kinds, ["CustomResourceDefinition", "Widget"]);
    bed.finish().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn objects_ask_to_be_created_once_or_to_be_left_alone() {
    let bed = Bed::start().await;
    let marked = |name: &str, key: &str, policy: &str| {
        let mut object = config_map(name, key);
        object.set_at(&["metadata", "annotations", &format!("{GROUP}/ssa")], policy);
        object
    };
    bed.by_hand("", config_map("theirs", "mine")).await;
    let objects = |key: &str| {
        [
            marked("once", key, "IfNotPresent"),
            marked("theirs", key, "Ignore"),
        ]
    };
    bed.sync("shop", "v1", objects("1"));
    bed.applied("shop", "v1").await;
    bed.sync("shop", "v2", objects("2"));
    let status = bed.applied("shop", "v2").await;
    assert_eq!(
        status.inventory.entries.len(),
        2,
        "what is skipped is in the inventory"
    );
    let value = async |name: &str| {
        let live = bed.get("", "ConfigMap", name).await.unwrap();
        live.str_at(&["data", "key"]).to_owned()
    };
    assert_eq!(
        (value("once").await, value("theirs").await),
        ("1".into(), "mine".into())
    );
    bed.finish().await;
}

/// AP8
#[tokio::test(flavor = "multi_thread")]
async fn a_difference_that_a_unit_ignores_is_not_put_right_and_outlives_other_changes() {
    let bed = Bed::start().await;
    bed.units.put(ignoring(bed.unit("shop")));
    bed.sync("shop", "v1", [with_theirs("1", "ours")]);
    bed.applied("shop", "v1").await;
    bed.by_hand("", with_theirs("1", "by hand")).await;
    bed.sync("shop", "v2", [with_theirs("2", "ours")]);
    bed.applied("shop", "v2").await;
    let live = bed.get("", "ConfigMap", "a").await.unwrap();
    assert_eq!(
        (live.str_at(&["data", "key"]), live.str_at(&["data", "theirs"])),
        ("2", "by hand")
    );
    bed.finish().await;
}

/// `RespectIgnoreDifferences=true`
#[tokio::test(flavor = "multi_thread")]
async fn argo_cds_units_overwrite_what_they_ignore_unless_they_respect_it() {
    let bed = Bed::start().await;
    for (respected, expected) in [(false, "ours"), (true, "by hand")] {
        let id = format!("respected-{respected}");
        let mut unit = ignoring(bed.argo(&id));
        unit.policy.options.argo.respect_ignored = respected;
        bed.units.put(unit);
        bed.sync(&id, "v1", [with_theirs("1", "ours")]);
        bed.applied(&id, "v1").await;
        bed.by_hand("", with_theirs("1", "by hand")).await;
        bed.sync(&id, "v2", [with_theirs(&id, "ours")]);
        bed.applied(&id, "v2").await;
        let live = bed.get("", "ConfigMap", "a").await.unwrap();
        assert_eq!(live.str_at(&["data", "theirs"]), expected, "{id}");
        bed.units.remove(&id);
        bed.engine.refresh(&id);
    }
    bed.finish().await;
}

/// What Flux does before it applies: the same source leads to the same requests.
#[tokio::test(flavor = "multi_thread")]
async fn objects_are_applied_in_the_form_that_flux_gives_them() {
    let bed = Bed::start().await;
    let secret = value!({
        "apiVersion": "v1", "kind": "Secret", "metadata": { "name": "s" },
        "stringData": { "password": "secret" },
    });
    bed.sync("shop", "v1", [secret]);
    bed.applied("shop", "v1").await;
    let live = bed.get("", "Secret", "s").await.unwrap();
    let fields = live.list_at(&["metadata", "managedFields"])[0]
        .at(&["fieldsV1"])
        .unwrap();
    assert!(fields.at(&["f:data", "f:password"]).is_some(), "{fields:?}");
    assert!(fields.at(&["f:stringData"]).is_none(), "{fields:?}");
    bed.finish().await;
}

/// Overrides of a kind say what of it does not count.
#[tokio::test(flavor = "multi_thread")]
async fn differences_of_one_kind_can_be_ignored() {
    let rule = IgnoreRule {
        paths: vec!["/data/theirs".to_owned()],
        ..IgnoreRule::default()
    };
    let special = ResourceOverride {
        ignore: IgnoreRules::new(&[rule]).unwrap(),
        ..ResourceOverride::default()
    };
    let kind = GroupKind {
        group: "".into(),
        kind: "ConfigMap".into(),
    };
    let settings = ReconciliationSettings {
        overrides: [(kind, special)].into(),
        ..ReconciliationSettings::default()
    };
    let bed = Bed::with(testkit::Cluster::start().await, settings).await;
    let secret = |theirs: &str| {
        value!({
            "apiVersion": "v1", "kind": "Secret", "metadata": { "name": "s" }, "data": { "theirs": theirs },
        })
    };
    bed.sync("shop", "v1", [with_theirs("1", "ours"), secret("b3Vycw==")]);
    bed.applied("shop", "v1").await;
    bed.by_hand("", with_theirs("1", "by hand")).await;
    bed.by_hand("", secret("YnkgaGFuZA==")).await;
    bed.seen("Secret", "s", |live| {
        live.is_some_and(|live| live.str_at(&["data", "theirs"]) == "b3Vycw==")
    })
    .await;
    let live = bed.get("", "ConfigMap", "a").await.unwrap();
    assert_eq!(live.str_at(&["data", "theirs"]), "by hand");
    bed.finish().await;
}
