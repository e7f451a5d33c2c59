//! Services, endpoints and ingresses.

use apiserver::simulator::{ANNOTATION, Outcome};
use model::{Value, value};

use super::{APPS, Cluster, PODS, number, template, workload};

const SERVICES: &str = "/api/v1/namespaces/default/services";
const WEB: &str = "/api/v1/namespaces/default/services/web";
const ENDPOINTS: &str = "/api/v1/namespaces/default/endpoints/web";
const SLICES: &str = "/apis/discovery.k8s.io/v1/namespaces/default/endpointslices";

fn service(kind: &str) -> Value {
    value!({
        "apiVersion": "v1", "kind": "Service", "metadata": {"name": "web", "labels": {"team": "a"}},
        "spec": {
            "type": kind, "selector": {"app": "web"}, "ports": [{"name": "web", "port": 80, "targetPort": "http"}],
        },
    })
}

async fn slices(cluster: &Cluster) -> Vec<Value> {
    let all = cluster.list(SLICES).await;
    let of_web = |slice: &Value| slice.str_at(&["metadata", "labels", "kubernetes.io/service-name"]) == "web";
    all.into_iter().filter(of_web).collect()
}

/// The addresses in the older endpoints: ready and not ready.
async fn addresses(cluster: &Cluster) -> (usize, usize) {
    let endpoints = cluster.get(ENDPOINTS).await;
    let count = |field: &str| {
        let subsets = endpoints.list_at(&["subsets"]).iter();
        subsets.map(|subset| subset.list_at(&[field]).len()).sum()
    };
    (count("addresses"), count("notReadyAddresses"))
}

