//! A release is made where there is none.

use std::sync::Arc;

use api::ConditionType;
use api::helm::{Install, ReleaseAction};
use helm::decision::{Action, SnapshotAction, message};
use helm::manifest::Event;
use helm::record::{Making, Status, description};
use model::Inventory;

use super::carried::{Carrying, Telling};
use super::{Applying, NotDone, Release, now};
use crate::helm_releases::render::Rendering;
use crate::helm_releases::target;
use crate::kit::Conditions as _;

impl Release<'_, '_> {
    pub(super) async fn install(&mut self) -> Result<(), NotDone> {
        let started = std::time::Instant::now();
        self.run.status.last_attempted_release_action = Some(ReleaseAction::Install);
        // There is no way back to what was before.
        self.history.clear();
        self.run.status.remove(ConditionType::TEST_SUCCESS);
        self.run.status.remove(ConditionType::REMEDIATED);
        let before = self.records.clone();
        let done = self.installed_anew().await;
        self.run.status.last_attempted_release_action_duration = Some(started.elapsed().into());
        let telling = Telling {
            action: SnapshotAction::Install,
            failed: message::install_failed,
            succeeded: message::install_succeeded,
        };
        self.released(&before, done, &telling)
    }

    async fn installed_anew(&mut self) -> Result<(), String> {
        let object = self.run.object;
        let install: Install = object.spec.install.clone().unwrap_or_default();
        let timeout = target::timeout_of(object, Action::Install);
        let seconds = timeout.as_secs().max(1);
        let (chart, values) = (Arc::clone(&self.chart), self.values.clone());
        self.apply_definitions(install.crds.as_ref(), &chart, &values, seconds)
            .await?;
        let version = self.last().map_or(1, |last| last.version + 1);
        let rendered = self.renderer.render(Rendering {
            object,
            chart: &chart,
            values: values.clone(),
            revision: version,
            is_upgrade: false,
            skip_schema: install.disable_schema_validation,
            worker: self.run.worker,
            site: self.site,
            settings: self.settings,
        });
        let rendered = rendered.await?;
        if install.create_namespace && object.spec.target_namespace.is_some() {
            self.create_namespace().await?;
        }
        let time = now();
        let record = Making {
            name: self.name(),
            namespace: self.namespace(),
            version,
            status: Status::PendingInstall,
            description: description::INSTALLING.to_owned(),
            first_deployed: Some(time),
            last_deployed: Some(time),
            server_side: install.server_side_apply.unwrap_or(!self.settings.helm3_defaults),
            ..Making::default()
        }
        .record(&rendered, &values);
        self.site.check_kinds(&record.manifest).await?;
        if install.disable_take_ownership {
            self.check_owners(&record, &Inventory::default()).await?;
        }
        let applying = Applying {
            client_side: (!record.is_server_side()).then(Vec::new),
            wait: (!install.disable_wait).then_some(seconds),
            wait_for_jobs: !install.disable_wait_for_jobs,
            ..Applying::default()
        };
        let carrying = Carrying {
            applying,
            events: (!install.disable_hooks).then_some((Event::PreInstall, Event::PostInstall)),
            seconds,
            replaces: None,
            cleans_up: false,
            deployed: description::INSTALLED.to_owned(),
            failed: description::install_failed,
        };
        self.carried(record, carrying).await
    }
}
