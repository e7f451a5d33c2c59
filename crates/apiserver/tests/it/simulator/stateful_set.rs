//! StatefulSets.

use model::{Value, value};

use super::{APPS, Cluster, PODS, is_ready, number, template, workload};

const DB: &str = "/apis/apps/v1/namespaces/default/statefulsets/db";
const CLAIMS: &str = "/api/v1/namespaces/default/persistentvolumeclaims";

fn set(replicas: i64) -> Value {
    let mut set = workload("StatefulSet", "db", replicas);
    set.set_at(&["spec", "serviceName"], "db");
    set
}

async fn create(cluster: &Cluster, set: Value) {
    cluster.create(&format!("{APPS}/statefulsets"), set).await;
}

fn is_current(set: &Value) -> bool {
    let wanted = number(set, &["spec", "replicas"]);
    let count = |field: &str| number(set, &["status", field]);
    count("observedGeneration") == number(set, &["metadata", "generation"])
        && [
            "replicas",
            "readyReplicas",
            "availableReplicas",
            "currentReplicas",
            "updatedReplicas",
        ]
        .iter()
        .all(|field| count(field) == wanted)
        && set.str_at(&["status", "currentRevision"]) == set.str_at(&["status", "updateRevision"])
}

/// What happened to pods: names with `+` when they came, `!` when they became ready, `-` when they went.
async fn story(cluster: &Cluster, since: u64) -> Vec<String> {
    let mut story: Vec<String> = Vec::new();
    for (kind, pod) in cluster.changes(PODS, since).await {
        let name = pod.str_at(&["metadata", "name"]);
        let line = match kind.as_str() {
            "ADDED" => format!("+{name}"),
            "DELETED" => format!("-{name}"),
            _ if is_ready(&pod) && pod.at(&["metadata", "deletionTimestamp"]).is_none() => {
                format!("!{name}")
            }
            _ => continue,
        };
        if story.last() != Some(&line) {
            story.push(line);
        }
    }
    story
}

#[tokio::test(start_paused = true)]
async fn pods_come_one_after_the_other_and_go_the_other_way() {
    let cluster = Cluster::start();
    let start = cluster.revision().await;
    create(&cluster, set(3)).await;
    let db = cluster.until(DB, is_current).await;
    assert_eq!(
        story(&cluster, start).await,
        ["+db-0", "!db-0", "+db-1", "!db-1", "+db-2", "!db-2"]
    );
    let pod = cluster.get(&format!("{PODS}/db-1")).await;
    assert_eq!(pod.str_at(&["spec", "hostname"]), "db-1");
    assert_eq!(pod.str_at(&["spec", "subdomain"]), "db");
    let label = |name: &str| pod.str_at(&["metadata", "labels", name]).to_owned();
    assert_eq!(label("statefulset.kubernetes.io/pod-name"), "db-1");
    assert_eq!(label("apps.kubernetes.io/pod-index"), "1");
    assert_eq!(
        label("controller-revision-hash"),
        db.str_at(&["status", "updateRevision"])
    );
    assert_eq!(db.at(&["status", "collisionCount"]), Some(&0.into()));

    let start = cluster.revision().await;
    cluster.patch(DB, value!({"spec": {"replicas": 1}})).await;
    cluster.until(DB, is_current).await;
    assert_eq!(story(&cluster, start).await, ["-db-2", "-db-1"]);
}

#[tokio::test(start_paused = true)]
async fn parallel_pods_come_at_once() {
    let cluster = Cluster::start();
    let start = cluster.revision().await;
    let mut db = set(3);
    db.set_at(&["spec", "podManagementPolicy"], "Parallel");
    create(&cluster, db).await;
    cluster.until(DB, is_current).await;
    assert_eq!(
        story(&cluster, start).await,
        ["+db-0", "+db-1", "+db-2", "!db-0", "!db-1", "!db-2"]
    );
}

