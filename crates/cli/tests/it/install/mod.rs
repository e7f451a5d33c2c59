//! `sluice install`: what it prints is what `deploy` has, as it is wanted, and a cluster takes it.

mod directory;

use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Command, Output};

use k8s_openapi::api::apps::v1::Deployment;
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::{Api, ResourceExt as _};
use serde_json::{Value, json};
use testkit::Cluster;

fn sluice(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_sluice"))
        .args(arguments)
        .env_remove("FLUX_SYSTEM_NAMESPACE")
        .output()
        .unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn exported(flags: &[&str]) -> Vec<Value> {
    let output = sluice(&[&["install", "--export"], flags].concat());
    assert!(output.status.success(), "{}", text(&output.stderr));
    objects(&text(&output.stdout))
}

fn objects(text: &str) -> Vec<Value> {
    let documents = yaml::documents(text).map(|document| document.unwrap().value);
    let objects = documents.filter(|object| !object.is_null());
    objects
        .map(|object| serde_json::to_value(object).unwrap())
        .collect()
}

fn named(objects: &[Value]) -> BTreeMap<String, &Value> {
    let name = |object: &Value| {
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        format!("{} {}", text(&object["kind"]), text(&object["metadata"]["name"]))
    };
    objects.iter().map(|object| (name(object), object)).collect()
}

fn deployment(objects: &[Value]) -> &Value {
    let mut deployments = objects.iter().filter(|object| object["kind"] == "Deployment");
    deployments.next().unwrap()
}

/// Twice the same, and each object after those that it needs.
#[test]
fn what_is_printed_is_always_the_same_and_can_be_applied_in_its_order() {
    let (one, other) = (sluice(&["install", "--export"]), sluice(&["install", "--export"]));
    assert_eq!(text(&one.stdout), text(&other.stdout));
    assert!(text(&one.stdout).starts_with("---\n# Printed by `sluice install --export`"));
    let all = objects(&text(&one.stdout));
    let kinds: Vec<&str> = all
        .iter()
        .map(|object| object["kind"].as_str().unwrap())
        .collect();
    let mut once = kinds.clone();
    once.dedup();
    assert_eq!(
        once,
        [
            "Namespace",
            "CustomResourceDefinition",
            "NetworkPolicy",
            "ServiceAccount",
            "ClusterRole",
            "ClusterRoleBinding",
            "Service",
            "Deployment"
        ]
    );
    // Six kinds of sources, Kustomizations and HelmReleases.
    let definitions = kinds.iter().filter(|kind| **kind == "CustomResourceDefinition");
    assert_eq!(definitions.count(), 8);
    assert_eq!(named(&all).len(), all.len(), "nothing is there twice");
}

/// What is printed where nothing else is said is `deploy/sluice`, but for the labels of versions and where events are posted to.
#[test]
fn what_is_printed_is_what_deploy_has() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../deploy");
    for (component, flags) in [
        ("sluice", &[][..]),
        ("source-controller", &["--components=source-controller"][..]),
    ] {
        let built = sluice(&["kustomize", "build", folder.join(component).to_str().unwrap()]);
        assert!(built.status.success(), "{}", text(&built.stderr));
        let address = "--events-addr=http://notification-controller.flux-system.svc.cluster.local./";
        let printed = exported(&[flags, &[address]].concat());
        let mut printed: Vec<Value> = printed
            .into_iter()
            .filter(|object| object["kind"] != "CustomResourceDefinition")
            .collect();
        let mut built = objects(&text(&built.stdout));
        for object in printed.iter_mut().chain(&mut built) {
            let labels = object["metadata"]["labels"].as_object_mut().unwrap();
            labels.remove("app.kubernetes.io/version");
        }
        let arguments = printed
            .iter_mut()
            .find(|object| object["kind"] == "Deployment")
            .unwrap();
        let arguments = &mut arguments["spec"]["template"]["spec"]["containers"][0]["args"];
        assert_eq!(arguments[1], "--watch-all-namespaces=true");
        arguments[1] = json!("--watch-all-namespaces");
        assert_eq!(named(&printed), named(&built), "{component}");
    }
}

