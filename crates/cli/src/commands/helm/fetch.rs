//! Charts that are elsewhere: in a registry, in a repository, at a URL.

use std::future::Future;
use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Context as _, bail};
use bytes::Bytes;
use source::helm::{
    ChartFetcher as _, FetchError, Found, Registry, Repository, address, artifact, repository,
};
use source::oci;
use source::verify::provenance::Verification;
use tokio::runtime::{Builder, Handle};
use url::Url;

use super::access::Access;
use super::repositories::{self, Entry};
use super::{verify, whole};

/// The largest packed chart that is taken.
pub(super) const MAX_CHART_SIZE: u64 = 100 << 20;
/// The time that a chart may take to come.
const DEADLINE: Duration = Duration::from_secs(300);
const OCI: &str = "oci://";

const UNDERSCORE: &str = "
OCI artifact references (e.g. tags) do not support the plus sign (+). To support
storing semantic versions, Helm adopts the convention of changing plus (+) to
an underscore (_) in chart version tags when pushing to a registry and back to
a plus (+) when pulling from a registry.
";

/// Which chart is meant, and how to get it.
#[derive(clap::Args, Clone, Default)]
pub(in crate::commands) struct Wanted {
    /// The URL of the repository that has the chart
    #[arg(long, value_name = "URL")]
    pub(super) repo: Option<String>,
    /// The version of the chart, or a range such as ^2.0.0 [default: the highest release]
    #[arg(long)]
    version: Option<String>,
    /// Take versions that are no releases too, where no version is given
    #[arg(long)]
    devel: bool,
    /// Send the credentials also to other servers that the repository names
    #[arg(long)]
    pass_credentials: bool,
    /// Verify the package before using it
    #[arg(long)]
    pub(super) verify: bool,
    /// Location of public keys used for verification [default: pubring.gpg of GnuPG]
    #[arg(long, value_name = "FILE")]
    pub(super) keyring: Option<PathBuf>,
    #[command(flatten)]
    access: Access,
}

/// A chart that was fetched.
pub(in crate::commands) struct Fetched {
    pub(in crate::commands) archive: Bytes,
    /// The name of its file.
    pub(in crate::commands) file_name: String,
    /// Its provenance file; `None` if it has none, or nobody asked.
    pub(in crate::commands) provenance: Option<Bytes>,
    /// What Helm tells of it.
    pub(in crate::commands) told: String,
    /// The address that it was fetched from.
    address: String,
    /// The signer, where verification was asked for.
    pub(super) verified: Option<Verification>,
}

/// Waits for something, but not for ever. For threads that may wait.
pub(super) fn wait<T>(work: impl Future<Output = anyhow::Result<T>>) -> anyhow::Result<T> {
    let work = async {
        match tokio::time::timeout(DEADLINE, work).await {
            Ok(done) => done,
            Err(_) => bail!(
                "not done after {} seconds: the server is too slow",
                DEADLINE.as_secs()
            ),
        }
    };
    match Handle::try_current() {
        Ok(handle) => handle.block_on(work),
        Err(_) => Builder::new_current_thread().enable_all().build()?.block_on(work),
    }
}

/// The remark on underscores in references.
pub(super) fn remark(reference: &str) -> String {
    format!("{reference} contains an underscore.\n{UNDERSCORE}")
}

/// Whether a chart is named by where it is on a server.
pub(super) fn is_url(name: &str) -> bool {
    [OCI, "https://", "http://"]
        .iter()
        .any(|scheme| name.starts_with(scheme))
}

impl Wanted {
    /// A version, or the highest if that is empty, of a repository or of a URL, with the credentials of this machine.
    pub(in crate::commands) fn new(repo: Option<String>, version: &str, devel: bool) -> Self {
        Wanted {
            repo,
            version: Some(version.to_owned()),
            devel,
            ..Wanted::default()
        }
    }

    /// Gets a chart, verified where that is asked for.
    pub(in crate::commands) fn get(&self, chart: &str, with_provenance: bool) -> anyhow::Result<Fetched> {
        let mut fetched = self.fetch(chart, with_provenance || self.verify)?;
        if self.verify {
            let Some(provenance) = &fetched.provenance else {
                bail!(
                    "failed to fetch provenance {:?}",
                    format!("{}.prov", fetched.address)
                );
            };
            let verified = verify::bytes(
                &fetched.archive,
                provenance,
                &fetched.file_name,
                self.keyring.as_deref(),
            )?;
            fetched.verified = Some(verified);
        }
        Ok(fetched)
    }

