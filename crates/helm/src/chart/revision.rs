//! The version of a chart that comes from an OCI registry: tags can be moved, so that the digest is made part of it.

use model::semver::Version;

/// What a revision of a source makes of the version of a chart.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tracked {
    /// The version with the first digits of the digest, `1.2.3+0123456789ab`.
    pub version: String,
    /// The whole digest, `sha256:…`.
    pub digest: String,
}

/// Why a revision and a chart do not go together, in Flux's words.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RevisionError {
    /// The version of the chart is none.
    #[error("invalid chart version {0}")]
    Version(String),
    /// The tag names another version.
    #[error("artifact revision {tag} does not match chart version {version}")]
    Mismatch {
        /// The tag.
        tag: String,
        /// The version of the chart.
        version: String,
    },
    /// The revision has no digest.
    #[error("invalid artifact revision {0}")]
    Revision(String),
}

/// How many digits of the digest become part of the version.
const DIGITS: usize = 12;

/// Makes the digest of a revision, `TAG@sha256:…` or `sha256:…`, part of the version of a chart. A tag that is a version must be that
/// of the chart.
pub fn track_revision(version: &str, revision: &str) -> Result<Tracked, RevisionError> {
    let invalid = || RevisionError::Revision(revision.to_owned());
    let parsed = Version::parse(version).map_err(|_| RevisionError::Version(version.to_owned()))?;
    let parts: Vec<&str> = revision.split('@').collect();
    // Tags cannot have a plus.
    let tagged = match parts.as_slice() {
        [whole] => Version::parse(whole).ok(),
        parts => Version::parse(&parts[0].replace('_', "+")).ok(),
    };
    let digest = match (tagged, parts.as_slice()) {
        (Some(tag), [_, digest]) if is_same(&tag, &parsed) => digest,
        (Some(_), parts) => {
            return Err(RevisionError::Mismatch {
                tag: parts[0].to_owned(),
                version: version.to_owned(),
            });
        }
        (None, _) => revision,
    };
    let digits = match digest.split(':').collect::<Vec<_>>().as_slice() {
        [_, hash] => hash.get(..DIGITS).ok_or_else(invalid)?,
        _ => return Err(RevisionError::Revision(digest.to_owned())),
    };
    let tracked = parsed.with_metadata(digits).map_err(|_| invalid())?;
    Ok(Tracked {
        version: tracked.to_string(),
        digest: digest.to_owned(),
    })
}

fn is_same(one: &Version, other: &Version) -> bool {
    let parts = |version: &Version| (version.major(), version.minor(), version.patch());
    parts(one) == parts(other) && one.prerelease() == other.prerelease()
}

#[cfg(test)]
mod tests {
    use super::*;

    const DIGEST: &str = "sha256:9933f58f8bf459eb199d59ebc8a05683f3944e1242d9f5467d99aa2cf08a5370";

    #[test]
    fn the_digest_becomes_part_of_the_version() {
        for (version, tag, wanted) in [
            ("0.1.0", "0.1.0@", "0.1.0+9933f58f8bf4"),
            ("0.1.0", "", "0.1.0+9933f58f8bf4"),
            ("v1.2", "1.2.0@", "1.2.0+9933f58f8bf4"),
            ("1.2.3-rc.1+old", "1.2.3-rc.1_old@", "1.2.3-rc.1+9933f58f8bf4"),
        ] {
            let tracked = track_revision(version, &format!("{tag}{DIGEST}")).unwrap();
            assert_eq!(
                (tracked.version.as_str(), tracked.digest.as_str()),
                (wanted, DIGEST)
            );
        }
    }

    #[test]
    fn what_does_not_go_together_is_refused() {
        for (version, revision, message) in [
            ("x", "1.0.0@sha256:0123456789abc", "invalid chart version x"),
            (
                "0.1.0",
                "0.2.0@sha256:0123456789abc",
                "artifact revision 0.2.0 does not match chart version 0.1.0",
            ),
            ("0.1.0", "sha256:0123", "invalid artifact revision sha256:0123"),
            (
                "0.1.0",
                "latest@sha256:0123456789abc",
                "invalid artifact revision",
            ),
            (
                "0.1.0",
                "0.1.0",
                "artifact revision 0.1.0 does not match chart version 0.1.0",
            ),
        ] {
            let result = track_revision(version, revision);
            if message == "invalid artifact revision" {
                // A tag that is no version: Flux takes the whole for the digest, and its algorithm is not looked at.
                assert_eq!(result.unwrap().digest, revision);
                continue;
            }
            assert_eq!(result.unwrap_err().to_string(), message);
        }
    }
}
