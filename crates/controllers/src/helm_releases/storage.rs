//! The records of a release, in Secrets of its storage namespace, as Helm keeps them.

use helm::record::{self, Change, Driver, Record};
use jiff::Timestamp;
use k8s_openapi::api::core::v1::Secret;
use kube::api::{DeleteParams, ListParams, PostParams};
use kube::{Api, Client, ResourceExt};
use model::convert::{from_serde, to_serde};

use crate::kit::chain;

/// The records of one release.
pub(super) struct Storage {
    secrets: Api<Secret>,
    namespace: String,
    release: String,
    /// Whether nothing is written.
    is_rehearsed: bool,
}

/// Why records cannot be read or written. It holds nothing of what is in them.
#[derive(Debug, thiserror::Error)]
pub(super) enum Error {
    #[error("cannot {what} the records of release {release}: {why}")]
    Cluster {
        what: &'static str,
        release: String,
        why: String,
    },
    #[error("record {name} cannot be read: {why}: delete the Secret, or roll back with helm")]
    Unreadable { name: String, why: String },
    #[error(transparent)]
    TooLarge(#[from] record::TooLarge),
}

impl Storage {
    pub(super) fn new(client: &Client, namespace: &str, release: &str) -> Self {
        Storage {
            secrets: Api::namespaced(client.clone(), namespace),
            namespace: namespace.to_owned(),
            release: release.to_owned(),
            is_rehearsed: false,
        }
    }

    /// The same, of which nothing is written.
    pub(super) fn rehearsed(self) -> Self {
        Storage {
            is_rehearsed: true,
            ..self
        }
    }

    fn failed(&self, what: &'static str) -> impl Fn(kube::Error) -> Error + '_ {
        move |error| Error::Cluster {
            what,
            release: format!("{}/{}", self.namespace, self.release),
            why: chain(&error),
        }
    }

    /// All records, the oldest first.
    pub(super) async fn all(&self) -> Result<Vec<Record>, Error> {
        let selected = ListParams::default().labels(&record::selector(&self.release));
        let listed = self.secrets.list(&selected).await.map_err(self.failed("list"))?;
        let mut records = Vec::with_capacity(listed.items.len());
        for secret in listed.items {
            let name = secret.name_any();
            let unreadable = |why: String| Error::Unreadable {
                name: name.clone(),
                why,
            };
            let object = from_serde(&secret).map_err(|error| unreadable(error.to_string()))?;
            records.push(record::from_object(&object).map_err(|error| unreadable(error.to_string()))?);
        }
        records.sort_by_key(|record| record.version);
        Ok(records)
    }

    /// Writes a record that is not there yet.
    pub(super) async fn create(&self, record: &Record, now: Timestamp) -> Result<(), Error> {
        let secret = self.secret(record, Change::Create(now.as_second()))?;
        if self.is_rehearsed {
            return Ok(());
        }
        let created = self.secrets.create(&PostParams::default(), &secret).await;
        created.map(drop).map_err(self.failed("write"))
    }

    /// Writes a record that is there.
    pub(super) async fn update(&self, record: &Record, now: Timestamp) -> Result<(), Error> {
        let mut secret = self.secret(record, Change::Update(now.as_second()))?;
        if self.is_rehearsed {
            return Ok(());
        }
        let name = secret.name_any();
        let live = self.secrets.get(&name).await.map_err(self.failed("read"))?;
        // What others have put on it stays, as do the time of its making and its owner.
        let labels = live.metadata.labels.into_iter().flatten();
        let mut all: std::collections::BTreeMap<_, _> = labels.collect();
        all.extend(secret.metadata.labels.take().unwrap_or_default());
        secret.metadata.labels = Some(all);
        secret.metadata.annotations = live.metadata.annotations;
        secret.metadata.owner_references = live.metadata.owner_references;
        secret.metadata.resource_version = live.metadata.resource_version;
        let replaced = self.secrets.replace(&name, &PostParams::default(), &secret).await;
        replaced.map(drop).map_err(self.failed("write"))
    }

    /// Deletes the record of a version. One that is gone is as good.
    pub(super) async fn delete(&self, version: i64) -> Result<(), Error> {
        if self.is_rehearsed {
            return Ok(());
        }
        let name = record::name(&self.release, version);
        match self.secrets.delete(&name, &DeleteParams::default()).await {
            Err(kube::Error::Api(status)) if status.is_not_found() => Ok(()),
            deleted => deleted.map(drop).map_err(self.failed("delete")),
        }
    }

    fn secret(&self, record: &Record, change: Change) -> Result<Secret, Error> {
        let object = record::to_object(record, &self.namespace, Driver::Secret, change)?;
        to_serde(&object).map_err(|error| Error::Unreadable {
            name: record::name(&self.release, record.version),
            why: error.to_string(),
        })
    }
}
