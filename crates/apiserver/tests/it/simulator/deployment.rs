//! Deployments.

use std::collections::BTreeMap;

use apiserver::simulator::{ANNOTATION, Outcome};
use model::{Value, value};

use super::{APPS, Cluster, PODS, is_ready, number, says, template, workload};

const WEB: &str = "/apis/apps/v1/namespaces/default/deployments/web";

async fn deploy(cluster: &Cluster, deployment: Value) -> Value {
    cluster.create(&format!("{APPS}/deployments"), deployment).await;
    cluster.until(WEB, is_complete).await
}

fn is_complete(deployment: &Value) -> bool {
    let wanted = number(deployment, &["spec", "replicas"]);
    let count = |field: &str| number(deployment, &["status", field]);
    count("observedGeneration") == number(deployment, &["metadata", "generation"])
        && [
            "replicas",
            "updatedReplicas",
            "readyReplicas",
            "availableReplicas",
        ]
        .iter()
        .all(|field| count(field) == wanted)
        && says(deployment, "Progressing").starts_with("True/NewReplicaSetAvailable")
}

fn image(version: &str) -> Value {
    value!({"spec": {"template": (template("web", version))}})
}

fn rolling(surge: Value, unavailable: Value) -> Value {
    value!({"type": "RollingUpdate", "rollingUpdate": {"maxSurge": surge, "maxUnavailable": unavailable}})
}

#[tokio::test(start_paused = true)]
async fn a_new_deployment_becomes_available() {
    let cluster = Cluster::start();
    let web = deploy(&cluster, workload("Deployment", "web", 2)).await;
    let sets = cluster.list(&format!("{APPS}/replicasets")).await;
    let [set] = &sets[..] else { panic!("{sets:?}") };
    let name = set.str_at(&["metadata", "name"]);
    let hash = name.strip_prefix("web-").unwrap();
    assert_eq!(set.str_at(&["metadata", "labels", "pod-template-hash"]), hash);
    let annotations = set.at(&["metadata", "annotations"]).unwrap();
    let expected = value!({
        "deployment.kubernetes.io/desired-replicas": "2",
        "deployment.kubernetes.io/max-replicas": "3",
        "deployment.kubernetes.io/revision": "1",
    });
    assert_eq!(*annotations, expected);
    assert_eq!(
        web.str_at(&["metadata", "annotations", "deployment.kubernetes.io/revision"]),
        "1"
    );
    assert_eq!(
        says(&web, "Available"),
        "True/MinimumReplicasAvailable: Deployment has minimum availability."
    );
    assert_eq!(
        says(&web, "Progressing"),
        format!("True/NewReplicaSetAvailable: ReplicaSet \"{name}\" has successfully progressed.")
    );
    let mut status = web.get("status").unwrap().clone();
    status.remove_at(&["conditions"]);
    let counts = value!({
        "availableReplicas": 2, "observedGeneration": 1, "readyReplicas": 2, "replicas": 2, "terminatingReplicas": 0,
        "updatedReplicas": 2,
    });
    assert_eq!(status, counts);
    let scaled = cluster.events("ScalingReplicaSet").await;
    assert_eq!(scaled, [format!("Scaled up replica set {name} from 0 to 2")]);
    for pod in cluster.list(PODS).await {
        assert!(pod.str_at(&["metadata", "name"]).starts_with(&format!("{name}-")));
        let owner = &pod.list_at(&["metadata", "ownerReferences"])[0];
        assert_eq!(owner.str_at(&["kind"]), "ReplicaSet");
        assert_eq!(owner.get("controller"), Some(&true.into()));
    }
}

/// Follows the pods through their changes; tells how many were ready and how many were there, at least and at most.
async fn counts(cluster: &Cluster, since: u64) -> (usize, usize) {
    let mut pods: BTreeMap<String, bool> = BTreeMap::new();
    let (mut least_ready, mut most) = (usize::MAX, 0);
    for (kind, pod) in cluster.changes(PODS, since).await {
        let name = pod.str_at(&["metadata", "name"]).to_owned();
        let deleting = pod.at(&["metadata", "deletionTimestamp"]).is_some();
        match kind.as_str() {
            "DELETED" => drop(pods.remove(&name)),
            _ if deleting => drop(pods.remove(&name)),
            _ => drop(pods.insert(name, is_ready(&pod))),
        }
        least_ready = least_ready.min(pods.values().filter(|ready| **ready).count());
        most = most.max(pods.len());
    }
    (least_ready, most)
}

