//! Bare pods.

use std::time::Duration;

use apiserver::simulator::{ANNOTATION, Options};
use model::{Value, value};

use super::{Cluster, PODS, condition, is_ready, number, says};

const ONE: &str = "/api/v1/namespaces/default/pods/one";

fn pod(policy: &str, outcome: &str) -> Value {
    value!({
        "apiVersion": "v1", "kind": "Pod",
        "metadata": {"name": "one", "annotations": {ANNOTATION: outcome}},
        "spec": {
            "restartPolicy": policy,
            "initContainers": [{"name": "first", "image": "init:1"}],
            "containers": [{"name": "main", "image": "app:1"}],
        },
    })
}

fn main(pod: &Value) -> &Value {
    &pod.list_at(&["status", "containerStatuses"])[0]
}

#[tokio::test(start_paused = true)]
async fn a_pod_starts_after_its_delay_and_stops_after_its_own() {
    let cluster = Cluster::with(Options {
        start_delay: Duration::from_secs(5),
        stop_delay: Duration::from_secs(3),
        ..Options::default()
    });
    let start = cluster.revision().await;
    cluster.create(PODS, pod("Always", "")).await;
    cluster.pass(4.0).await;
    let one = cluster.get(ONE).await;
    assert_eq!(one.str_at(&["spec", "nodeName"]), "sim-0");
    assert_eq!(one.str_at(&["status", "phase"]), "Pending");
    assert_eq!(
        main(&one).str_at(&["state", "waiting", "reason"]),
        "PodInitializing"
    );
    cluster.pass(2.0).await;
    let one = cluster.get(ONE).await;
    assert!(is_ready(&one));
    assert_eq!(one.str_at(&["status", "phase"]), "Running");
    assert_eq!(number(&one, &["status", "observedGeneration"]), 1);
    let init = &one.list_at(&["status", "initContainerStatuses"])[0];
    assert_eq!(init.str_at(&["state", "terminated", "reason"]), "Completed");
    let kinds: Vec<&str> = one
        .list_at(&["status", "conditions"])
        .iter()
        .map(|condition| condition.str_at(&["type"]))
        .collect();
    assert_eq!(
        kinds,
        [
            "PodReadyToStartContainers",
            "Initialized",
            "Ready",
            "ContainersReady",
            "PodScheduled"
        ]
    );
    assert_eq!(
        cluster.events("Scheduled").await,
        ["Successfully assigned default/one to sim-0"]
    );
    // Made, placed, being created, running.
    assert_eq!(cluster.changes(PODS, start).await.len(), 4);

    cluster.delete(ONE).await;
    cluster.pass(2.5).await;
    let one = cluster.get(ONE).await;
    assert!(one.at(&["metadata", "deletionTimestamp"]).is_some());
    cluster.pass(1.0).await;
    assert!(cluster.find(ONE).await.is_none());
}

#[tokio::test(start_paused = true)]
async fn a_pod_that_does_not_restart_ends() {
    for (outcome, phase, code, why) in [
        ("", "Succeeded", 0, "PodCompleted"),
        ("crash", "Failed", 1, "PodFailed"),
    ] {
        let cluster = Cluster::start();
        cluster.create(PODS, pod("Never", outcome)).await;
        cluster.pass(2.0).await;
        let one = cluster.get(ONE).await;
        assert_eq!(one.str_at(&["status", "phase"]), phase);
        assert_eq!(number(main(&one), &["state", "terminated", "exitCode"]), code);
        assert_eq!(condition(&one, "Ready").unwrap().str_at(&["reason"]), why);
        cluster.delete(ONE).await;
        assert!(cluster.find(ONE).await.is_none());
    }
}

#[tokio::test(start_paused = true)]
async fn a_crashing_pod_is_tried_again_ever_later() {
    let cluster = Cluster::start();
    cluster.create(PODS, pod("Always", "crash")).await;
    let mut restarts = Vec::new();
    for seconds in [5.0, 10.0, 20.0, 40.0, 80.0] {
        cluster.pass(seconds).await;
        let one = cluster.get(ONE).await;
        assert_eq!(
            main(&one).str_at(&["state", "waiting", "reason"]),
            "CrashLoopBackOff"
        );
        assert_eq!(number(main(&one), &["lastState", "terminated", "exitCode"]), 1);
        restarts.push(number(main(&one), &["restartCount"]));
    }
    assert_eq!(restarts, [1, 2, 3, 4, 5]);
    assert_eq!(cluster.events("BackOff").await.len(), 1);
    assert_eq!(
        says(&cluster.get(ONE).await, "Ready"),
        "False/ContainersNotReady: containers with unready status: [main]"
    );
}

