//! Records of what was rendered.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use model::{Map, Value};

use super::{Hook, Info, Record, Status, StoredChart, Time, description};
use crate::release::Rendered;

/// What a record holds that is not in what was rendered.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Making {
    /// The name of the release.
    pub name: String,
    /// Where it is installed.
    pub namespace: String,
    /// Which version of it this is.
    pub version: i64,
    /// Mostly `pending-install` or `pending-upgrade`: it is written before anything is done.
    pub status: Status,
    /// A sentence for people.
    pub description: String,
    /// When the first version was made.
    pub first_deployed: Option<Time>,
    /// When this version is made.
    pub last_deployed: Option<Time>,
    /// Whether the server merges.
    pub server_side: bool,
    /// Labels of the object.
    pub labels: BTreeMap<String, String>,
}

impl Making {
    /// The record of what was rendered with these values.
    pub fn record(self, rendered: &Rendered, given: &Map) -> Record {
        let mut config = Value::Object(given.clone());
        // As they come back when the record is read.
        crate::values::floats(&mut config);
        Record {
            name: self.name,
            info: Info {
                first_deployed: self.first_deployed,
                last_deployed: self.last_deployed,
                deleted: None,
                description: self.description,
                status: self.status,
                notes: rendered.notes.clone(),
            },
            chart: Some(StoredChart::from(&rendered.chart)),
            config: match config {
                Value::Object(config) if !config.is_empty() => Some(config),
                _ => None,
            },
            manifest: manifest_text(rendered),
            hooks: rendered.hooks.iter().map(Hook::from).collect(),
            version: self.version,
            namespace: self.namespace,
            apply_method: method(self.server_side),
            labels: self.labels,
        }
    }
}

impl Record {
    /// The record of bringing this release back, over the newest one.
    pub fn rolled_back(&self, newest: &Record, at: Time, server_side: bool) -> Record {
        let mut record = self.clone();
        record.version = newest.version + 1;
        record.namespace.clone_from(&newest.namespace);
        record.apply_method = method(server_side);
        record.info = Info {
            first_deployed: newest.info.first_deployed,
            last_deployed: Some(at),
            deleted: None,
            description: description::rollback(self.version),
            status: Status::PendingRollback,
            notes: self.info.notes.clone(),
        };
        record
    }
}

fn method(server_side: bool) -> String {
    if server_side { "ssa" } else { "csa" }.to_owned()
}

/// All documents that are no hooks, each with the template it comes from.
pub fn manifest_text(rendered: &Rendered) -> String {
    let mut text = String::new();
    for manifest in &rendered.manifests {
        let _ = write!(text, "---\n# Source: {}\n{}\n", manifest.path, manifest.content);
    }
    text
}