#[tokio::test(start_paused = true)]
async fn a_rolling_update_stays_within_its_limits() {
    for (surge, unavailable) in [(1, 0), (0, 1), (3, 2)] {
        let cluster = Cluster::start();
        let mut web = workload("Deployment", "web", 5);
        web.set_at(&["spec", "strategy"], rolling(surge.into(), unavailable.into()));
        deploy(&cluster, web).await;
        // From here on the pods that are there count.
        let start = cluster.revision().await;
        for pod in cluster.list(PODS).await {
            let path = format!("{PODS}/{}", pod.str_at(&["metadata", "name"]));
            cluster
                .patch(&path, value!({"metadata": {"annotations": {"seen": "yes"}}}))
                .await;
        }
        let warm = cluster.changes(PODS, start).await.len();
        assert_eq!(warm, 5);
        cluster.patch(WEB, image("app:2")).await;
        cluster
            .until(WEB, |web| {
                is_complete(web) && number(web, &["status", "observedGeneration"]) > 1
            })
            .await;
        let mut ready_before: BTreeMap<String, bool> = BTreeMap::new();
        let (mut least, mut most) = (usize::MAX, 0);
        for (number, (kind, pod)) in cluster.changes(PODS, start).await.into_iter().enumerate() {
            let name = pod.str_at(&["metadata", "name"]).to_owned();
            let gone = kind == "DELETED" || pod.at(&["metadata", "deletionTimestamp"]).is_some();
            match gone {
                true => drop(ready_before.remove(&name)),
                false => drop(ready_before.insert(name, is_ready(&pod))),
            }
            if number >= warm {
                least = least.min(ready_before.values().filter(|ready| **ready).count());
                most = most.max(ready_before.len());
            }
        }
        assert!(
            least >= 5 - unavailable as usize,
            "{surge}/{unavailable}: {least} were ready"
        );
        assert!(
            most <= 5 + surge as usize,
            "{surge}/{unavailable}: {most} were there"
        );
        let images: Vec<String> = cluster
            .list(PODS)
            .await
            .iter()
            .map(|pod| {
                pod.list_at(&["spec", "containers"])[0]
                    .str_at(&["image"])
                    .to_owned()
            })
            .collect();
        assert_eq!(images, ["app:2"; 5]);
    }
}

#[tokio::test(start_paused = true)]
async fn recreating_lets_everything_old_go_first() {
    let cluster = Cluster::start();
    let mut web = workload("Deployment", "web", 3);
    web.set_at(&["spec", "strategy"], value!({"type": "Recreate"}));
    deploy(&cluster, web).await;
    let start = cluster.revision().await;
    cluster.patch(WEB, image("app:2")).await;
    cluster
        .until(WEB, |web| {
            is_complete(web) && number(web, &["metadata", "generation"]) == 2
        })
        .await;
    let mut old_are_there = 3;
    for (kind, pod) in cluster.changes(PODS, start).await {
        let image = pod.list_at(&["spec", "containers"])[0].str_at(&["image"]);
        match (kind.as_str(), image) {
            ("DELETED", "app:1") => old_are_there -= 1,
            ("ADDED", "app:2") => assert_eq!(old_are_there, 0),
            _ => {}
        }
    }
    let (least_ready, most) = counts(&cluster, start).await;
    assert_eq!((least_ready, most), (0, 3));
}

