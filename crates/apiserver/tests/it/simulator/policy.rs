//! Disruption budgets and autoscalers.

use model::{Value, value};

use super::{APPS, Cluster, number, says, workload};

const BUDGETS: &str = "/apis/policy/v1/namespaces/default/poddisruptionbudgets";
const AUTOSCALERS: &str = "/apis/autoscaling/v2/namespaces/default/horizontalpodautoscalers";

fn budget(name: &str, field: &str, amount: Value) -> Value {
    value!({
        "apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "metadata": {"name": name},
        "spec": {field: amount, "selector": {"matchLabels": {"app": "web"}}},
    })
}

#[tokio::test(start_paused = true)]
async fn a_budget_tells_how_many_pods_may_be_missing() {
    let cluster = Cluster::start();
    for (name, field, amount) in [
        ("least", "minAvailable", Value::from(3)),
        ("share", "minAvailable", "50%".into()),
        ("most", "maxUnavailable", 1.into()),
    ] {
        cluster.create(BUDGETS, budget(name, field, amount)).await;
    }
    cluster.pass(1.0).await;
    let none = cluster.get(&format!("{BUDGETS}/most")).await;
    assert_eq!(number(&none, &["status", "disruptionsAllowed"]), 0);
    assert_eq!(says(&none, "DisruptionAllowed"), "False/InsufficientPods: ");
    cluster
        .create(&format!("{APPS}/deployments"), workload("Deployment", "web", 5))
        .await;
    cluster.pass(3.0).await;
    for (name, desired, allowed) in [("least", 3, 2), ("share", 3, 2), ("most", 4, 1)] {
        let budget = cluster.get(&format!("{BUDGETS}/{name}")).await;
        let mut status = budget.get("status").unwrap().clone();
        status.remove_at(&["conditions"]);
        let expected = value!({
            "currentHealthy": 5, "desiredHealthy": desired, "disruptionsAllowed": allowed, "expectedPods": 5,
            "observedGeneration": 1,
        });
        assert_eq!(status, expected, "{name}");
        assert_eq!(says(&budget, "DisruptionAllowed"), "True/SufficientPods: ");
    }
}

#[tokio::test(start_paused = true)]
async fn an_autoscaler_keeps_a_workload_within_its_limits() {
    let cluster = Cluster::start();
    let autoscaler = value!({
        "apiVersion": "autoscaling/v2", "kind": "HorizontalPodAutoscaler", "metadata": {"name": "web"},
        "spec": {
            "scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"},
            "minReplicas": 2, "maxReplicas": 4,
            "metrics": [{
                "type": "Resource", "resource": {"name": "cpu", "target": {"type": "Utilization", "averageUtilization": 70}},
            }],
        },
    });
    cluster.create(AUTOSCALERS, autoscaler).await;
    cluster.pass(1.0).await;
    let path = format!("{AUTOSCALERS}/web");
    let lost = cluster.get(&path).await;
    assert!(says(&lost, "AbleToScale").starts_with("False/FailedGetScale"));
    cluster
        .create(&format!("{APPS}/deployments"), workload("Deployment", "web", 1))
        .await;
    cluster
        .until(&path, |scaler| {
            number(scaler, &["status", "currentReplicas"]) == 2
        })
        .await;
    let web = format!("{APPS}/deployments/web");
    cluster.patch(&web, value!({"spec": {"replicas": 9}})).await;
    cluster
        .until(&web, |web| number(web, &["status", "readyReplicas"]) == 4)
        .await;
    cluster.pass(1.0).await;
    let scaler = cluster.get(&path).await;
    assert_eq!(number(&scaler, &["status", "desiredReplicas"]), 4);
    assert!(says(&scaler, "AbleToScale").starts_with("True/"));
    assert!(says(&scaler, "ScalingActive").starts_with("True/ValidMetricFound"));
    let metric = &scaler.list_at(&["status", "currentMetrics"])[0];
    assert_eq!(number(metric, &["resource", "current", "averageUtilization"]), 70);
}
