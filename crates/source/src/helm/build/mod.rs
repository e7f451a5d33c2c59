//! What a HelmChart stores: a chart of a repository as it is, or a chart of any source packed anew.
//!
//! [`from_repository`] and [`from_tree`] follow the same steps: find out name and version, stop if that chart is stored
//! already, and change or pack only where that was asked for. Each failure is of one [`Error`] kind, which has the reason
//! that statuses show.

mod error;
mod local;
mod remote;

use bytes::Bytes;
use model::Revision;
use model::semver::Version;

pub use error::Error;
pub use local::from_tree;
pub(super) use local::{Place, place};
pub use remote::{Pick, from_repository, pick};

use super::chart::{Chart, Limits, as_go_writes, values};
use super::fetcher::Verified;

/// What to do with a chart.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// What its version shall have after the `+`; see [`version_metadata`].
    pub version_metadata: Option<String>,
    /// The files to make `values.yaml` of, in order. Their paths begin at the root of the chart, or at that of the tree.
    pub values_files: Vec<String>,
    /// Leave out values files that are not there.
    pub ignore_missing_values_files: bool,
    /// What is stored already.
    pub stored: Option<Stored>,
    /// Build it even if a chart of this name and version is stored.
    pub force: bool,
    /// What may be read.
    pub limits: Limits,
}

/// A chart that was built before.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stored {
    /// Its name.
    pub name: String,
    /// Its version, with metadata.
    pub version: String,
    /// The values files it was made of, where that is known.
    pub values_files: Option<Vec<String>>,
}

impl Stored {
    /// What a stored archive holds; nothing if it is no valid chart.
    pub fn of_archive(archive: &[u8], limits: &Limits, values_files: Option<Vec<String>>) -> Option<Self> {
        let mut metadata = super::chart::metadata_of_archive(archive, limits).ok()?;
        metadata.validate().ok()?;
        Some(Stored {
            name: metadata.name,
            version: metadata.version,
            values_files,
        })
    }
}

/// A chart that was built.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Built {
    /// Its name.
    pub name: String,
    /// Its version, with metadata: the revision of the artifact.
    pub version: String,
    /// The values files that `values.yaml` was made of.
    pub values_files: Vec<String>,
    /// Whether it was packed here, and not taken as it was.
    pub packaged: bool,
    /// How many dependencies were fetched.
    pub resolved_dependencies: usize,
    /// Whether its signature was checked.
    pub verified: Verified,
    /// The archive.
    pub content: Content,
}

/// Where the archive of a built chart is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Content {
    /// It is the one that is stored already.
    Stored,
    /// Here.
    Archive(Bytes),
}

impl Built {
    /// The file name of the artifact.
    pub fn file_name(&self) -> String {
        file_name(&self.name, &self.version)
    }

    /// The reason of success.
    pub fn reason(&self) -> &'static str {
        if self.packaged {
            "ChartPackageSucceeded"
        } else {
            "ChartPullSucceeded"
        }
    }

    /// What was done, as statuses say it.
    pub fn summary(&self) -> String {
        let action = if self.packaged { "packaged" } else { "pulled" };
        let mut text = format!("{action} '{}' chart with version '{}'", self.name, self.version);
        if !self.values_files.is_empty() {
            text += &format!(" and merged values files [{}]", self.values_files.join(" "));
        }
        text
    }
}

fn file_name(name: &str, version: &str) -> String {
    format!("{name}-{version}.tgz")
}

impl Options {
    /// The values files that change something: naming only `values.yaml` does not.
    pub fn effective_values_files(&self) -> &[String] {
        match self.values_files.as_slice() {
            [only] if inside("", only) == "values.yaml" => &[],
            files => files,
        }
    }