#[tokio::test(start_paused = true)]
async fn a_failing_rollout_runs_into_its_deadline_and_can_be_undone() {
    let cluster = Cluster::start();
    let mut web = workload("Deployment", "web", 4);
    web.set_at(&["spec", "progressDeadlineSeconds"], 30);
    deploy(&cluster, web).await;
    let mut bad = image("app:2");
    let annotations = value!({ANNOTATION: "never-ready"});
    bad.set_at(&["spec", "template", "metadata", "annotations"], annotations);
    cluster.patch(WEB, bad).await;
    let late = cluster
        .until(WEB, |web| says(web, "Progressing").starts_with("False"))
        .await;
    let sets = cluster.list(&format!("{APPS}/replicasets")).await;
    let new = sets
        .iter()
        .find(|set| set.str_at(&["metadata", "annotations", "deployment.kubernetes.io/revision"]) == "2");
    let name = new.unwrap().str_at(&["metadata", "name"]);
    assert_eq!(
        says(&late, "Progressing"),
        format!("False/ProgressDeadlineExceeded: ReplicaSet \"{name}\" has timed out progressing.")
    );
    // One surges, one may be missing: three of the old ones serve on.
    assert_eq!(number(&late, &["status", "availableReplicas"]), 3);
    assert_eq!(number(&late, &["status", "updatedReplicas"]), 2);
    assert!(says(&late, "Available").starts_with("True/MinimumReplicasAvailable"));

    let old = sets
        .iter()
        .find(|set| set.str_at(&["metadata", "name"]) != name)
        .unwrap();
    let mut back = value!({"spec": {"template": (old.at(&["spec", "template"]).unwrap().clone())}});
    back.set_at(&["spec", "template", "metadata", "annotations"], Value::Null);
    back.set_at(
        &["spec", "template", "metadata", "labels", "pod-template-hash"],
        Value::Null,
    );
    cluster.patch(WEB, back).await;
    let web = cluster.until(WEB, is_complete).await;
    let revision = "deployment.kubernetes.io/revision";
    assert_eq!(web.str_at(&["metadata", "annotations", revision]), "3");
    let old = cluster
        .get(&format!(
            "{APPS}/replicasets/{}",
            old.str_at(&["metadata", "name"])
        ))
        .await;
    assert_eq!(old.str_at(&["metadata", "annotations", revision]), "3");
    let history = "deployment.kubernetes.io/revision-history";
    assert_eq!(old.str_at(&["metadata", "annotations", history]), "1");
}

#[tokio::test(start_paused = true)]
async fn a_workload_is_made_to_fail_and_to_recover_by_its_name() {
    let cluster = Cluster::start();
    cluster.server.outcomes().set("default", "web", Outcome::Crash);
    cluster
        .create(&format!("{APPS}/deployments"), workload("Deployment", "web", 1))
        .await;
    cluster.pass(5.0).await;
    let web = cluster.get(WEB).await;
    assert_eq!(
        says(&web, "Available"),
        "False/MinimumReplicasUnavailable: Deployment does not have minimum availability."
    );
    let pods = cluster.list(PODS).await;
    let waiting = pods[0].list_at(&["status", "containerStatuses"])[0].at(&["state", "waiting", "reason"]);
    assert_eq!(waiting, Some(&"CrashLoopBackOff".into()));
    cluster.server.outcomes().set("default", "web", Outcome::Fine);
    cluster.until(WEB, is_complete).await;
    cluster
        .server
        .outcomes()
        .set("default", "web", Outcome::NeverReady);
    let web = cluster
        .until(WEB, |web| number(web, &["status", "readyReplicas"]) == 0)
        .await;
    assert!(says(&web, "Available").starts_with("False"));
}

#[tokio::test(start_paused = true)]
async fn scaling_adds_and_removes_pods_without_a_new_revision() {
    let cluster = Cluster::start();
    deploy(&cluster, workload("Deployment", "web", 2)).await;
    for size in [6, 1, 0, 3] {
        cluster.patch(WEB, value!({"spec": {"replicas": size}})).await;
        cluster.until(WEB, is_complete).await;
        cluster.pass(1.0).await;
        assert_eq!(cluster.list(PODS).await.len(), size as usize);
    }
    let sets = cluster.list(&format!("{APPS}/replicasets")).await;
    assert_eq!(sets.len(), 1);
    let desired = "deployment.kubernetes.io/desired-replicas";
    assert_eq!(sets[0].str_at(&["metadata", "annotations", desired]), "3");
}

#[tokio::test(start_paused = true)]
async fn a_deployment_that_is_scaled_while_it_rolls_grows_in_proportion() {
    let cluster = Cluster::start();
    let mut web = workload("Deployment", "web", 10);
    web.set_at(&["spec", "strategy"], rolling(3.into(), 2.into()));
    deploy(&cluster, web).await;
    let mut bad = image("app:2");
    bad.set_at(
        &["spec", "template", "metadata", "annotations"],
        value!({ANNOTATION: "never-ready"}),
    );
    cluster.patch(WEB, bad).await;
    cluster.pass(5.0).await;
    let sizes = |sets: Vec<Value>| {
        let mut sizes: Vec<i64> = sets
            .iter()
            .map(|set| number(set, &["spec", "replicas"]))
            .collect();
        sizes.sort();
        sizes
    };
    let sets = format!("{APPS}/replicasets");
    assert_eq!(sizes(cluster.list(&sets).await), [5, 8]);
    // 15 and 3 more: 8 of 13 become 11, 5 of 13 become 7.
    cluster.patch(WEB, value!({"spec": {"replicas": 15}})).await;
    cluster.pass(5.0).await;
    assert_eq!(sizes(cluster.list(&sets).await), [7, 11]);
}

