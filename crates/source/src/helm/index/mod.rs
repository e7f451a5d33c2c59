//! `index.yaml` of a Helm repository.
//!
//! Indexes of 100 MB exist, and mostly one chart of them is wanted. So an [`Index`] stays on disk: one pass finds where each
//! chart begins and ends, and only the entries of the wanted chart are read, one after the other. Block style, which `helm
//! repo index` and all repositories write, and JSON, which [`Index::write_json`] writes, are followed exactly; an index that
//! uses more of YAML is read whole, at the cost of memory.
//!
//! An entry that says too little or the wrong things is left out, and the rest of the index is used. One that is no YAML makes the index
//! unusable, as in Helm.

mod json;
mod lines;
mod outline;
mod pick;
#[cfg(test)]
mod tests;
mod version;
mod write;

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom};
use std::ops::Range;
use std::path::{Path, PathBuf};

use model::Value;
pub use pick::{PickError, pick};
pub use version::ChartVersion;

use outline::{Failure, Outline};

/// An index in a file.
#[derive(Debug)]
pub struct Index {
    path: PathBuf,
    form: Form,
}

#[derive(Debug)]
enum Form {
    /// Followed piece by piece.
    Pieces(Syntax, Outline),
    /// Read whole.
    Whole(Value),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Syntax {
    Yaml,
    Json,
}

/// Why an index cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The file cannot be read.
    #[error("failed to read the index")]
    Read(#[source] io::Error),
    /// The file cannot be written.
    #[error("failed to write the index")]
    Write(#[source] io::Error),
    /// There is nothing in it.
    #[error("empty index.yaml file: write it with 'helm repo index'")]
    Empty,
    /// It is no YAML.
    #[error(
        "the index is no YAML: write it with 'helm repo index', and check that the URL is that of a repository"
    )]
    Yaml(#[source] yaml::Error),
    /// What it says of a chart is no YAML. As in Helm nothing of such an index is used: most likely a part of it is missing.
    #[error(
        "what the index says of chart '{chart}' cannot be read: {problem}: write the index with 'helm repo index'"
    )]
    Entries {
        /// The chart.
        chart: String,
        /// What is wrong.
        problem: String,
    },
    /// It is not an object with an object of entries.
    #[error(
        "the index is not one of a Helm repository: {0}: write it with 'helm repo index', and check the URL"
    )]
    Shape(&'static str),
    /// It does not say what it is, so it is most likely something else, such as a page of HTML.
    #[error("no API version specified: write the index with 'helm repo index', which says 'apiVersion: v1'")]
    NoApiVersion,
}

impl Index {
    /// Opens the index in a file and finds out where everything is.
    pub fn open(path: impl Into<PathBuf>) -> Result<Self, Error> {
        let path = path.into();
        let index = match Self::outline(&path) {
            Ok((syntax, outline)) => Index {
                form: Form::Pieces(syntax, outline),
                path,
            },
            Err(Failure::Io(error)) => return Err(Error::Read(error)),
            Err(Failure::NotSimple | Failure::Yaml(_) | Failure::Json) => Index {
                form: Form::Whole(whole(&path)?),
                path,
            },
        };
        match index.field("apiVersion")? {
            Some(Value::Str(version)) if !version.is_empty() => Ok(index),
            _ => Err(Error::NoApiVersion),
        }
    }

    fn outline(path: &Path) -> Result<(Syntax, Outline), Failure> {
        let mut input = BufReader::with_capacity(1 << 16, File::open(path)?);
        let first = input.fill_buf()?.iter().find(|byte| !byte.is_ascii_whitespace());
        match first {
            None => Err(Failure::NotSimple),
            Some(b'{') => Ok((Syntax::Json, json::outline(&mut input)?)),
            Some(_) => Ok((Syntax::Yaml, outline::yaml(&mut input)?)),
        }
    }

    /// The names of the charts, sorted, each once.
    pub fn charts(&self) -> Vec<&str> {
        match &self.form {
            Form::Pieces(_, outline) => outline.charts.keys().map(String::as_str).collect(),
            Form::Whole(value) => {
                let entries = value.get("entries").and_then(Value::as_object);
                let mut names: Vec<&str> = entries.into_iter().flat_map(model::Map::keys).collect();
                names.sort_unstable();
                names
            }
        }
    }

    /// The valid versions of a chart in the order of the index; nothing if the index does not have the chart.
    pub fn versions(&self, chart: &str) -> Result<Option<Vec<ChartVersion>>, Error> {
        let mut versions = Vec::new();
        let found = self.entries(chart, &mut |value| versions.extend(ChartVersion::read(value)))?;
        Ok(found.then_some(versions))
    }

