//! What can be done with a release. One file for each action; all of them work on a [`Release`].

mod carried;
mod correct_drift;
mod install;
mod rollback;
mod test;
mod uninstall;
mod unlock;
mod upgrade;

use std::collections::BTreeMap;
use std::sync::Arc;

use api::Reason;
use api::helm::HelmReleaseSpec;
use engine::sync::{Ending, Outcome, Report};
use helm::chart::Chart;
use helm::decision::message::{self, Subject, Told};
use helm::decision::{Action, History, Policy, Snapshot};
use helm::record::{Record, Status, Time};
use jiff::Timestamp;
use kube::ResourceExt;
use model::event::Severity;
use model::inventory::Entry;
use model::{Inventory, Map, ObjectKey, Value};

use super::hidden::Hidden;
use super::newer::Newer;
use super::render::Renderer;
use super::site::Site;
use super::storage::{self, Storage};
use super::{Settings, definitions, hooks, objects, status, target};
use crate::kit::{Notice, Run};

pub(super) use correct_drift::Drifted;

/// A release that is worked on.
pub(super) struct Release<'r, 'o> {
    /// The object, and its status as it is to be.
    pub(super) run: &'r mut Run<'o, HelmReleaseSpec>,
    pub(super) settings: &'r Settings,
    /// The cluster of the object itself.
    pub(super) client: &'r kube::Client,
    /// Tells what is newer than what is worked on.
    pub(super) newer: Option<Newer>,
    pub(super) renderer: &'r Renderer,
    /// The chart and the values that are wanted.
    pub(super) chart: Arc<Chart>,
    pub(super) values: Map,
    pub(super) policy: Policy,
    pub(super) site: &'r mut Site,
    pub(super) storage: Storage,
    /// All that is stored, the oldest first.
    pub(super) records: Vec<Record>,
    pub(super) history: History,
    /// What somebody should know of the last action when it fails.
    pub(super) log: Vec<String>,
    /// Set once nothing is left to do.
    pub(super) rest: Option<Rest>,
    /// What was newer than what was waited for, if something was.
    pub(super) superseded_by: Option<String>,
    /// What no message tells.
    pub(super) hidden: Hidden,
}

/// Why nothing is left to do: all is as it should be, or what is not has failed too often.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Rest {
    /// The objects were compared with the release, and are the same.
    Compared,
    /// Nobody asked for that.
    Uncompared,
}

/// Why an action was not done, and nothing was stored of it.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct NotDone(pub(super) String);

impl From<storage::Error> for NotDone {
    fn from(error: storage::Error) -> Self {
        NotDone(error.to_string())
    }
}

impl Release<'_, '_> {
    /// Does it.
    pub(super) async fn run(&mut self, action: Action) -> Result<(), NotDone> {
        self.log.clear();
        let done = match action {
            Action::Install => self.install().await,
            Action::Upgrade => self.upgrade().await,
            Action::Test => self.test().await,
            Action::Rollback { to } => self.roll_back(to).await,
            Action::UninstallRemediation => self.uninstall_failed_release().await,
            Action::Unlock => self.unlock().await,
            Action::CorrectDrift => self.correct_drift().await,
        };
        status::set_history(&mut self.run.status, &self.history);
        // As in Flux, `Ready` goes on to tell why a release was uninstalled, and that objects are being set right.
        if !matches!(action, Action::UninstallRemediation | Action::CorrectDrift) {
            status::summarise(self.run, &self.policy.tests);
        }
        done
    }

    fn name(&self) -> String {
        target::release_name(self.run.object)
    }

    fn namespace(&self) -> String {
        target::namespace(self.run.object)
    }

    /// The newest record.
    pub(super) fn last(&self) -> Option<&Record> {
        self.records.last()
    }

    /// The record of what is installed.
    fn deployed(&self) -> Option<&Record> {
        let mut newest = self.records.iter().rev();
        newest.find(|record| record.info.status == Status::Deployed)
    }

