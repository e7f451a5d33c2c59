//! A Secret, printed or put into the cluster.

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
pub(in crate::commands::create) struct Content {
    /// The type, where it has one.
    pub(in crate::commands::create) kind: Option<&'static str>,
    pub(in crate::commands::create) entries: BTreeMap<&'static str, String>,
}

impl Content {
    /// With a text under a key, unless it is missing or empty.
    pub(in crate::commands::create) fn with(mut self, key: &'static str, text: Option<&str>) -> Self {
        if let Some(text) = text.filter(|text| !text.is_empty()) {
            self.entries.insert(key, text.to_owned());
        }
        self
    }

    fn secret(&self, common: &Common, name: &str) -> anyhow::Result<Value> {
        let mut secret = json!({
            "apiVersion": "v1", "kind": "Secret",
            "metadata": {"name": name, "namespace": common.place.namespace},
        });
        let labels = common.labels()?;
        if !labels.is_empty() {
            secret["metadata"]["labels"] = json!(labels);
        }
        if !self.entries.is_empty() {
            secret["stringData"] = json!(self.entries);
        }
        if let Some(kind) = self.kind {
            secret["type"] = kind.into();
        }
        Ok(secret)
    }

    /// Puts it into the cluster, over what is there.
    pub(in crate::commands::create) async fn store(
        &self,
        common: &Common,
        client: Client,
        name: &str,
    ) -> anyhow::Result<()> {
        let secret = self.secret(common, name)?;
        let secrets: Api<Secret> = Api::namespaced(client, &common.place.namespace);
        let work = async {
            let failed = || format!("failed to store the Secret {name}");
            let is_there = secrets
                .get_opt(name)
                .await
                .map_err(told)
                .with_context(failed)?
                .is_some();
            let manager = Some(MANAGER.to_owned());
            let stored = if is_there {
                let change = json!({
                    "stringData": secret["stringData"], "metadata": {"labels": secret["metadata"]["labels"]},
                });
                let parameters = PatchParams {
                    field_manager: manager,
                    ..PatchParams::default()
                };
                secrets
                    .patch(name, &parameters, &Patch::Merge(without_nulls(change)))
                    .await
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
        };
        common.place.limited(work).await
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
        print!("---\n{}", yaml_of(&content.secret(common, &common.name)?)?);
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
