//! Units as they are stored.

use std::time::Duration;

use engine::diff::{IgnoreRule, IgnoreRules, Takeover};
use engine::plan::{Budget, CreateNamespace, Health, Order, Strategy};
use engine::unit::{Operation, Policy, SyncUnit};
use model::value;

/// The unit as it comes back from where it was stored.
fn stored(unit: &SyncUnit) -> SyncUnit {
    serde_json::from_str(&serde_json::to_string(unit).unwrap()).unwrap()
}

#[test]
fn a_unit_is_stored_and_read_back_with_all_that_it_asks_for() {
    let rule = IgnoreRule {
        paths: vec!["/spec/replicas".to_owned()],
        ..IgnoreRule::default()
    };
    let mut custom = Strategy::flux("apps", "shop");
    custom.order = Order::Flux {
        custom: engine::plan::GroupKind::list("example.com/Widget"),
    };
    let strategies = [
        custom,
        Strategy::helm(),
        Strategy::flux_v1("set"),
        Strategy::argo("apps"),
    ];
    for strategy in strategies {
        let mut unit: SyncUnit = serde_json::from_str(r#"{"id": "shop"}"#).unwrap();
        unit.source.parameters = value!({ "path": "apps" });
        unit.operation = Some(Operation::default());
        unit.policy = Policy {
            interval: Duration::from_millis(1500),
            takeover: Takeover::flux("sluice", "example.com", ["helm"]),
            ignore: IgnoreRules::new(std::slice::from_ref(&rule)).unwrap(),
            strategy,
            ..Policy::default()
        };
        let options = &mut unit.policy.options;
        options.budget = Budget {
            count: Some(3),
            percent: Some(10),
        };
        options.wait = Some(Health::default());
        options.argo.create_namespace = Some(CreateNamespace::default());
        assert_eq!(format!("{unit:?}"), format!("{:?}", stored(&unit)));
    }
}

#[test]
fn a_unit_that_says_nothing_has_the_default_policy_and_a_rule_that_cannot_be_read_is_refused() {
    let unit: SyncUnit = serde_json::from_str(r#"{"id": "shop", "policy": {"retry": 5}}"#).unwrap();
    let wanted = Policy {
        retry: Duration::from_secs(5),
        ..Policy::default()
    };
    assert_eq!(format!("{:?}", unit.policy), format!("{wanted:?}"));
    let wrong = r#"{"id": "shop", "policy": {"ignore": [{"paths": ["replicas"]}]}}"#;
    let error = serde_json::from_str::<SyncUnit>(wrong).unwrap_err();
    assert!(error.to_string().contains("ignore rule"), "{error}");
}