    fn fetch(&self, chart: &str, with_provenance: bool) -> anyhow::Result<Fetched> {
        if self.repo.is_none()
            && !is_url(chart)
            && let Some((name, chart)) = chart.split_once('/')
            && let Some(entry) = repositories::find(name)?
        {
            return self.with(entry).fetch(chart, with_provenance);
        }
        wait(async {
            match &self.repo {
                Some(repo) => self.of_repository(repo, chart, with_provenance).await,
                None if chart.starts_with(OCI) => {
                    self.of_registry(chart, self.range(), with_provenance).await
                }
                None if is_url(chart) => self.at_url(chart, with_provenance).await,
                None => bail!(
                    "'{chart}' is neither a file, nor a URL, nor in a repository that 'helm repo add' knows: name a path, an oci:// or https:// URL, or the URL of the repository with --repo"
                ),
            }
        })
    }

    /// The same in a repository that Helm knows, with the credentials that it has for it where none are given.
    fn with(&self, entry: Entry) -> Wanted {
        Wanted {
            repo: Some(entry.url.clone()),
            pass_credentials: self.pass_credentials || entry.pass_credentials,
            access: self.access.clone().or(entry),
            ..self.clone()
        }
    }

    /// The wanted version or range; empty for the highest release.
    fn range(&self) -> &str {
        match self.version.as_deref().map(str::trim) {
            None | Some("") if self.devel => ">0.0.0-0",
            version => version.unwrap_or_default(),
        }
    }

    async fn of_registry(&self, url: &str, range: &str, with_provenance: bool) -> anyhow::Result<Fetched> {
        let name = Name::parse(url)?;
        let repository = oci::Repository::parse(&format!("{OCI}{}", name.repository))?;
        let client = self.access.registry(&repository)?;
        let range = match (range, name.tag) {
            ("", tag) => tag.unwrap_or_default(),
            (range, Some(tag)) if range != tag => {
                bail!("chart reference and version mismatch: {range} is not {tag}")
            }
            (range, _) => range,
        };
        let last = name.repository.rsplit('/').next().unwrap_or_default();
        let (reference, shown, file_name) = match name.digest {
            Some(digest) => {
                let wrong = || format!("'{digest}' is no digest");
                let digest = digest.parse().with_context(wrong)?;
                if !range.is_empty()
                    && let Ok(tagged) = client.digest(&repository.tag(&range.replace('+', "_"))?).await
                    && tagged != digest
                {
                    bail!("chart reference digest mismatch: {tagged} is not {digest}");
                }
                let shown = format!("{}@{digest}", name.repository);
                let file = format!("{last}@{digest}").replace(':', "-");
                (repository.digest(digest), shown, format!("{file}.tgz"))
            }
            None => {
                let above = name.repository.strip_suffix(last).unwrap_or_default();
                let registry = Registry::new(&format!("{OCI}{above}"), client.clone());
                let found = registry.find(last, range).await;
                let version = found.map_err(|error| whole(&error))?.version;
                let tag = version.replace('+', "_");
                let shown = format!("{}:{tag}", name.repository);
                (repository.tag(&tag)?, shown, format!("{last}-{version}.tgz"))
            }
        };
        let pulled = artifact::pull(&client, &reference, MAX_CHART_SIZE, with_provenance).await;
        let pulled = pulled.map_err(|error| whole(&error))?.with_context(|| {
            format!(
                "manifest does not contain a layer with mediatype {}",
                oci::CHART_MEDIA_TYPE
            )
        })?;
        let mut told = String::new();
        if pulled.is_legacy {
            let legacy = artifact::LEGACY_CHART_MEDIA_TYPE;
            told += &format!("Warning: chart media type {legacy} is deprecated\n");
        }
        told += &format!("Pulled: {shown}\nDigest: {}\n", pulled.digest);
        if shown.contains('_') {
            told += &remark(&shown);
        }
        if pulled.provenance.is_some() {
            // Helm pulls twice for it.
            told = told.repeat(2);
        }
        Ok(Fetched {
            archive: pulled.archive,
            file_name,
            provenance: pulled.provenance,
            told,
            address: format!("{OCI}{shown}"),
            verified: None,
        })
    }

