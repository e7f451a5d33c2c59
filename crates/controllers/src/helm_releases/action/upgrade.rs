//! A release is made over the last one.

use std::borrow::Cow;
use std::sync::Arc;

use api::ConditionType;
use api::helm::{ReleaseAction, Upgrade};
use helm::HelmVersion;
use helm::chart::Chart;
use helm::decision::{Action, SnapshotAction, message};
use helm::manifest::Event;
use helm::record::{Making, Record, Status, description};
use model::Map;

use super::carried::{Carrying, Telling};
use super::{Applying, NotDone, Release, now};
use crate::helm_releases::render::Rendering;
use crate::helm_releases::target;
use crate::kit::Conditions as _;

impl Release<'_, '_> {
    pub(super) async fn upgrade(&mut self) -> Result<(), NotDone> {
        let started = std::time::Instant::now();
        self.run.status.last_attempted_release_action = Some(ReleaseAction::Upgrade);
        self.run.status.remove(ConditionType::TEST_SUCCESS);
        self.run.status.remove(ConditionType::REMEDIATED);
        let before = self.records.clone();
        let done = self.upgraded().await;
        self.run.status.last_attempted_release_action_duration = Some(started.elapsed().into());
        let telling = Telling {
            action: SnapshotAction::Upgrade,
            failed: message::upgrade_failed,
            succeeded: message::upgrade_succeeded,
        };
        self.released(&before, done, &telling)
    }

    async fn upgraded(&mut self) -> Result<(), String> {
        let object = self.run.object;
        let upgrade: Upgrade = object.spec.upgrade.clone().unwrap_or_default();
        let seconds = target::timeout_of(object, Action::Upgrade).as_secs().max(1);
        let last = self.last().cloned();
        let last = last.ok_or_else(|| format!("{:?} has no deployed releases", self.name()))?;
        let before = self.deployed().unwrap_or(&last);
        let (chart, values) = (
            self.chart_over(before)?,
            self.values_over(Some(before)).into_owned(),
        );
        self.apply_definitions(upgrade.crds.as_ref(), &chart, &values, seconds)
            .await?;
        let server_side = target::is_server_side(upgrade.server_side_apply.as_ref(), &last);
        let version = last.version + 1;
        let rendered = self.renderer.render(Rendering {
            object,
            chart: &chart,
            values: values.clone(),
            revision: version,
            is_upgrade: true,
            skip_schema: upgrade.disable_schema_validation,
            worker: self.run.worker,
            site: self.site,
            settings: self.settings,
        });
        let rendered = rendered.await?;
        let record = Making {
            name: self.name(),
            namespace: self.namespace(),
            version,
            status: Status::PendingUpgrade,
            description: description::UPGRADING.to_owned(),
            first_deployed: last.info.first_deployed,
            last_deployed: Some(now()),
            server_side,
            labels: last.labels.clone(),
        }
        .record(&rendered, &values);
        self.site.check_kinds(&record.manifest).await?;
        let before = self.deployed().unwrap_or(&last);
        let replaces = Some(before.version);
        let client_side = match record.is_server_side() {
            true => None,
            false => Some(helm::inventory::objects(&before.manifest)?),
        };
        let previous = self.installed().await;
        if upgrade.disable_take_ownership {
            self.check_owners(&record, &previous).await?;
        }
        self.forget_old().await.map_err(|error| error.to_string())?;
        let applying = Applying {
            previous,
            client_side,
            // Where the server applies, nothing is replaced.
            force: upgrade.force && !server_side,
            wait: (!upgrade.disable_wait).then_some(seconds),
            wait_for_jobs: !upgrade.disable_wait_for_jobs,
        };
        let carrying = Carrying {
            applying,
            events: (!upgrade.disable_hooks).then_some((Event::PreUpgrade, Event::PostUpgrade)),
            seconds,
            replaces,
            cleans_up: upgrade.cleanup_on_fail,
            deployed: description::UPGRADED.to_owned(),
            failed: description::upgrade_failed,
        };
        self.carried(record, carrying).await
    }

    /// The values that are wanted, over those of a release where these are to stay.
    pub(in super::super) fn values_over(&self, before: Option<&Record>) -> Cow<'_, Map> {
        match before.filter(|_| self.preserves_values()) {
            Some(before) => {
                Cow::Owned(before.values_under(self.values.clone(), HelmVersion::V4, &mut Vec::new()))
            }
            None => Cow::Borrowed(&self.values),
        }
    }

    /// The chart that is wanted. Where the values of a release are to stay, its defaults are all that the release was made of.
    fn chart_over(&self, before: &Record) -> Result<Arc<Chart>, String> {
        if !self.preserves_values() {
            return Ok(Arc::clone(&self.chart));
        }
        let defaults = before.all_values(HelmVersion::V4, &mut Vec::new());
        let mut chart = Chart::clone(&self.chart);
        chart.defaults = defaults.map_err(|error| format!("failed to rebuild old values: {error}"))?;
        Ok(Arc::new(chart))
    }

    fn preserves_values(&self) -> bool {
        let upgrade = self.run.object.spec.upgrade.as_ref();
        upgrade.is_some_and(|upgrade| upgrade.preserve_values)
    }
}
