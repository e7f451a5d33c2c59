//! What the controller would do for a HelmRelease, found out without doing it.
//!
//! The release is worked on by what works on it in the controller, in a [site](super::site) that keeps plans instead of carrying them out and
//! with a [storage](super::storage) that writes nothing.

use api::helm::HelmRelease;
use engine::plan::{Objects, Plan};
use engine::workers::Workers;
use helm::decision::message;
use helm::decision::{Action, Next};
use helm::record::{Record, Status};
use kube::Client;
use model::Map;

use super::action::{NotDone, Release};
use super::reading::Reading;
use super::source::Sources;
use super::storage::Storage;
use super::values::Values;
use super::{FIELD_MANAGER, HelmReleases, Shared, chart_template, reconcile, sites, status, target};
use crate::kit::{Failure, Rehearsal};

/// What is looked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Look {
    /// What the controller would do.
    Run,
    /// The same; where that is nothing, what it would put right if the object had it detect drift.
    RunOrDrift,
}

/// What the controller would do next.
pub struct Preview {
    /// What it is: `install`, `upgrade`, `rollback`, …; nothing where all is as it should be.
    pub action: Option<&'static str>,
    /// Why; empty where that goes without saying.
    pub reason: String,
    /// The release as it would be: namespace, name and version.
    pub release: String,
    /// Its chart, with its version.
    pub chart: String,
    /// The plans that would be carried out, one after the other.
    pub plans: Vec<(Plan, Objects)>,
    /// The manifest of what is installed.
    pub before: String,
    /// The manifest of what would be.
    pub after: String,
    /// The cluster of the release, as whom it is installed.
    pub client: Client,
}

/// Why nothing can be told of a HelmRelease.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct NoPreview(String);

impl From<Failure> for NoPreview {
    fn from(failure: Failure) -> Self {
        NoPreview(failure.message)
    }
}

/// The values of a release: those that its object names, and its own over them.
///
/// # Errors
/// What the controller would tell instead.
pub async fn values(client: &Client, object: &HelmRelease) -> Result<Map, NoPreview> {
    Ok(read_values(client, object, &Reading::new()).await?.values)
}

/// The values of a release, for whoever has no worker.
async fn read_values(client: &Client, object: &HelmRelease, reading: &Reading) -> Result<Values, NoPreview> {
    let worker = Workers::new(1).take().await.ok_or_else(ends)?;
    Ok(super::values::values(client, object, reading, &worker).await?)
}

fn ends() -> NoPreview {
    NoPreview("the program is about to end".to_owned())
}

/// What the controller would do next for an object of the cluster. Nothing is changed.
///
/// What an object depends on is not looked at.
///
/// # Errors
/// What the controller would tell instead.
pub async fn preview(shared: Shared, object: &HelmRelease, look: Look) -> Result<Preview, NoPreview> {
    let worker = Workers::new(1).take().await.ok_or_else(ends)?;
    let standards = sites::standards(object, shared.settings.helm3_defaults, &worker).await;
    let standards = standards.map_err(NoPreview)?;
    let template = object.spec.chart.as_ref();
    let helm_chart = template.map(|template| chart_template::key(object, template));
    let helm_chart = helm_chart.map(|(namespace, name)| format!("{namespace}/{name}"));
    let client = shared.client.clone();
    let mut releases = HelmReleases::new(shared);
    releases.sources = Sources::asked(&client, object, helm_chart.as_deref()).await?;
    if let Some((namespace, name)) = helm_chart.as_deref().and_then(|name| name.split_once('/')) {
        let live = releases.sources.helm_chart(namespace, name).await;
        chart_template::check_current(object, live.as_deref()).map_err(NoPreview)?;
    }
    let settings = &releases.shared.settings;
    let found = releases
        .sources
        .chart(object, helm_chart.as_deref(), settings)
        .await?;
    let Values {
        values,
        hidden,
        charge: _charge,
        ..
    } = read_values(&client, object, &releases.reading).await?;
    let own = target::own_namespace(object);
    let loaded = releases
        .charts
        .get(&found.artifact, settings, (&own, &worker))
        .await?;
    let (chart, oci_digest) = match found.is_by_digest {
        true => releases.tracked(&loaded, &found.artifact.revision.to_string())?,
        false => (loaded, String::new()),
    };
    let identity = settings.identity(object).to_string();
    let site = releases.sites.of(object, &identity, standards).await;
    let mut site = site.map_err(NoPreview)?;
    site.rehearsed = Some(Vec::new());
    let rehearsal = Rehearsal::new(&client, FIELD_MANAGER).await;
    let rehearsal = rehearsal.ok_or_else(ends)?;
    let mut run = rehearsal.run(object);
    if let Some(change) = reconcile::target_change(&run, &chart) {
        let what = change.text();
        return Err(NoPreview(format!(
            "release target configuration changed ({what}): the current release would be uninstalled, and installed anew"
        )));
    }
    reconcile::attempt(&mut run, &chart, &values, &oci_digest);
    let (namespace, name) = (target::storage_namespace(object), target::release_name(object));
    let mut release = Release {
        settings,
        client: &client,
        newer: None,
        renderer: &releases.renderer,
        values,
        policy: target::policy(object, settings),
        storage: Storage::new(
            (&site.client, site.cluster()),
            &releases.reading,
            (&namespace, &name),
            object,
            None,
        )
        .rehearsed(),
        records: Vec::new(),
        history: status::history(&run.status),
        log: Vec::new(),
        rest: None,
        superseded_by: None,
        hidden: hidden.clone(),
        run: &mut run,
        chart,
        site: &mut site,
    };
    let previewed = release.previewed(look).await;
    previewed.map_err(|problem| NoPreview(hidden.mask(&problem)))
}

