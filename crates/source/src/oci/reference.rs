//! Names of repositories and of what is in them.

use std::fmt;

use model::Digest;

use super::Error;

const PREFIX: &str = "oci://";
const HUB: &str = "index.docker.io";
const SHAPE: &str = "URL must be in format 'oci://<domain>/<org>/<repo>'";

/// A repository of a registry, with the defaults of Docker Hub filled in.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Repository {
    registry: String,
    path: String,
}

/// One artifact of a repository.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Reference {
    /// Where it is.
    pub repository: Repository,
    /// Which one it is.
    pub version: Version,
}

/// What names an artifact within its repository.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Version {
    /// A name that may point to something else tomorrow.
    Tag(String),
    /// The content itself.
    Digest(Digest),
}

impl Repository {
    /// The repository of a URL such as `oci://ghcr.io/org/app`, which must have neither tag nor digest.
    ///
    /// # Errors
    /// Where the URL is none, or names one artifact.
    pub fn parse(url: &str) -> Result<Self, Error> {
        let name = without_prefix(url)?;
        let after_host = name.split_once('/').map_or("", |(_, path)| path);
        if let Some((_, version)) = after_host.split_once([':', '@']) {
            let (what, separator) = match after_host.contains('@') {
                true => ("digest", '@'),
                false => ("tag", ':'),
            };
            let reason = format!("URL must not contain a {what}; remove '{separator}{version}'");
            return Err(wrong(url, &reason));
        }
        Self::of_name(name, url)
    }

    fn of_name(name: &str, url: &str) -> Result<Self, Error> {
        let (registry, path) = match name.split_once('/') {
            Some((host, path)) if host.contains(['.', ':']) || host == "localhost" => (host, path),
            _ => ("", name),
        };
        let allowed = |found: char| {
            found.is_ascii_lowercase() || found.is_ascii_digit() || matches!(found, '_' | '-' | '.' | '/')
        };
        let empty_part = path.split('/').any(|part| matches!(part, "" | "." | ".."));
        if !(2..=255).contains(&path.len()) || !path.chars().all(allowed) || empty_part {
            let reason = format!(
                "{SHAPE}; the path '{path}' must have 2 to 255 lower-case letters, digits, '_', '-', '.' or '/'"
            );
            return Err(wrong(url, &reason));
        }
        let registry = match registry {
            "" | "docker.io" => HUB,
            registry => registry,
        };
        if !is_authority(registry) {
            return Err(wrong(url, &format!("{SHAPE}; '{registry}' is no host")));
        }
        let path = match (registry, path.contains('/')) {
            (HUB, false) => format!("library/{path}"),
            _ => path.to_owned(),
        };
        Ok(Repository {
            registry: registry.to_owned(),
            path,
        })
    }

    /// The registry's host, with its port if one was given.
    pub fn registry(&self) -> &str {
        &self.registry
    }

    /// The name within the registry.
    pub fn path(&self) -> &str {
        &self.path
    }

    /// The artifact with a tag.
    ///
    /// # Errors
    /// Where no tag can be named so.
    pub fn tag(&self, tag: &str) -> Result<Reference, Error> {
        let allowed = |found: char| found.is_ascii_alphanumeric() || matches!(found, '_' | '-' | '.');
        if !(1..=128).contains(&tag.len()) || !tag.chars().all(allowed) {
            return Err(Error::Tag(tag.to_owned()));
        }
        Ok(self.at(Version::Tag(tag.to_owned())))
    }

    /// The artifact with a digest.
    pub fn digest(&self, digest: Digest) -> Reference {
        self.at(Version::Digest(digest))
    }

    fn at(&self, version: Version) -> Reference {
        Reference {
            repository: self.clone(),
            version,
        }
    }
}

impl Reference {
    /// The artifact of a URL such as `oci://ghcr.io/org/app:1.0` or `oci://ghcr.io/org/app@sha256:…`; without a tag `latest`.
    /// Where there are tag and digest, the digest counts.
    ///
    /// # Errors
    /// Where the URL is none.
    pub fn parse(url: &str) -> Result<Self, Error> {
        let name = without_prefix(url)?;
        let (name, digest) = match name.split_once('@') {
            Some((name, digest)) => (name, Some(digest)),
            None => (name, None),
        };
        let (name, tag) = match name.rsplit_once(':') {
            Some((start, tag)) if !tag.contains('/') => (start, tag),
            _ => (name, "latest"),
        };
        let repository = Repository::of_name(name, url)?;
        let reference = repository
            .tag(tag)
            .map_err(|error| wrong(url, &error.to_string()))?;
        let Some(digest) = digest else {
            return Ok(reference);
        };
        let digest = digest.parse().map_err(|source| Error::Digest {
            text: digest.to_owned(),
            source,
        })?;
        Ok(repository.digest(digest))
    }

