//! `sluice migrate`: files as flux changes them, where that is installed, and objects in a cluster.

use std::fs;
use std::io::Write as _;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::Path;
use std::process::{Command, Output, Stdio};

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::Api;
use kube::api::{DynamicObject, Patch, PatchParams};
use kube::core::{ApiResource, GroupVersionKind};
use serde_json::{Value, json};
use tempfile::TempDir;
use testkit::Cluster;

const SLUICE: &str = env!("CARGO_BIN_EXE_sluice");

fn run(program: &str, folder: &Path, arguments: &[&str]) -> Output {
    Command::new(program)
        .arg("migrate")
        .args(arguments)
        .current_dir(folder)
        .stdin(Stdio::null())
        .output()
        .unwrap()
}

fn said(output: &Output) -> String {
    let text = [output.stdout.as_slice(), output.stderr.as_slice()].concat();
    String::from_utf8(text).unwrap()
}

const MANIFESTS: &str = "---
apiVersion: source.toolkit.fluxcd.io/v1beta2 # v1beta2
kind: GitRepository
metadata:
  name: app
---
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
---
- apiVersion: helm.toolkit.fluxcd.io/v2beta1
  kind: HelmRelease
---
kind: Alert
apiVersion: notification.toolkit.fluxcd.io/v1beta1
---
apiVersion: image.toolkit.fluxcd.io/v1beta2
kind: ImagePolicy
---
apiVersion: a/b/c
kind: Kustomization
---
apiVersion: v1
kind: ConfigMap
---
apiVersion: \"source.toolkit.fluxcd.io/v1beta2\"
kind: Bucket
---
apiVersion: source.toolkit.fluxcd.io/v1beta1";

fn folder() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| fs::write(folder.path().join(name), text).unwrap();
    fs::create_dir_all(folder.path().join("apps/x.yaml")).unwrap();
    write("all.yaml", MANIFESTS);
    write("apps/windows.yml", &MANIFESTS.replace('\n', "\r\n"));
    write("apps/none.yaml", "kind: ConfigMap\n");
    write(
        "apps/x.yaml/deep.yaml",
        "apiVersion: image.toolkit.fluxcd.io/v1beta1\nkind: ImageRepository\n",
    );
    write("chart.tpl", MANIFESTS);
    write("empty.yaml", "");
    symlink("all.yaml", folder.path().join("link.yaml")).unwrap();
    symlink("apps", folder.path().join("linked")).unwrap();
    fs::set_permissions(folder.path().join("all.yaml"), fs::Permissions::from_mode(0o600)).unwrap();
    folder
}

fn files(folder: &Path) -> Vec<(String, u32, Vec<u8>)> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(next) = folders.pop() {
        for entry in fs::read_dir(next).unwrap() {
            let entry = entry.unwrap();
            let path = entry.path();
            if entry.file_type().unwrap().is_dir() {
                folders.push(path);
            } else if entry.file_type().unwrap().is_file() {
                let mode = entry.metadata().unwrap().permissions().mode();
                let name = path.strip_prefix(folder).unwrap().display().to_string();
                found.push((name, mode, fs::read(path).unwrap()));
            }
        }
    }
    found.sort();
    found
}

#[test]
fn files_are_migrated_as_by_flux() {
    let flux = testkit::program::find("flux");
    for arguments in [
        &["-f", ".", "--yes"][..],
        &["-f", "./apps/", "-y"],
        &["--path=apps/../all.yaml", "--yes"],
        &["-f", "linked", "--yes"],
        &["-f", ".", "--yes", "--version=2.6"],
        &["-f", ".", "--yes", "-v", "2.8", "-e", ".tpl"],
        &["-f", ".", "--dry-run"],
        &["-f", "apps/none.yaml", "--yes"],
        &["-f", "link.yaml", "--yes"],
        &["-f", "chart.tpl", "--yes"],
        &["-f", ".", "--version=2.5", "--yes"],
        &["-f", "gone", "--yes"],
        &["-f", "../", "--yes"],
        &["-f", "/etc", "--yes"],
    ] {
        let (one, other) = (folder(), folder());
        let ours = run(SLUICE, one.path(), arguments);
        let Some(flux) = &flux else { continue };
        let theirs = run(flux.to_str().unwrap(), other.path(), arguments);
        assert_eq!(
            theirs.status.success(),
            ours.status.success(),
            "{arguments:?}: {}",
            said(&ours)
        );
        assert_eq!(files(other.path()), files(one.path()), "{arguments:?}");
        if ours.status.success() {
            assert_eq!(said(&theirs), said(&ours), "{arguments:?}");
        }
    }
}