    /// Tells something by its condition and by an event.
    fn tell(&mut self, told: &Told, metadata: BTreeMap<String, String>) {
        let told = Told {
            message: self.hidden.mask(&told.message),
            ..told.clone()
        };
        status::set(&mut self.run.status, self.run.stamp, &told);
        let mut notice = status::notice(&told, metadata);
        if told.is_warning {
            let log = self.hidden.mask(&self.log.join("\n"));
            notice.message = message::with_log(&notice.message, &log);
        }
        self.run.tell(notice);
    }

    /// The metadata of events about what is wanted, of which there is no snapshot.
    fn wanted_metadata(&self) -> BTreeMap<String, String> {
        let chart = &self.chart.metadata;
        let digest = helm::digest::of_values(model::digest::Algorithm::Sha256, &self.values).to_string();
        let oci = self
            .run
            .status
            .last_attempted_revision_digest
            .clone()
            .unwrap_or_default();
        message::metadata(&chart.version, &digest, &chart.app_version, &oci)
    }

    fn with_subject<T>(&self, tell: impl FnOnce(&Subject<'_>) -> T) -> T {
        let (namespace, name) = (self.namespace(), self.name());
        tell(&Subject {
            namespace: &namespace,
            name: &name,
            chart_name: &self.chart.metadata.name,
            chart_version: &self.chart.metadata.version,
        })
    }

    fn latest(&self) -> Option<Snapshot> {
        self.history.latest().cloned()
    }

    /// Counts a failure of any kind.
    fn count_any_failure(&mut self) {
        let failures = &mut self.run.status.failures;
        *failures = Some(failures.unwrap_or_default() + 1);
    }

    /// A release cannot be uninstalled, as nobody tells what there is of it.
    pub(super) fn not_uninstalled(&mut self, problem: String) -> NotDone {
        if let Some(latest) = self.latest() {
            self.count_any_failure();
            let metadata = message::snapshot_metadata(&latest);
            self.tell(&message::uninstall_failed(&latest, &problem), metadata);
            status::summarise(self.run, &self.policy.tests);
        }
        NotDone(problem)
    }

    /// Stores a record that is new.
    async fn create(&mut self, record: Record) -> Result<(), storage::Error> {
        self.storage.create(&record, Timestamp::now()).await?;
        self.records.push(record);
        Ok(())
    }

    /// Stores a record that has changed.
    async fn update(&mut self, record: Record) -> Result<(), storage::Error> {
        self.storage.update(&record, Timestamp::now()).await?;
        if let Some(known) = self
            .records
            .iter_mut()
            .find(|known| known.version == record.version)
        {
            *known = record;
        }
        Ok(())
    }

    /// Deletes the records that are more than are kept.
    async fn forget_old(&mut self) -> Result<(), storage::Error> {
        let maximum = target::max_history(self.run.object);
        for version in helm::record::superfluous(&self.records, maximum) {
            self.storage.delete(version).await?;
            self.records.retain(|record| record.version != version);
        }
        Ok(())
    }

    /// The objects of records, as far as they may be in the cluster.
    async fn inventory_of<'i>(&self, records: impl Iterator<Item = &'i Record>) -> Inventory {
        let mut all = Inventory::default();
        for record in records {
            let listed = self.site.listed(&record.manifest, &[], &record.namespace).await;
            let entries = listed.map(|listed| listed.inventory.entries).unwrap_or_default();
            let is_new = |entry: &Entry| !all.entries.iter().any(|known| known.id == entry.id);
            let new: Vec<Entry> = entries.into_iter().filter(is_new).collect();
            all.entries.extend(new);
        }
        all
    }

    /// All that may be in the cluster of this release: what is installed, and what was tried since.
    async fn installed(&self) -> Inventory {
        let since = self.deployed().map_or(0, |deployed| deployed.version);
        let records = self.records.iter().filter(|record| record.version >= since);
        let present = records.filter(|record| record.info.status != Status::Uninstalled);
        self.inventory_of(present).await
    }

