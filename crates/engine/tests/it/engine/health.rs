//! Units that tell in different ways how their objects are doing.

use std::time::Duration;

use engine::cache::OwnRules;
use engine::cluster::Verb;
use engine::health::cel::Check;
use engine::unit::{Phase, Status, SyncUnit};
use model::health::State;
use model::{ObjectKey, Value, value};

use super::{Bed, Outcomes, config_map, slow, waiting};

/// A kind of this test, which is there when this returns.
async fn widgets(bed: &Bed) -> String {
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
    bed.test.delete_at_end(format!(
        "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/widgets.{group}"
    ));
    let mut unit = bed.unit("kinds");
    unit.policy.options = waiting(600);
    bed.units.put(unit);
    bed.sync("kinds", "v1", [definition]);
    bed.applied("kinds", "v1").await;
    group
}

fn widget(group: &str, name: &str) -> Value {
    value!({
        "apiVersion": (format!("{group}/v1")), "kind": "Widget",
        "metadata": { "name": name }, "spec": { "size": 1 },
    })
}

/// Somebody writes how a widget is doing.
async fn becomes(bed: &Bed, group: &str, name: &str, phase: &str) {
    let mut object = widget(group, name);
    object.remove_at(&["spec"]);
    object.set_at(&["status"], value!({ "phase": phase }));
    bed.by_hand(group, object).await;
}

/// Widgets are done when they say so.
fn by_phase(group: &str) -> OwnRules {
    let check = Check {
        api_version: format!("{group}/v1"),
        kind: "Widget".to_owned(),
        current: "status.phase == 'Done'".to_owned(),
        failed: "status.phase == 'Failed'".to_owned(),
        ..Check::default()
    };
    OwnRules::expressions(&[check]).unwrap()
}

/// A unit that waits for health and does not try again.
fn patient(mut unit: SyncUnit, health: Option<OwnRules>) -> SyncUnit {
    unit.policy.options = waiting(600);
    unit.policy.retry = Duration::from_secs(600);
    unit.policy.health = health;
    unit
}

fn is(status: &Status, state: State) -> bool {
    status.health.as_ref().is_some_and(|health| health.state == state)
}

/// Other rules for a unit, while it runs.
fn change(bed: &Bed, unit: &str, health: Option<OwnRules>) {
    let mut changed = bed.units.unit(unit).unwrap();
    changed.policy.health = health;
    bed.units.put(changed);
    bed.engine.refresh(unit);
}

#[tokio::test(flavor = "multi_thread")]
async fn expressions_of_one_unit_hold_for_its_waits_and_for_no_other_unit() {
    let bed = Bed::start().await;
    let group = widgets(&bed).await;
    let expressions = || Some(by_phase(&group));
    bed.units.put(patient(bed.unit("plain"), None));
    bed.units.put(patient(bed.unit("checked"), expressions()));
    bed.units.put(patient(bed.unit("failing"), expressions()));
    bed.sync("plain", "v1", [widget(&group, "a")]);
    bed.applied("plain", "v1").await;
    bed.sync("checked", "v1", [widget(&group, "b")]);
    bed.sync("failing", "v1", [widget(&group, "c")]);
    bed.waits("checked").await;
    bed.waits("failing").await;

    becomes(&bed, &group, "b", "Done").await;
    bed.applied("checked", "v1").await;
    bed.until("checked", |status| is(status, State::Healthy)).await;
    becomes(&bed, &group, "a", "Failed").await;
    becomes(&bed, &group, "c", "Failed").await;
    let failed = bed.phase("failing", Phase::Failed).await;
    assert!(
        failed.errors[0].contains("c status: 'Failed'"),
        "{:?}",
        failed.errors
    );

    // The health of a unit goes by the same rules as its waits.
    becomes(&bed, &group, "b", "Failed").await;
    bed.until("checked", |status| is(status, State::Degraded)).await;
    bed.engine.refresh("plain");
    let plain = bed.until("plain", |status| status.health.is_some()).await;
    assert!(is(&plain, State::Healthy), "{:?}", plain.health);
    bed.finish().await;
}

