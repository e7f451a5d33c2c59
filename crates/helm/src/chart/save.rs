//! Packing a chart as Helm does: one top directory, dependencies unpacked below `charts/`, no empty directories.
//!
//! The same chart makes the same bytes: times are zero, and everything has its place.

use std::io::{self, Write};

use flate2::{Compression, GzBuilder};
use tar::{Builder, Header};

use super::load::Chart;
use super::metadata::Invalid;

/// Why a chart was not packed.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Its metadata is not what a chart needs.
    #[error("chart validation")]
    Metadata(#[source] Invalid),
    /// Its schema is no JSON.
    #[error("invalid JSON in values.schema.json of chart '{0}': correct it")]
    Schema(String),
    /// A path is longer than an archive can have it.
    #[error("failed to pack '{path}'")]
    Write {
        /// The path in the archive.
        path: String,
        /// Why not.
        source: io::Error,
    },
}

impl Chart {
    /// The file name that the packed chart has.
    pub fn file_name(&self) -> String {
        format!("{}-{}.tgz", self.metadata.name, self.metadata.version)
    }

    /// Packs the chart.
    pub fn pack(&self) -> Result<Vec<u8>, Error> {
        self.metadata.clone().validate().map_err(Error::Metadata)?;
        let zip = GzBuilder::new()
            .comment("Helm")
            .operating_system(255)
            .write(Vec::new(), Compression::default());
        let mut tar = Builder::new(zip);
        self.write(&mut tar, "")?;
        let done = tar.into_inner().and_then(flate2::write::GzEncoder::finish);
        done.map_err(|source| Error::Write {
            path: self.file_name(),
            source,
        })
    }

    fn write(&self, tar: &mut Builder<impl Write>, prefix: &str) -> Result<(), Error> {
        let base = format!("{prefix}{}", self.metadata.name);
        let mut add = |path: &str, content: &[u8]| {
            let path = format!("{base}/{path}");
            append(tar, &path, content).map_err(|source| Error::Write { path, source })
        };
        add("Chart.yaml", self.chart_yaml().as_bytes())?;
        if let Some(lock) = &self.lock
            && self.metadata.api_version == "v2"
        {
            add("Chart.lock", yaml_of(lock).as_bytes())?;
        }
        for path in ["values.yaml", "values.schema.json"] {
            if let Some(content) = self.file(path) {
                if path == "values.schema.json" && model::json::parse(content).is_err() {
                    return Err(Error::Schema(self.metadata.name.clone()));
                }
                add(path, content)?;
            }
        }
        let others = || {
            let is_other = |path: &str| path != "values.yaml" && path != "values.schema.json";
            self.files.iter().filter(move |file| is_other(&file.path))
        };
        for file in others().filter(|file| file.path.starts_with("templates/")) {
            add(&file.path, &file.content)?;
        }
        for file in others().filter(|file| !file.path.starts_with("templates/")) {
            add(&file.path, &file.content)?;
        }
        for dependency in &self.dependencies {
            dependency.write(tar, &format!("{base}/charts/"))?;
        }
        Ok(())
    }

    /// All metadata as YAML, as Helm writes it.
    pub fn metadata_yaml(&self) -> String {
        yaml_of(&self.metadata)
    }

    /// `Chart.yaml` anew. In the first version of the format dependencies have a file of their own.
    fn chart_yaml(&self) -> String {
        let mut metadata = self.metadata.clone();
        if metadata.api_version == "v1" {
            metadata.dependencies.clear();
        }
        yaml_of(&metadata)
    }
}

fn yaml_of(value: &impl serde::Serialize) -> String {
    as_go_writes(&model::convert::from_serde(value).expect("metadata has strings for keys"))
}

/// A value as Helm writes it: a chart that is packed anew differs from Helm's in no byte of its files.
pub fn as_go_writes(value: &model::Value) -> String {
    let text = yaml::write(value);
    let read = yaml::node::read(&text).ok().flatten();
    let mut out = String::new();
    match read.map(|read| yaml::go::write(&read.node, &mut out)) {
        Some(Ok(())) => out,
        // What Go has no form for is as good in another.
        _ => text,
    }
}

fn append(tar: &mut Builder<impl Write>, path: &str, content: &[u8]) -> io::Result<()> {
    let mut header = Header::new_gnu();
    header.set_mode(0o644);
    header.set_size(content.len() as u64);
    header.set_mtime(0);
    tar.append_data(&mut header, path, content)
}