/// D1, D9: Flux's addresses of artifacts and Flux's roles, with the process that is all controllers behind them.
#[test]
fn consumers_of_artifacts_find_them_where_flux_has_them() {
    let all = exported(&[]);
    let all = named(&all);
    let service = all["Service source-controller"];
    let pod = &all["Deployment sluice"]["spec"]["template"];
    let selector = service["spec"]["selector"].as_object().unwrap();
    for (label, value) in selector {
        assert_eq!(&pod["metadata"]["labels"][label], value);
    }
    let container = &pod["spec"]["containers"][0];
    assert_eq!(container["name"], "manager");
    assert_eq!(
        container["args"][6],
        "--storage-adv-addr=source-controller.$(RUNTIME_NAMESPACE).svc.cluster.local."
    );
    let account = &pod["spec"]["serviceAccountName"];
    for binding in ["crd-controller-flux-system", "cluster-reconciler-flux-system"] {
        let subjects = &all[format!("ClusterRoleBinding {binding}").as_str()]["subjects"];
        let mut subjects = subjects.as_array().unwrap().iter();
        assert!(subjects.any(|one| &one["name"] == account && one["namespace"] == "flux-system"));
    }
    assert!(all.contains_key(format!("ServiceAccount {}", account.as_str().unwrap()).as_str()));
}

#[test]
fn each_flag_changes_what_it_says() {
    let all = exported(&[
        "--namespace=delivery",
        "--registry=registry.test:5000/team/",
        "--version=v9.9.9",
        "--image-pull-secret=login",
        "--watch-all-namespaces=false",
        "--network-policy=false",
        "--log-level=debug",
        "--cluster-domain=example.internal",
        "--toleration-keys=node.test/one,two",
    ]);
    let printed = serde_json::to_string(&all).unwrap();
    for gone in ["flux-system", "cluster.local", "NetworkPolicy"] {
        assert!(!printed.contains(gone), "{gone}");
    }
    let by_name = named(&all);
    assert_eq!(
        by_name["ServiceAccount sluice"]["imagePullSecrets"],
        json!([{"name": "login"}])
    );
    let pod = &deployment(&all)["spec"]["template"]["spec"];
    assert_eq!(
        pod["tolerations"],
        json!([{"key": "node.test/one", "operator": "Exists"}, {"key": "two", "operator": "Exists"}])
    );
    let container = &pod["containers"][0];
    assert_eq!(container["image"], "registry.test:5000/team/sluice:v9.9.9");
    assert_eq!(
        container["args"],
        json!([
            "--events-addr=",
            "--watch-all-namespaces=false",
            "--log-level=debug",
            "--log-encoding=json",
            "--enable-leader-election",
            "--storage-path=/data",
            "--storage-adv-addr=source-controller.$(RUNTIME_NAMESPACE).svc.example.internal.",
        ])
    );
}

#[test]
fn parts_are_installed_as_processes_of_their_own() {
    let all = exported(&["--components=kustomize-controller,source-controller"]);
    let names: Vec<String> = named(&all).into_keys().collect();
    let deployments: Vec<&str> = names
        .iter()
        .filter_map(|name| name.strip_prefix("Deployment "))
        .collect();
    assert_eq!(deployments, ["kustomize-controller", "source-controller"]);
    let all = exported(&["--components=source-controller,kustomize-controller,helm-controller"]);
    let once = named(&all);
    assert_eq!(once.len(), all.len(), "nothing is there twice");
    assert!(
        once.contains_key("Deployment helm-controller")
            && once.contains_key("ServiceAccount helm-controller")
    );
    let binding = &once["ClusterRoleBinding cluster-reconciler-flux-system"]["subjects"];
    let mut subjects = binding.as_array().unwrap().iter();
    assert!(subjects.any(|subject| subject["name"] == "helm-controller"));
    for (wrong, why) in [
        (
            "--components=notification-controller",
            "there is no component \"notification-controller\": choose from sluice, ",
        ),
        ("--components=sluice,source-controller", "install one of the two"),
        ("--namespace=a: b", "is no name of a namespace"),
        ("--cluster-domain=a\n", "is no domain"),
        ("--registry=", "cannot be part of the name of an image"),
        (
            "--components-extra=image-reflector-controller",
            "there is no component \"image-reflector-controller\": choose from sluice, ",
        ),
        (
            "--registry-creds=ada:geheim",
            "--registry-creds requires --image-pull-secret to be set",
        ),
        ("--manifests=gone", "failed to find the directory gone"),
    ] {
        let output = sluice(&["install", "--export", wrong]);
        assert_eq!(output.status.code(), Some(1), "{wrong}");
        assert!(text(&output.stderr).contains(why), "{}", text(&output.stderr));
        assert!(output.stdout.is_empty());
        assert!(!text(&output.stderr).contains("geheim"));
    }
}