    /// The version of a chart that is meant; see [`pick`].
    pub fn find(&self, chart: &str, wanted: &str) -> Result<Result<ChartVersion, PickError>, Error> {
        Ok(match self.versions(chart)? {
            None => Err(PickError::NoChart(chart.to_owned())),
            Some(versions) => pick(chart, versions, wanted),
        })
    }

    /// Goes through the entries of a chart. Says whether the index has the chart. Where it is there twice, the last one counts.
    fn entries(&self, chart: &str, take: &mut dyn FnMut(&Value)) -> Result<bool, Error> {
        let (syntax, outline) = match &self.form {
            Form::Pieces(syntax, outline) => (*syntax, outline),
            Form::Whole(value) => {
                let Some(list) = value.at(&["entries", chart]) else {
                    return Ok(false);
                };
                list.as_array().into_iter().flatten().for_each(take);
                return Ok(true);
            }
        };
        let Some(range) = outline.charts.get(chart) else {
            return Ok(false);
        };
        let mut input = self.part(range).map_err(Error::Read)?;
        let followed = match syntax {
            Syntax::Json => json::items(&mut input, &mut |text| {
                take(&model::json::parse(text).map_err(|_| Failure::Json)?);
                Ok(())
            }),
            Syntax::Yaml => yaml_entries(&mut input, take),
        };
        match followed {
            Ok(()) => Ok(true),
            Err(Failure::Io(error)) => Err(Error::Read(error)),
            Err(Failure::Yaml(error)) => Err(Error::Entries {
                chart: chart.to_owned(),
                // Only a part of the file was read: its lines are not those of the file.
                problem: error.without_line(),
            }),
            Err(Failure::Json) => Err(Error::Entries {
                chart: chart.to_owned(),
                problem: "it is no JSON".to_owned(),
            }),
            // The list of this chart is written in a way of its own; read it as it is.
            Err(Failure::NotSimple) => {
                let value = self.parse(range, syntax)?;
                let list = value.as_object().and_then(|map| map.values().next());
                list.and_then(Value::as_array)
                    .into_iter()
                    .flatten()
                    .for_each(take);
                Ok(true)
            }
        }
    }

    /// A field beside the entries.
    fn field(&self, name: &str) -> Result<Option<Value>, Error> {
        match &self.form {
            Form::Whole(value) => Ok(value.get(name).cloned()),
            Form::Pieces(syntax, outline) => {
                let Some((_, range)) = outline.fields.iter().rfind(|(key, _)| key == name) else {
                    return Ok(None);
                };
                let mut value = self.parse(range, *syntax)?;
                Ok(match syntax {
                    Syntax::Json => Some(value),
                    Syntax::Yaml => value.get_mut(name).map(Value::take),
                })
            }
        }
    }

    fn parse(&self, range: &Range<u64>, syntax: Syntax) -> Result<Value, Error> {
        let mut text = Vec::new();
        self.part(range)
            .and_then(|mut part| part.read_to_end(&mut text))
            .map_err(Error::Read)?;
        match syntax {
            Syntax::Yaml => yaml::parse(&text).map_err(Error::Yaml),
            Syntax::Json => model::json::parse(&text).map_err(|_| Error::Shape("it is no JSON")),
        }
    }

    fn part(&self, range: &Range<u64>) -> io::Result<BufReader<io::Take<File>>> {
        let mut file = File::open(&self.path)?;
        file.seek(SeekFrom::Start(range.start))?;
        let part = file.take(range.end - range.start);
        Ok(BufReader::with_capacity(1 << 16, part))
    }
}

/// How many bytes of entries are read at once: starting the reader anew for each would cost more than reading.
const AT_ONCE: usize = 1 << 16;

fn yaml_entries(input: &mut dyn BufRead, take: &mut dyn FnMut(&Value)) -> Result<(), Failure> {
    // The first line is the name of the chart.
    outline::read_line(input, &mut Vec::new())?;
    outline::yaml_items(input, AT_ONCE, &mut |text| {
        let value = yaml::parse(text).map_err(Failure::Yaml)?;
        value.as_array().into_iter().flatten().for_each(&mut *take);
        Ok(())
    })
}

fn whole(path: &Path) -> Result<Value, Error> {
    let text = std::fs::read(path).map_err(Error::Read)?;
    if text.is_empty() {
        return Err(Error::Empty);
    }
    let value = yaml::parse(&text).map_err(Error::Yaml)?;
    let entries = value.get("entries");
    if !value.is_null() && value.as_object().is_none() {
        return Err(Error::Shape("it is no object"));
    }
    if entries.is_some_and(|entries| !entries.is_null() && entries.as_object().is_none()) {
        return Err(Error::Shape("its entries are no object"));
    }
    Ok(value)
}