#[tokio::test(start_paused = true)]
async fn a_pod_whose_image_is_missing_never_starts() {
    let cluster = Cluster::start();
    cluster.create(PODS, pod("Always", "image-pull")).await;
    cluster.pass(60.0).await;
    let one = cluster.get(ONE).await;
    assert_eq!(one.str_at(&["status", "phase"]), "Pending");
    assert_eq!(
        main(&one).str_at(&["state", "waiting", "reason"]),
        "ImagePullBackOff"
    );
    let before = cluster.revision().await;
    cluster.pass(600.0).await;
    assert_eq!(cluster.revision().await, before, "a pod that waits costs nothing");
}

#[tokio::test(start_paused = true)]
async fn a_gated_pod_waits_to_be_let_go() {
    let cluster = Cluster::start();
    let mut gated = pod("Always", "");
    gated.set_at(
        &["spec", "schedulingGates"],
        value!([{"name": "example.org/wait"}]),
    );
    gated.set_at(
        &["spec", "readinessGates"],
        value!([{"conditionType": "example.org/warm"}]),
    );
    cluster.create(PODS, gated).await;
    cluster.pass(5.0).await;
    assert_eq!(cluster.get(ONE).await.str_at(&["spec", "nodeName"]), "");
    cluster
        .patch(ONE, value!({"spec": {"schedulingGates": null}}))
        .await;
    cluster.pass(5.0).await;
    let one = cluster.get(ONE).await;
    assert!(
        says(&one, "Ready").starts_with("False/ReadinessGatesNotReady"),
        "{}",
        says(&one, "Ready")
    );
    let mut conditions = one.list_at(&["status", "conditions"]).to_vec();
    conditions.push(value!({"type": "example.org/warm", "status": "True"}));
    cluster
        .patch(
            &format!("{ONE}/status"),
            value!({"status": {"conditions": conditions}}),
        )
        .await;
    cluster.pass(1.0).await;
    assert!(is_ready(&cluster.get(ONE).await));
}

#[tokio::test(start_paused = true)]
async fn a_pod_waits_for_its_claim() {
    let cluster = Cluster::start();
    let mut one = pod("Always", "");
    let volume = value!({"name": "data", "persistentVolumeClaim": {"claimName": "data"}});
    one.set_at(&["spec", "volumes"], vec![volume]);
    cluster.create(PODS, one).await;
    cluster.pass(5.0).await;
    let one = cluster.get(ONE).await;
    assert!(
        says(&one, "PodScheduled").starts_with(
            "False/Unschedulable: 0/1 nodes are available: persistentvolumeclaim \"data\" not found."
        ),
        "{}",
        says(&one, "PodScheduled")
    );
    let claim = value!({
        "apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"name": "data"},
        "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}},
    });
    cluster
        .create("/api/v1/namespaces/default/persistentvolumeclaims", claim)
        .await;
    cluster.until(ONE, is_ready).await;
}

#[tokio::test(start_paused = true)]
async fn ending_a_namespace_ends_what_runs_in_it() {
    let cluster = Cluster::start();
    let namespace = value!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "tmp"}});
    cluster.create("/api/v1/namespaces", namespace).await;
    let deployment = super::workload("Deployment", "web", 20);
    cluster
        .create("/apis/apps/v1/namespaces/tmp/deployments", deployment)
        .await;
    cluster
        .until("/apis/apps/v1/namespaces/tmp/deployments/web", |web| {
            number(web, &["status", "readyReplicas"]) == 20
        })
        .await;
    cluster.delete("/api/v1/namespaces/tmp").await;
    cluster.until_gone("/api/v1/namespaces/tmp").await;
    assert!(cluster.list("/api/v1/pods").await.is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_pod_with_an_unknown_outcome_waits_and_says_so() {
    let message = "annotation simulator.sluice.dev/outcome is \"bogus\", which is not one of image-pull, crash, never-ready";
    let cluster = Cluster::start();
    cluster.create(PODS, pod("Always", "bogus")).await;
    cluster.pass(60.0).await;
    let one = cluster.get(ONE).await;
    assert_eq!(one.str_at(&["status", "phase"]), "Pending");
    assert!(!is_ready(&one));
    assert_eq!(
        main(&one).at(&["state", "waiting"]),
        Some(&value!({"reason": "UnknownOutcome", "message": message}))
    );
    assert_eq!(cluster.events("UnknownOutcome").await, [message]);
}

#[tokio::test(start_paused = true)]
async fn a_running_pod_whose_outcome_becomes_unknown_is_no_longer_ready() {
    let cluster = Cluster::start();
    cluster.create(PODS, pod("Always", "")).await;
    cluster.pass(10.0).await;
    assert!(is_ready(&cluster.get(ONE).await));
    let patch = value!({"metadata": {"annotations": {ANNOTATION: "bogus"}}});
    cluster.patch(ONE, patch).await;
    cluster.pass(10.0).await;
    assert!(!is_ready(&cluster.get(ONE).await));
    assert_eq!(cluster.events("UnknownOutcome").await.len(), 1);
}
