//! The files of artifacts: those of the store of this process, and those that are fetched.

use std::fs::File;
use std::sync::Arc;

use api::{Object, Spec};
use kube::ResourceExt as _;
use model::Artifact;
use source::store::{Store, fetch};

use crate::sources::HasArtifact;

/// The first segment of the paths that source controllers store artifacts under: the kind of the source.
const KINDS: [&str; 6] = [
    "bucket",
    "externalartifact",
    "gitrepository",
    "helmchart",
    "helmrepository",
    "ocirepository",
];

/// The status of a source names an artifact that is stored under another object.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[error(
    "{kind} '{namespace}/{name}' names an artifact of another object: its status was not written by its controller: request a \
     reconciliation of it"
)]
pub(crate) struct ForeignArtifact {
    kind: &'static str,
    namespace: String,
    name: String,
}

/// Returns the artifact in the status of a source.
///
/// Whoever may write a status could name the artifact of somebody else's source there, which the store and its server hand out to every
/// controller. So path and URL have to be those of the source itself.
///
/// # Errors
/// The artifact is stored under another object.
pub(crate) fn owned_artifact<S: Spec<Status: HasArtifact>>(
    source: &Object<S>,
) -> Result<Option<&Artifact>, ForeignArtifact> {
    let Some(artifact) = source.status.as_ref().and_then(HasArtifact::artifact) else {
        return Ok(None);
    };
    let (namespace, name) = (source.namespace().unwrap_or_default(), source.name_any());
    let own = [S::NAMES.kind.to_lowercase(), namespace.clone(), name.clone()];
    // Others than source controllers make ExternalArtifacts too, and serve them where they want to.
    let is_own = match S::NAMES.kind {
        "ExternalArtifact" => is_nobody_elses(artifact, &own),
        _ => is_stored_under(artifact, &own),
    };
    match is_own {
        true => Ok(Some(artifact)),
        false => Err(ForeignArtifact {
            kind: S::NAMES.kind,
            namespace,
            name,
        }),
    }
}

/// Returns whether an artifact is stored and served as `KIND/NAMESPACE/NAME/FILE`.
fn is_stored_under(artifact: &Artifact, own: &[String; 3]) -> bool {
    let file = artifact.path.strip_prefix(&format!("{}/", own.join("/")));
    let is_file = file.is_some_and(|file| !file.is_empty() && !file.contains('/') && file != "..");
    let served = reqwest::Url::parse(&artifact.url).ok();
    is_file && served.is_some_and(|url| url.path() == format!("/{}", artifact.path))
}

/// Returns whether neither path nor URL of an artifact are those of a source other than its own.
fn is_nobody_elses(artifact: &Artifact, own: &[String; 3]) -> bool {
    let served = reqwest::Url::parse(&artifact.url).ok();
    let paths = [
        Some(artifact.path.as_str()),
        served.as_ref().map(reqwest::Url::path),
    ];
    paths.into_iter().flatten().all(|path| {
        let segments = segments(path);
        !segments
            .first()
            .is_some_and(|kind| KINDS.contains(&kind.as_str()))
            || segments.starts_with(own)
    })
}

/// Returns the segments of a path as a server may read them: decoded, without empty ones, `.` and `..`.
fn segments(path: &str) -> Vec<String> {
    let mut decoded = path.to_owned();
    // Proxies between here and the server may decode once more.
    for _ in 0..4 {
        decoded = percent_encoding::percent_decode_str(&decoded)
            .decode_utf8_lossy()
            .into_owned();
    }
    let mut segments = Vec::new();
    for segment in decoded.split(['/', '\\']) {
        match segment {
            "" | "." => {}
            ".." => {
                segments.pop();
            }
            segment => segments.push(segment.to_lowercase()),
        }
    }
    segments
}

/// A client for the URLs of artifacts. It follows no redirects: only the first URL is known to be that of the source itself.
fn client() -> reqwest::Client {
    let client = reqwest::Client::builder().redirect(reqwest::redirect::Policy::none());
    client.build().expect("a client without settings can be made")
}

/// Where artifacts are read from.
pub(crate) struct Archives {
    /// The store of this process; without one all is fetched.
    store: Option<Arc<Store>>,
    client: reqwest::Client,
    fetch: fetch::Options,
}

impl Archives {
    /// Artifacts of a store, or of servers: of `host` where there is one, whatever they name.
    pub(crate) fn new(store: Option<Arc<Store>>, retries: u32, host: Option<String>) -> Self {
        Archives {
            store,
            client: client(),
            fetch: fetch::Options {
                retries,
                host,
                ..fetch::Options::default()
            },
        }
    }

    /// The same, of artifacts that have so many bytes at most.
    #[must_use]
    pub(crate) fn up_to(mut self, largest: u64) -> Self {
        self.fetch.largest = largest;
        self
    }

    /// The file of an artifact.
    ///
    /// # Errors
    /// Why it cannot be had.
    pub(crate) async fn get(&self, artifact: &Artifact) -> Result<File, fetch::Error> {
        if let Some(file) = self.of_store(artifact).await {
            return Ok(file);
        }
        let digest = artifact.digest.map(|digest| digest.to_string());
        let digest = digest.unwrap_or_default();
        fetch::fetch(&self.client, &artifact.url, &digest, &self.fetch).await
    }