/// Applied, waited for, and applied again without a change; then `check` has nothing to say against it.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_cluster_takes_it_and_the_controllers_are_waited_for() {
    let simulator = apiserver::simulator::Options::default();
    let cluster = Cluster::embedded(apiserver::Server::builder().simulator(simulator));
    let kubeconfig = cluster.kubeconfig().await;
    let run = async |arguments: &[&str]| {
        let mut command = tokio::process::Command::new(env!("CARGO_BIN_EXE_sluice"));
        command
            .args(arguments)
            .arg(format!("--kubeconfig={}", kubeconfig.display()))
            .args(["--namespace=delivery", "--timeout=60s"])
            .kill_on_drop(true);
        tokio::time::timeout(testkit::DEADLINE, command.output())
            .await
            .unwrap()
            .unwrap()
    };
    let first = run(&["install"]).await;
    let said = [text(&first.stdout), text(&first.stderr)].concat();
    assert!(first.status.success(), "{said}");
    assert!(said.contains("Deployment/delivery/sluice created"), "{said}");
    assert!(said.contains("✔ sluice: deployment ready"), "{said}");
    let deployments: Api<Deployment> = Api::namespaced(cluster.client(), "delivery");
    let deployed = deployments.get("sluice").await.unwrap();
    assert_eq!(deployed.managed_fields()[0].manager.as_deref(), Some("flux"));
    let definitions: Api<CustomResourceDefinition> = Api::all(cluster.client());
    assert_eq!(
        definitions.list(&Default::default()).await.unwrap().items.len(),
        8
    );
    let again = run(&["install"]).await;
    assert!(again.status.success(), "{}", text(&again.stderr));
    let lines = text(&again.stdout);
    assert!(lines.lines().all(|line| line.ends_with(" unchanged")), "{lines}");
    let checked = run(&["check"]).await;
    assert!(checked.status.success(), "{}", text(&checked.stderr));
    assert!(text(&checked.stderr).contains("✔ sluice: deployment ready"));
}

/// What does not become ready is told with the reason, and so is a controller that was there before.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_does_not_become_ready_is_told_with_the_reason() {
    // Without a simulator nothing runs.
    let cluster = Cluster::embedded(apiserver::Server::builder());
    let kubeconfig = cluster.kubeconfig().await;
    let run = async |arguments: &[&str]| {
        let mut command = tokio::process::Command::new(env!("CARGO_BIN_EXE_sluice"));
        command
            .args(arguments)
            .arg(format!("--kubeconfig={}", kubeconfig.display()))
            .arg("--timeout=5s")
            .kill_on_drop(true);
        command.output().await.unwrap()
    };
    let output = run(&["install", "--components=source-controller"]).await;
    assert_eq!(output.status.code(), Some(1));
    let said = text(&output.stderr);
    assert!(
        said.contains("source-controller: deployment not ready: not in 5s: "),
        "{said}"
    );
    let output = run(&["install"]).await;
    assert_eq!(output.status.code(), Some(1));
    let said = text(&output.stderr);
    assert!(
        said.contains("kubectl delete deployment source-controller -n flux-system"),
        "{said}"
    );
}

