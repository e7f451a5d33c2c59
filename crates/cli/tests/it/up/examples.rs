//! The repositories in `examples`, as their READMEs say that they are run.

use std::path::{Path, PathBuf};

use testkit::helm::{self, Chart};
use testkit::oci;

use super::process::Up;

fn folder(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../examples")
        .join(name)
}

fn example(name: &str) -> Up {
    Up::at(folder(name).to_str().unwrap())
}

/// An example of which something is changed: a copy of it.
fn changed(name: &str, change: impl Fn(&str) -> String) -> Up {
    let mut up = Up::new();
    let mut folders = vec![folder(name)];
    while let Some(inside) = folders.pop() {
        for entry in std::fs::read_dir(inside).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            let text = std::fs::read_to_string(&path).unwrap();
            let path = path.strip_prefix(folder(name)).unwrap();
            up = up.file(path.to_str().unwrap(), &change(&text));
        }
    }
    up
}

/// What stands for the chart that examples take from the internet.
fn podinfo(version: &str) -> Chart {
    let template = "apiVersion: apps/v1
kind: Deployment
metadata:
  name: {{ .Release.Name }}
spec:
  replicas: {{ .Values.replicaCount }}
  selector:
    matchLabels: {app: podinfo}
  template:
    metadata:
      labels: {app: podinfo}
    spec:
      containers:
      - name: podinfo
        image: podinfo:{{ .Chart.Version }}
";
    Chart::new("podinfo", version)
        .values("replicaCount: 1\n")
        .template("deployment.yaml", template)
}

#[test]
fn hello_becomes_ready() {
    let (code, text) = example("hello").once();
    assert_eq!(code, Some(0), "{text}");
    assert!(text.contains("all 5 objects are ready"), "{text}");
}

#[test]
fn each_environment_has_its_own_overlay() {
    for (environment, replicas) in [("dev", "1"), ("playground", "1"), ("production", "3")] {
        let (code, text) = example("environments")
            .argument(&format!("--path={environment}"))
            .once();
        assert_eq!(code, Some(0), "{environment}: {text}");
        let ready =
            format!("ready     Deployment/platform/operator: Deployment is available. Replicas: {replicas}");
        assert!(text.contains(&ready), "{environment}: {text}");
        assert!(text.contains("all 4 objects are ready"), "{environment}: {text}");
    }
}

#[test]
fn of_several_environments_one_is_to_be_chosen() {
    let (code, text) = example("environments").once();
    assert_eq!(code, Some(1), "{text}");
    assert!(
        text.contains("choose one: --path dev|playground|production"),
        "{text}"
    );
    assert!(!text.contains("already registered"), "{text}");
}

#[test]
fn what_depends_on_something_comes_after_it() {
    let (code, text) = example("dependencies").once();
    assert_eq!(code, Some(0), "{text}");
    let at = |line: &str| {
        text.find(line)
            .unwrap_or_else(|| panic!("{line} is missing: {text}"))
    };
    let database = at("ready     StatefulSet/shop/database");
    let infrastructure = at("ready     Kustomization/flux-system/infrastructure");
    let web = at("created   Deployment/shop/web");
    assert!(database < web && infrastructure < web, "{text}");
    assert!(
        text.contains("waiting   Kustomization/flux-system/apps: dependency"),
        "{text}"
    );
}

#[test]
fn a_rollout_that_fails_is_told_with_its_reason() {
    let (code, text) = example("failing-rollout").once();
    assert_eq!(code, Some(1), "{text}");
    let (_, reasons) = text
        .split_once("not ready:\n")
        .unwrap_or_else(|| panic!("{text}"));
    assert!(reasons.contains("Deployment/failing/web"), "{text}");
    assert!(reasons.contains("failing-rollout/web.yaml:6"), "{text}");
    assert!(
        reasons.contains("ErrImagePull") || reasons.contains("ImagePullBackOff"),
        "{text}"
    );
}

#[test]
fn a_chart_from_git_is_released() {
    let (code, text) = example("chart-from-git").once();
    assert_eq!(code, Some(0), "{text}");
    assert!(text.contains("installed HelmRelease/shop/web:"), "{text}");
    assert!(
        text.contains("ready     Deployment/shop/web: Deployment is available. Replicas: 2"),
        "{text}"
    );
    // The namespace, the HelmRelease, and what the chart makes.
    assert!(text.contains("all 4 objects are ready"), "{text}");
}

/// As its README says: an upgrade that fails, is tried once more and rolled back, and the way out of it.
#[tokio::test]
async fn a_chart_from_git_whose_upgrade_fails_is_rolled_back() {
    let up = changed("chart-from-git", str::to_owned).start();
    up.said("ready     HelmRelease/shop/web").await;
    let release = std::fs::read_to_string(up.folder().join("clusters/dev/web.yaml")).unwrap();
    let broken = release
        .replace("text: hello", "text: broken")
        .replace("broken: false", "broken: true");
    up.write("clusters/dev/web.yaml", &broken);
    let text = up.said("rolled back HelmRelease/shop/web:").await;
    assert!(
        text.contains("failed    HelmRelease/shop/web:\n  Helm upgrade failed for release shop/web"),
        "{text}"
    );
    up.said("failed    HelmRelease/shop/web:\n  Failed to upgrade after 2 attempt(s)")
        .await;
    up.write(
        "clusters/dev/web.yaml",
        &release.replace("text: hello", "text: mended"),
    );
    up.said("upgraded  HelmRelease/shop/web:").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_chart_from_a_registry_is_released() {
    let registry = oci::Server::start();
    for version in ["5.2.1", "6.1.0", "6.2.0"] {
        registry.push("charts/podinfo", version, &podinfo(version).artifact());
    }
    let url = "  url: oci://ghcr.io/stefanprodan/charts/podinfo\n";
    let here = format!(
        "  insecure: true\n  url: oci://{}/charts/podinfo\n",
        registry.host()
    );
    let up = changed("chart-from-registry", |text| text.replace(url, &here));
    let (code, text) = up.once_beside().await;
    assert_eq!(code, Some(0), "{text}");
    assert!(
        text.contains("ready     OCIRepository/podinfo/podinfo: 6.2.0@"),
        "{text}"
    );
    assert!(
        text.contains("ready     HelmRelease/podinfo/podinfo: 6.2.0+"),
        "{text}"
    );
    assert!(text.contains("Deployment is available. Replicas: 2"), "{text}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_chart_from_a_repository_is_released() {
    let repository = helm::Server::start();
    for version in ["5.2.1", "6.1.0", "6.2.0"] {
        repository.add(&podinfo(version));
    }
    let here = repository.url();
    let up = changed("chart-from-repository", |text| {
        text.replace("https://stefanprodan.github.io/podinfo", &here)
    });
    let (code, text) = up.once_beside().await;
    assert_eq!(code, Some(0), "{text}");
    assert!(
        text.contains("ready     HelmChart/podinfo/podinfo-podinfo: 6.2.0"),
        "{text}"
    );
    assert!(
        text.contains("ready     HelmRelease/podinfo/podinfo: 6.2.0, 1 object"),
        "{text}"
    );
    assert!(text.contains("Deployment is available. Replicas: 2"), "{text}");
}
