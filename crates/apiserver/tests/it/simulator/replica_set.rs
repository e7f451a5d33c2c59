//! ReplicaSets and ReplicationControllers.

use model::value;

use super::{APPS, Cluster, PODS, number, says, template, workload};

#[tokio::test(start_paused = true)]
async fn a_pod_that_is_deleted_is_replaced() {
    let cluster = Cluster::start();
    let path = format!("{APPS}/replicasets/web");
    cluster
        .create(&format!("{APPS}/replicasets"), workload("ReplicaSet", "web", 2))
        .await;
    cluster
        .until(&path, |set| number(set, &["status", "availableReplicas"]) == 2)
        .await;
    let before = cluster.names(PODS).await;
    cluster.delete(&format!("{PODS}/{}", before[0])).await;
    cluster.pass(1.0).await;
    let after = cluster.names(PODS).await;
    assert_eq!(after.len(), 2);
    assert!(!after.contains(&before[0]) && after.contains(&before[1]));
    let set = cluster.get(&path).await;
    let expected = value!({
        "availableReplicas": 2, "fullyLabeledReplicas": 2, "observedGeneration": 1, "readyReplicas": 2, "replicas": 2,
        "terminatingReplicas": 0,
    });
    assert_eq!(set.get("status"), Some(&expected));
}

#[tokio::test(start_paused = true)]
async fn bare_pods_are_adopted_and_relabelled_ones_released() {
    let cluster = Cluster::start();
    let mut pod = template("web", "app:1");
    pod.set_at(&["metadata", "name"], "bare");
    cluster.create(PODS, pod).await;
    cluster
        .create(&format!("{APPS}/replicasets"), workload("ReplicaSet", "web", 2))
        .await;
    cluster.pass(1.0).await;
    assert_eq!(cluster.list(PODS).await.len(), 2);
    let bare = cluster.get(&format!("{PODS}/bare")).await;
    assert_eq!(
        bare.list_at(&["metadata", "ownerReferences"])[0].str_at(&["name"]),
        "web"
    );
    let relabel = value!({"metadata": {"labels": {"app": "other"}}});
    cluster.patch(&format!("{PODS}/bare"), relabel).await;
    cluster.pass(1.0).await;
    assert_eq!(cluster.list(PODS).await.len(), 3);
    let bare = cluster.get(&format!("{PODS}/bare")).await;
    assert!(bare.at(&["metadata", "ownerReferences"]).is_none());
}

#[tokio::test(start_paused = true)]
async fn a_set_tells_why_it_cannot_make_pods() {
    let cluster = Cluster::start();
    let path = format!("{APPS}/replicasets/web");
    let mut set = workload("ReplicaSet", "web", 1);
    set.set_at(&["spec", "template", "spec", "priorityClassName"], "gold");
    cluster.create(&format!("{APPS}/replicasets"), set).await;
    cluster.pass(1.0).await;
    let set = cluster.get(&path).await;
    assert_eq!(
        says(&set, "ReplicaFailure"),
        "True/FailedCreate: pods \"web-\" is forbidden: no PriorityClass with name gold was found"
    );
    assert_eq!(cluster.events("FailedCreate").await.len(), 1);
    let class = value!({
        "apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": "gold"}, "value": 7,
    });
    cluster
        .create("/apis/scheduling.k8s.io/v1/priorityclasses", class)
        .await;
    let set = cluster
        .until(&path, |set| number(set, &["status", "readyReplicas"]) == 1)
        .await;
    assert_eq!(says(&set, "ReplicaFailure"), "");
}

#[tokio::test(start_paused = true)]
async fn replication_controllers_work_as_well() {
    let cluster = Cluster::start();
    let controller = value!({
        "apiVersion": "v1", "kind": "ReplicationController", "metadata": {"name": "old"},
        "spec": {"replicas": 2, "selector": {"app": "old"}, "template": (template("old", "app:1"))},
    });
    let path = "/api/v1/namespaces/default/replicationcontrollers";
    cluster.create(path, controller).await;
    cluster
        .until(&format!("{path}/old"), |set| {
            number(set, &["status", "availableReplicas"]) == 2
        })
        .await;
    assert_eq!(cluster.list(PODS).await.len(), 2);
}
