//! One run: what is needed for a release is brought together, for [`steps`](super::steps) to work with; and the end of a release.

use std::sync::Arc;

use api::Reason;
use api::helm::{HelmRelease, HelmReleaseSpec};
use helm::chart::{Chart, track_revision};
use helm::decision::{self, Attempt, Target, TargetChange};
use helm::digest;
use model::Map;
use model::digest::Algorithm;

use super::action::{NotDone, Release, Rest};
use super::hidden::Hidden;
use super::newer::{self, WorkedOn};
use super::settled::{Inputs, Settled, told};
use super::site::Site;
use super::storage::Storage;
use super::values::Values;
use super::versions::{Read, Versions};
use super::watched::Watched;
use super::{HelmReleases, RESET, asks, sites, status, target, values};
use crate::kit::{Conditions, ConfigKind, Failure, Run, chain};

/// What begins the message of a failure that only a change of the object mends.
const TERMINAL: &str = "Reconciliation failed terminally due to configuration error";

type ReleaseRun<'r> = Run<'r, HelmReleaseSpec>;

impl HelmReleases {
    /// Brings a release to what its object wants.
    pub(super) async fn release(&self, run: &mut ReleaseRun<'_>) -> Result<(), Failure> {
        target::check_names(run.object)?;
        let helm3_defaults = self.shared.settings.helm3_defaults;
        let standards = sites::standards(run.object, helm3_defaults, run.worker)
            .await
            .map_err(|problem| {
                let message = format!("{TERMINAL}: {problem}");
                Failure::stalled(Reason::INVALID_CEL_EXPRESSION, message)
            })?;
        let settled = self.sites.unsettle(run.object);
        self.keep_chart(run).await?;
        let namespace = self
            .desk
            .get()
            .and_then(|desk| desk.options().namespace.as_deref());
        let read = self.configs.versions(run.object, namespace).await;
        if let Some(settled) = settled
            && self.rests(run, &settled, read.as_ref()).await
        {
            let end = settled.end.clone();
            self.sites.settle(run.object, settled);
            return end;
        }
        let stamp = run.stamp;
        run.status
            .set_reconciling(stamp, Reason::PROGRESSING, "Fulfilling prerequisites");
        run.show_progress().await;
        let settings = &self.shared.settings;
        self.check_dependencies(run.object, run.worker).await?;
        let helm_chart = run.status.helm_chart.clone();
        let found = self
            .sources
            .chart(run.object, helm_chart.as_deref(), settings)
            .await?;
        let values = values::values(&self.shared.client, run.object, &self.reading, run.worker).await?;
        let Values {
            values,
            read: of_values,
            hidden,
            charge: _charge,
        } = values;
        let of = target::own_namespace(run.object);
        let loaded = self
            .charts
            .get(&found.artifact, settings, (&of, run.worker))
            .await?;
        let revision = found.artifact.revision.to_string();
        let (chart, oci_digest) = match found.is_by_digest {
            true => self.tracked(&loaded, &revision)?,
            false => (loaded, String::new()),
        };
        let identity = settings.identity(run.object).to_string();
        let site = self.sites.of(run.object, &identity, standards).await;
        let mut site = site.map_err(|problem| Failure::transient(Reason::REST_CLIENT_ERROR, problem))?;
        if self.retargeted(run, &chart, &mut site).await? {
            return Err(again());
        }
        run.status.storage_namespace = Some(target::storage_namespace(run.object));
        attempt(run, &chart, &values, &oci_digest);
        let (stored_in, name) = (
            target::storage_namespace(run.object),
            target::release_name(run.object),
        );
        let operator = settings.operator.as_ref();
        let storage = Storage::new(
            (&site.client, site.cluster()),
            &self.reading,
            (&stored_in, &name),
            run.object,
            operator,
        );
        let newer = self.desk.get().map(|desk| {
            let worked_on = WorkedOn {
                object: run.object.clone(),
                helm_chart: run.status.helm_chart.clone(),
                inputs: Inputs::new(run.object, &found.artifact, Read::new()),
                read: of_values,
            };
            let (sources, configs) = (self.sources.clone(), Arc::clone(&self.configs));
            newer::newer(desk.clone(), sources, configs, settings.clone(), worked_on)
        });
        let history = status::history(&run.status);
        let policy = target::policy(run.object, settings);
        let mut release = Release {
            run,
            settings,
            client: &self.shared.client,
            newer,
            renderer: &self.renderer,
            chart,
            values,
            policy,
            site: &mut site,
            storage,
            records: Vec::new(),
            history,
            log: Vec::new(),
            rest: None,
            superseded_by: None,
            hidden,
        };
        let done = match release.held(&self.shared.client).await {
            Some(done) => done,
            None => release.go_on().await,
        };
        let detects = release.policy.drift.detects();
        let (rest, records) = (release.rest, release.storage.seen());
        if let (Some(rest), Some(read)) = (rest, read) {
            let selected = Some(helm::record::OWNED);
            let namespace = target::storage_namespace(run.object);
            let versions = Versions::follow(&site.heads, ConfigKind::Secret, selected, Some(&namespace));
            let settled = Settled {
                inputs: Inputs::new(run.object, &found.artifact, read),
                told: told(&run.status),
                records,
                versions: run.worker.aside(versions).await,
                is_compared: rest == Rest::Compared,
                end: rested(run.object, &done),
            };
            self.sites.settle(run.object, settled);
        }
        self.watch(run, site, done.is_ok() && detects).await;
        done
    }

