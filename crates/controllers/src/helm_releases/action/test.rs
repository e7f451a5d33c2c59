//! The tests of the last release are run.

use helm::decision::{Action, message};
use helm::hooks as order;

use super::{NotDone, Release, now};
use crate::helm_releases::{hooks, status, target};

impl Release<'_, '_> {
    pub(super) async fn test(&mut self) -> Result<(), NotDone> {
        let Some(mut record) = self.last().cloned() else {
            return Err(NotDone("there is no release to test".to_owned()));
        };
        let seconds = target::timeout_of(self.run.object, Action::Test).as_secs().max(1);
        let tests = order::order_of_tests(&record.hooks, &self.policy.tests);
        record.info.last_deployed = record.info.last_deployed.or_else(|| Some(now()));
        let mut runner = hooks::Runner {
            site: self.site,
            worker: self.run.worker,
            seconds,
        };
        let ran = runner.run_in(&mut record, &tests, "test").await;
        record.hooks = order::after_tests(std::mem::take(&mut record.hooks), &self.policy.tests);
        let algorithm = self.settings.snapshot_digests;
        let stored = self.update(record.clone()).await;
        if stored.is_ok() {
            self.history.record_test(&record, &self.policy.tests, algorithm);
        }
        let ran = ran.and(stored.map_err(|error| error.to_string()));
        let Some(latest) = self.latest() else {
            return Ok(());
        };
        let metadata = message::snapshot_metadata(&latest);
        match ran {
            Ok(()) => self.tell(&message::test_succeeded(&latest), metadata),
            Err(problem) => {
                self.tell(&message::test_failed(&latest, &problem), metadata);
                let last = status::last_action(&self.run.status);
                let mut counters = status::counters(&self.run.status);
                counters.count_test(&self.policy, last, latest.has_been_tested());
                status::set_counters(&mut self.run.status, counters);
                if !latest.has_been_tested() {
                    return Err(NotDone(problem));
                }
            }
        }
        Ok(())
    }
}
