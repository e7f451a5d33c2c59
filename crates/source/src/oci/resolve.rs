//! Which artifact is meant: a digest, the newest version in a range, or a tag.

use model::regexp::Regexp;
use model::semver::{self, Constraint};
use model::{Digest, Revision};

use super::{Client, Error, Reference, Repository, Version};

/// The media type of a Helm chart. `+` is not allowed in tags, so that charts write `_` for it.
pub const CHART_MEDIA_TYPE: &str = "application/vnd.cncf.helm.chart.content.v1.tar+gzip";
const DEFAULT_TAG: &str = "latest";

/// What is wanted of a repository. The digest counts before the range, the range before the tag; with none of them the tag
/// `latest` is meant.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Selector {
    /// A digest.
    pub digest: Option<String>,
    /// A range of versions; the newest that is there is taken.
    pub semver: Option<String>,
    /// A regular expression that tags must match before versions are looked at.
    pub semver_filter: Option<String>,
    /// A tag.
    pub tag: Option<String>,
}

/// What a selector leads to right now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Resolved {
    /// The tag or digest.
    pub reference: Reference,
    /// The digest of the manifest: what is pulled.
    pub digest: Digest,
    /// Both of them as one text: `<tag>@<digest>`, or the digest alone.
    pub revision: Revision,
}

impl Client {
    /// Finds what is meant now: without a request for a digest, with one for a tag, with one more per page of tags for a range.
    /// `media_type` is that of the wanted layer, for versions of Helm charts are written otherwise.
    ///
    /// # Errors
    /// Where there is no such artifact, or the selector cannot be read.
    pub async fn resolve(
        &self,
        repository: &Repository,
        selector: &Selector,
        media_type: Option<&str>,
    ) -> Result<Resolved, Error> {
        let given = |text: &Option<String>| text.clone().filter(|text| !text.is_empty());
        if let Some(text) = given(&selector.digest) {
            let digest = text.parse().map_err(|source| Error::Digest { text, source })?;
            return Ok(Resolved {
                reference: repository.digest(digest),
                digest,
                revision: Revision::unnamed(digest),
            });
        }
        let reference = match given(&selector.semver) {
            Some(range) => {
                let choice = Choice::new(&range, given(&selector.semver_filter).as_deref(), media_type)?;
                let tags = self.tags(repository).await?;
                repository.tag(&choice.newest(tags).ok_or(Error::NoVersion(range))?)?
            }
            None => repository.tag(given(&selector.tag).as_deref().unwrap_or(DEFAULT_TAG))?,
        };
        let digest = self.digest(&reference).await?;
        let revision = match &reference.version {
            Version::Tag(tag) => Revision::named(tag, digest),
            Version::Digest(_) => Revision::unnamed(digest),
        };
        Ok(Resolved {
            reference,
            digest,
            revision,
        })
    }
}

/// How the newest version is chosen.
struct Choice {
    range: Constraint,
    filter: Option<Regexp>,
    is_chart: bool,
}

impl Choice {
    fn new(range: &str, filter: Option<&str>, media_type: Option<&str>) -> Result<Self, Error> {
        let compile = |filter: &str| {
            Regexp::new(filter).map_err(|source| Error::Filter {
                filter: filter.to_owned(),
                source,
            })
        };
        let filter = filter.map(compile).transpose()?;
        let range = range.parse().map_err(|source| Error::Range {
            range: range.to_owned(),
            source,
        })?;
        Ok(Choice {
            range,
            filter,
            is_chart: media_type == Some(CHART_MEDIA_TYPE),
        })
    }

    /// The tag of the newest version in the range.
    fn newest(&self, tags: Vec<String>) -> Option<String> {
        let mut best: Option<(semver::Version, String)> = None;
        for tag in tags {
            if self.filter.as_ref().is_some_and(|filter| !filter.is_match(&tag)) {
                continue;
            }
            let text = if self.is_chart {
                tag.replace('_', "+")
            } else {
                tag.clone()
            };
            let Ok(version) = semver::parse_tag(&text) else {
                continue;
            };
            let is_newer = best.as_ref().is_none_or(|(found, _)| version > *found);
            if is_newer && self.range.matches(&version) {
                best = Some((version, tag));
            }
        }
        best.map(|(_, tag)| tag)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn newest(range: &str, filter: Option<&str>, media_type: Option<&str>, tags: &[&str]) -> Option<String> {
        let choice = Choice::new(range, filter, media_type).unwrap();
        choice.newest(tags.iter().map(ToString::to_string).collect())
    }

    #[test]
    fn the_newest_version_in_the_range_is_taken() {
        let tags = [
            "latest",
            "1.0.0",
            "v1.10.0",
            "1.9.0",
            "2.0.0",
            "1.11.0-rc.1",
            "1.12",
            "sha-1.0.0",
        ];
        assert_eq!(newest("1.x", None, None, &tags).unwrap(), "v1.10.0");
        assert_eq!(
            newest(">= 1.11.0-0 < 2", None, None, &tags).unwrap(),
            "1.11.0-rc.1"
        );
        assert_eq!(newest(">= 3", None, None, &tags), None);
    }

    #[test]
    fn a_filter_leaves_tags_out() {
        let tags = ["6.1.4-rc.1", "6.1.5-beta.0", "6.1.4", "6.1.6"];
        assert_eq!(
            newest(">= 6.1.0-0", Some(".*-rc.*"), None, &tags).unwrap(),
            "6.1.4-rc.1"
        );
        assert!(matches!(
            Choice::new("*", Some("("), None),
            Err(Error::Filter { .. })
        ));
        assert!(matches!(Choice::new("x y", None, None), Err(Error::Range { .. })));
    }

    #[test]
    fn charts_write_an_underscore_for_a_plus() {
        let tags = ["1.0.0_a", "1.0.1_b"];
        assert_eq!(
            newest("*", None, Some(CHART_MEDIA_TYPE), &tags).unwrap(),
            "1.0.1_b"
        );
        assert_eq!(newest("*", None, None, &tags), None);
    }
}