    /// The tag, if it is named by one.
    pub fn tag(&self) -> Option<&str> {
        match &self.version {
            Version::Tag(tag) => Some(tag),
            Version::Digest(_) => None,
        }
    }
}

fn without_prefix(url: &str) -> Result<&str, Error> {
    url.strip_prefix(PREFIX).ok_or_else(|| wrong(url, SHAPE))
}

fn wrong(url: &str, reason: &str) -> Error {
    // Whoever writes a login into the URL gets an error, but not one that shows it.
    let host = url.split("://").nth(1).unwrap_or(url).split('/').next();
    let login = host
        .and_then(|host| host.rsplit_once('@'))
        .map(|(login, _)| login);
    let hidden = |text: &str| login.map_or_else(|| text.to_owned(), |login| text.replace(login, "***"));
    Error::Url {
        url: hidden(url),
        reason: hidden(reason),
    }
}

/// Whether this is a host with an optional port and nothing else: no user, path or query.
fn is_authority(text: &str) -> bool {
    let Ok(url) = url::Url::parse(&format!("https://{text}/")) else {
        return false;
    };
    let plain = !text.contains(['@', '/', '?', '#', '\\', '%']) && !text.ends_with(':');
    plain && url.host_str().is_some() && text.is_ascii()
}

impl fmt::Display for Repository {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.registry, self.path)
    }
}

impl fmt::Display for Reference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.version {
            Version::Tag(tag) => write!(f, "{}:{tag}", self.repository),
            Version::Digest(digest) => write!(f, "{}@{digest}", self.repository),
        }
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Version::Tag(tag) => f.write_str(tag),
            Version::Digest(digest) => write!(f, "{digest}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DIGEST: &str = "sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08";

    fn repository(url: &str) -> String {
        Repository::parse(url).unwrap().to_string()
    }

    fn reference(url: &str) -> String {
        Reference::parse(url).unwrap().to_string()
    }

    #[test]
    fn docker_hub_has_defaults() {
        assert_eq!(repository("oci://ghcr.io/org/app"), "ghcr.io/org/app");
        assert_eq!(repository("oci://localhost:5000/app"), "localhost:5000/app");
        assert_eq!(repository("oci://[::1]:5000/app"), "[::1]:5000/app");
        assert_eq!(repository("oci://org/app"), "index.docker.io/org/app");
        assert_eq!(repository("oci://docker.io/app"), "index.docker.io/library/app");
    }

    #[test]
    fn a_repository_has_neither_tag_nor_digest() {
        let error = |url: &str| Repository::parse(url).unwrap_err().to_string();
        assert!(error("oci://ghcr.io/org/app:1.0").ends_with("URL must not contain a tag; remove ':1.0'"));
        assert!(error(&format!("oci://ghcr.io/org/app@{DIGEST}")).contains("remove '@sha256:9f86"));
        assert!(error("https://ghcr.io/org/app").contains("'oci://<domain>/<org>/<repo>'"));
        let login = error("oci://ada:geheim@ghcr.io/org/app");
        assert!(!login.contains("geheim") && !login.contains("ada"), "{login}");
        for wrong in [
            "oci://",
            "oci://ghcr.io/",
            "oci://ghcr.io/Org/App",
            "oci://ghcr.io/org//app",
            "oci://ghcr.io/../app",
            "oci://user@ghcr.io/org/app",
            "oci://ghcr.io:x/org/app",
            "oci://ghcr.io/org/app?x=y",
        ] {
            assert!(Repository::parse(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_reference_has_a_tag_or_a_digest() {
        assert_eq!(reference("oci://ghcr.io/org/app"), "ghcr.io/org/app:latest");
        assert_eq!(reference("oci://localhost:5000/app"), "localhost:5000/app:latest");
        assert_eq!(
            reference("oci://localhost:5000/app:v1_x.y"),
            "localhost:5000/app:v1_x.y"
        );
        assert_eq!(
            reference(&format!("oci://ghcr.io/org/app:1@{DIGEST}")),
            format!("ghcr.io/org/app@{DIGEST}")
        );
        for wrong in [
            "oci://ghcr.io/org/app:",
            "oci://ghcr.io/org/app:a+b",
            "oci://ghcr.io/org/app@sha256:1",
        ] {
            assert!(Reference::parse(wrong).is_err(), "{wrong}");
        }
    }
}
