//! With a cluster: the Kustomization and its variables are read from it.

use std::collections::BTreeMap;

use api::kustomize::{Kustomization, KustomizationSpec, PostBuild, SubstituteFrom, VariablesKind};
use api::{Object, Spec as _};
use k8s_openapi::ByteString;
use k8s_openapi::api::core::v1::{ConfigMap, Secret};
use kube::Api;
use kube::api::PostParams;
use testkit::cluster::Cluster;
use tokio::process::Command;

use super::{Case, PLAIN, write};

const CASE: Case = Case {
    files: &[(
        "a.yaml",
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {v: '${one} ${two} ${three}'}\n",
    )],
    ..PLAIN
};

fn from(kind: VariablesKind, name: &str, optional: bool) -> SubstituteFrom {
    SubstituteFrom {
        kind,
        name: name.to_owned(),
        optional,
    }
}

/// VS1: variables of the cluster in their order, and over them those of the spec; the optional ones may be missing.
#[tokio::test(flavor = "multi_thread")]
async fn vs1_variables_come_from_the_cluster() {
    let cluster = Cluster::start().await;
    let namespace = cluster.namespace("apps").await;
    let client = cluster.client();
    let definition = serde_json::to_value(KustomizationSpec::definition().to_value()).unwrap();
    cluster.serve(&definition).await;
    let entries = |pairs: &[(&str, &str)]| {
        let pairs = pairs
            .iter()
            .map(|(key, value)| ((*key).to_owned(), (*value).to_owned()));
        pairs.collect::<BTreeMap<String, String>>()
    };
    let mut map = ConfigMap {
        data: Some(entries(&[("one", "map"), ("two", "map"), ("three", "map")])),
        ..ConfigMap::default()
    };
    map.metadata.name = Some("vars".to_owned());
    let mut secret = Secret::default();
    secret.metadata.name = Some("vars".to_owned());
    let values = entries(&[("two", "sec\nret"), ("three", "secret")]).into_iter();
    secret.data = Some(
        values
            .map(|(key, value)| (key, ByteString(value.into_bytes())))
            .collect(),
    );
    let parameters = PostParams::default();
    Api::namespaced(client.clone(), &namespace)
        .create(&parameters, &map)
        .await
        .unwrap();
    Api::namespaced(client.clone(), &namespace)
        .create(&parameters, &secret)
        .await
        .unwrap();
    let post_build = PostBuild {
        substitute: entries(&[("three", "inline")]),
        substitute_from: vec![
            from(VariablesKind::ConfigMap, "vars", false),
            from(VariablesKind::ConfigMap, "gone", true),
            from(VariablesKind::Secret, "vars", false),
        ],
        substitute_strategy: None,
    };
    let spec = KustomizationSpec {
        interval: "1m".parse().unwrap(),
        prune: Some(true),
        post_build: Some(post_build),
        ..KustomizationSpec::default()
    };
    let mut object: Kustomization = Object::new("app", spec).within(&namespace);
    object.spec.source_ref.name = "repo".to_owned();
    object.spec.source_ref.kind = api::kustomize::KustomizationSourceKind::GitRepository;
    let api: Api<Kustomization> = Api::namespaced(client, &namespace);
    let created = api.create(&parameters, &object).await.unwrap();

    let folder = write(&CASE);
    let kubeconfig = cluster.kubeconfig().await;
    let build = |program: &str| {
        Command::new(program)
            .args(["build", "kustomization", "app", "--path=tree", "-n", &namespace])
            .arg("--kubeconfig")
            .arg(&kubeconfig)
            .current_dir(folder.path())
            .env("HOME", folder.path())
            .output()
    };
    let ours = build(env!("CARGO_BIN_EXE_sluice")).await.unwrap();
    let said = String::from_utf8(ours.stdout).unwrap();
    assert!(
        said.contains("  v: map secret inline\n"),
        "{said}{}",
        String::from_utf8_lossy(&ours.stderr)
    );
    if testkit::program::find("flux").is_some() {
        let theirs = build("flux").await.unwrap();
        assert_eq!(
            said,
            String::from_utf8(theirs.stdout).unwrap(),
            "{}",
            String::from_utf8_lossy(&theirs.stderr)
        );
    }

    let mut changed = created;
    let sources = &mut changed.spec.post_build.as_mut().unwrap().substitute_from;
    sources[1].optional = false;
    api.replace("app", &parameters, &changed).await.unwrap();
    let ours = build(env!("CARGO_BIN_EXE_sluice")).await.unwrap();
    assert_eq!(ours.status.code(), Some(1));
    let said = String::from_utf8(ours.stderr).unwrap();
    assert!(said.contains("substitute from 'ConfigMap/gone' error"), "{said}");
    cluster.finish().await;
}