    async fn of_repository(&self, url: &str, chart: &str, with_provenance: bool) -> anyhow::Result<Fetched> {
        let shown = address::without_secrets(url);
        let repository = self.repository(url)?;
        let range = self.range();
        let found = repository.find(chart, range).await.map_err(|error| match error {
            FetchError::Reference(_) if range.is_empty() => {
                anyhow::anyhow!("chart {chart:?} not found in {shown} repository")
            }
            FetchError::Reference(_) => {
                anyhow::anyhow!("chart {chart:?} version {range:?} not found in {shown} repository")
            }
            error => {
                let cause = whole(&error);
                anyhow::anyhow!(
                    "looks like {shown:?} is not a valid chart repository or cannot be reached: {cause}"
                )
            }
        })?;
        match found.urls.first() {
            None => bail!("chart {chart:?} has no downloadable URLs"),
            // The repository is only a list of what a registry has.
            Some(url) if url.starts_with(OCI) => self.of_registry(url, &found.version, with_provenance).await,
            Some(reference) => {
                let url = address::of_chart(&address::parse(url)?, reference)?;
                download(&repository, &found, &url, with_provenance).await
            }
        }
    }

    async fn at_url(&self, url: &str, with_provenance: bool) -> anyhow::Result<Fetched> {
        let repository = self.repository(url)?;
        let found = Found {
            name: String::new(),
            version: String::new(),
            urls: vec![url.to_owned()],
        };
        download(&repository, &found, &address::parse(url)?, with_provenance).await
    }

    fn repository(&self, url: &str) -> anyhow::Result<Repository> {
        let options = repository::Options {
            http: self.access.http()?,
            login: self.access.login(),
            pass_credentials: self.pass_credentials,
            max_chart_size: MAX_CHART_SIZE,
            ..repository::Options::new(url)
        };
        Repository::new(options).map_err(|error| whole(&error))
    }
}

async fn download(
    repository: &Repository,
    found: &Found,
    url: &Url,
    with_provenance: bool,
) -> anyhow::Result<Fetched> {
    let archive = repository.download(found).await.map_err(|error| whole(&error))?;
    let provenance = match with_provenance {
        true => repository
            .provenance(found)
            .await
            .map_err(|error| whole(&error))?,
        false => None,
    };
    let last = url.path_segments().and_then(|mut parts| parts.next_back());
    let file_name = percent_encoding::percent_decode_str(last.unwrap_or_default())
        .decode_utf8_lossy()
        .into_owned();
    // A name that was written with escapes could lead elsewhere.
    if matches!(file_name.as_str(), "" | "." | "..") || file_name.contains(['/', '\\']) {
        bail!(
            "the URL of the chart has no file name: {}",
            address::without_secrets(url.as_str())
        );
    }
    Ok(Fetched {
        archive,
        file_name,
        provenance,
        told: String::new(),
        address: address::without_secrets(url.as_str()).to_string(),
        verified: None,
    })
}

/// The parts of a reference to a chart in a registry.
struct Name<'n> {
    /// The host and the path.
    repository: &'n str,
    tag: Option<&'n str>,
    digest: Option<&'n str>,
}

impl<'n> Name<'n> {
    fn parse(url: &'n str) -> anyhow::Result<Self> {
        let rest = url.strip_prefix(OCI).unwrap_or(url);
        let (rest, digest) = match rest.rsplit_once('@') {
            Some((rest, digest)) => (rest, Some(digest)),
            None => (rest, None),
        };
        let (repository, tag) = match rest.rsplit_once(':') {
            Some((repository, tag)) if !tag.contains('/') => (repository, Some(tag)),
            _ => (rest, None),
        };
        if !repository.contains('/') {
            bail!("invalid reference: '{repository}' names a registry but no chart in it");
        }
        Ok(Name {
            repository: repository.trim_end_matches('/'),
            tag,
            digest,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn references_have_tags_and_digests() {
        for (url, repository, tag, digest) in [
            ("oci://a.example/b/c", "a.example/b/c", None, None),
            ("oci://a.example:5000/c", "a.example:5000/c", None, None),
            (
                "oci://a.example:5000/c:1.0",
                "a.example:5000/c",
                Some("1.0"),
                None,
            ),
            ("oci://a/c@sha256:0", "a/c", None, Some("sha256:0")),
            ("oci://a/c:1@sha256:0", "a/c", Some("1"), Some("sha256:0")),
        ] {
            let name = Name::parse(url).unwrap();
            assert_eq!(
                (name.repository, name.tag, name.digest),
                (repository, tag, digest)
            );
        }
        assert!(Name::parse("oci://a.example:5000").is_err());
    }
}
