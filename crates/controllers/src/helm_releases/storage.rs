//! The records of a release, in Secrets of its storage namespace, as Helm keeps them.

use api::helm::HelmRelease;
use engine::cluster::{Cluster, Resource, Selection};
use engine::workers::WorkerPermit;
use helm::record::{self, Change, Driver, Record, Status};
use jiff::Timestamp;
use k8s_openapi::api::core::v1::Secret;
use kube::api::{DeleteParams, PostParams};
use kube::{Api, Client, ResourceExt};
use model::Value;
use model::convert::to_serde;
use std::collections::{BTreeMap, BTreeSet};

use super::operator::{self, Operator};
use super::reading::{Charge, OverBudget, Reading};
use super::target;
use super::versions::{Version, Versions};
use crate::kit::chain;

/// The annotation of a record that says which object it was made for, by its uid. Whoever is ended before the status says so knows it by that.
const MADE_FOR: &str = "sluice.dev/made-for";

/// How often a record is written at most where others write to its Secret at the same time.
const TRIES: usize = 5;

/// How many Secrets a page of the list has.
const PAGE: usize = 20;
/// The most records of one release.
const MOST: usize = 10_000;

/// The records of one release.
pub(super) struct Storage {
    secrets: Api<Secret>,
    cluster: Cluster,
    reading: Reading,
    /// The namespace of the object, which has a budget for the memory of records.
    tenant: String,
    /// The part of that budget which the records take.
    charge: Option<Charge>,
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
    #[error("release {release} has more than {MOST} records: delete the Secrets of old versions")]
    TooMany { release: String },
    #[error(transparent)]
    OverBudget(#[from] OverBudget),
    #[error(transparent)]
    TooLarge(#[from] record::TooLarge),
}

impl Storage {
    pub(super) fn new(
        (client, cluster): (&Client, &Cluster),
        reading: &Reading,
        (namespace, release): (&str, &str),
        object: &HelmRelease,
        operator: Option<&Operator>,
    ) -> Self {
        Storage {
            secrets: Api::namespaced(client.clone(), namespace),
            cluster: cluster.clone(),
            reading: reading.clone(),
            tenant: target::own_namespace(object),
            charge: None,
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

    fn failed<E: std::error::Error + 'static>(&self, what: &'static str) -> impl Fn(E) -> Error + use<E> {
        let release = format!("{}/{}", self.namespace, self.release);
        move |error| Error::Cluster {
            what,
            release: release.clone(),
            why: chain(&error),
        }
    }

    /// All records that can be read, the oldest first. The release has no worker while that takes long.
    ///
    /// # Errors
    /// If the newest cannot be: then nobody knows what is installed. If they take more memory than the namespace of the object has for records.
    pub(super) async fn all(&mut self, worker: &WorkerPermit) -> Result<Vec<Record>, Error> {
        let found = self.read(worker).await?;
        let mut records = Vec::with_capacity(found.len());
        self.seen.clear();
        self.unreadable.clear();
        self.own.clear();
        let mut newest_unreadable: Option<(i64, Error)> = None;
        for found in found {
            let record = match found.record {
                Ok(record) => record,
                Err(error) => {
                    tracing::warn!("{error}");
                    let version = found.label.unwrap_or(i64::MAX);
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
            self.seen.insert(record.version, found.resource_version);
            if !found.made_for.is_empty() && found.made_for == self.made_for {
                self.own.insert(record.version);
            }
            if let Some(operator) = found.operator {
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

    /// Reads all Secrets page by page. Their memory counts until they are read anew.
    async fn read(&mut self, worker: &WorkerPermit) -> Result<Vec<Found>, Error> {
        let mut patience = self.reading.patience();
        loop {
            match self.read_once(worker).await {
                Err(Error::OverBudget(over)) if patience.waits(worker, &over).await => {}
                done => return done,
            }
        }
    }

    async fn read_once(&mut self, worker: &WorkerPermit) -> Result<Vec<Found>, Error> {
        let selection = Selection {
            namespace: self.namespace.as_str().into(),
            labels: record::selector(&self.release).into(),
            ..Selection::default()
        };
        let (resource, mut found, mut next) = (secrets(), Vec::new(), None::<String>);
        let mut charge = self.reading.charge(&self.tenant);
        self.charge = None;
        loop {
            let page = self.cluster.list(&resource, &selection, PAGE, next.as_deref());
            let page = page.await.map_err(self.failed("list"))?;
            charge.grow(page.memory)?;
            let read = move || {
                let read = read_all(page.items.into_iter().chain(page.partial), &mut charge);
                charge.shrink(page.memory);
                drop(page.charge);
                read.map(|read| (read, charge))
            };
            let read = self.reading.run(&self.tenant, worker, read).await?;
            found.extend(read.0);
            charge = read.1;
            if found.len() > MOST {
                let release = format!("{}/{}", self.namespace, self.release);
                return Err(Error::TooMany { release });
            }
            match page.next {
                Some(more) => next = Some(more.to_string()),
                None => break,
            }
        }
        self.charge = Some(charge);
        Ok(found)
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

/// The record in a Secret, and what the Secret says of it.
struct Found {
    /// The version in its label.
    label: Option<i64>,
    resource_version: String,
    made_for: String,
    operator: Option<Operator>,
    record: Result<Record, Error>,
}

/// Reads the records of Secrets, each once its memory is charged.
fn read_all(secrets: impl Iterator<Item = Value>, charge: &mut Charge) -> Result<Vec<Found>, OverBudget> {
    let found = secrets.map(|mut secret| {
        secret.set_at(&["kind"], "Secret");
        let memory = record::memory(&secret);
        if let Ok(memory) = &memory {
            charge.grow(*memory)?;
        }
        let record = memory.and_then(|_| record::from_object(&secret));
        let record = record.map_err(|error| Error::Unreadable {
            name: secret.str_at(&["metadata", "name"]).to_owned(),
            why: error.to_string(),
        });
        let text = |path: &[&str]| secret.str_at(path).to_owned();
        Ok(Found {
            label: secret.str_at(&["metadata", "labels", "version"]).parse().ok(),
            resource_version: text(&["metadata", "resourceVersion"]),
            made_for: text(&["metadata", "annotations", MADE_FOR]),
            operator: Operator::parse(secret.str_at(&["metadata", "annotations", operator::ANNOTATION])),
            record,
        })
    });
    found.collect()
}

/// Secrets, which every server has.
fn secrets() -> Resource {
    Resource {
        group: "".into(),
        version: "v1".into(),
        kind: "Secret".into(),
        plural: "secrets".into(),
        namespaced: true,
        watchable: true,
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use base64::Engine as _;
    use base64::engine::general_purpose::STANDARD;
    use engine::workers::Workers;

    use super::super::reading::BUDGET;
    use super::*;

    /// A Secret whose record unpacks to so many numbers.
    fn secret(version: usize, numbers: usize) -> String {
        let config = "0,".repeat(numbers);
        let json = format!(r#"{{"name":"web","version":{version},"config":{{"a":[{config}0]}}}}"#);
        let mut packer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        packer.write_all(json.as_bytes()).unwrap();
        let text = STANDARD.encode(STANDARD.encode(packer.finish().unwrap()));
        format!(
            r#"{{"metadata":{{"name":"web.v{version}","labels":{{"version":"{version}"}}}},"data":{{"release":"{text}"}}}}"#
        )
    }

    /// A server with so many pages of so many records each, and the number of its answers.
    fn server(pages: usize, each: usize, numbers: usize) -> (Client, Arc<AtomicUsize>) {
        let asked = Arc::new(AtomicUsize::new(0));
        let count = Arc::clone(&asked);
        let service = tower::service_fn(move |request: http::Request<kube::client::Body>| {
            let query = request.uri().query().unwrap_or_default().to_owned();
            assert!(query.contains("limit=20"), "{query}");
            let page = count.fetch_add(1, Ordering::Relaxed);
            let items: Vec<String> = (1..=each).map(|at| secret(page * each + at, numbers)).collect();
            let more = if page + 1 < pages { "more" } else { "" };
            let list = format!(
                r#"{{"kind":"SecretList","metadata":{{"continue":"{more}"}},"items":[{}]}}"#,
                items.join(",")
            );
            async move {
                Ok::<_, std::convert::Infallible>(http::Response::new(kube::client::Body::from(
                    list.into_bytes(),
                )))
            }
        });
        (Client::new(service, "default"), asked)
    }

    fn storage(client: &Client, reading: &Reading) -> Storage {
        let object = serde_json::json!({
            "apiVersion": "helm.toolkit.fluxcd.io/v2", "kind": "HelmRelease",
            "metadata": {"name": "web", "namespace": "mallory"}, "spec": {"interval": "1h"},
        });
        let object = serde_json::from_value(object).unwrap();
        let cluster = Cluster::new(client.clone());
        Storage::new((client, &cluster), reading, ("mallory", "web"), &object, None)
    }

    #[tokio::test]
    async fn records_are_read_page_by_page() {
        let worker = Workers::new(1).take().await.unwrap();
        let (client, asked) = server(3, 2, 10);
        let records = storage(&client, &Reading::new()).all(&worker).await.unwrap();
        let versions: Vec<i64> = records.iter().map(|record| record.version).collect();
        assert_eq!(versions, [1, 2, 3, 4, 5, 6]);
        assert_eq!(asked.load(Ordering::Relaxed), 3);
    }

    /// A record of some kilobytes took a hundred megabytes, as often as there were records, and for as long as a release was waited for.
    #[tokio::test]
    async fn the_records_of_a_namespace_have_a_budget_of_memory() {
        let worker = Workers::new(1).take().await.unwrap();
        let reading = Reading::new();
        let (client, _) = server(1, 3, 2_000_000);
        let mut first = storage(&client, &reading);
        assert_eq!(first.all(&worker).await.unwrap().len(), 3);
        assert!(
            reading.charge(&first.tenant).grow(BUDGET / 2).is_err(),
            "they are in memory"
        );
        let mut second = storage(&client, &reading);
        let (read, ()) = tokio::join!(second.all(&worker), async { drop(first) });
        assert_eq!(read.unwrap().len(), 3);
        let (client, _) = server(1, 6, 2_000_000);
        let over = storage(&client, &Reading::new()).all(&worker).await.unwrap_err();
        assert!(matches!(over, Error::OverBudget(_)), "{over}");
    }

    #[tokio::test]
    async fn a_server_with_records_without_end_is_left() {
        let worker = Workers::new(1).take().await.unwrap();
        let (client, asked) = server(usize::MAX, 500, 1);
        let refused = storage(&client, &Reading::new()).all(&worker).await.unwrap_err();
        assert!(
            refused.to_string().contains("more than 10000 records"),
            "{refused}"
        );
        assert_eq!(asked.load(Ordering::Relaxed), 21);
    }
}
