//! The records of a release, in Secrets of its storage namespace, as Helm keeps them.

use api::helm::HelmRelease;
use helm::record::{self, Change, Driver, Record, Status};
use jiff::Timestamp;
use k8s_openapi::api::core::v1::Secret;
use kube::api::{DeleteParams, ListParams, PostParams};
use kube::{Api, Client, ResourceExt};
use model::convert::{from_serde, to_serde};
use std::collections::{BTreeMap, BTreeSet};

use super::operator::{self, Operator};
use super::versions::{Version, Versions};
use crate::kit::chain;

/// The annotation of a record that says which object it was made for, by its uid. Whoever is ended before the status says so knows it by that.
const MADE_FOR: &str = "sluice.dev/made-for";

/// How often a record is written at most where others write to its Secret at the same time.
const TRIES: usize = 5;

/// The records of one release.
pub(super) struct Storage {
    secrets: Api<Secret>,
    namespace: String,
    release: String,
    /// The version of the object of each record, as it was read or written.
    seen: BTreeMap<i64, String>,
    /// Who works on records now.
    operator: Option<Operator>,
    /// The object that they are made for, by its uid.
    made_for: String,
    /// The versions that were made for it.
    own: BTreeSet<i64>,
    /// Who has said that it works on which record.
    operators: BTreeMap<i64, Operator>,
    /// The versions of records that are there and cannot be read.
    unreadable: Vec<i64>,
    /// Whether nothing is written.
    is_rehearsed: bool,
}

/// The records of a release, as they were read or written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Seen {
    namespace: String,
    release: String,
    records: BTreeMap<i64, String>,
}

