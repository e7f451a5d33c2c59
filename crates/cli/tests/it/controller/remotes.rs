//! Servers of all kinds of sources, an object for each, and new revisions on demand.

use serde_json::json;
use testkit::helm::Chart;
use testkit::oci::Artifact;
use testkit::{git, helm, oci, s3};

use super::bed::Bed;

/// What objects follow, by kind and name.
pub(crate) const OBJECTS: [(&str, &str); 7] = [
    ("GitRepository", "app"),
    ("GitRepository", "same"),
    ("GitRepository", "other"),
    ("OCIRepository", "image"),
    ("HelmRepository", "charts"),
    ("HelmChart", "podinfo"),
    ("Bucket", "files"),
];

/// The servers.
pub(crate) struct Remotes {
    git: git::Server,
    registry: oci::Server,
    charts: helm::Server,
    store: s3::Server,
    changes: usize,
}

impl Remotes {
    /// Servers that have something, and the objects.
    pub(crate) async fn start(bed: &Bed, interval: &str) -> Self {
        let mut remotes = Remotes {
            git: git::Server::start(),
            registry: oci::Server::start(),
            charts: helm::Server::start(),
            store: s3::Server::builder().key("access", "geheim").start(),
            changes: 0,
        };
        for (kind, name) in OBJECTS {
            remotes.change(kind, name);
        }
        bed.secret("keys", json!({"accesskey": "access", "secretkey": "geheim"}))
            .await;
        for (kind, name) in OBJECTS {
            let mut spec = match kind {
                "GitRepository" => json!({
                    "url": remotes.git.clone_url(remotes.repository(name)), "ref": {"branch": "main"},
                }),
                "OCIRepository" => json!({
                    "url": format!("oci://{}/team/app", remotes.registry.host()), "insecure": true,
                }),
                "HelmRepository" => json!({"url": remotes.charts.url()}),
                "HelmChart" => json!({
                    "chart": "podinfo", "version": "*",
                    "sourceRef": {"kind": "HelmRepository", "name": "charts"},
                }),
                _ => json!({
                    "endpoint": remotes.store.host(), "bucketName": "manifests", "insecure": true,
                    "secretRef": {"name": "keys"},
                }),
            };
            spec["interval"] = interval.into();
            bed.create(kind, name, json!({}), spec).await;
        }
        remotes
    }

    /// Two objects follow the same repository.
    fn repository(&self, name: &str) -> &'static str {
        if name == "other" { "team/other" } else { "team/app" }
    }

    /// Makes a new revision of what an object follows.
    pub(crate) fn change(&mut self, kind: &str, name: &str) {
        self.changes += 1;
        let text = format!("change: {}\n", self.changes);
        match kind {
            "GitRepository" => {
                let repository = self.git.repository(self.repository(name));
                let path = format!("file-{}.yaml", self.changes % 7);
                repository.commit("main", "Change", [(path.as_str(), text.as_str())]);
            }
            "OCIRepository" => {
                let artifact = Artifact::files(&[("app.yaml", text.as_str())]);
                self.registry.push("team/app", "latest", &artifact);
            }
            "HelmRepository" | "HelmChart" => {
                let version = format!("1.{}.0", self.changes);
                self.charts.add(&Chart::new("podinfo", &version));
            }
            _ => {
                let path = format!("file-{}.yaml", self.changes % 5);
                self.store.bucket("manifests").put(&path, text);
            }
        }
    }

    /// The revision that an object is to come to, where it can be told.
    pub(crate) fn revision(&self, kind: &str, name: &str) -> Option<String> {
        match kind {
            "GitRepository" => {
                let repository = self.git.repository(self.repository(name));
                let commit = repository.resolve("main")?;
                Some(format!("main@sha1:{commit}"))
            }
            "OCIRepository" => {
                let digest = self.registry.digest("team/app", "latest")?;
                Some(format!("latest@{digest}"))
            }
            _ => None,
        }
    }
}