    /// Whether a run would find all as the last one has left it.
    async fn rests(&self, run: &ReleaseRun<'_>, settled: &Settled, read: Option<&Read>) -> bool {
        let (Some(read), settings) = (read, &self.shared.settings) else {
            return false;
        };
        // Who changes values and asks for a run wants them read, though a watch may not have told of them yet.
        if run.is_requested() && !read.is_empty() {
            return false;
        }
        if self.check_dependencies(run.object, run.worker).await.is_err() {
            return false;
        }
        let helm_chart = run.status.helm_chart.as_deref();
        let Ok(found) = self.sources.chart(run.object, helm_chart, settings).await else {
            return false;
        };
        let inputs = Inputs::new(run.object, &found.artifact, read.clone());
        self.sites.holds(run.object, settled, &inputs)
    }

    /// Has the objects of a release watched that is as it should be, so that whoever changes one is seen at once.
    async fn watch(&self, run: &ReleaseRun<'_>, site: Site, is_watched: bool) {
        let inventory = run.status.inventory.as_ref().filter(|_| is_watched);
        let (Some(inventory), Some(desk)) = (inventory, self.desk.get()) else {
            return self.sites.watch(run.object, None);
        };
        let keys = inventory.entries.iter().map(|entry| entry.id.0.clone());
        let (wake, object) = (desk.wake(), run.object.clone());
        let watched = Watched::new(site, keys.collect(), move || wake.one(&object));
        let watched = run.worker.aside(watched).await;
        self.sites.watch(run.object, Some(watched));
    }

    /// A chart whose version tells which artifact it is from.
    pub(super) fn tracked(
        &self,
        chart: &Arc<Chart>,
        revision: &str,
    ) -> Result<(Arc<Chart>, String), Failure> {
        let tracked = track_revision(&chart.metadata.version, revision)
            .map_err(|error| Failure::transient(Reason::CHART_MUTATE_ERROR, error.to_string()))?;
        if self.shared.settings.no_chart_digests {
            return Ok((Arc::clone(chart), tracked.digest));
        }
        let mut chart = Chart::clone(chart);
        chart.metadata.version = tracked.version;
        Ok((Arc::new(chart), tracked.digest))
    }

    /// Uninstalls the release that an object has made, if it means another one by now; whether it did.
    async fn retargeted(
        &self,
        run: &mut ReleaseRun<'_>,
        chart: &Arc<Chart>,
        site: &mut Site,
    ) -> Result<bool, Failure> {
        let Some(change) = target_change(run, chart) else {
            return Ok(false);
        };
        tracing::info!(
            "release target configuration changed ({}): running uninstall for current release",
            change.text()
        );
        self.uninstall(run, chart, site).await?;
        run.status.history = Vec::new();
        status::clear_failures(&mut run.status);
        run.status.storage_namespace = None;
        Ok(true)
    }

    /// Uninstalls the release that the status tells of.
    async fn uninstall(
        &self,
        run: &mut ReleaseRun<'_>,
        chart: &Arc<Chart>,
        site: &mut Site,
    ) -> Result<(), Failure> {
        let history = status::history(&run.status);
        let Some(latest) = history.latest().cloned() else {
            return Ok(());
        };
        let stored_in = run.status.storage_namespace.clone().unwrap_or_default();
        let operator = self.shared.settings.operator.as_ref();
        let mut storage = Storage::new(
            (&site.client, site.cluster()),
            &self.reading,
            (&stored_in, &latest.name),
            run.object,
            operator,
        );
        let (records, unread) = match storage.all(run.worker).await {
            Ok(records) => (records, None),
            Err(error) => (Vec::new(), Some(error.to_string())),
        };
        let policy = target::policy(run.object, &self.shared.settings);
        let mut release = Release {
            run,
            settings: &self.shared.settings,
            client: &self.shared.client,
            newer: None,
            renderer: &self.renderer,
            chart: Arc::clone(chart),
            values: Map::new(),
            policy,
            site,
            storage,
            records,
            history,
            log: Vec::new(),
            rest: None,
            superseded_by: None,
            hidden: Hidden::default(),
        };
        let done = match unread {
            Some(problem) => Err(release.not_uninstalled(problem)),
            None => release.uninstall().await,
        };
        // What is wrong has been told already.
        done.map_err(|NotDone(_)| Failure::transient(Reason::UNINSTALL_FAILED, ""))
    }