    /// Has `status.inventory` list the objects of a record.
    async fn list_objects(&mut self, record: &Record) {
        let object = self.run.object;
        let crds = definitions::files_of(&self.chart, record);
        let listed = match crds {
            Ok(crds) => self.site.listed(&record.manifest, &crds, &record.namespace).await,
            Err(problem) => Err(problem),
        };
        let (reason, message) = match listed {
            Ok(listed) => {
                self.run.status.inventory = Some(listed.inventory);
                (Reason::NAMESPACE_CHECK_SKIPPED, listed.warnings.join("; "))
            }
            Err(problem) => {
                let (namespace, name) = (target::own_namespace(object), object.name_any());
                let message = format!("failed to build inventory for {namespace}/{name}: {problem}");
                (Reason::INVENTORY_BUILD_FAILED, message)
            }
        };
        if !message.is_empty() {
            self.run.tell(Notice {
                severity: Severity::Error,
                reason,
                message,
                metadata: BTreeMap::new(),
            });
        }
    }

    /// Brings the objects of a manifest to the cluster and waits for them, as far as is asked for. Takes note of those that were not there.
    async fn apply(
        &mut self,
        manifest: &str,
        applying: &Applying,
        created: &mut Vec<ObjectKey>,
    ) -> Result<Report, String> {
        let found = helm::inventory::objects(manifest)?;
        let (name, namespace) = (self.name(), self.namespace());
        let takeover = objects::takeover(&self.settings.override_managers);
        let is_job = |object: &Value| object.str_at(&["kind"]) == "Job";
        let nothing = |_: &Value| false;
        let wanted = objects::Wanted {
            name: &name,
            namespace: &namespace,
            objects: found,
            previous: applying.previous.clone(),
            client_side: applying.client_side.clone(),
            force: applying.force,
            wait: applying.wait,
            unawaited: if applying.wait_for_jobs { &nothing } else { &is_job },
        };
        let planned = self.site.planned(wanted, &takeover, created).await;
        let (plan, objects) = planned.map_err(|problems| problems.join("\n"))?;
        let (worker, newer) = (self.run.worker, self.newer.clone());
        let report = self.site.carry_out_until(plan, objects, worker, newer).await;
        self.log.extend(report.changes());
        let new = report
            .results
            .iter()
            .filter(|result| result.outcome == Outcome::Created);
        created.extend(new.map(|result| result.key.clone()));
        if report.ending == Ending::Superseded {
            let newer = self.newer.as_ref().and_then(|newer| newer());
            let newer = newer.unwrap_or_else(|| "what came in between".to_owned());
            let problem = format!("canceled: new reconciliation triggered by {newer}");
            self.superseded_by = Some(newer);
            return Err(problem);
        }
        ended(report)
    }

    /// Whether a record brings only what is new or belongs to the release already: Helm asks before it stores anything.
    async fn check_owners(&self, record: &Record, own: &Inventory) -> Result<(), String> {
        let problems = self
            .site
            .owned_by_others(&record.manifest, &record.name, &record.namespace, own)
            .await?;
        match problems.is_empty() {
            true => Ok(()),
            false => Err(problems.join("\n")),
        }
    }

    /// Runs hooks of a record.
    async fn hooks(
        &mut self,
        record: &mut Record,
        event: helm::manifest::Event,
        seconds: u64,
    ) -> Result<(), String> {
        let mut runner = hooks::Runner {
            site: self.site,
            worker: self.run.worker,
            seconds,
        };
        runner.run(record, event).await
    }
}

/// How objects are brought to the cluster.
#[derive(Default)]
struct Applying {
    previous: Inventory,
    /// The objects of the release before, if the server does not apply.
    client_side: Option<Vec<Value>>,
    force: bool,
    wait: Option<u64>,
    wait_for_jobs: bool,
}

/// What a plan came to.
fn ended(report: Report) -> Result<Report, String> {
    match report.ending {
        Ending::Succeeded => Ok(report),
        _ => Err(report.errors.join("\n")),
    }
}

/// Now, as records have it.
fn now() -> Time {
    Time::new(Timestamp::now())
}