#[test]
fn versions_are_replaced_and_all_else_stays() {
    let folder = folder();
    let output = run(SLUICE, folder.path(), &["-f", ".", "--yes"]);
    assert!(output.status.success(), "{}", said(&output));
    let read = |name: &str| fs::read_to_string(folder.path().join(name)).unwrap();
    let wanted = MANIFESTS
        .replacen("/v1beta2 #", "/v1 #", 1)
        .replace("v2beta1", "v2")
        .replace("image.toolkit.fluxcd.io/v1beta2", "image.toolkit.fluxcd.io/v1");
    assert_eq!(read("all.yaml"), wanted);
    assert_eq!(read("apps/windows.yml"), wanted.replace('\n', "\r\n"));
    assert_eq!(read("chart.tpl"), MANIFESTS);
    let lines = said(&output);
    for line in [
        "✚ all.yaml:2: GitRepository v1beta2 -> v1\n",
        "⚠️ skipping irregular file link.yaml\n",
        "✔ file apps/x.yaml/deep.yaml migrated successfully\n",
    ] {
        assert!(lines.contains(line), "{line}: {lines}");
    }
    let output = run(SLUICE, folder.path(), &["-f", ".", "--yes"]);
    assert!(said(&output).contains("no custom resources found that require migration"));
}

/// Files are changed only after a question, and nothing outside of the working directory is.
#[test]
fn nothing_is_changed_without_consent_or_outside() {
    let folder = folder();
    let before = files(folder.path());
    for (arguments, reason) in [
        (&["-f", "."][..], "--yes migrates without asking"),
        (
            &["-f", "/etc", "--yes"],
            "it must be below the current working directory",
        ),
        (&["-f", "out", "--yes"], "path escapes from parent"),
        (&["-f", "link.yaml", "--yes"], "file link.yaml is irregular"),
        (
            &["-f", ".", "--version=1", "--yes"],
            "supported versions are: 2.9, 2.8, 2.7, 2.6",
        ),
        (&["--dry-run"], "--dry-run is for manifests in files"),
    ] {
        let outside = folder.path().join("out");
        if !outside.exists() {
            symlink("/usr", &outside).unwrap();
        }
        let output = run(SLUICE, folder.path(), arguments);
        assert_eq!(output.status.code(), Some(1), "{arguments:?}");
        assert!(said(&output).contains(reason), "{arguments:?}: {}", said(&output));
    }
    assert_eq!(files(folder.path()), before);
}

/// Scripts answer through a pipe, and the last of equal flags counts.
#[test]
fn consent_comes_from_a_pipe_too() {
    let folder = folder();
    let before = files(folder.path());
    for (answer, is_changed) in [("n\n", false), ("y\n", true)] {
        let mut child = Command::new(SLUICE)
            .args(["migrate", "-f", "elsewhere", "-f", "."])
            .current_dir(folder.path())
            .stdin(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        child.stdin.take().unwrap().write_all(answer.as_bytes()).unwrap();
        let ended = child.wait().unwrap();
        assert_eq!(ended.success(), is_changed, "{answer:?}");
        assert_eq!(files(folder.path()) != before, is_changed, "{answer:?}");
    }
}

/// A definition of Flux as an older release had it, with an older version beside.
fn definition(label: Option<&str>, storage: &str) -> Value {
    let version = |name: &str| {
        json!({
            "name": name, "served": true, "storage": name == storage,
            "schema": {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": true}},
        })
    };
    json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {
            "name": "things.example.toolkit.fluxcd.io",
            "labels": label.map(|label| json!({"app.kubernetes.io/part-of": label})),
        },
        "spec": {
            "group": "example.toolkit.fluxcd.io", "scope": "Namespaced",
            "names": {"kind": "Thing", "listKind": "ThingList", "plural": "things", "singular": "thing"},
            "versions": [version("v1"), version("v1beta1")],
        },
    })
}

