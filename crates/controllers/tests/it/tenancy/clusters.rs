//! Clusters that an object names: whose token they receive, and whose rights count there.

use api::{ReconcileStatus, Spec};
use base64::Engine as _;
use controllers::helm_releases;
use controllers::kustomizations::Settings;
use k8s_openapi::api::core::v1::{ConfigMap, Namespace, Secret, ServiceAccount};
use k8s_openapi::api::rbac::v1::RoleBinding;
use kube::Api;
use serde_json::{Value, json};
use testkit::Cluster;
use testkit::cluster::object_settled;

use crate::helm_releases::bed::{CONFIG, Setting as HelmSetting};
use crate::kustomizations::bed::{Setting, config_map};
use crate::sources::bed::{Bed, condition};

/// Creates a ConfigMap that leads to the cluster of the test.
async fn lead_to<S>(bed: &Bed<S>, name: &str, more: Value)
where
    S: Spec<Status: ReconcileStatus + PartialEq>,
{
    let path = bed.cluster.kubeconfig().await;
    let config = yaml::parse(&std::fs::read(&path).unwrap()).unwrap();
    let config: Value = serde_json::to_value(config).unwrap();
    let cluster = &config["clusters"][0]["cluster"];
    let mut data = json!({"provider": "generic", "address": cluster["server"]});
    if let Some(ca) = cluster["certificate-authority-data"].as_str() {
        let ca = base64::engine::general_purpose::STANDARD.decode(ca).unwrap();
        data["ca.crt"] = json!(String::from_utf8(ca).unwrap());
    }
    // The audiences of the cluster itself: a token of the controller would open it.
    data["audiences"] = json!("https://kubernetes.default.svc.cluster.local\nhttps://kubernetes.default.svc");
    data.as_object_mut()
        .unwrap()
        .extend(more.as_object().unwrap().clone());
    let maps: Api<ConfigMap> = Api::namespaced(bed.cluster.client(), &bed.namespace);
    let map = serde_json::from_value(json!({"metadata": {"name": name}, "data": data})).unwrap();
    maps.create(&Default::default(), &map).await.unwrap();
}

fn ready_message(object: &api::kustomize::Kustomization) -> String {
    condition(object, "Ready").unwrap().message
}

/// Without an account of its own, a ConfigMap had a token of the controller sent to the address that it names.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_token_of_the_controller_is_not_sent_to_clusters_of_locked_down_tenants() {
    let some = |name: &str| Some(name.to_owned());
    for settings in [
        Settings {
            no_cross_namespace_refs: true,
            ..Settings::default()
        },
        Settings {
            default_service_account: some("tenant"),
            ..Settings::default()
        },
        Settings {
            default_decryption_service_account: some("tenant"),
            object_level_workload_identity: true,
            ..Settings::default()
        },
    ] {
        let setting = Setting::with_settings(&[("one.yaml", &config_map("one", "1"))], settings).await;
        lead_to(&setting.bed, "far", json!({})).await;
        setting
            .create("app", json!({"kubeConfig": {"configMapRef": {"name": "far"}}}))
            .await;
        let object = setting.bed.ready("app", "False", "ReconciliationFailed").await;
        let message = ready_message(&object);
        assert!(message.contains("it names no serviceAccountName"), "{message}");
        assert!(
            message.contains("--default-kubeconfig-service-account"),
            "{message}"
        );
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_token_of_the_controller_is_not_sent_to_clusters_of_releases_of_locked_down_tenants() {
    for settings in [
        helm_releases::Settings {
            no_cross_namespace_refs: true,
            ..Default::default()
        },
        helm_releases::Settings {
            default_service_account: Some("tenant".to_owned()),
            ..Default::default()
        },
    ] {
        let files = [("app/templates/config.yaml", CONFIG)];
        let setting = HelmSetting::with_settings(&files, settings).await;
        lead_to(&setting.bed, "far", json!({})).await;
        let far = json!({"configMapRef": {"name": "far"}});
        setting
            .create("web", json!({"kubeConfig": far, "values": {"a": "1"}}))
            .await;
        let is_refused = |message: &str| {
            message.contains("it names no serviceAccountName")
                && message.contains("--default-kubeconfig-service-account")
        };
        setting
            .bed
            .until("web", |object| {
                condition(object, "Ready")
                    .is_some_and(|ready| ready.status.to_string() == "False" && is_refused(&ready.message))
            })
            .await;
        assert_eq!(setting.records("web").await, []);
    }
}

/// `--default-kubeconfig-service-account`: its token is sent where the ConfigMap names no account.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_default_account_of_kubeconfigs_is_that_of_the_objects_namespace() {
    let settings = Settings {
        default_kubeconfig_service_account: Some("usual".to_owned()),
        object_level_workload_identity: true,
        ..Settings::default()
    };
    let setting = Setting::with_settings(&[("one.yaml", &config_map("one", "1"))], settings).await;
    let bed = &setting.bed;
    lead_to(bed, "far", json!({})).await;
    lead_to(bed, "own", json!({"serviceAccountName": "named"})).await;
    let accounts: Api<ServiceAccount> = Api::namespaced(bed.cluster.client(), &bed.namespace);
    for name in ["usual", "named"] {
        let account = serde_json::from_value(json!({"metadata": {"name": name}})).unwrap();
        accounts.create(&Default::default(), &account).await.unwrap();
    }
    // Neither may do anything: the cluster says who was refused.
    for (map, account) in [("far", "usual"), ("own", "named")] {
        setting
            .create(map, json!({"kubeConfig": {"configMapRef": {"name": map}}}))
            .await;
        let message = ready_message(&bed.ready(map, "False", "ReconciliationFailed").await);
        let who = format!("system:serviceaccount:{}:{account}", bed.namespace);
        assert!(message.contains(&who), "{message}");
    }
}

