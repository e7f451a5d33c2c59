//! Many workloads at once.

use model::{Value, value};

use super::{APPS, Cluster, PODS, number, workload};

#[tokio::test(start_paused = true)]
async fn a_thousand_deployments_come_up_with_few_writes() {
    let cluster = Cluster::start();
    let before = cluster.revision().await;
    for number in 0..1000 {
        let name = format!("web-{number}");
        cluster
            .create(&format!("{APPS}/deployments"), workload("Deployment", &name, 1))
            .await;
    }
    cluster.pass(10.0).await;
    let deployments = cluster.list(&format!("{APPS}/deployments")).await;
    let available = |deployment: &Value| number(deployment, &["status", "availableReplicas"]) == 1;
    assert_eq!(deployments.iter().filter(|one| available(one)).count(), 1000);
    let writes = (cluster.revision().await - before) / 1000;
    // The deployment, its ReplicaSet and its pod are created and updated a few times, and six events tell of it.
    assert!(writes <= 20, "{writes} writes for each deployment");

    let idle = cluster.revision().await;
    cluster.pass(3000.0).await;
    assert_eq!(cluster.revision().await, idle, "what is up costs nothing");
}

#[tokio::test(start_paused = true)]
async fn a_large_deployment_costs_as_much_as_its_pods() {
    let cluster = Cluster::start();
    let before = cluster.revision().await;
    cluster
        .create(
            &format!("{APPS}/deployments"),
            workload("Deployment", "web", 1200),
        )
        .await;
    cluster.pass(10.0).await;
    assert_eq!(cluster.list(PODS).await.len(), 1200);
    let path = format!("{APPS}/deployments/web");
    assert_eq!(
        number(&cluster.get(&path).await, &["status", "readyReplicas"]),
        1200
    );
    let writes = (cluster.revision().await - before) / 1200;
    assert!(writes <= 9, "{writes} writes for each pod");
    cluster.patch(&path, value!({"spec": {"replicas": 0}})).await;
    cluster.pass(10.0).await;
    assert!(cluster.list(PODS).await.is_empty());
}