/// What somebody else makes is waited for by the rules of the unit that waits, although it has nothing of that kind.
#[tokio::test(flavor = "multi_thread")]
async fn a_unit_waits_for_what_is_not_its_own_by_its_own_rules() {
    let bed = Bed::start().await;
    let rules = OwnRules::new("outcomes", Outcomes);
    let mut unit = patient(bed.unit("shop"), Some(rules));
    let mut theirs = slow("theirs");
    theirs.set_at(&["metadata", "namespace"], bed.space.as_str());
    unit.policy.options.wait.as_mut().unwrap().objects = Some(vec![ObjectKey::of(&theirs)]);
    bed.units.put(unit);
    let secret = value!({ "apiVersion": "v1", "kind": "Secret", "metadata": { "name": "s" }, "data": {} });
    bed.sync("shop", "v1", [secret]);
    bed.waits("shop").await;
    bed.by_hand("", theirs).await;
    bed.outcome("theirs", "done").await;
    bed.applied("shop", "v1").await;
    bed.finish().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_paused_deployment_is_held_to_argo_cd_and_not_done_to_flux() {
    let bed = Bed::start().await;
    let paused = |name: &str| {
        value!({
            "apiVersion": "apps/v1", "kind": "Deployment", "metadata": { "name": name },
            "spec": {
                "replicas": 1, "paused": true,
                "selector": { "matchLabels": { "app": name } },
                "template": {
                    "metadata": { "labels": { "app": name } },
                    "spec": { "containers": [{ "name": "app", "image": "example.com/app" }] },
                },
            },
        })
    };
    bed.units.put(patient(bed.argo("argo"), None));
    bed.units.put(patient(bed.unit("flux"), None));
    bed.sync("flux", "v1", [paused("by-flux")]);
    bed.sync("argo", "v1", [paused("by-argo")]);
    bed.applied("argo", "v1").await;
    bed.until("argo", |status| is(status, State::Suspended)).await;
    let flux = bed.waits("flux").await;
    assert_eq!(flux.revision, "");
    bed.finish().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn other_rules_of_a_unit_hold_at_once_and_have_one_watch_begun_anew() {
    let bed = Bed::start().await;
    let outcomes = || Some(OwnRules::new("outcomes", Outcomes));
    bed.units.put(patient(bed.unit("shop"), outcomes()));
    bed.sync("other", "v1", [slow("theirs")]);
    bed.applied("other", "v1").await;
    bed.until("other", |status| is(status, State::Healthy)).await;
    bed.sync("shop", "v1", [slow("mine")]);
    bed.waits("shop").await;

    // Without them, what is waited for is as it should be, and nothing has to be asked.
    let before = bed.engine.requests("").unwrap();
    change(&bed, "shop", None);
    bed.applied("shop", "v1").await;
    bed.until("shop", |status| is(status, State::Healthy)).await;
    assert_eq!(bed.engine.requests("").unwrap().since(&before).of(Verb::Watch), 0);

    change(&bed, "shop", outcomes());
    bed.until("shop", |status| is(status, State::Progressing)).await;
    bed.outcome("mine", "failed").await;
    bed.until("shop", |status| is(status, State::Degraded)).await;
    // Read once more they are the same.
    change(&bed, "shop", outcomes());
    bed.outcome("mine", "held").await;
    bed.until("shop", |status| is(status, State::Suspended)).await;
    let sent = bed.engine.requests("").unwrap().since(&before);
    assert_eq!(sent.of(Verb::Watch), 1, "{sent:?}");
    let other = bed.units.unit("other").unwrap().status;
    assert!(is(&other, State::Healthy), "{:?}", other.health);
    bed.finish().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn rules_of_a_unit_come_before_those_of_a_kind_and_these_before_those_of_the_strategy() {
    let bed = Bed::with_outcomes().await;
    let always = Check {
        api_version: "v1".to_owned(),
        kind: "ConfigMap".to_owned(),
        current: "true".to_owned(),
        ..Check::default()
    };
    let own = OwnRules::expressions(&[always]).unwrap();
    bed.units.put(patient(bed.argo("own"), Some(own)));
    bed.units.put(patient(bed.argo("argo"), None));
    bed.sync("argo", "v1", [slow("held-up"), config_map("b", "1")]);
    bed.sync("own", "v1", [slow("at-once"), config_map("a", "1")]);
    bed.applied("own", "v1").await;
    // Argo CD's rules have nothing to say of config maps, but the settings have.
    bed.waits("argo").await;
    bed.outcome("held-up", "done").await;
    bed.applied("argo", "v1").await;
    bed.finish().await;
}

/// Times that are beyond the end of the clock are no reason to fall over.
#[tokio::test(flavor = "multi_thread")]
async fn a_unit_may_wait_for_ever_in_everything() {
    let bed = Bed::with_outcomes().await;
    let mut unit = bed.unit("shop");
    unit.policy.interval = Duration::MAX;
    unit.policy.retry = Duration::MAX;
    unit.policy.generate_within = Duration::MAX;
    unit.policy.options = waiting(u64::MAX);
    unit.policy.options.stage_seconds = u64::MAX;
    bed.units.put(unit);
    bed.sync("shop", "v1", [slow("a")]);
    bed.waits("shop").await;
    bed.outcome("a", "failed").await;
    bed.phase("shop", Phase::Failed).await;
    bed.outcome("a", "done").await;
    // The engine learns of the outcome by a watch. A refresh that comes before it fails once more, and nothing is retried here.
    let every = testkit::settled::Every(Duration::from_millis(50));
    let applied = testkit::settled(testkit::DEADLINE, every, async || {
        let status = bed.units.unit("shop").unwrap().status;
        if status.revision == "v1" {
            return Ok(());
        }
        bed.engine.refresh("shop");
        Err(format!("{status:#?}"))
    });
    applied.await.unwrap();
    bed.finish().await;
}