#[tokio::test(start_paused = true)]
async fn endpoints_follow_the_pods_that_are_ready() {
    let cluster = Cluster::start();
    cluster.create(SERVICES, service("ClusterIP")).await;
    cluster.pass(1.0).await;
    assert_eq!(addresses(&cluster).await, (0, 0));
    let [empty] = &slices(&cluster).await[..] else {
        panic!("one slice is always there")
    };
    assert!(empty.list_at(&["endpoints"]).is_empty());

    cluster
        .create(&format!("{APPS}/deployments"), workload("Deployment", "web", 2))
        .await;
    cluster.pass(2.0).await;
    assert_eq!(addresses(&cluster).await, (2, 0));
    let [slice] = &slices(&cluster).await[..] else {
        panic!("one slice is enough")
    };
    assert_eq!(
        slice.get("ports"),
        Some(&value!([{"name": "web", "port": 8080, "protocol": "TCP"}]))
    );
    let pods = cluster.list(PODS).await;
    for endpoint in slice.list_at(&["endpoints"]) {
        let name = endpoint.str_at(&["targetRef", "name"]);
        let pod = pods
            .iter()
            .find(|pod| pod.str_at(&["metadata", "name"]) == name)
            .unwrap();
        assert_eq!(
            endpoint.list_at(&["addresses"])[0].as_str(),
            Some(pod.str_at(&["status", "podIP"]))
        );
        assert_eq!(
            endpoint.get("conditions"),
            Some(&value!({"ready": true, "serving": true, "terminating": false}))
        );
    }
    let endpoints = cluster.get(ENDPOINTS).await;
    assert_eq!(endpoints.str_at(&["metadata", "labels", "team"]), "a");

    cluster
        .server
        .outcomes()
        .set("default", "web", Outcome::NeverReady);
    cluster.pass(1.0).await;
    assert_eq!(addresses(&cluster).await, (0, 2));
    let slice = &slices(&cluster).await[0];
    let ready = slice.list_at(&["endpoints"])[0].at(&["conditions", "ready"]);
    assert_eq!(ready, Some(&false.into()));

    cluster.delete(&format!("{APPS}/deployments/web")).await;
    cluster.pass(1.0).await;
    assert_eq!(addresses(&cluster).await, (0, 0));
    cluster.delete(WEB).await;
    cluster.pass(1.0).await;
    assert!(cluster.find(ENDPOINTS).await.is_none());
    assert!(slices(&cluster).await.is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_changed_selector_or_port_changes_the_endpoints() {
    let cluster = Cluster::start();
    cluster.create(SERVICES, service("ClusterIP")).await;
    for app in ["web", "other"] {
        let mut pod = template(app, "app:1");
        pod.set_at(&["metadata", "name"], app);
        cluster.create(PODS, pod).await;
    }
    cluster.pass(2.0).await;
    let target = |slices: &[Value]| {
        let endpoint = &slices[0].list_at(&["endpoints"])[0];
        endpoint.str_at(&["targetRef", "name"]).to_owned()
    };
    assert_eq!(target(&slices(&cluster).await), "web");
    cluster
        .patch(WEB, value!({"spec": {"selector": {"app": "other"}}}))
        .await;
    cluster.pass(1.0).await;
    assert_eq!(target(&slices(&cluster).await), "other");
    cluster
        .patch(WEB, value!({"spec": {"ports": [{"port": 80, "targetPort": 9}]}}))
        .await;
    cluster.pass(1.0).await;
    let port = slices(&cluster).await[0].list_at(&["ports"])[0].clone();
    assert_eq!(port, value!({"name": "", "port": 9, "protocol": "TCP"}));
}

#[tokio::test(start_paused = true)]
async fn many_endpoints_are_spread_over_slices() {
    let cluster = Cluster::start();
    cluster.create(SERVICES, service("ClusterIP")).await;
    cluster
        .create(&format!("{APPS}/deployments"), workload("Deployment", "web", 130))
        .await;
    cluster.pass(5.0).await;
    let count = |slices: &[Value]| -> Vec<usize> {
        let mut counts: Vec<usize> = slices
            .iter()
            .map(|slice| slice.list_at(&["endpoints"]).len())
            .collect();
        counts.sort();
        counts
    };
    assert_eq!(count(&slices(&cluster).await), [30, 100]);
    cluster
        .patch(
            &format!("{APPS}/deployments/web"),
            value!({"spec": {"replicas": 3}}),
        )
        .await;
    cluster.pass(5.0).await;
    assert_eq!(count(&slices(&cluster).await), [3]);
}

#[tokio::test(start_paused = true)]
async fn the_pods_of_a_stateful_set_have_host_names() {
    let cluster = Cluster::start();
    let mut headless = service("ClusterIP");
    headless.set_at(&["spec", "clusterIP"], "None");
    cluster.create(SERVICES, headless).await;
    let mut set = workload("StatefulSet", "web", 2);
    set.set_at(&["spec", "serviceName"], "web");
    cluster.create(&format!("{APPS}/statefulsets"), set).await;
    cluster.pass(5.0).await;
    let slice = &slices(&cluster).await[0];
    let mut names: Vec<&str> = slice
        .list_at(&["endpoints"])
        .iter()
        .map(|endpoint| endpoint.str_at(&["hostname"]))
        .collect();
    names.sort();
    assert_eq!(names, ["web-0", "web-1"]);
    let labels = slice.at(&["metadata", "labels"]).unwrap();
    assert!(labels.get("service.kubernetes.io/headless").is_some());
}

#[tokio::test(start_paused = true)]
async fn services_without_a_selector_are_left_alone() {
    let cluster = Cluster::start();
    let mut bare = service("ClusterIP");
    bare.remove_at(&["spec", "selector"]);
    cluster.create(SERVICES, bare).await;
    let own = value!({
        "apiVersion": "v1", "kind": "Endpoints", "metadata": {"name": "web"},
        "subsets": [{"addresses": [{"ip": "203.0.113.1"}]}],
    });
    cluster.create("/api/v1/namespaces/default/endpoints", own).await;
    cluster.pass(2.0).await;
    assert!(slices(&cluster).await.is_empty());
    cluster.delete(WEB).await;
    cluster.pass(1.0).await;
    assert!(cluster.find(ENDPOINTS).await.is_some());
}

#[tokio::test(start_paused = true)]
async fn a_load_balancer_gives_an_address_and_takes_it_back() {
    let cluster = Cluster::start();
    cluster.create(SERVICES, service("LoadBalancer")).await;
    let web = cluster
        .until(WEB, |web| {
            !web.list_at(&["status", "loadBalancer", "ingress"]).is_empty()
        })
        .await;
    let ingress = &web.list_at(&["status", "loadBalancer", "ingress"])[0];
    assert!(ingress.str_at(&["ip"]).starts_with("192.0.2."));
    assert_eq!(ingress.str_at(&["ipMode"]), "VIP");
    assert_eq!(cluster.events("EnsuredLoadBalancer").await.len(), 1);
    cluster.patch(WEB, value!({"spec": {"type": "ClusterIP"}})).await;
    cluster.pass(1.0).await;
    let web = cluster.get(WEB).await;
    assert!(web.list_at(&["status", "loadBalancer", "ingress"]).is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_load_balancer_can_be_told_to_fail() {
    let cluster = Cluster::start();
    cluster
        .server
        .outcomes()
        .set("default", "web", Outcome::NeverReady);
    cluster.create(SERVICES, service("LoadBalancer")).await;
    cluster.pass(10.0).await;
    let web = cluster.get(WEB).await;
    assert!(web.list_at(&["status", "loadBalancer", "ingress"]).is_empty());
    assert_eq!(cluster.events("SyncLoadBalancerFailed").await.len(), 1);
    cluster.server.outcomes().set("default", "web", Outcome::Fine);
    cluster
        .until(WEB, |web| {
            !web.list_at(&["status", "loadBalancer", "ingress"]).is_empty()
        })
        .await;
}

#[tokio::test(start_paused = true)]
async fn an_ingress_gets_an_address_unless_told_to_fail() {
    let cluster = Cluster::start();
    let ingresses = "/apis/networking.k8s.io/v1/namespaces/default/ingresses";
    for (name, outcome) in [("good", ""), ("bad", "never-ready"), ("odd", "bogus")] {
        let ingress = value!({
            "apiVersion": "networking.k8s.io/v1", "kind": "Ingress",
            "metadata": {"name": name, "annotations": {ANNOTATION: outcome}},
            "spec": {"defaultBackend": {"service": {"name": "web", "port": {"number": 80}}}},
        });
        cluster.create(ingresses, ingress).await;
    }
    cluster.pass(5.0).await;
    let count = |ingress: &Value| ingress.list_at(&["status", "loadBalancer", "ingress"]).len();
    assert_eq!(count(&cluster.get(&format!("{ingresses}/good")).await), 1);
    assert_eq!(count(&cluster.get(&format!("{ingresses}/bad")).await), 0);
    assert_eq!(count(&cluster.get(&format!("{ingresses}/odd")).await), 0);
    assert_eq!(cluster.events("UnknownOutcome").await.len(), 1);
    let good = cluster.get(&format!("{ingresses}/good")).await;
    assert_eq!(number(&good, &["metadata", "generation"]), 1);
}