    /// The file, where the store of this process has it.
    async fn of_store(&self, artifact: &Artifact) -> Option<File> {
        let (store, artifact) = (self.store.as_ref()?, artifact.clone());
        store.aside(move |store| store.read(&artifact).ok()).await
    }
}

#[cfg(test)]
mod tests {
    use api::source::{ExternalArtifact, GitRepository};
    use serde_json::json;
    use sha2::{Digest as _, Sha256};
    use testkit::http::{Reply, Request, Server};

    use super::*;

    const OWN: &str = "gitrepository/apps/app/1.tar.gz";

    /// The URL of a status was checked, and then led to what is stored for another object.
    #[tokio::test(flavor = "multi_thread")]
    async fn an_artifact_is_not_looked_for_where_a_server_sends_us() {
        let store: Server<_> = Server::serve(|_: &Request| Reply::text("of somebody else"));
        let elsewhere = format!("{}/gitrepository/other/app/1.tar.gz", store.url());
        let own: Server<_> =
            Server::serve(move |_: &Request| Reply::status(302).with("location", &elsewhere));
        let mut value = artifact(OWN, &format!("{}/{OWN}", own.url()));
        value["digest"] = json!(model::Digest::sha256(Sha256::digest("of somebody else").into()).to_string());
        let artifact: Artifact = serde_json::from_value(value).unwrap();
        let archives = Archives::new(None, 0, None);
        assert!(archives.get(&artifact).await.is_err());
        assert_eq!(store.requests().len(), 0);
    }

    fn artifact(path: &str, url: &str) -> serde_json::Value {
        json!({
            "path": path,
            "url": url,
            "revision": "main@sha1:0123456789012345678901234567890123456789",
            "digest": format!("sha256:{}", "0".repeat(64)),
            "lastUpdateTime": "2026-01-01T00:00:00Z",
        })
    }

    fn is_taken_from_git(path: &str, url: &str) -> bool {
        let object = json!({
            "apiVersion": "source.toolkit.fluxcd.io/v1",
            "kind": "GitRepository",
            "metadata": {"namespace": "apps", "name": "app"},
            "spec": {"url": "https://example.com/app", "interval": "1m"},
            "status": {"artifact": artifact(path, url)},
        });
        let object: GitRepository = serde_json::from_value(object).unwrap();
        owned_artifact(&object).is_ok()
    }

    fn is_taken_from_others(path: &str, url: &str) -> bool {
        let object = json!({
            "apiVersion": "source.toolkit.fluxcd.io/v1",
            "kind": "ExternalArtifact",
            "metadata": {"namespace": "apps", "name": "app"},
            "spec": {},
            "status": {"artifact": artifact(path, url)},
        });
        let object: ExternalArtifact = serde_json::from_value(object).unwrap();
        owned_artifact(&object).is_ok()
    }

    #[test]
    fn the_artifact_of_another_source_is_refused() {
        let foreign = "gitrepository/billing/keys/1.tar.gz";
        assert!(is_taken_from_git(OWN, &format!("http://store:9090/{OWN}")));
        for (path, url) in [
            (foreign, format!("http://store/{foreign}")),
            (OWN, format!("http://store/{foreign}")),
            (foreign, format!("http://store/{OWN}")),
            (OWN, format!("http://store/{foreign}?/{OWN}")),
            (OWN, format!("http://store/{foreign}#/{OWN}")),
            (
                "gitrepository/apps/app/../../billing/keys/1.tar.gz",
                format!("http://store/{foreign}"),
            ),
            (
                "gitrepository/apps/app/..",
                "http://store/gitrepository/apps/app/..".to_owned(),
            ),
            (
                "gitrepository/apps/app2/1.tar.gz",
                "http://store/gitrepository/apps/app2/1.tar.gz".to_owned(),
            ),
        ] {
            assert!(!is_taken_from_git(path, &url), "{path} {url}");
        }
    }

    #[test]
    fn an_external_artifact_may_be_served_anywhere_but_as_another_source() {
        for (path, url) in [
            ("1.tar.gz", "https://ci.example.com/builds/1.tar.gz"),
            (
                "externalartifact/apps/app/1.tar.gz",
                "http://watcher/externalartifact/apps/app/1.tar.gz",
            ),
        ] {
            assert!(is_taken_from_others(path, url), "{path} {url}");
        }
        for (path, url) in [
            (OWN, "https://ci.example.com/1.tar.gz"),
            ("1.tar.gz", "http://store/gitrepository/billing/keys/1.tar.gz"),
            ("1.tar.gz", "http://store//GitRepository/billing/keys/1.tar.gz"),
            ("1.tar.gz", "http://store/%67itrepository/billing/keys/1.tar.gz"),
            (
                "1.tar.gz",
                "http://store/a/..%2fgitrepository/billing/keys/1.tar.gz",
            ),
            ("1.tar.gz", "http://store/externalartifact/billing/keys/1.tar.gz"),
            (
                "externalartifact/apps/app/../../billing/keys/1.tar.gz",
                "http://store/1.tar.gz",
            ),
        ] {
            assert!(!is_taken_from_others(path, url), "{path} {url}");
        }
    }
}
