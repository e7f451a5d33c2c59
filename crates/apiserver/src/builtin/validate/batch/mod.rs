//! `batch`: pods that end.

mod cron_job;
mod indexes;
mod job;
mod job_policy;
mod job_status;
mod job_update;
mod schedule;
mod time_zone;

pub(super) use cron_job::{cron_job, cron_job_update};
pub(super) use job::job;
pub(super) use job_status::job_status;
pub(super) use job_update::job_update;