#[tokio::test(start_paused = true)]
async fn a_paused_deployment_does_not_roll() {
    let cluster = Cluster::start();
    deploy(&cluster, workload("Deployment", "web", 2)).await;
    cluster.patch(WEB, value!({"spec": {"paused": true}})).await;
    cluster.patch(WEB, image("app:2")).await;
    cluster.pass(5.0).await;
    let web = cluster.get(WEB).await;
    assert_eq!(
        says(&web, "Progressing"),
        "Unknown/DeploymentPaused: Deployment is paused"
    );
    assert_eq!(number(&web, &["status", "updatedReplicas"]), 0);
    assert_eq!(number(&web, &["status", "observedGeneration"]), 3);
    assert_eq!(cluster.list(&format!("{APPS}/replicasets")).await.len(), 1);
    cluster.patch(WEB, value!({"spec": {"paused": null}})).await;
    cluster.until(WEB, is_complete).await;
    assert_eq!(cluster.list(&format!("{APPS}/replicasets")).await.len(), 2);
}

#[tokio::test(start_paused = true)]
async fn old_replica_sets_are_kept_up_to_the_limit() {
    let cluster = Cluster::start();
    let mut web = workload("Deployment", "web", 1);
    web.set_at(&["spec", "revisionHistoryLimit"], 2);
    deploy(&cluster, web).await;
    for version in 2..=6 {
        cluster.patch(WEB, image(&format!("app:{version}"))).await;
        cluster
            .until(WEB, |web| {
                is_complete(web) && number(web, &["metadata", "generation"]) == version
            })
            .await;
    }
    cluster.pass(2.0).await;
    let mut revisions: Vec<String> = cluster
        .list(&format!("{APPS}/replicasets"))
        .await
        .iter()
        .map(|set| {
            set.str_at(&["metadata", "annotations", "deployment.kubernetes.io/revision"])
                .to_owned()
        })
        .collect();
    revisions.sort();
    assert_eq!(revisions, ["4", "5", "6"]);
}

#[tokio::test(start_paused = true)]
async fn deleting_a_deployment_leaves_nothing() {
    for policy in ["Background", "Foreground"] {
        let cluster = Cluster::start();
        deploy(&cluster, workload("Deployment", "web", 3)).await;
        cluster.delete_by(WEB, policy).await;
        cluster.until_gone(WEB).await;
        cluster.pass(2.0).await;
        assert!(
            cluster.list(&format!("{APPS}/replicasets")).await.is_empty(),
            "{policy}"
        );
        assert!(cluster.list(PODS).await.is_empty(), "{policy}");
    }
}

#[tokio::test(start_paused = true)]
async fn what_an_orphaning_deletion_leaves_is_adopted_again() {
    let cluster = Cluster::start();
    deploy(&cluster, workload("Deployment", "web", 2)).await;
    let pods = cluster.names(PODS).await;
    cluster.delete_by(WEB, "Orphan").await;
    cluster.until_gone(WEB).await;
    let sets = cluster.list(&format!("{APPS}/replicasets")).await;
    assert!(sets[0].list_at(&["metadata", "ownerReferences"]).is_empty());
    deploy(&cluster, workload("Deployment", "web", 2)).await;
    cluster.pass(1.0).await;
    assert_eq!(cluster.names(PODS).await, pods);
    let sets = cluster.list(&format!("{APPS}/replicasets")).await;
    assert_eq!(sets.len(), 1);
    assert_eq!(sets[0].list_at(&["metadata", "ownerReferences"]).len(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_deployment_waits_for_its_pods_to_be_ready_for_a_while() {
    let cluster = Cluster::start();
    let mut web = workload("Deployment", "web", 2);
    web.set_at(&["spec", "minReadySeconds"], 20);
    cluster.create(&format!("{APPS}/deployments"), web).await;
    cluster.pass(10.0).await;
    let web = cluster.get(WEB).await;
    assert_eq!(number(&web, &["status", "readyReplicas"]), 2);
    assert_eq!(number(&web, &["status", "availableReplicas"]), 0);
    cluster.pass(12.0).await;
    assert!(is_complete(&cluster.get(WEB).await));
}
