//! A chart inside of a release.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use model::Map;

use super::Time;
use crate::chart::{Chart, Lock, Metadata};

/// A chart as a release keeps it. Charts below it are not kept.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct StoredChart {
    /// What `Chart.yaml` said, with the dependencies that were enabled.
    pub metadata: Option<Metadata>,
    /// What `Chart.lock` said.
    pub lock: Option<Lock>,
    /// The templates.
    pub templates: Option<Vec<StoredFile>>,
    /// What `values.yaml` said, with what was imported from charts below.
    pub values: Option<Map>,
    /// `values.schema.json`, in base64.
    pub schema: Option<String>,
    /// When that was changed.
    pub schema_modified: Option<Time>,
    /// All other files.
    pub files: Option<Vec<StoredFile>>,
    /// When the chart was changed.
    pub modified: Option<Time>,
}

/// A file of a chart.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StoredFile {
    /// The path from the root of the chart.
    pub name: String,
    /// What is in it, in base64.
    pub data: Option<String>,
    /// When it was changed.
    pub modified: Option<Time>,
}

/// What Helm keeps of a chart whose dependencies were processed.
impl From<&Chart> for StoredChart {
    fn from(chart: &Chart) -> Self {
        let stored = |file: &crate::chart::File| StoredFile {
            name: file.path.clone(),
            data: Some(STANDARD.encode(&file.content)),
            modified: None,
        };
        let has_values = chart.file("values.yaml").is_some() || !chart.defaults.is_empty();
        let some = |files: Vec<StoredFile>| (!files.is_empty()).then_some(files);
        StoredChart {
            metadata: Some(chart.metadata.clone()),
            lock: chart.lock.clone(),
            templates: some(chart.templates().map(stored).collect()),
            values: has_values.then(|| chart.defaults.clone()),
            schema: chart
                .file("values.schema.json")
                .map(|content| STANDARD.encode(content)),
            schema_modified: None,
            files: some(chart.plain_files().map(stored).collect()),
            modified: None,
        }
    }
}
