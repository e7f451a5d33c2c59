//! Releases as Helm keeps them: what was installed, when, from which chart with which values, and what became of it.
//!
//! ```text
//!   Rendered ─▶ make ─▶ Record ◀─ read ─ JSON ◀─ gzip, base64 ◀─ Secret or ConfigMap
//!                         └────── write ─▶ JSON ─▶ gzip, base64 ─▶ object
//! ```
//!
//! Records of Helm 3 and Helm 4 are read; what is written is what Helm 4 writes, which Helm 3 reads too. Fields that Helm does not
//! know are not kept, as with Helm itself.

mod chart;
mod codec;
pub mod description;
mod hook;
mod info;
mod make;
mod object;
mod read;
mod retain;
mod reuse;
mod status;
mod time;
mod write;

use std::collections::BTreeMap;

pub use chart::{StoredChart, StoredFile};
pub use codec::{MAX_JSON, decode, encode};
pub use hook::{Execution, Hook, phase};
pub use info::Info;
pub use make::{Making, manifest_text};
pub use object::{
    Change, Driver, LIMIT, OWNED, TYPE, TooLarge, from_object, memory, name, selector, to_object,
};
pub use read::Error;
pub use retain::superfluous;
pub use status::Status;
pub use time::Time;
pub(crate) use write::{
    Fields, hook as hook_value, in_order, info as info_value, metadata as metadata_value,
    values as values_value,
};

use model::Map;

/// One release: a version of what was installed under a name.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Record {
    /// The name of the release.
    pub name: String,
    /// When it was made and what became of it.
    pub info: Info,
    /// The chart, without those below it.
    pub chart: Option<StoredChart>,
    /// The values that were given.
    pub config: Option<Map>,
    /// All documents that are no hooks.
    pub manifest: String,
    /// The hooks.
    pub hooks: Vec<Hook>,
    /// Which version of the release this is; the first is 1.
    pub version: i64,
    /// Where it is installed.
    pub namespace: String,
    /// `ssa` if the server applied it, `csa` or nothing if the client did.
    pub apply_method: String,
    /// Labels of the object it is kept in, without those that Helm sets anew each time.
    pub labels: BTreeMap<String, String>,
}

impl Record {
    /// Whether the server merged it. Releases of Helm 3 do not say so, and were merged by the client.
    pub fn is_server_side(&self) -> bool {
        self.apply_method == "ssa"
    }

    /// The name of the chart.
    pub fn chart_name(&self) -> &str {
        self.metadata().map_or("", |metadata| &metadata.name)
    }

    /// The version of the chart.
    pub fn chart_version(&self) -> &str {
        self.metadata().map_or("", |metadata| &metadata.version)
    }

    /// What `Chart.yaml` said.
    pub fn metadata(&self) -> Option<&crate::chart::Metadata> {
        self.chart.as_ref()?.metadata.as_ref()
    }

    /// Sets what became of it, with a sentence for people.
    pub fn set_status(&mut self, status: Status, description: impl Into<String>) {
        self.info.status = status;
        self.info.description = description.into();
    }

    /// Sets a release that was left in the middle of something to failed, so that it can go on. Nothing if it is not.
    pub fn unlock(&mut self) -> Option<Status> {
        if !self.info.status.is_left_behind() {
            return None;
        }
        let status = std::mem::replace(&mut self.info.status, Status::Failed);
        self.info.description = format!("Release unlocked from stale '{status}' state");
        Some(status)
    }
}
