//! The manifests in `deploy`: taken by a cluster, as Flux's patches expect them, with rights that suffice.

use std::fs;
use std::path::{Path, PathBuf};

use k8s_openapi::api::authentication::v1::{TokenRequest, TokenRequestSpec};
use k8s_openapi::api::core::v1::ServiceAccount;
use kube::Api;
use kube::api::{DynamicObject, Patch, PatchParams, PostParams};
use kube::core::{ApiResource, GroupVersionKind};
use serde_json::{Value, json};

use super::bed::{Bed, fetch, free_port};
use super::remotes::{OBJECTS, Remotes};

/// All manifests of the source controller for another namespace, and with it other names of what belongs to no namespace.
pub(super) fn manifests(namespace: &str) -> Vec<Value> {
    manifests_of("source-controller", namespace)
}

fn manifests_of(controller: &str, namespace: &str) -> Vec<Value> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../deploy")
        .join(controller);
    let list = fs::read(folder.join("kustomization.yaml")).unwrap();
    let list = serde_json::to_value(yaml::parse_strict(&list).unwrap()).unwrap();
    let files = list["resources"].as_array().unwrap().iter();
    let mut all = Vec::new();
    for file in files.map(|file| file.as_str().unwrap()) {
        if let Some(base) = file.strip_prefix("../") {
            all.extend(manifests_of(base, namespace));
            continue;
        }
        let text = fs::read_to_string(folder.join(file)).unwrap();
        let text = text.replace("flux-system", namespace);
        for document in yaml::documents(&text) {
            all.push(serde_json::to_value(document.unwrap().value).unwrap());
        }
    }
    all
}

fn of_kind<'m>(manifests: &'m [Value], kind: &str) -> &'m Value {
    let mut found = manifests.iter().filter(|manifest| manifest["kind"] == kind);
    found.next().unwrap_or_else(|| panic!("there is no {kind}"))
}

fn resource(manifest: &Value) -> ApiResource {
    let text = |key: &str| manifest[key].as_str().unwrap();
    let (group, version) = text("apiVersion").split_once('/').unwrap_or(("", "v1"));
    let kind = text("kind").to_lowercase();
    let plural = match kind.strip_suffix('y') {
        Some(stem) => format!("{stem}ies"),
        None => format!("{kind}s"),
    };
    ApiResource::from_gvk_with_plural(&GroupVersionKind::gvk(group, version, text("kind")), &plural)
}

/// Applies everything for real, and has it removed at the end.
pub(super) async fn apply(bed: &Bed, manifests: &[Value]) {
    for manifest in manifests {
        let resource = resource(manifest);
        let client = bed.cluster.client();
        let name = manifest["metadata"]["name"].as_str().unwrap();
        let api: Api<DynamicObject> = match manifest["metadata"]["namespace"].as_str() {
            Some(namespace) => Api::namespaced_with(client, namespace, &resource),
            None => {
                let path = format!("{}/{name}", DynamicObjectPath(&resource));
                bed.cluster.delete_at_end(path);
                Api::all_with(client, &resource)
            }
        };
        let parameters = PatchParams::apply("deploy-test").force();
        let applied = api.patch(name, &parameters, &Patch::Apply(manifest)).await;
        applied.unwrap_or_else(|error| panic!("{manifest}: {error}"));
    }
}

struct DynamicObjectPath<'r>(&'r ApiResource);

impl std::fmt::Display for DynamicObjectPath<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.0.group.as_str() {
            "" => write!(f, "/api/{}/{}", self.0.version, self.0.plural),
            group => write!(f, "/apis/{group}/{}/{}", self.0.version, self.0.plural),
        }
    }
}

