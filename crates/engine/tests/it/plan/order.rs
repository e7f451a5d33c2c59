//! Orders, compared with what the Go code of Flux, Helm and Argo CD's engine makes of the same objects.
//!
//! `tests/data/plan/*.json` were recorded from `fluxcd/pkg/ssa` (`SortableMetas`), `helm.sh/helm/v4/pkg/release/v1/util` (`SortManifests`)
//! and `argo-cd/gitops-engine` (`syncTasks.Sort`) on random objects of known and unknown kinds.

use engine::plan::{GroupKind, Order};
use model::Str;

use super::*;

fn recorded(name: &str) -> Vec<Value> {
    let path = format!("{}/tests/data/plan/{name}.json", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read(path).unwrap();
    let cases = model::json::parse(&text).unwrap();
    let cases = cases.as_array().unwrap().to_vec();
    assert!(cases.len() >= 40);
    cases
}

fn keys(case: &Value) -> Vec<ObjectKey> {
    let text = |object: &Value, field: &str| Str::new(object.str_at(&[field]));
    let objects = case.list_at(&["objects"]).iter();
    objects
        .map(|object| ObjectKey {
            group: text(object, "group"),
            kind: text(object, "kind"),
            namespace: text(object, "namespace"),
            name: text(object, "name"),
        })
        .collect()
}

fn indices(list: &[Value]) -> Vec<usize> {
    list.iter()
        .map(|index| usize::try_from(index.as_i64().unwrap()).unwrap())
        .collect()
}

fn compare_with_record(name: &str, order: &Order) {
    for case in recorded(name) {
        let keys = keys(&case);
        let mut applied: Vec<usize> = (0..keys.len()).collect();
        applied.sort_by(|a, b| order.compare(&keys[*a], &keys[*b]));
        assert_eq!(applied, indices(case.list_at(&["apply"])));
        let mut deleted: Vec<usize> = (0..keys.len()).collect();
        deleted.sort_by(|a, b| order.compare_deletion(&keys[*a], &keys[*b]));
        assert_eq!(deleted, indices(case.list_at(&["delete"])));
    }
}

/// AP4
#[test]
fn objects_are_applied_and_deleted_in_fluxs_order() {
    compare_with_record("flux-order", &Order::Flux { custom: Vec::new() });
}

#[test]
fn objects_are_applied_and_deleted_in_helms_order() {
    compare_with_record("helm-order", &Order::Helm);
}

/// Phases, waves, kinds, names, and what is pulled forward.
#[test]
fn hooks_and_objects_are_in_argo_cds_order() {
    for case in recorded("argo-order") {
        let objects = case.list_at(&["objects"]);
        let input = input(objects.iter().map(|object| desired(object.clone())).collect());
        let plan = planned(&input, &waves());
        let ours = plan.stages.iter().flat_map(|stage| {
            let steps = stage.steps.iter();
            steps.map(|step| (step.object.unwrap().index, stage.name.as_str()))
        });
        let ours: Vec<(usize, String)> = ours.map(|(index, stage)| (index, stage.to_owned())).collect();
        let theirs = case.list_at(&["order"]).iter().map(|task| {
            let index = task.at(&["index"]).and_then(Value::as_i64).unwrap();
            let wave = task.at(&["wave"]).and_then(Value::as_i64).unwrap();
            let stage = format!("{} wave {wave}", task.str_at(&["phase"]));
            (usize::try_from(index).unwrap(), stage)
        });
        let theirs: Vec<(usize, String)> = theirs.collect();
        assert_eq!(ours, theirs, "\n{plan}");
    }
}

#[test]
fn flux_v1_orders_by_rank_and_then_by_name() {
    let order = Order::FluxV1;
    let sorted = [
        "v1 Namespace z",
        "v1 Service shop/a",
        "apiextensions.k8s.io/v1 CustomResourceDefinition b",
        "rbac.authorization.k8s.io/v1 Role shop/c",
        "networking.k8s.io/v1 Ingress shop/a",
        "v1 Secret shop/b",
        "batch/v1 Job shop/a",
        "apps/v1 Deployment shop/b",
        "example.com/v1 Widget shop/a",
        "v1 Pod shop/b",
    ];
    let keys: Vec<ObjectKey> = sorted.iter().map(|text| key(text)).collect();
    for (at, a) in keys.iter().enumerate() {
        for (other, b) in keys.iter().enumerate() {
            assert_eq!(order.compare(a, b), at.cmp(&other), "{a} and {b}");
            assert_eq!(order.compare_deletion(a, b), other.cmp(&at), "{a} and {b}");
        }
    }
}

#[test]
fn lists_of_kinds_are_read_as_the_flag_takes_them() {
    let kinds = GroupKind::list("cert-manager.io/ClusterIssuer, Thing,,");
    let kinds: Vec<(&str, &str)> = kinds
        .iter()
        .map(|kind| (kind.group.as_str(), kind.kind.as_str()))
        .collect();
    assert_eq!(kinds, [("cert-manager.io", "ClusterIssuer"), ("", "Thing")]);
}
