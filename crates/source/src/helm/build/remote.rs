//! Charts of repositories and registries.

use bytes::Bytes;
use model::Value;

use super::{Built, Content, Error, Options, inside, read_values, replace_values};
use crate::helm::chart::{Chart, metadata_of_archive, values};
use crate::helm::fetcher::{ChartFetcher, FetchError};

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
    if let Some(built) = options.unchanged(&found.name, &version, packaged) {
        return Ok(Built { verified, ..built });
    }
    let archive = fetcher.download(&found).await.map_err(|error| match error {
        FetchError::Authentication(_) => Error::Authentication(error),
        _ => Error::Pull(error),
    })?;
    let mut built = Built {
        name: found.name,
        version,
        values_files: Vec::new(),
        packaged,
        resolved_dependencies: 0,
        verified,
        content: Content::Archive(archive.clone()),
    };
    if packaged {
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
