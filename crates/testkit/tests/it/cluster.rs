//! The cluster of a test, embedded or real.

use std::time::Duration;

use apiserver::fault::{Fault, Rule};
use k8s_openapi::api::core::v1::{ConfigMap, Namespace, ServiceAccount};
use kube::api::{ListParams, PostParams};
use kube::config::{KubeConfigOptions, Kubeconfig};
use kube::{Api, Client, Config};
use serde_json::{Value, json};
use testkit::Cluster;
use testkit::cluster::object_settled;

const SOON: Duration = testkit::DEADLINE;

fn config_map(name: &str) -> ConfigMap {
    serde_json::from_value(json!({"metadata": {"name": name}})).unwrap()
}

#[tokio::test]
async fn two_tests_have_two_namespaces_of_one_name() {
    let (one, two) = (Cluster::start().await, Cluster::start().await);
    let (first, second) = (one.namespace("apps").await, two.namespace("apps").await);
    assert_ne!(first, second);
    assert_eq!(first, one.name("apps"));
    for (cluster, namespace) in [(one, first), (two, second)] {
        let api: Api<ConfigMap> = Api::namespaced(cluster.client(), &namespace);
        api.create(&PostParams::default(), &config_map("a"))
            .await
            .unwrap();
        cluster.finish().await;
    }
}

#[tokio::test]
async fn a_namespace_is_deleted_when_its_test_ends() {
    let cluster = Cluster::start().await;
    if !cluster.is_real() || std::env::var_os("SLUICE_TEST_CLUSTER_DISPOSABLE").is_some() {
        return; // The cluster itself goes away.
    }
    let observer = Cluster::start().await;
    let namespace = cluster.namespace("gone").await;
    drop(cluster);
    let api: Api<Namespace> = Api::all(observer.client());
    let gone = object_settled(api, &namespace, SOON, |found| match found {
        Some(found) if found.metadata.deletion_timestamp.is_none() => {
            Err("it is not being deleted".to_owned())
        }
        _ => Ok(()),
    });
    gone.await.unwrap();
}

#[tokio::test]
async fn another_user_has_other_rights() {
    let cluster = Cluster::start().await;
    let namespace = cluster.namespace("apps").await;
    for client in [
        cluster.client_as("jane", &["team"]),
        cluster.client_without_credentials(),
    ] {
        let api: Api<ConfigMap> = Api::namespaced(client, &namespace);
        let error = api.list(&ListParams::default()).await.unwrap_err();
        assert!(error.to_string().contains("forbidden"), "{error}");
    }
    cluster.finish().await;
}

#[tokio::test]
async fn a_token_names_its_bearer() {
    let cluster = Cluster::start().await;
    let namespace = cluster.namespace("apps").await;
    let api: Api<ServiceAccount> = Api::namespaced(cluster.client(), &namespace);
    object_settled(api, "default", SOON, |found| {
        found.map(drop).ok_or("it does not exist".to_owned())
    })
    .await
    .unwrap();
    let path = format!("/api/v1/namespaces/{namespace}/serviceaccounts/default/token");
    let body = json!({"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {}});
    let token = post(&cluster.client(), &path, &body).await["status"]["token"]
        .as_str()
        .unwrap()
        .to_owned();
    let review = json!({"apiVersion": "authentication.k8s.io/v1", "kind": "SelfSubjectReview"});
    let path = "/apis/authentication.k8s.io/v1/selfsubjectreviews";
    let who = post(&cluster.client_with_token(&token), path, &review).await;
    let name = format!("system:serviceaccount:{namespace}:default");
    assert_eq!(who["status"]["userInfo"]["username"], name);
    cluster.finish().await;
}

async fn post(client: &Client, path: &str, body: &Value) -> Value {
    let request = http::Request::post(path).header("content-type", "application/json");
    client
        .request(request.body(body.to_string().into_bytes()).unwrap())
        .await
        .unwrap()
}

#[tokio::test]
async fn a_program_reaches_it_by_its_kubeconfig() {
    let cluster = Cluster::start().await;
    let namespace = cluster.namespace("apps").await;
    let file = Kubeconfig::read_from(cluster.kubeconfig().await).unwrap();
    let config = Config::from_custom_kubeconfig(file, &KubeConfigOptions::default())
        .await
        .unwrap();
    let api: Api<ConfigMap> = Api::namespaced(Client::try_from(config).unwrap(), &namespace);
    api.create(&PostParams::default(), &config_map("a"))
        .await
        .unwrap();
    assert_eq!(
        cluster.kubeconfig().await,
        cluster.kubeconfig().await,
        "one port is enough"
    );
    cluster.finish().await;
}

#[tokio::test]
async fn a_definition_is_served_once_it_is_established() {
    let cluster = Cluster::start().await;
    let group = cluster.name("testkit.example.com");
    let schema = json!({"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": true}});
    cluster
        .establish(&json!({
            "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
            "metadata": {"name": format!("widgets.{group}")},
            "spec": {
                "group": group, "scope": "Cluster", "names": {"plural": "widgets", "kind": "Widget"},
                "versions": [{"name": "v1", "served": true, "storage": true, "schema": schema}],
            },
        }))
        .await;
    let body = json!({"apiVersion": format!("{group}/v1"), "kind": "Widget", "metadata": {"name": "a"}});
    let made = post(&cluster.client(), &format!("/apis/{group}/v1/widgets"), &body).await;
    assert_eq!(made["metadata"]["name"], "a");
    cluster.finish().await;
}

#[tokio::test]
async fn a_wait_that_fails_says_what_was_missing() {
    let cluster = Cluster::start().await;
    let namespace = cluster.namespace("apps").await;
    let api: Api<ConfigMap> = Api::namespaced(cluster.client(), &namespace);
    let limit = Duration::from_millis(300);
    let waited = object_settled(api, "a", limit, |found| {
        found.map(drop).ok_or("there is none".to_owned())
    });
    let error = waited.await.unwrap_err().to_string();
    assert_eq!(
        error,
        format!("/api/v1/namespaces/{namespace}/configmaps/a: after 300ms, there is none")
    );
    cluster.finish().await;
}

#[tokio::test]
async fn the_embedded_server_counts_requests_and_fails_on_demand() {
    let cluster = Cluster::embedded(apiserver::Server::builder());
    assert!(!cluster.is_real());
    let namespace = cluster.namespace("apps").await;
    let server = cluster.server().expect("this one is embedded");
    let created = server
        .requests()
        .snapshot()
        .sum(|row| row.verb == "create" && row.resource == "namespaces");
    assert_eq!(created, 1);
    server
        .faults()
        .add(Rule::new(Fault::Conflict).resource("", "configmaps").once());
    let api: Api<ConfigMap> = Api::namespaced(cluster.client(), &namespace);
    let error = api
        .create(&PostParams::default(), &config_map("a"))
        .await
        .unwrap_err();
    assert!(
        error
            .to_string()
            .contains("please apply your changes to the latest version"),
        "{error}"
    );
    api.create(&PostParams::default(), &config_map("a"))
        .await
        .unwrap();
}
