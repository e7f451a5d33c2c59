//! What a Helm release has made, from what Helm has stored of it.

use anyhow::Context as _;
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::api::{Api, ListParams};
use kube::{Client, ResourceExt as _};
use model::{ObjectKey, Str};
use serde_json::Value;

use crate::commands::objects::{Objects, named};
use crate::commands::release::record;
use crate::commands::served::Served;

/// The objects of a release: none where it has none yet, or where they are in another cluster.
pub(super) async fn objects(client: &Client, key: &ObjectKey) -> anyhow::Result<Vec<ObjectKey>> {
    let kind = named("HelmRelease").context("there is no such kind")?;
    let release = Objects::new(client.clone(), kind, Some(&key.namespace));
    let release = release.get(&key.name).await?;
    let status = &release["status"];
    let storage = status["storageNamespace"].as_str().unwrap_or_default();
    let Some(latest) = status["history"].get(0) else {
        return Ok(Vec::new());
    };
    if release["spec"]["kubeConfig"].is_object() || storage.is_empty() {
        return Ok(Vec::new());
    }
    let text = |field: &str| latest[field].as_str().unwrap_or_default();
    let unreadable = || {
        let ObjectKey { namespace, name, .. } = key;
        format!("failed to read the Helm storage object for HelmRelease '{namespace}/{name}'")
    };
    let version = latest["version"].as_i64().unwrap_or_default();
    let found = record(client, storage, text("name"), version).await;
    let Some(record) = found.with_context(unreadable)? else {
        return Ok(Vec::new());
    };
    let manifest = record.manifest;
    let mut objects = in_manifest(&manifest).with_context(unreadable)?;
    if objects.iter().any(|object| object.namespace.is_empty()) {
        let served = Served::by(client).await?;
        for object in objects.iter_mut().filter(|object| object.namespace.is_empty()) {
            let found = served.kind(&object.group, None, &object.kind);
            if found.is_some_and(|found| found.is_namespaced) {
                object.namespace = Str::new(text("namespace"));
            }
        }
    }
    if installs_definitions(&release["spec"]) {
        definitions(client, key, &mut objects).await;
    }
    Ok(objects)
}

/// The objects of a stream of YAML documents; lists count as what is in them.
fn in_manifest(text: &str) -> anyhow::Result<Vec<ObjectKey>> {
    let mut keys = Vec::new();
    for document in yaml::documents(text) {
        let object = document?.value;
        let is_object = |object: &model::Value| {
            !object.str_at(&["apiVersion"]).is_empty() && !object.str_at(&["kind"]).is_empty()
        };
        match object.at(&["items"]).and_then(model::Value::as_array) {
            Some(items) if object.str_at(&["kind"]).ends_with("List") => {
                keys.extend(items.iter().filter(|item| is_object(item)).map(ObjectKey::of));
            }
            _ if is_object(&object) => keys.push(ObjectKey::of(&object)),
            _ => {}
        }
    }
    Ok(keys)
}

fn installs_definitions(spec: &Value) -> bool {
    let does = |part: &str| {
        spec[part]["crds"]
            .as_str()
            .is_some_and(|policy| policy != "Skip" && !policy.is_empty())
    };
    does("install") || does("upgrade")
}

/// Definitions that come beside the manifest say whose they are. Without the right to see them the rest is still worth showing.
async fn definitions(client: &Client, release: &ObjectKey, objects: &mut Vec<ObjectKey>) {
    let group = api::helm::GROUP;
    let ObjectKey { namespace, name, .. } = release;
    let labels = format!("{group}/name={name},{group}/namespace={namespace}");
    let all: Api<CustomResourceDefinition> = Api::all(client.clone());
    let Ok(found) = all.list(&ListParams::default().labels(&labels)).await else {
        return;
    };
    for definition in found {
        let key = ObjectKey {
            group: Str::new("apiextensions.k8s.io"),
            kind: Str::new("CustomResourceDefinition"),
            namespace: Str::default(),
            name: Str::from(definition.name_any()),
        };
        if !objects
            .iter()
            .any(|object| object.name == key.name && object.kind == key.kind)
        {
            objects.push(key);
        }
    }
}
