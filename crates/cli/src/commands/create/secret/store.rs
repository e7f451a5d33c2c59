//! A Secret, printed or put into the cluster.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::path::PathBuf;

use anyhow::Context as _;
use k8s_openapi::api::core::v1::Secret;
use kube::Client;
use kube::api::{Api, Patch, PatchParams, PostParams};
use serde_json::{Value, json};

use crate::commands::create::Common;
use crate::commands::objects::{MANAGER, told, yaml_of};

/// What is in a Secret, by key.
#[derive(Default)]
pub(crate) struct Content {
    /// The type, where it has one.
    pub(in crate::commands::create) kind: Option<&'static str>,
    pub(in crate::commands::create) entries: BTreeMap<Cow<'static, str>, String>,
}

impl Content {
    /// With a text under a key, unless it is missing or empty.
    pub(in crate::commands::create) fn with(mut self, key: &'static str, text: Option<&str>) -> Self {
        if let Some(text) = text.filter(|text| !text.is_empty()) {
            self.entries.insert(key.into(), text.to_owned());
        }
        self
    }

    fn secret(&self, namespace: &str, name: &str, labels: &BTreeMap<String, String>) -> Value {
        let mut secret = json!({
            "apiVersion": "v1", "kind": "Secret",
            "metadata": {"name": name, "namespace": namespace},
        });
        if !labels.is_empty() {
            secret["metadata"]["labels"] = json!(labels);
        }
        if !self.entries.is_empty() {
            secret["stringData"] = json!(self.entries);
        }
        if let Some(kind) = self.kind {
            secret["type"] = kind.into();
        }
        secret
    }

    /// Puts it into the cluster, over what is there.
    pub(in crate::commands::create) async fn store(
        &self,
        common: &Common,
        client: Client,
        name: &str,
    ) -> anyhow::Result<()> {
        let labels = common.labels()?;
        let work = self.put(client, &common.place.namespace, name, &labels);
        common.place.limited(work).await
    }

    /// Creates the Secret of this content, or changes the one that is there.
    pub(crate) async fn put(
        &self,
        client: Client,
        namespace: &str,
        name: &str,
        labels: &BTreeMap<String, String>,
    ) -> anyhow::Result<()> {
        let secret = self.secret(namespace, name, labels);
        let secrets: Api<Secret> = Api::namespaced(client, namespace);
        let failed = || format!("failed to store the Secret {name}");
        let found = secrets.get_opt(name).await.map_err(told);
        let is_there = found.with_context(failed)?.is_some();
        let manager = Some(MANAGER.to_owned());
        let stored = if is_there {
            let change = json!({
                "stringData": secret["stringData"], "metadata": {"labels": secret["metadata"]["labels"]},
            });
            let parameters = PatchParams {
                field_manager: manager,
                ..PatchParams::default()
            };
            let patch = Patch::Merge(without_nulls(change));
            secrets.patch(name, &parameters, &patch).await
        } else {
            let parameters = PostParams {
                field_manager: manager,
                ..PostParams::default()
            };
            secrets
                .create(&parameters, &serde_json::from_value(secret)?)
                .await
        };
        stored.map_err(told).with_context(failed)?;
        Ok(())
    }
}

/// In a patch a null takes away what is there.
fn without_nulls(mut value: Value) -> Value {
    if let Value::Object(map) = &mut value {
        map.retain(|_, value| !value.is_null());
        for inner in map.values_mut() {
            *inner = without_nulls(inner.take());
        }
    }
    value
}

/// Prints a Secret, or puts it into the cluster. `what` it is for.
pub(super) async fn finish(common: &mut Common, what: &str, content: &Content) -> anyhow::Result<()> {
    if common.export {
        let secret = content.secret(&common.place.namespace, &common.name, &common.labels()?);
        print!("---\n{}", yaml_of(&secret)?);
        // So the flux client ends all but these.
        if what != "tls" {
            println!();
        }
        return Ok(());
    }
    let client = common.place.reach().await?;
    content.store(common, client, &common.name).await?;
    eprintln!(
        "► {what} secret '{}' created in '{}' namespace",
        common.name, common.place.namespace
    );
    Ok(())
}

/// The text of a file that a flag names.
pub(in crate::commands::create) fn file(
    path: Option<&PathBuf>,
    what: &str,
) -> anyhow::Result<Option<String>> {
    let read = |path: &PathBuf| {
        let text = std::fs::read_to_string(path);
        text.with_context(|| format!("unable to read {what} file {}", path.display()))
    };
    path.map(read).transpose()
}