/// D1, D3, D9, D10, A10: places of arguments, ports, probes, names and strategy.
#[test]
fn the_manifests_are_as_patches_of_flux_expect_them() {
    let all = manifests("flux-system");
    let deployment = of_kind(&all, "Deployment");
    let spec = &deployment["spec"];
    assert_eq!(
        deployment["metadata"]["labels"]["app.kubernetes.io/part-of"],
        "flux"
    );
    assert_eq!(
        (&spec["replicas"], &spec["strategy"]["type"]),
        (&json!(1), &json!("Recreate"))
    );
    let pod = &spec["template"]["spec"];
    assert_eq!(pod["serviceAccountName"], "source-controller");
    let container = &pod["containers"][0];
    assert_eq!(container["name"], "manager");
    let version = concat!("v", env!("CARGO_PKG_VERSION"));
    assert_eq!(
        container["image"],
        format!("sluice/source-controller:{version}").as_str()
    );
    let labels = &deployment["metadata"]["labels"];
    assert_eq!(labels["app.kubernetes.io/version"], version);
    let arguments: Vec<&str> = container["args"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| one.as_str().unwrap())
        .collect();
    for (place, flag) in [
        (0, "--events-addr="),
        (1, "--watch-all-namespaces"),
        (2, "--log-level="),
        (
            6,
            "--storage-adv-addr=source-controller.$(RUNTIME_NAMESPACE).svc.cluster.local.",
        ),
    ] {
        assert!(arguments[place].starts_with(flag), "{place}: {arguments:?}");
    }
    let port = |name: &str| {
        let mut ports = container["ports"].as_array().unwrap().iter();
        ports.find(|port| port["name"] == name).unwrap()["containerPort"].clone()
    };
    assert_eq!(
        (port("http"), port("http-prom"), port("healthz")),
        (9090.into(), 8080.into(), 9440.into())
    );
    let readiness = &container["readinessProbe"]["httpGet"];
    assert_eq!(
        (&readiness["port"], &readiness["path"]),
        (&json!("http"), &json!("/"))
    );
    let liveness = &container["livenessProbe"]["httpGet"];
    assert_eq!(
        (&liveness["port"], &liveness["path"]),
        (&json!("healthz"), &json!("/healthz"))
    );
    let service = &of_kind(&all, "Service")["spec"]["ports"][0];
    assert_eq!(
        (&service["port"], &service["targetPort"]),
        (&json!(80), &json!("http"))
    );
    for kind in ["ClusterRole", "ClusterRoleBinding"] {
        assert_eq!(
            of_kind(&all, kind)["metadata"]["name"],
            "crd-controller-flux-system"
        );
    }
    let policy = of_kind(&all, "NetworkPolicy");
    assert_eq!(
        policy["spec"]["ingress"],
        json!([{"from": [{"podSelector": {}}]}])
    );
}

/// D1, D3, D9: the same of the controllers of Kustomizations and HelmReleases, which may do everything.
#[test]
fn the_manifests_of_controllers_that_apply_are_as_patches_of_flux_expect_them() {
    // A release that is being made has time to come to its end.
    for (name, grace) in [("kustomize-controller", 60), ("helm-controller", 600)] {
        is_as_patches_expect(name, grace);
    }
}

fn is_as_patches_expect(name: &str, grace: u64) {
    let all = manifests_of(name, "flux-system");
    let deployment = of_kind(&all, "Deployment");
    let labels = &deployment["metadata"]["labels"];
    let version = concat!("v", env!("CARGO_PKG_VERSION"));
    assert_eq!(labels["app.kubernetes.io/part-of"], "flux");
    assert_eq!(labels["app.kubernetes.io/version"], version);
    let pod = &deployment["spec"]["template"]["spec"];
    assert_eq!(pod["serviceAccountName"], name);
    assert_eq!(pod["terminationGracePeriodSeconds"], grace);
    let container = &pod["containers"][0];
    assert_eq!(container["name"], "manager");
    assert_eq!(container["image"], format!("sluice/{name}:{version}").as_str());
    for (place, flag) in [
        (0, "--events-addr="),
        (1, "--watch-all-namespaces"),
        (2, "--log-level="),
        (3, "--log-encoding="),
        (4, "--enable-leader-election"),
    ] {
        let argument = container["args"][place].as_str().unwrap_or_default();
        assert!(argument.starts_with(flag), "{place}: {argument}");
    }
    let readiness = &container["readinessProbe"]["httpGet"];
    assert_eq!(
        (&readiness["port"], &readiness["path"]),
        (&json!("healthz"), &json!("/readyz"))
    );
    let binding = of_kind(&all, "ClusterRoleBinding");
    assert_eq!(binding["metadata"]["name"], "cluster-reconciler-flux-system");
    assert_eq!(binding["roleRef"]["name"], "cluster-admin");
    let mut subjects = binding["subjects"].as_array().unwrap().iter();
    assert!(subjects.any(|subject| subject["name"] == name));
}

/// A kubeconfig of the service account of a controller.
async fn kubeconfig(bed: &Bed, account: &str, folder: &Path) -> PathBuf {
    let accounts: Api<ServiceAccount> = Api::namespaced(bed.cluster.client(), &bed.namespace);
    let request = TokenRequest {
        spec: TokenRequestSpec {
            expiration_seconds: Some(3600),
            ..Default::default()
        },
        ..Default::default()
    };
    let parameters = PostParams::default();
    let answer = accounts.create_token_request(account, &parameters, &request);
    let token = answer.await.unwrap().status.unwrap().token;
    let text = fs::read(&bed.kubeconfig).unwrap();
    let mut config = serde_json::to_value(yaml::parse(&text).unwrap()).unwrap();
    for user in config["users"].as_array_mut().unwrap() {
        user["user"] = json!({"token": token});
    }
    let path = folder.join("kubeconfig");
    fs::write(&path, config.to_string()).unwrap();
    path
}