/// An empty name was the cluster of the controller, with its rights.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_kubeconfig_without_a_name_is_not_the_own_cluster() {
    let setting = Setting::with(&[("one.yaml", &config_map("one", "1"))]).await;
    for (name, kubeconfig) in [
        ("secret", json!({"secretRef": {"name": ""}})),
        ("map", json!({"configMapRef": {"name": ""}})),
    ] {
        let spec = json!({
            "interval": "1h", "retryInterval": "1h", "prune": true, "targetNamespace": setting.bed.namespace,
            "sourceRef": {"kind": "GitRepository", "name": "app"}, "kubeConfig": kubeconfig,
        });
        setting.bed.create(name, spec).await;
        let object = setting.bed.ready(name, "False", "ReconciliationFailed").await;
        let message = ready_message(&object);
        assert!(message.contains("name is empty"), "{message}");
    }
    setting.value("one", None).await;
}

/// The metadata server of the machine would answer the controller, and its answer would be in a message.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_kubeconfig_does_not_lead_to_the_metadata_server() {
    let setting = Setting::with(&[("one.yaml", &config_map("one", "1"))]).await;
    let secrets: Api<Secret> = Api::namespaced(setting.bed.cluster.client(), &setting.bed.namespace);
    for (name, cluster) in [
        ("server", json!({"server": "http://169.254.169.254/latest"})),
        (
            "proxy",
            json!({"server": "https://example.com", "proxy-url": "http://169.254.169.254"}),
        ),
    ] {
        let kubeconfig = json!({
            "clusters": [{"name": "it", "cluster": cluster}], "users": [{"name": "it", "user": {}}],
            "contexts": [{"name": "it", "context": {"cluster": "it", "user": "it"}}], "current-context": "it",
        });
        let secret = json!({"metadata": {"name": name}, "stringData": {"value": kubeconfig.to_string()}});
        let secret = serde_json::from_value(secret).unwrap();
        secrets.create(&Default::default(), &secret).await.unwrap();
        setting
            .create(name, json!({"kubeConfig": {"secretRef": {"name": name}}}))
            .await;
        let message = ready_message(&setting.bed.ready(name, "False", "ReconciliationFailed").await);
        assert!(
            message.contains("refusing to connect to 169.254.169.254"),
            "{message}"
        );
    }
}

/// The account is one of the other cluster: that there is none of its name here left all objects there behind.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_deleted_kustomization_prunes_with_an_account_that_is_only_in_its_cluster() {
    let setting = Setting::with(&[("one.yaml", &config_map("one", "1"))]).await;
    let (space, remote) = (setting.bed.namespace.clone(), Cluster::start().await);
    let client = remote.client();
    let created = async |result: Result<(), kube::Error>| match result {
        // On a real cluster it is the same one.
        Err(kube::Error::Api(status)) if status.code == 409 => {}
        result => result.unwrap(),
    };
    let namespaces: Api<Namespace> = Api::all(client.clone());
    let namespace = serde_json::from_value(json!({"metadata": {"name": space}})).unwrap();
    let by = Default::default();
    created(namespaces.create(&by, &namespace).await.map(drop)).await;
    let accounts: Api<ServiceAccount> = Api::namespaced(client.clone(), &space);
    let account = serde_json::from_value(json!({"metadata": {"name": "remote"}})).unwrap();
    created(accounts.create(&by, &account).await.map(drop)).await;
    let bindings: Api<RoleBinding> = Api::namespaced(client.clone(), &space);
    let binding = serde_json::from_value(json!({
        "metadata": {"name": "remote"},
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "cluster-admin"},
        "subjects": [{"kind": "ServiceAccount", "name": "remote", "namespace": space}],
    }))
    .unwrap();
    created(bindings.create(&by, &binding).await.map(drop)).await;
    let kubeconfig = std::fs::read_to_string(remote.kubeconfig().await).unwrap();
    setting
        .bed
        .secret("far", "Opaque", json!({"value": kubeconfig}))
        .await;
    let more = json!({"kubeConfig": {"secretRef": {"name": "far"}}, "serviceAccountName": "remote"});
    setting.create("app", more).await;
    setting.bed.ready("app", "True", "ReconciliationSucceeded").await;
    let maps: Api<ConfigMap> = Api::namespaced(client, &space);
    maps.get("one").await.unwrap();
    setting.bed.delete("app").await;
    let gone = object_settled(maps, "one", std::time::Duration::from_secs(30), |map| match map {
        None => Ok(()),
        Some(_) => Err("it is still there".to_owned()),
    });
    gone.await.unwrap();
}