#[tokio::test(start_paused = true)]
async fn an_update_replaces_the_last_pod_first_and_stops_at_the_partition() {
    let cluster = Cluster::start();
    create(&cluster, set(3)).await;
    let before = cluster.until(DB, is_current).await;
    let start = cluster.revision().await;
    let mut change = value!({"spec": {"template": (template("db", "app:2"))}});
    change.set_at(
        &["spec", "updateStrategy"],
        value!({"type": "RollingUpdate", "rollingUpdate": {"partition": 1}}),
    );
    cluster.patch(DB, change).await;
    cluster.pass(10.0).await;
    assert_eq!(
        story(&cluster, start).await,
        ["-db-2", "+db-2", "!db-2", "-db-1", "+db-1", "!db-1"]
    );
    let db = cluster.get(DB).await;
    let revision = |field: &str| db.str_at(&["status", field]).to_owned();
    assert_eq!(
        revision("currentRevision"),
        before.str_at(&["status", "currentRevision"])
    );
    assert_ne!(revision("currentRevision"), revision("updateRevision"));
    assert_eq!(number(&db, &["status", "updatedReplicas"]), 2);
    assert_eq!(number(&db, &["status", "currentReplicas"]), 1);
    // A pod below the partition comes back as it was.
    cluster.delete(&format!("{PODS}/db-0")).await;
    cluster.pass(5.0).await;
    let first = cluster.get(&format!("{PODS}/db-0")).await;
    assert_eq!(
        first.list_at(&["spec", "containers"])[0].str_at(&["image"]),
        "app:1"
    );

    let open = value!({"spec": {"updateStrategy": {"rollingUpdate": {"partition": 0}}}});
    cluster.patch(DB, open).await;
    let db = cluster.until(DB, is_current).await;
    assert_eq!(
        db.str_at(&["status", "currentRevision"]),
        revision("updateRevision")
    );
    let revisions = cluster.list(&format!("{APPS}/controllerrevisions")).await;
    let mut numbers: Vec<i64> = revisions.iter().map(|one| number(one, &["revision"])).collect();
    numbers.sort();
    assert_eq!(numbers, [1, 2]);
}

#[tokio::test(start_paused = true)]
async fn going_back_to_an_earlier_template_makes_its_revision_the_newest() {
    let cluster = Cluster::start();
    create(&cluster, set(1)).await;
    let first = cluster.until(DB, is_current).await;
    for version in ["app:2", "app:1"] {
        cluster
            .patch(DB, value!({"spec": {"template": (template("db", version))}}))
            .await;
        cluster.pass(5.0).await;
    }
    let last = cluster.until(DB, is_current).await;
    let revision = first.str_at(&["status", "currentRevision"]);
    assert_eq!(last.str_at(&["status", "currentRevision"]), revision);
    let object = cluster
        .get(&format!("{APPS}/controllerrevisions/{revision}"))
        .await;
    assert_eq!(number(&object, &["revision"]), 3);
}

#[tokio::test(start_paused = true)]
async fn nothing_is_replaced_where_that_is_left_to_deletion() {
    let cluster = Cluster::start();
    let mut db = set(2);
    db.set_at(&["spec", "updateStrategy"], value!({"type": "OnDelete"}));
    create(&cluster, db).await;
    cluster
        .until(DB, |set| number(set, &["status", "availableReplicas"]) == 2)
        .await;
    cluster
        .patch(DB, value!({"spec": {"template": (template("db", "app:2"))}}))
        .await;
    cluster.pass(5.0).await;
    assert_eq!(number(&cluster.get(DB).await, &["status", "updatedReplicas"]), 0);
    cluster.delete(&format!("{PODS}/db-0")).await;
    cluster.pass(5.0).await;
    assert_eq!(number(&cluster.get(DB).await, &["status", "updatedReplicas"]), 1);
}

#[tokio::test(start_paused = true)]
async fn claims_are_made_for_each_pod_and_outlive_it() {
    let cluster = Cluster::start();
    let mut db = set(2);
    let claim = value!({
        "metadata": {"name": "data"},
        "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}},
    });
    db.set_at(&["spec", "volumeClaimTemplates"], vec![claim]);
    create(&cluster, db).await;
    cluster.until(DB, is_current).await;
    assert_eq!(cluster.names(CLAIMS).await, ["data-db-0", "data-db-1"]);
    let pod = cluster.get(&format!("{PODS}/db-1")).await;
    let volumes = pod.list_at(&["spec", "volumes"]);
    assert_eq!(
        volumes[0],
        value!({"name": "data", "persistentVolumeClaim": {"claimName": "data-db-1"}})
    );
    cluster.delete(DB).await;
    cluster.pass(5.0).await;
    assert!(cluster.list(PODS).await.is_empty());
    assert_eq!(cluster.names(CLAIMS).await.len(), 2);
}

#[tokio::test(start_paused = true)]
async fn claims_go_with_the_set_or_the_pod_where_it_says_so() {
    let cluster = Cluster::start();
    let mut db = set(2);
    let claim = value!({
        "metadata": {"name": "data"},
        "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}},
    });
    db.set_at(&["spec", "volumeClaimTemplates"], vec![claim]);
    let policy = value!({"whenDeleted": "Delete", "whenScaled": "Delete"});
    db.set_at(&["spec", "persistentVolumeClaimRetentionPolicy"], policy);
    create(&cluster, db).await;
    cluster.until(DB, is_current).await;
    cluster.patch(DB, value!({"spec": {"replicas": 1}})).await;
    cluster.pass(5.0).await;
    assert_eq!(cluster.names(CLAIMS).await, ["data-db-0"]);
    cluster.delete(DB).await;
    cluster.pass(5.0).await;
    assert!(cluster.names(CLAIMS).await.is_empty());
    assert!(cluster.names("/api/v1/persistentvolumes").await.is_empty());
}