/// D3, D10: what a cluster has of the manifests: arguments at the places that patches of existing repositories name, and
/// artifacts for those of the same namespace only
#[tokio::test]
async fn a_cluster_has_the_arguments_and_policies_where_flux_has_them() {
    let bed = Bed::start().await;
    let all = manifests(&bed.namespace);
    apply(&bed, &all).await;
    let of = |kind: &str| {
        let resource = resource(of_kind(&all, kind));
        let api: Api<DynamicObject> = Api::namespaced_with(bed.cluster.client(), &bed.namespace, &resource);
        api
    };
    let deployment = of("Deployment").get("source-controller").await.unwrap();
    let container = &deployment.data["spec"]["template"]["spec"]["containers"][0];
    for (place, flag) in [
        (0, "--events-addr="),
        (1, "--watch-all-namespaces"),
        (2, "--log-level="),
        (6, "--storage-adv-addr="),
    ] {
        let argument = container["args"][place].as_str().unwrap_or_default();
        assert!(argument.starts_with(flag), "{place}: {argument}");
    }
    let policies = of("NetworkPolicy").list(&Default::default()).await.unwrap();
    let rules: Vec<&Value> = policies
        .iter()
        .map(|policy| &policy.data["spec"]["ingress"])
        .collect();
    let neighbours = json!([{"from": [{"podSelector": {}}]}]);
    let scrapers =
        json!([{"from": [{"namespaceSelector": {}}], "ports": [{"port": 8080, "protocol": "TCP"}]}]);
    assert_eq!(rules, [&neighbours, &scrapers]);
}

/// D9: applied to a cluster, the rights of the service account suffice for all that the controllers do.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn with_the_rights_of_the_manifests_nothing_is_denied() {
    let bed = Bed::start().await;
    apply(&bed, &manifests(&bed.namespace)).await;
    let _remotes = Remotes::start(&bed, "1h").await;
    let folder = tempfile::tempdir().unwrap();
    let config = format!(
        "--kubeconfig={}",
        kubeconfig(&bed, "source-controller", folder.path())
            .await
            .display()
    );
    let metrics = format!("127.0.0.1:{}", free_port());
    let address = format!("--metrics-addr={metrics}");
    let arguments = [&config, &address, "--enable-leader-election"];
    let program = bed.program().with(&arguments).start();
    for (kind, name) in OBJECTS {
        bed.ready(kind, name).await;
        bed.api(kind).delete(name, &Default::default()).await.unwrap();
        let gone =
            testkit::cluster::object_settled(bed.api(kind), name, super::bed::LIMIT, |object| match object {
                None => Ok(()),
                Some(_) => Err("it is still there".into()),
            });
        gone.await.unwrap();
    }
    nothing_was_denied(&metrics, &["GET", "PATCH", "POST"]).await;
    program.stop().await;
}

/// D9: the same of the process that is all controllers, for releases.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn with_the_rights_of_the_manifests_releases_are_made_and_uninstalled() {
    let bed = Bed::start().await;
    let _server = super::release::chart(&bed).await;
    apply(&bed, &manifests_of("sluice", &bed.namespace)).await;
    let folder = tempfile::tempdir().unwrap();
    let config = kubeconfig(&bed, "sluice", folder.path()).await;
    let metrics = format!("127.0.0.1:{}", free_port());
    let arguments = [
        &format!("--kubeconfig={}", config.display()),
        &format!("--metrics-addr={metrics}"),
        "--enable-leader-election",
    ];
    let program = bed.program().with_all().with(&arguments).start();
    super::release::create(&bed, "web", json!({})).await;
    super::release::ready(&bed, "web").await;
    super::release::delete(&bed, "web").await;
    nothing_was_denied(&metrics, &["GET", "PATCH", "POST", "PUT", "DELETE"]).await;
    program.stop().await;
}

/// Whether requests of these kinds were sent, and none was denied.
async fn nothing_was_denied(metrics: &str, methods: &[&str]) {
    let text = fetch(&format!("http://{metrics}/metrics")).await.unwrap();
    let text = String::from_utf8(text).unwrap();
    let requests: Vec<&str> = text
        .lines()
        .filter(|line| line.starts_with("rest_client_requests_total{"))
        .collect();
    for method in methods {
        let part = format!("method=\"{method}\"");
        assert!(requests.iter().any(|line| line.contains(&part)), "{requests:?}");
    }
    for code in ["401", "403"] {
        let part = format!("code=\"{code}\"");
        assert!(!requests.iter().any(|line| line.contains(&part)), "{requests:?}");
    }
}
