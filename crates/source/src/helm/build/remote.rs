//! Charts of repositories and registries.

use bytes::Bytes;
use model::Value;

use super::{Built, Content, Error, Options, inside, read_values, replace_values};
use crate::helm::chart::{Chart, metadata_of_archive, values};
use crate::helm::fetcher::{ChartFetcher, FetchError, Found, Verified};
use crate::trust::TrustScope;

/// A chart that was found, and is yet to be fetched.
#[derive(Debug)]
pub struct Pick {
    found: Found,
    verified: Verified,
    /// With the wanted metadata.
    version: String,
    packaged: bool,
}

/// Finds a chart of a repository, and checks its signature where that is wanted.
///
/// # Errors
/// As [`Error`] says.
pub async fn pick(
    fetcher: &dyn ChartFetcher,
    name: &str,
    version: &str,
    options: &Options,
) -> Result<Pick, Error> {
    check_name(name)?;
    let found = fetcher.find(name, version).await.map_err(|error| match error {
        FetchError::Reference(_) => Error::NotFound(error),
        FetchError::External(_) => Error::Pull(error),
        FetchError::Authentication(_) => Error::Authentication(error),
    })?;
    let verified = fetcher.verify(&found).await.map_err(|error| match error {
        FetchError::Authentication(_) => Error::Authentication(error),
        _ => Error::Verification(error),
    })?;
    let version = options.version(&found.version)?;
    let packaged = !options.effective_values_files().is_empty() || options.version_metadata.is_some();
    Ok(Pick {
        found,
        verified,
        version,
        packaged,
    })
}

impl Pick {
    /// The result without work, if the chart is stored already.
    pub fn unchanged(&self, options: &Options) -> Option<Built> {
        let built = options.unchanged(&self.found.name, &self.version, self.packaged)?;
        Some(Built {
            verified: self.verified,
            ..built
        })
    }

    /// Whether it is packed anew, and not taken as it is.
    pub fn is_packaged(&self) -> bool {
        self.packaged
    }

    /// What came of the check of its signature.
    pub fn verified(&self) -> Verified {
        self.verified
    }

    /// The file name of the artifact.
    pub fn file_name(&self) -> String {
        super::file_name(&self.found.name, &self.version)
    }

    /// What chart it is, and where it comes from.
    pub fn address(&self) -> String {
        let Found { name, version, urls } = &self.found;
        format!("{name} {version} {urls:?}")
    }

    /// Who reads it, and whom they trust to be the place that has it; nothing where it is not to be shared.
    pub fn scope(&self, fetcher: &dyn ChartFetcher) -> Option<TrustScope> {
        fetcher.scope(&self.found)
    }

    /// A name that it shares only with the same archive; nothing where the place gives none. The place has been asked whether
    /// it may be read.
    ///
    /// # Errors
    /// Where the place cannot be asked.
    pub async fn identity(&self, fetcher: &dyn ChartFetcher) -> Result<Option<String>, Error> {
        fetcher.identity(&self.found).await.map_err(unpulled)
    }

    /// Gets it: the archive as it is, or packed anew with other values or version metadata.
    ///
    /// # Errors
    /// As [`Error`] says.
    pub async fn fetch(self, fetcher: &dyn ChartFetcher, options: &Options) -> Result<Built, Error> {
        let archive = fetcher.download(&self.found).await.map_err(unpulled)?;
        let mut built = Built {
            name: self.found.name,
            version: self.version,
            values_files: Vec::new(),
            packaged: self.packaged,
            resolved_dependencies: 0,
            verified: self.verified,
            content: Content::Archive(archive.clone()),
        };
        if self.packaged {
            let packed = repack(&archive, &mut built, options)?;
            built.content = Content::Archive(packed);
        } else {
            let mut metadata = metadata_of_archive(&archive, &options.limits).map_err(Error::Pulled)?;
            metadata
                .validate()
                .map_err(|invalid| Error::Pulled(crate::helm::chart::LoadError::Metadata(invalid)))?;
        }
        Ok(built)
    }
}

/// Builds a chart of a repository: the archive as it is, or packed anew with other values or version metadata.
///
/// # Errors
/// As [`Error`] says.
pub async fn from_repository(
    fetcher: &dyn ChartFetcher,
    name: &str,
    version: &str,
    options: &Options,
) -> Result<Built, Error> {
    let pick = pick(fetcher, name, version, options).await?;
    match pick.unchanged(options) {
        Some(built) => Ok(built),
        None => pick.fetch(fetcher, options).await,
    }
}

fn unpulled(error: FetchError) -> Error {
    match error {
        FetchError::Authentication(_) => Error::Authentication(error),
        _ => Error::Pull(error),
    }
}

fn repack(archive: &[u8], built: &mut Built, options: &Options) -> Result<Bytes, Error> {
    let mut chart = Chart::from_archive(archive, &options.limits).map_err(Error::Load)?;
    chart.metadata.version.clone_from(&built.version);
    if !options.effective_values_files().is_empty() {
        let (merged, used) = merge_files(&chart, options)?;
        if replace_values(&mut chart, &merged)? {
            built.values_files = used;
        }
    }
    Ok(Bytes::from(chart.pack().map_err(Error::Pack)?))
}

/// Merges the values files of a chart. Their paths begin at its root.
fn merge_files(chart: &Chart, options: &Options) -> Result<(Value, Vec<String>), Error> {
    let mut merged = Value::object();
    let mut used = Vec::new();
    for reference in &options.values_files {
        let path = inside("", reference);
        let more = match chart.file(&path) {
            Some(_) if path == "values.yaml" => {
                let own = chart.values();
                own.map_err(|source| Error::Values {
                    path: reference.clone(),
                    source,
                })?
            }
            Some(text) => read_values(reference, text)?,
            None if path == "values.yaml" => Value::object(),
            None if options.ignore_missing_values_files => continue,
            None => {
                let reference = reference.clone();
                return Err(Error::NoValuesFile { path, reference });
            }
        };
        values::merge(&mut merged, more);
        used.push(reference.clone());
    }
    Ok((merged, used))
}

/// Names are words of small letters, digits and dashes with `/`, `.` or `/.` between them.
fn check_name(name: &str) -> Result<(), Error> {
    if name.is_empty() {
        return Err(Error::Reference(
            "no name set for remote chart reference".to_owned(),
        ));
    }
    let mut last = '.';
    for character in name.chars() {
        let is_word = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
        let fits = match character {
            '/' => is_word(last),
            '.' => is_word(last) || last == '/',
            other => is_word(other),
        };
        if !fits {
            return Err(Error::Reference(format!(
                "invalid chart name '{name}': a valid name must be lower case letters and numbers and MAY be separated \
                 with dashes (-), slashes (/) or periods (.)"
            )));
        }
        last = character;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_checked_as_flux_does() {
        for name in ["a", "a-1", "a/b", "a.b", "a/.b", "a/", "a.", "-"] {
            assert!(check_name(name).is_ok(), "{name}");
        }
        for name in ["", "A", "a//b", "a..b", "a./b", "/a", ".a", "a_b", "a b"] {
            assert!(check_name(name).is_err(), "{name}");
        }
    }
}