impl Release<'_, '_> {
    /// What would be done next.
    async fn previewed(&mut self, look: Look) -> Result<Preview, String> {
        let records = self.storage.all(self.run.worker).await;
        self.records = records.map_err(|error| error.to_string())?;
        self.note_own_records();
        let before = self.records.clone();
        let mut is_unlocked = false;
        let (action, reason) = loop {
            match self.next().await? {
                // What comes after that is of interest, and what comes before it never is.
                (Some(Action::Unlock), _) if !is_unlocked => {
                    is_unlocked = true;
                    self.rehearsed(Action::Unlock).await?;
                }
                (None, reason) if look == Look::RunOrDrift && !self.records.is_empty() => {
                    break (Some(Action::CorrectDrift), reason);
                }
                next => break next,
            }
        };
        if let Some(action) = action {
            self.rehearsed(action).await?;
        }
        Ok(self.told(action, reason, &before))
    }

    /// The next action, and why.
    async fn next(&mut self) -> Result<(Option<Action>, String), String> {
        let mut compared = None;
        let (decision, reason) = loop {
            let (decision, reason) = self.decided_with_reason(false, compared.as_ref())?;
            if decision.next != Next::Compare {
                break (decision, reason);
            }
            compared = Some(self.drift().await);
        };
        self.history = decision.history;
        match decision.next {
            Next::Do(action) => Ok((Some(action), reason)),
            Next::Nothing | Next::Compare => Ok((None, String::new())),
            Next::Stall(stall) => {
                let status = &self.run.status;
                let (last, counters) = (status::last_action(status), status::counters(status));
                Err(message::stalled(stall, last, &counters))
            }
        }
    }

    /// Does what would be done, of which nothing is written.
    async fn rehearsed(&mut self, action: Action) -> Result<(), String> {
        self.run(action).await.map_err(|NotDone(problem)| problem)?;
        match self.records.last() {
            Some(record) if record.info.status == Status::Failed && action != Action::Unlock => {
                Err(record.info.description.clone())
            }
            _ => Ok(()),
        }
    }

    fn told(&mut self, action: Option<Action>, reason: String, before: &[Record]) -> Preview {
        let deployed = before.iter().rev();
        let mut deployed = deployed.filter(|record| record.info.status == Status::Deployed);
        let newest = self.records.last();
        let name = target::release_name(self.run.object);
        let version = newest.map_or(1, |record| record.version);
        let (chart_name, chart_version) = match newest {
            Some(record) => (record.chart_name().to_owned(), record.chart_version().to_owned()),
            None => {
                let chart = &self.chart.metadata;
                (chart.name.clone(), chart.version.clone())
            }
        };
        let after = match action {
            Some(Action::UninstallRemediation) => String::new(),
            _ => newest.map(|record| record.manifest.clone()).unwrap_or_default(),
        };
        Preview {
            action: action.map(Action::name),
            reason,
            release: format!("{}/{name}.v{version}", target::namespace(self.run.object)),
            chart: format!("{chart_name}@{chart_version}"),
            plans: self.site.rehearsed.take().unwrap_or_default(),
            before: deployed
                .next()
                .map(|record| record.manifest.clone())
                .unwrap_or_default(),
            after,
            client: self.site.client.clone(),
        }
    }
}
