//! A chart with everything that belongs to it.

use std::collections::BTreeMap;

use bytes::Bytes;
use model::{Map, Value};

use super::files::{self, File, Limits};
use super::metadata::{Invalid, Lock, Metadata};
use super::tree::FileTree;
use super::values;

/// How deep charts may lie in charts.
const MAX_DEPTH: usize = 16;

/// A chart.
#[derive(Clone, Debug, Default)]
pub struct Chart {
    /// What `Chart.yaml` and, in the first version of the format, `requirements.yaml` say.
    pub metadata: Metadata,
    /// What `Chart.lock` or `requirements.lock` says.
    pub lock: Option<Lock>,
    /// All files but `Chart.yaml`, `Chart.lock` and the charts below `charts/`, in their order.
    pub files: Vec<File>,
    /// The charts below `charts/`.
    pub dependencies: Vec<Chart>,
    /// What `values.yaml` says, with all numbers as floats, and later what was imported from charts below.
    pub defaults: Map,
}

/// Why there is no chart.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The files cannot be read.
    #[error(transparent)]
    Files(#[from] files::Error),
    /// The chart has no `Chart.yaml`.
    #[error("Chart.yaml file is missing: check the path of the chart, or add it")]
    NoChartYaml,
    /// A file is not what it must be.
    #[error("cannot load {file}")]
    Yaml {
        /// The file.
        file: &'static str,
        /// What is wrong.
        source: yaml::Error,
    },
    /// A file has something else where a field should be.
    #[error("cannot load {file}")]
    Fields {
        /// The file.
        file: &'static str,
        /// What is wrong.
        source: model::convert::Error,
    },
    /// The values of a chart are no map.
    #[error("cannot load values.yaml")]
    Values(#[source] values::Error),
    /// The metadata is not what a chart needs.
    #[error("the metadata of the chart is not valid")]
    Metadata(#[source] Invalid),
    /// A chart below `charts/` is broken.
    #[error("error unpacking subchart {name} in {parent}")]
    Subchart {
        /// The name of its file or directory.
        name: String,
        /// The chart it is in.
        parent: String,
        /// What is wrong.
        source: Box<Error>,
    },
    /// Charts lie in charts without end.
    #[error("charts are nested deeper than {MAX_DEPTH} levels: nest fewer")]
    Depth,
}

impl Chart {
    /// Reads a packed chart.
    pub fn from_archive(archive: &[u8], limits: &Limits) -> Result<Self, Error> {
        let mut left = *limits;
        from_files(unpack(archive, &mut left)?, &mut left, 0)
    }

    /// Reads a chart that lies unpacked below a directory of a tree.
    pub fn from_tree(tree: &dyn FileTree, directory: &str, limits: &Limits) -> Result<Self, Error> {
        let files = files::from_tree(tree, directory, limits)?;
        from_files(files, &mut limits.clone(), 0)
    }

    /// A file, by its path.
    pub fn file(&self, path: &str) -> Option<&Bytes> {
        let file = self.files.iter().find(|file| file.path == path)?;
        Some(&file.content)
    }

    /// The templates.
    pub fn templates(&self) -> impl Iterator<Item = &File> {
        self.files
            .iter()
            .filter(|file| file.path.starts_with("templates/"))
    }

    /// The files that are neither templates nor values: what templates can read.
    pub fn plain_files(&self) -> impl Iterator<Item = &File> {
        self.files.iter().filter(|file| {
            !file.path.starts_with("templates/")
                && file.path != "values.yaml"
                && file.path != "values.schema.json"
        })
    }

    /// What lies in `crds/` of this chart and those below it, with paths that begin with the chart.
    pub fn crds(&self) -> Vec<(String, Bytes)> {
        let mut found = Vec::new();
        self.collect_crds(&self.metadata.name, &mut found);
        found
    }

    fn collect_crds(&self, path: &str, found: &mut Vec<(String, Bytes)>) {
        for file in &self.files {
            let extension = file
                .path
                .rsplit_once('.')
                .map(|(_, extension)| extension.to_lowercase());
            let is_manifest = matches!(extension.as_deref(), Some("yaml" | "yml" | "json"));
            if file.path.starts_with("crds/") && is_manifest {
                found.push((format!("{path}/{}", file.path), file.content.clone()));
            }
        }
        for below in &self.dependencies {
            below.collect_crds(&format!("{path}/charts/{}", below.metadata.name), found);
        }
    }

    /// What `values.yaml` says; an empty map if there is none.
    pub fn values(&self) -> Result<Value, values::Error> {
        self.file("values.yaml")
            .map_or_else(|| Ok(Value::object()), |text| values::read_all(text))
    }
}

/// Reads `Chart.yaml` and `requirements.yaml` of a packed chart, and nothing else of it.
pub fn metadata_of_archive(archive: &[u8], limits: &Limits) -> Result<Metadata, Error> {
    let mut chart_yaml = None;
    let mut requirements = None;
    files::each_in_archive(archive, limits, &mut |path, content| {
        let wanted = match path {
            "Chart.yaml" => &mut chart_yaml,
            "requirements.yaml" => &mut requirements,
            _ => return Ok(()),
        };
        content.read_to_end(wanted.insert(Vec::new()))?;
        Ok(())
    })?;
    metadata(chart_yaml.as_deref(), requirements.as_deref())
}

/// Reads `Chart.yaml` and `requirements.yaml` of an unpacked chart.
pub fn metadata_of_tree(tree: &dyn FileTree, directory: &str, limits: &Limits) -> Result<Metadata, Error> {
    let entries = tree.entries().map_err(|source| files::Error::Read {
        path: directory.to_owned(),
        source,
    })?;
    let read = |name: &str| {
        let path = if directory.is_empty() {
            name.to_owned()
        } else {
            format!("{directory}/{name}")
        };
        let is_there = entries.iter().any(|entry| entry.path == path);
        is_there
            .then(|| files::read(tree, &path, name, limits.file))
            .transpose()
    };
    metadata(
        read("Chart.yaml")?.as_deref(),
        read("requirements.yaml")?.as_deref(),
    )
}

fn metadata(chart_yaml: Option<&[u8]>, requirements: Option<&[u8]>) -> Result<Metadata, Error> {
    let value = parse("Chart.yaml", chart_yaml.ok_or(Error::NoChartYaml)?)?;
    let mut metadata = read_metadata("Chart.yaml", &value)?;
    if let Some(text) = requirements {
        let value = parse("requirements.yaml", text)?;
        if value.get("dependencies").is_some() {
            metadata.dependencies = read_metadata("requirements.yaml", &value)?.dependencies;
        }
    }
    Ok(metadata)
}

fn parse(file: &'static str, text: &[u8]) -> Result<Value, Error> {
    yaml::parse(text).map_err(|source| Error::Yaml { file, source })
}

fn read_metadata(file: &'static str, value: &Value) -> Result<Metadata, Error> {
    Metadata::read(value).map_err(|source| Error::Fields { file, source })
}

/// Unpacks an archive at the cost of what is left: charts in charts must not multiply what may be unpacked.
fn unpack(archive: &[u8], left: &mut Limits) -> Result<Vec<File>, Error> {
    let files = files::from_archive(archive, left)?;
    let size: u64 = files.iter().map(|file| file.content.len() as u64).sum();
    left.unpacked = left.unpacked.saturating_sub(size);
    left.files = left.files.saturating_sub(files.len());
    Ok(files)
}

fn from_files(all: Vec<File>, left: &mut Limits, depth: usize) -> Result<Chart, Error> {
    if depth > MAX_DEPTH {
        return Err(Error::Depth);
    }
    let find = |path: &str| {
        all.iter()
            .find(|file| file.path == path)
            .map(|file| file.content.as_ref())
    };
    let mut metadata = metadata(find("Chart.yaml"), find("requirements.yaml"))?;
    let lock = match (find("Chart.lock"), find("requirements.lock")) {
        (Some(text), _) => Some(("Chart.lock", text)),
        (None, Some(text)) => Some(("requirements.lock", text)),
        (None, None) => None,
    };
    let lock = lock.map(|(file, text)| read_lock(file, text)).transpose()?;
    let mut defaults = match find("values.yaml") {
        Some(text) => values::read_all(text).map_err(Error::Values)?,
        None => Value::object(),
    };
    crate::values::floats(&mut defaults);
    metadata.validate().map_err(Error::Metadata)?;
    let is_first_format = metadata.api_version == "v1";

    let mut files = Vec::new();
    let mut subcharts: BTreeMap<String, Vec<File>> = BTreeMap::new();
    for file in all {
        match file.path.as_str() {
            "Chart.yaml" | "Chart.lock" => {}
            // The second version of the format has both in `Chart.yaml` and `Chart.lock`.
            "requirements.yaml" | "requirements.lock" if !is_first_format => {}
            path => match path.strip_prefix("charts/") {
                Some(below) if !path.ends_with(".prov") => {
                    let name = below.split('/').next().unwrap_or_default().to_owned();
                    let path = below.to_owned();
                    let content = file.content;
                    subcharts.entry(name).or_default().push(File { path, content });
                }
                _ => files.push(file),
            },
        }
    }
    let dependencies = subcharts
        .into_iter()
        .filter(|(name, _)| !name.starts_with(['_', '.']))
        .map(|(name, files)| {
            subchart(&name, files, left, depth + 1).map_err(|source| Error::Subchart {
                name,
                parent: metadata.name.clone(),
                source: Box::new(source),
            })
        })
        .collect::<Result<_, _>>()?;
    Ok(Chart {
        metadata,
        lock,
        files,
        dependencies,
        defaults: match defaults {
            Value::Object(defaults) => defaults,
            _ => Map::new(),
        },
    })
}

/// Reads a chart below `charts/`: an archive or a directory.
fn subchart(name: &str, files: Vec<File>, left: &mut Limits, depth: usize) -> Result<Chart, Error> {
    match files.as_slice() {
        [file] if name.ends_with(".tgz") && file.path == name => {
            from_files(unpack(&file.content, left)?, left, depth)
        }
        _ => {
            let inside = |file: File| {
                let path = file.path.split_once('/')?.1.to_owned();
                Some(File {
                    path,
                    content: file.content,
                })
            };
            from_files(files.into_iter().filter_map(inside).collect(), left, depth)
        }
    }
}

fn read_lock(file: &'static str, text: &[u8]) -> Result<Lock, Error> {
    match parse(file, text)? {
        Value::Null => Ok(Lock::default()),
        value => model::convert::to_serde(&value).map_err(|source| Error::Fields { file, source }),
    }
}