impl Seen {
    /// Whether the records are still the same, as far as a watch tells. Whoever adds one gives it the next number.
    pub(super) fn is_current(&self, versions: &Versions) -> bool {
        let version = |number: i64| versions.of(&self.namespace, &record::name(&self.release, number));
        let next = self.records.keys().next_back().map_or(1, |last| last + 1);
        let are_same = |(number, seen): (&i64, &String)| match version(*number) {
            Some(Version::There(version)) => version == *seen,
            _ => false,
        };
        self.records.iter().all(are_same) && version(next) == Some(Version::Missing)
    }
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
    pub(super) fn new(
        client: &Client,
        (namespace, release): (&str, &str),
        object: &HelmRelease,
        operator: Option<&Operator>,
    ) -> Self {
        Storage {
            secrets: Api::namespaced(client.clone(), namespace),
            namespace: namespace.to_owned(),
            release: release.to_owned(),
            seen: BTreeMap::new(),
            operator: operator.cloned(),
            made_for: object.uid().unwrap_or_default(),
            own: BTreeSet::new(),
            operators: BTreeMap::new(),
            unreadable: Vec::new(),
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

    /// Another one that has said that it works on a record.
    pub(super) fn other_operator(&self, number: i64) -> Option<&Operator> {
        let named = self.operators.get(&number)?;
        (self.operator.as_ref() != Some(named)).then_some(named)
    }

    /// The records, as they were last read or written.
    pub(super) fn seen(&self) -> Seen {
        Seen {
            namespace: self.namespace.clone(),
            release: self.release.clone(),
            records: self.seen.clone(),
        }
    }

    fn see(&mut self, number: i64, secret: &Secret) {
        let version = secret.resource_version().unwrap_or_default();
        self.seen.insert(number, version);
    }

    fn failed(&self, what: &'static str) -> impl Fn(kube::Error) -> Error + use<> {
        let release = format!("{}/{}", self.namespace, self.release);
        move |error| Error::Cluster {
            what,
            release: release.clone(),
            why: chain(&error),
        }
    }

    /// All records that can be read, the oldest first.
    ///
    /// # Errors
    /// If the newest cannot be: then nobody knows what is installed.
    pub(super) async fn all(&mut self) -> Result<Vec<Record>, Error> {
        let selected = ListParams::default().labels(&record::selector(&self.release));
        let listed = self.secrets.list(&selected).await.map_err(self.failed("list"))?;
        let mut records = Vec::with_capacity(listed.items.len());
        self.seen.clear();
        self.unreadable.clear();
        self.own.clear();
        let mut newest_unreadable: Option<(i64, Error)> = None;
        for secret in listed.items {
            let record = match read(&secret) {
                Ok(record) => record,
                Err(error) => {
                    tracing::warn!("{error}");
                    let version = secret.labels().get("version").and_then(|text| text.parse().ok());
                    let version = version.unwrap_or(i64::MAX);
                    self.unreadable.push(version);
                    if newest_unreadable
                        .as_ref()
                        .is_none_or(|(newest, _)| *newest < version)
                    {
                        newest_unreadable = Some((version, error));
                    }
                    continue;
                }
            };
            self.see(record.version, &secret);
            if secret.annotations().get(MADE_FOR) == Some(&self.made_for) {
                self.own.insert(record.version);
            }
            let annotation = secret.annotations().get(operator::ANNOTATION);
            if let Some(operator) = annotation.and_then(|text| Operator::parse(text)) {
                self.operators.insert(record.version, operator);
            }
            records.push(record);
        }
        records.sort_by_key(|record| record.version);
        let newest = records.last().map_or(0, |record| record.version);
        match newest_unreadable {
            Some((version, error)) if version > newest => Err(error),
            _ => Ok(records),
        }
    }

    /// Whether a record was made for the object, as it was read.
    pub(super) fn is_own(&self, version: i64) -> bool {
        self.own.contains(&version)
    }

    /// The versions of records that are there and cannot be read.
    pub(super) fn unreadable(&self) -> Vec<i64> {
        self.unreadable.clone()
    }

    /// Writes a record that is not there yet.
    pub(super) async fn create(&mut self, record: &Record, now: Timestamp) -> Result<(), Error> {
        let secret = self.secret(record, Change::Create(now.as_second()))?;
        if self.is_rehearsed {
            return Ok(());
        }
        let created = self.secrets.create(&PostParams::default(), &secret).await;
        let created = created.map_err(self.failed("write"))?;
        self.see(record.version, &created);
        Ok(())
    }

    /// Writes a record that is there. Others may write to its Secret meanwhile, which is none of the record's business.
    pub(super) async fn update(&mut self, record: &Record, now: Timestamp) -> Result<(), Error> {
        let secret = self.secret(record, Change::Update(now.as_second()))?;
        if self.is_rehearsed {
            return Ok(());
        }
        let mut left = TRIES;
        loop {
            left -= 1;
            match self.replace(&secret).await {
                Err(kube::Error::Api(status)) if status.is_conflict() && left > 0 => {}
                replaced => {
                    let replaced = replaced.map_err(self.failed("write"))?;
                    self.see(record.version, &replaced);
                    return Ok(());
                }
            }
        }
    }

    async fn replace(&self, wanted: &Secret) -> Result<Secret, kube::Error> {
        let (mut secret, name) = (wanted.clone(), wanted.name_any());
        let live = self.secrets.get(&name).await?;
        // What others have put on it stays, as do the time of its making and its owner.
        let labels = live.metadata.labels.into_iter().flatten();
        let mut all: BTreeMap<_, _> = labels.collect();
        all.extend(secret.metadata.labels.take().unwrap_or_default());
        secret.metadata.labels = Some(all);
        let own = secret.metadata.annotations.take().unwrap_or_default();
        let mut annotations = live.metadata.annotations.unwrap_or_default();
        annotations.remove(operator::ANNOTATION);
        annotations.extend(own);
        secret.metadata.annotations = (!annotations.is_empty()).then_some(annotations);
        secret.metadata.owner_references = live.metadata.owner_references;
        secret.metadata.resource_version = live.metadata.resource_version;
        self.secrets.replace(&name, &PostParams::default(), &secret).await
    }

    /// Deletes the record of a version. One that is gone is as good.
    pub(super) async fn delete(&mut self, version: i64) -> Result<(), Error> {
        if self.is_rehearsed {
            return Ok(());
        }
        let name = record::name(&self.release, version);
        self.seen.remove(&version);
        match self.secrets.delete(&name, &DeleteParams::default()).await {
            Err(kube::Error::Api(status)) if status.is_not_found() => Ok(()),
            deleted => deleted.map(drop).map_err(self.failed("delete")),
        }
    }

    fn secret(&self, record: &Record, change: Change) -> Result<Secret, Error> {
        let object = record::to_object(record, &self.namespace, Driver::Secret, change)?;
        let mut secret: Secret = to_serde(&object).map_err(|error| Error::Unreadable {
            name: record::name(&self.release, record.version),
            why: error.to_string(),
        })?;
        let annotations = secret.metadata.annotations.get_or_insert_default();
        annotations.insert(MADE_FOR.to_owned(), self.made_for.clone());
        // What is at work says whose work it is.
        let is_at_work = record.info.status.is_pending() || record.info.status == Status::Uninstalling;
        if let Some(operator) = self.operator.as_ref().filter(|_| is_at_work) {
            annotations.insert(operator::ANNOTATION.to_owned(), operator.to_string());
        }
        Ok(secret)
    }
}

/// The record of a Secret.
fn read(secret: &Secret) -> Result<Record, Error> {
    let unreadable = |why: String| Error::Unreadable {
        name: secret.name_any(),
        why,
    };
    let object = from_serde(secret).map_err(|error| unreadable(error.to_string()))?;
    record::from_object(&object).map_err(|error| unreadable(error.to_string()))
}
