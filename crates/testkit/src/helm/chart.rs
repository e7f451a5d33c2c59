//! A chart in the making.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::archive::{File, tgz};
use crate::oci::Artifact;

/// A chart. The same chart makes the same archive, byte for byte.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Chart {
    name: String,
    version: String,
    /// What stands in `Chart.yaml` beside name and version.
    metadata: BTreeMap<String, Value>,
    files: BTreeMap<String, Vec<u8>>,
}

impl Chart {
    /// A chart without templates and values.
    pub fn new(name: &str, version: &str) -> Self {
        let metadata = [("apiVersion".to_string(), json!("v2"))].into();
        Self {
            name: name.to_string(),
            version: version.to_string(),
            metadata,
            files: BTreeMap::new(),
        }
    }

    /// The name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The version.
    pub fn version(&self) -> &str {
        &self.version
    }

    /// The file name of its archive.
    pub fn file_name(&self) -> String {
        format!("{}-{}.tgz", self.name, self.version)
    }

    /// Sets a field of `Chart.yaml`, such as `appVersion`, `type` or `kubeVersion`.
    pub fn metadata(mut self, key: &str, value: impl Into<Value>) -> Self {
        self.metadata.insert(key.to_string(), value.into());
        self
    }

    /// Sets `values.yaml`.
    pub fn values(self, yaml: &str) -> Self {
        self.file("values.yaml", yaml)
    }

    /// Adds a template, below `templates/`.
    pub fn template(self, name: &str, text: &str) -> Self {
        self.file(&format!("templates/{name}"), text)
    }

    /// Adds a file, such as `crds/thing.yaml` or `values.schema.json`.
    pub fn file(mut self, path: &str, content: impl Into<Vec<u8>>) -> Self {
        self.files.insert(path.to_string(), content.into());
        self
    }

    /// Says that it needs another chart, to be found in a repository.
    pub fn dependency(mut self, name: &str, version: &str, repository: &str) -> Self {
        let dependency = json!({"name": name, "version": version, "repository": repository});
        let list = self
            .metadata
            .entry("dependencies".to_string())
            .or_insert_with(|| json!([]));
        if let Value::Array(list) = list {
            list.push(dependency);
        }
        self
    }

    /// Says that it needs another chart and brings it along, below `charts/`.
    pub fn subchart(mut self, chart: &Chart) -> Self {
        for (path, content) in chart.all_files() {
            self.files
                .insert(format!("charts/{}/{path}", chart.name), content);
        }
        self.dependency(&chart.name, &chart.version, "")
    }

    /// All that stands in `Chart.yaml`, in the order in which it is written.
    pub(super) fn fields(&self) -> Vec<(&str, Value)> {
        let own = [("name", json!(self.name)), ("version", json!(self.version))];
        let more = self
            .metadata
            .iter()
            .map(|(key, value)| (key.as_str(), value.clone()));
        own.into_iter().chain(more).collect()
    }

    /// Its files as they would lie in a directory.
    pub fn all_files(&self) -> Vec<(String, Vec<u8>)> {
        // JSON is YAML too, and needs no rules for quoting.
        let yaml: String = self
            .fields()
            .iter()
            .map(|(key, value)| format!("{key}: {value}\n"))
            .collect();
        let first = ("Chart.yaml".to_string(), yaml.into_bytes());
        std::iter::once(first).chain(self.files.clone()).collect()
    }

    /// The archive, as `helm package` makes it.
    pub fn archive(&self) -> Vec<u8> {
        let files = self.all_files().into_iter();
        let files: Vec<_> = files
            .map(|(path, content)| File::new(&format!("{}/{path}", self.name), content))
            .collect();
        tgz(&files)
    }

    /// The chart as it lies in a registry, as `helm push` puts it there.
    pub fn artifact(&self) -> Artifact {
        let config: serde_json::Map<_, _> = self
            .fields()
            .into_iter()
            .map(|(key, value)| (key.to_string(), value))
            .collect();
        Artifact::with_config(
            "application/vnd.cncf.helm.config.v1+json",
            Value::Object(config).to_string(),
        )
        .layer(
            "application/vnd.cncf.helm.chart.content.v1.tar+gzip",
            self.archive(),
        )
        .annotation("org.opencontainers.image.title", &self.name)
        .annotation("org.opencontainers.image.version", &self.version)
    }
}