/// What is uninstalled leaves what it has applied: the controllers end first, and finalizers of others stay.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_uninstalled_leaves_nothing_but_what_it_has_applied() {
    let simulator = apiserver::simulator::Options::default();
    let cluster = Cluster::embedded(apiserver::Server::builder().simulator(simulator));
    let kubeconfig = cluster.kubeconfig().await;
    let run = async |arguments: &[&str]| {
        let mut command = tokio::process::Command::new(env!("CARGO_BIN_EXE_sluice"));
        command
            .args(arguments)
            .arg(format!("--kubeconfig={}", kubeconfig.display()))
            .args(["--namespace=delivery", "--timeout=60s"])
            .stdin(std::process::Stdio::null())
            .kill_on_drop(true);
        let output = command.output().await.unwrap();
        let said = [text(&output.stdout), text(&output.stderr)].concat();
        (output.status.code(), said)
    };
    let (code, said) = run(&["install"]).await;
    assert_eq!(code, Some(0), "{said}");
    let kustomization = |name: &str, finalizers: Value| {
        json!({
            "apiVersion": "kustomize.toolkit.fluxcd.io/v1",
            "kind": "Kustomization",
            "metadata": {"name": name, "namespace": "default", "finalizers": finalizers},
            "spec": {"interval": "1h", "prune": true, "sourceRef": {"kind": "GitRepository", "name": "none"}},
        })
    };
    let kustomizations: Api<kube::api::DynamicObject> = Api::namespaced_with(
        cluster.client(),
        "default",
        &kube::core::ApiResource::from_gvk_with_plural(
            &kube::core::GroupVersionKind::gvk("kustomize.toolkit.fluxcd.io", "v1", "Kustomization"),
            "kustomizations",
        ),
    );
    for object in [
        kustomization("ours", json!(["finalizers.fluxcd.io"])),
        kustomization("shared", json!(["finalizers.fluxcd.io", "example.com/keep"])),
    ] {
        let object = serde_json::from_value(object).unwrap();
        kustomizations.create(&Default::default(), &object).await.unwrap();
    }
    let ours = kustomizations.get("ours").await.unwrap().uid().unwrap();

    let (code, said) = run(&["uninstall"]).await;
    assert_eq!(code, Some(1), "{said}");
    assert!(said.contains("--silent deletes without asking"), "{said}");

    let (code, said) = run(&["uninstall", "--dry-run"]).await;
    assert_eq!(code, Some(0), "{said}");
    for line in [
        "Deployment/delivery/sluice deleted (dry run)",
        "Kustomization/default/ours finalizers deleted (dry run)",
        "CustomResourceDefinition/kustomizations.kustomize.toolkit.fluxcd.io deleted (dry run)",
        "Namespace/delivery deleted (dry run)",
    ] {
        assert!(said.contains(line), "{line}: {said}");
    }
    let (code, said) = run(&["check"]).await;
    assert_eq!(code, Some(0), "a dry run has changed something: {said}");

    let (code, said) = run(&["uninstall", "--silent", "--keep-namespace"]).await;
    assert_eq!(code, Some(0), "{said}");
    let deployments: Api<Deployment> = Api::namespaced(cluster.client(), "delivery");
    assert!(deployments.get_opt("sluice").await.unwrap().is_none());
    let namespaces: Api<k8s_openapi::api::core::v1::Namespace> = Api::all(cluster.client());
    let namespace = namespaces.get("delivery").await.unwrap();
    assert!(namespace.metadata.deletion_timestamp.is_none());
    // What somebody else still holds on to keeps its definition until it is let go.
    let held = kustomizations.get("shared").await.unwrap();
    assert_eq!(held.finalizers(), ["example.com/keep"]);
    let gone = kube::runtime::conditions::is_deleted(&ours);
    let gone = kube::runtime::wait::await_condition(kustomizations.clone(), "ours", gone);
    tokio::time::timeout(testkit::DEADLINE, gone)
        .await
        .expect("what nobody holds goes with its definition")
        .unwrap();

    let (code, said) = run(&["uninstall", "--silent"]).await;
    assert_eq!(code, Some(0), "{said}");
    let namespace = namespaces.get_opt("delivery").await.unwrap();
    assert!(namespace.is_none_or(|namespace| namespace.metadata.deletion_timestamp.is_some()));
}