async fn stored(cluster: &Cluster) -> Vec<String> {
    let definitions: Api<CustomResourceDefinition> = Api::all(cluster.client());
    let found = definitions.get("things.example.toolkit.fluxcd.io").await.unwrap();
    found.status.unwrap().stored_versions.unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn objects_are_stored_in_the_storage_version() {
    let cluster = Cluster::start().await;
    let namespace = cluster.namespace("migrate").await;
    cluster.serve(&definition(Some("flux"), "v1beta1")).await;
    let things = |version: &str| -> Api<DynamicObject> {
        let kind = GroupVersionKind::gvk("example.toolkit.fluxcd.io", version, "Thing");
        let resource = ApiResource::from_gvk_with_plural(&kind, "things");
        Api::namespaced_with(cluster.client(), &namespace, &resource)
    };
    for name in ["one", "two"] {
        let object = json!({
            "apiVersion": "example.toolkit.fluxcd.io/v1beta1", "kind": "Thing",
            "metadata": {"name": name}, "spec": {"a": 1},
        });
        let parameters = PatchParams::apply("tester");
        things("v1beta1")
            .patch(name, &parameters, &Patch::Apply(&object))
            .await
            .unwrap();
    }
    // The new release stores v1.
    let definitions: Api<CustomResourceDefinition> = Api::all(cluster.client());
    let newer = definition(Some("flux"), "v1");
    let change = json!({"spec": newer["spec"]});
    let parameters = PatchParams::default();
    definitions
        .patch(
            "things.example.toolkit.fluxcd.io",
            &parameters,
            &Patch::Merge(&change),
        )
        .await
        .unwrap();
    let both = async {
        while stored(&cluster).await != ["v1beta1", "v1"] {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(std::time::Duration::from_secs(60), both)
        .await
        .unwrap();

    let kubeconfig = cluster.kubeconfig().await.display().to_string();
    let migrate = async || {
        let mut command = tokio::process::Command::new(SLUICE);
        command
            .args(["migrate", "--kubeconfig", &kubeconfig])
            .kill_on_drop(true);
        command.output().await.unwrap()
    };
    let output = migrate().await;
    assert!(output.status.success(), "{}", said(&output));
    let wanted = format!(
        "► starting migration of custom resources\n✔ Thing/{namespace}/one migrated to version v1\n✔ Thing/{namespace}/two \
         migrated to version v1\n✔ things.example.toolkit.fluxcd.io migrated to storage version v1\n✔ custom resources migrated \
         successfully\n"
    );
    assert_eq!(said(&output), wanted);
    assert_eq!(stored(&cluster).await, ["v1"]);
    let object = things("v1").get("one").await.unwrap();
    let entries = object.metadata.managed_fields.unwrap();
    assert!(!entries.is_empty());
    for entry in &entries {
        assert_eq!(entry.api_version.as_deref(), Some("example.toolkit.fluxcd.io/v1"));
        assert_eq!(entry.manager.as_deref(), Some("tester"));
    }

    // Again, nothing is left to be done to the definition.
    let output = migrate().await;
    assert!(output.status.success(), "{}", said(&output));
    assert!(!said(&output).contains("storage version"), "{}", said(&output));
}

/// Definitions of others are left alone.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn definitions_of_others_are_left_alone() {
    let cluster = Cluster::start().await;
    cluster.serve(&definition(Some("other"), "v1")).await;
    let kubeconfig = cluster.kubeconfig().await.display().to_string();
    let mut command = tokio::process::Command::new(SLUICE);
    command
        .args(["migrate", "--kubeconfig", &kubeconfig])
        .kill_on_drop(true);
    let output = command.output().await.unwrap();
    assert!(output.status.success(), "{}", said(&output));
    assert!(!said(&output).contains("things"), "{}", said(&output));
}