    /// Uninstalls the release of an object that is deleted, if it is to go with it.
    pub(super) async fn leave(&self, run: &mut ReleaseRun<'_>) -> Result<(), Failure> {
        if run.object.spec.suspend {
            self.sites.forget(run.object);
            return Ok(());
        }
        if run.status.storage_namespace.is_some() && !self.account_is_gone(run).await? {
            let identity = self.shared.settings.identity(run.object).to_string();
            match self.sites.of(run.object, &identity, Default::default()).await {
                Ok(mut site) => {
                    let nothing = Arc::new(Chart::default());
                    self.uninstall(run, &nothing, &mut site).await?;
                }
                // Without what says where the release is, nothing can be done about it.
                Err(problem) if problem.contains("not found") => {
                    tracing::error!("skipping Helm release uninstallation: {problem}");
                }
                Err(problem) => {
                    let message =
                        format!("failed to build REST client getter to uninstall release: {problem}");
                    return Err(Failure::transient(Reason::UNINSTALL_FAILED, message));
                }
            }
            run.status.history = Vec::new();
            run.status.storage_namespace = None;
        }
        self.delete_chart(run).await?;
        self.sites.forget(run.object);
        Ok(())
    }

    async fn account_is_gone(&self, run: &ReleaseRun<'_>) -> Result<bool, Failure> {
        if run.object.spec.kube_config.is_some() {
            return Ok(false);
        }
        let identity = self.shared.settings.identity(run.object);
        let is_gone = identity.account_is_gone(&self.shared.client).await;
        is_gone.map_err(|error| {
            let ((_, name), why) = (identity.account().unwrap_or_default(), chain(&error));
            let message =
                format!("failed to confirm ServiceAccount '{name}' can be used to uninstall release: {why}");
            Failure::transient(Reason::UNINSTALL_FAILED, message)
        })
    }
}

/// What another release is meant by now than the one that an object has made.
pub(super) fn target_change(run: &ReleaseRun<'_>, chart: &Chart) -> Option<TargetChange> {
    let object = run.object;
    let history = status::history(&run.status);
    let upgrade = object.spec.upgrade.as_ref();
    let strategy = upgrade.and_then(|upgrade| upgrade.chart_name_change_strategy.as_ref());
    let stored_in = run.status.storage_namespace.clone().unwrap_or_default();
    let (storage, namespace) = (target::storage_namespace(object), target::namespace(object));
    let name = target::release_name(object);
    let wanted = Target {
        storage_namespace: &storage,
        namespace: &namespace,
        name: &name,
        chart_name: &chart.metadata.name,
        keeps_name_changes: matches!(strategy, Some(api::helm::ChartNameChange::InPlaceUpdate)),
    };
    decision::target_change(&wanted, &stored_in, &history)
}

/// Another run follows soon, and later each time it does. What there is to say has been said.
pub(super) fn again() -> Failure {
    Failure::transient(Reason::PROGRESSING_WITH_RETRY, "")
}

/// What the next run comes to if all stays as it is.
fn rested(object: &HelmRelease, done: &Result<(), Failure>) -> Result<(), Failure> {
    let Err(failure) = done else { return Ok(()) };
    // The status tells already why nothing is done.
    Err(Failure::waiting(
        object.spec.interval.to_std(),
        failure.reason,
        "",
    ))
}

/// Takes note of what is tried, and forgets failures of what was tried before.
pub(super) fn attempt(run: &mut ReleaseRun<'_>, chart: &Chart, values: &Map, oci_digest: &str) {
    let handled = run.status.last_handled_reset_at.clone();
    let reset = asks(run.object, RESET, handled.as_deref());
    let last_digest = run.status.last_attempted_revision_digest.as_deref();
    // Where its digest is no part of the version of a chart, it may be another one all the same.
    let is_other_artifact = last_digest.is_some_and(|last| !oci_digest.is_empty() && last != oci_digest);
    let version = &chart.metadata.version;
    let is_reset = {
        let status = &run.status;
        let last = status.last_attempted_config_digest.as_deref().unwrap_or_default();
        let tried = Attempt {
            generation: run.stamp.generation,
            last_generation: status.last_attempted_generation.unwrap_or_default(),
            chart_version: version,
            last_revision: status.last_attempted_revision.as_deref().unwrap_or_default(),
            values,
            last_config_digest: last,
            reset_requested: reset.is_some(),
        };
        is_other_artifact || decision::reset_reason(&tried).is_some()
    };
    let status = &mut run.status;
    if is_reset {
        status::clear_failures(status);
    }
    if reset.is_some() {
        status.last_handled_reset_at = reset;
    }
    status.last_attempted_generation = Some(run.stamp.generation);
    status.last_attempted_revision = Some(version.clone());
    status.last_attempted_revision_digest = (!oci_digest.is_empty()).then(|| oci_digest.to_owned());
    status.last_attempted_config_digest = Some(digest::of_values(Algorithm::Sha256, values).to_string());
    status.last_attempted_values_checksum = None;
    status.last_release_revision = None;
}