    /// The version of a chart with the wanted metadata.
    fn version(&self, version: &str) -> Result<String, Error> {
        let Some(metadata) = &self.version_metadata else {
            return Ok(version.to_owned());
        };
        let failed = |source| Error::MetadataPatch {
            version: version.to_owned(),
            source,
        };
        let parsed = Version::parse(version).map_err(failed)?;
        Ok(parsed.with_metadata(metadata).map_err(failed)?.to_string())
    }

    /// The result without work, if the chart is stored already.
    fn unchanged(&self, name: &str, version: &str, packaged: bool) -> Option<Built> {
        let stored = self.stored.as_ref().filter(|_| !self.force)?;
        if (stored.name.as_str(), stored.version.as_str()) != (name, version) {
            return None;
        }
        let files = stored.values_files.clone();
        Some(Built {
            name: name.to_owned(),
            version: version.to_owned(),
            values_files: files.unwrap_or_else(|| self.effective_values_files().to_vec()),
            packaged,
            resolved_dependencies: 0,
            verified: Verified::NotAsked,
            content: Content::Stored,
        })
    }
}

/// What a version has after the `+`: the first twelve digits of the source's revision, where every revision makes a new
/// chart, and the generation of the object, where values files are merged.
pub fn version_metadata(revision: Option<&Revision>, options: &Options, generation: i64) -> Option<String> {
    let digits = revision.and_then(Revision::digest).map(|digest| {
        let mut hex = digest.hex();
        hex.truncate(12);
        hex
    });
    let generation = (!options.effective_values_files().is_empty()).then(|| generation.to_string());
    let parts: Vec<String> = digits.into_iter().chain(generation).collect();
    (!parts.is_empty()).then(|| parts.join("."))
}

/// Puts merged values into the place of `values.yaml`. Says whether that changed it.
fn replace_values(chart: &mut Chart, merged: &model::Value) -> Result<bool, Error> {
    let is_empty = merged.as_object().is_none_or(model::Map::is_empty);
    let text = if is_empty {
        String::new()
    } else {
        as_go_writes(merged)
    };
    let Some(file) = chart.files.iter_mut().find(|file| file.path == "values.yaml") else {
        return Err(Error::NoValues(chart.metadata.name.clone()));
    };
    if file.content == text.as_bytes() {
        return Ok(false);
    }
    file.content = Bytes::from(text);
    Ok(true)
}

fn read_values(path: &str, text: &[u8]) -> Result<model::Value, Error> {
    values::read(text).map_err(|source| Error::Values {
        path: path.to_owned(),
        source,
    })
}

/// A path from a directory on, which cannot lead out of the root: `..` above it stays there.
pub(super) fn inside(directory: &str, path: &str) -> String {
    let mut parts: Vec<&str> = Vec::new();
    for part in directory.split('/').chain(path.split('/')) {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop();
            }
            part => parts.push(part),
        }
    }
    parts.join("/")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_do_not_lead_out_of_the_root() {
        assert_eq!(inside("charts/a", "../b"), "charts/b");
        assert_eq!(inside("charts", "../../../etc"), "etc");
        assert_eq!(inside("", "./a//b/"), "a/b");
    }

    #[test]
    fn version_metadata_is_revision_then_generation() {
        let revision: Revision = "main@sha1:1234567890abcdef1234567890abcdef12345678"
            .parse()
            .unwrap();
        let plain = Options::default();
        let merged = Options {
            values_files: vec!["a.yaml".into()],
            ..Options::default()
        };
        let only_values = Options {
            values_files: vec!["./values.yaml".into()],
            ..Options::default()
        };
        assert_eq!(version_metadata(None, &plain, 3), None);
        assert_eq!(version_metadata(None, &only_values, 3), None);
        assert_eq!(version_metadata(None, &merged, 3).unwrap(), "3");
        assert_eq!(
            version_metadata(Some(&revision), &plain, 3).unwrap(),
            "1234567890ab"
        );
        assert_eq!(
            version_metadata(Some(&revision), &merged, 3).unwrap(),
            "1234567890ab.3"
        );
    }
}
