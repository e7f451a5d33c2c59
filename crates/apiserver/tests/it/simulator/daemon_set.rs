//! DaemonSets.

use model::{Value, value};

use super::{APPS, Cluster, PODS, number, template, workload};

const AGENT: &str = "/apis/apps/v1/namespaces/default/daemonsets/agent";

fn set() -> Value {
    let mut set = workload("DaemonSet", "agent", 0);
    set.remove_at(&["spec", "replicas"]);
    set
}

fn is_current(set: &Value) -> bool {
    let count = |field: &str| number(set, &["status", field]);
    let desired = count("desiredNumberScheduled");
    count("observedGeneration") == number(set, &["metadata", "generation"])
        && [
            "currentNumberScheduled",
            "numberReady",
            "numberAvailable",
            "updatedNumberScheduled",
        ]
        .iter()
        .all(|field| count(field) == desired)
}

async fn add_node(cluster: &Cluster, name: &str, node: Value) {
    let mut node = node;
    node.set_at(&["metadata", "name"], name);
    cluster.create("/api/v1/nodes", node).await;
}

#[tokio::test(start_paused = true)]
async fn there_is_a_pod_on_each_node_that_suits() {
    let cluster = Cluster::start();
    cluster.create(&format!("{APPS}/daemonsets"), set()).await;
    let agent = cluster
        .until(AGENT, |set| {
            is_current(set) && number(set, &["status", "numberReady"]) == 1
        })
        .await;
    let mut status = agent.get("status").unwrap().clone();
    status.remove_at(&["conditions"]);
    let expected = value!({
        "currentNumberScheduled": 1, "desiredNumberScheduled": 1, "numberAvailable": 1, "numberMisscheduled": 0,
        "numberReady": 1, "observedGeneration": 1, "updatedNumberScheduled": 1,
    });
    assert_eq!(status, expected);

    add_node(&cluster, "extra", value!({})).await;
    let closed = value!({"spec": {"taints": [{"key": "only", "value": "me", "effect": "NoSchedule"}]}});
    add_node(&cluster, "closed", closed).await;
    cluster
        .until(AGENT, |set| {
            is_current(set) && number(set, &["status", "numberReady"]) == 2
        })
        .await;
    let nodes: Vec<String> = cluster
        .list(PODS)
        .await
        .iter()
        .map(|pod| pod.str_at(&["spec", "nodeName"]).to_owned())
        .collect();
    assert!(
        nodes.contains(&"sim-0".into()) && nodes.contains(&"extra".into()),
        "{nodes:?}"
    );
    let node = cluster.get("/api/v1/nodes/extra").await;
    assert_eq!(
        node.list_at(&["status", "conditions"])[0].str_at(&["status"]),
        "True"
    );
}

#[tokio::test(start_paused = true)]
async fn a_set_that_wants_other_nodes_has_no_pods_and_is_content() {
    let cluster = Cluster::start();
    let mut gpu = set();
    gpu.set_at(
        &["spec", "template", "spec", "nodeSelector"],
        value!({"gpu": "yes"}),
    );
    cluster.create(&format!("{APPS}/daemonsets"), gpu).await;
    cluster.pass(2.0).await;
    let agent = cluster.get(AGENT).await;
    assert!(is_current(&agent));
    assert_eq!(number(&agent, &["status", "desiredNumberScheduled"]), 0);
    assert_eq!(number(&agent, &["status", "observedGeneration"]), 1);
    cluster
        .patch(
            "/api/v1/nodes/sim-0",
            value!({"metadata": {"labels": {"gpu": "yes"}}}),
        )
        .await;
    cluster
        .until(AGENT, |set| {
            is_current(set) && number(set, &["status", "numberReady"]) == 1
        })
        .await;
    cluster
        .patch(
            "/api/v1/nodes/sim-0",
            value!({"metadata": {"labels": {"gpu": null}}}),
        )
        .await;
    cluster.pass(2.0).await;
    assert!(cluster.list(PODS).await.is_empty());
}

#[tokio::test(start_paused = true)]
async fn an_update_replaces_one_pod_at_a_time() {
    let cluster = Cluster::start();
    for name in ["n1", "n2", "n3"] {
        add_node(&cluster, name, value!({})).await;
    }
    cluster.create(&format!("{APPS}/daemonsets"), set()).await;
    cluster
        .until(AGENT, |set| {
            is_current(set) && number(set, &["status", "numberReady"]) == 4
        })
        .await;
    let start = cluster.revision().await;
    cluster
        .patch(
            AGENT,
            value!({"spec": {"template": (template("agent", "app:2"))}}),
        )
        .await;
    cluster.until(AGENT, is_current).await;
    let mut least = i64::MAX;
    for (_, set) in cluster.changes(&format!("{APPS}/daemonsets"), start).await {
        least = least.min(number(&set, &["status", "numberAvailable"]));
    }
    assert_eq!(least, 3);
    let revisions = cluster.list(&format!("{APPS}/controllerrevisions")).await;
    assert_eq!(revisions.len(), 2);
}

#[tokio::test(start_paused = true)]
async fn a_surging_update_keeps_all_nodes_served() {
    let cluster = Cluster::start();
    add_node(&cluster, "n1", value!({})).await;
    let mut agent = set();
    agent.set_at(
        &["spec", "updateStrategy"],
        value!({"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 1, "maxUnavailable": 0}}),
    );
    cluster.create(&format!("{APPS}/daemonsets"), agent).await;
    cluster
        .until(AGENT, |set| {
            is_current(set) && number(set, &["status", "numberReady"]) == 2
        })
        .await;
    // Which of two pods counts is told by their age, in seconds.
    cluster.pass(2.0).await;
    let start = cluster.revision().await;
    cluster
        .patch(
            AGENT,
            value!({"spec": {"template": (template("agent", "app:2"))}}),
        )
        .await;
    cluster.until(AGENT, is_current).await;
    cluster.pass(2.0).await;
    let pods = cluster.list(PODS).await;
    assert_eq!(pods.len(), 2);
    let image = |pod: &Value| {
        pod.list_at(&["spec", "containers"])[0]
            .str_at(&["image"])
            .to_owned()
    };
    assert!(pods.iter().all(|pod| image(pod) == "app:2"));
    for (_, set) in cluster.changes(&format!("{APPS}/daemonsets"), start).await {
        assert_eq!(number(&set, &["status", "numberAvailable"]), 2);
    }
}
