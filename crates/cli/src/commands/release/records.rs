//! The records that Helm's releases are kept in.

use anyhow::Context as _;
use helm::record::{self, Record};
use k8s_openapi::api::core::v1::Secret;
use kube::api::{Api, ListParams};
use kube::{Client, ResourceExt as _};
use model::convert::from_serde;

use crate::commands::objects::told;

/// The record of one version of a release, if there is one.
pub(crate) async fn record(
    client: &Client,
    namespace: &str,
    release: &str,
    version: i64,
) -> anyhow::Result<Option<Record>> {
    let secrets: Api<Secret> = Api::namespaced(client.clone(), namespace);
    let secret = secrets
        .get_opt(&record::name(release, version))
        .await
        .map_err(told)?;
    secret.map(|secret| read(&secret)).transpose()
}

/// The records of a release, the newest first.
pub(crate) async fn records(client: &Client, namespace: &str, release: &str) -> anyhow::Result<Vec<Record>> {
    let secrets: Api<Secret> = Api::namespaced(client.clone(), namespace);
    let selected = ListParams::default().labels(&record::selector(release));
    let listed = secrets.list(&selected).await.map_err(told);
    let listed =
        listed.with_context(|| format!("failed to list the records of release {namespace}/{release}"))?;
    let mut records = Vec::with_capacity(listed.items.len());
    for secret in listed.items {
        records.push(read(&secret)?);
    }
    records.sort_by_key(|record| std::cmp::Reverse(record.version));
    Ok(records)
}

fn read(secret: &Secret) -> anyhow::Result<Record> {
    let unreadable = || format!("Secret {} cannot be read", secret.name_any());
    let object = from_serde(secret).with_context(unreadable)?;
    record::from_object(&object).with_context(unreadable)
}
