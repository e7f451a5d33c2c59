//! The servers that both sides fetch from, and what is on them.

use serde_json::{Value, json};
use testkit::helm::Chart;
use testkit::http::Fault;
use testkit::oci::Artifact;
use testkit::{git, helm, oci, s3};

use super::side::NAMESPACE;

/// All servers.
pub(super) struct Servers {
    pub(super) git: git::Server,
    pub(super) closed_git: git::Server,
    /// Leads to `closed_git`, which is another port of the same host.
    pub(super) moved_git: git::Server,
    pub(super) registry: oci::Server,
    pub(super) closed_registry: oci::Server,
    pub(super) charts: helm::Server,
    pub(super) closed_charts: helm::Server,
    /// Leads to `closed_charts`.
    pub(super) moved_charts: helm::Server,
    pub(super) broken_charts: helm::Server,
    pub(super) buckets: s3::Server,
    /// The first commit of `team/app`.
    pub(super) commit: String,
    /// The digest of `team/app:latest`.
    pub(super) digest: String,
}

impl Servers {
    pub(super) fn start() -> Self {
        let git = git::Server::start();
        let commit = fill_git(&git);
        let closed_git = git::Server::builder().basic("ada", "geheim").start();
        closed_git
            .repository("team/app")
            .commit("main", "Start", [("a", "1")]);
        let registry = oci::Server::start();
        let digest = fill_registry(&registry);
        let closed_registry = oci::Server::builder().basic("ada", "geheim").start();
        closed_registry.push("team/app", "latest", &Artifact::files(&[("a", "1")]));
        let charts = helm::Server::start();
        fill_charts(&charts);
        let closed_charts = helm::Server::builder().basic("ada", "geheim").start();
        closed_charts.add(&Chart::new("podinfo", "6.1.0"));
        let (moved_git, moved_charts) = (git::Server::start(), helm::Server::start());
        moved_git.fail(Fault::redirect(301, &closed_git.url()).forever());
        moved_charts.fail(Fault::redirect(301, &closed_charts.url()).forever());
        let broken_charts = helm::Server::start();
        broken_charts.set_index("entries: [\n");
        let buckets = s3::Server::builder().key("access", "geheim").start();
        fill_buckets(&buckets);
        Servers {
            git,
            closed_git,
            moved_git,
            registry,
            closed_registry,
            charts,
            closed_charts,
            moved_charts,
            broken_charts,
            buckets,
            commit,
            digest,
        }
    }

    /// What happens on the servers between the first and the second look.
    pub(super) fn change(&self) {
        let app = self.git.repository("team/app");
        app.commit(
            "main",
            "Change the app\n\nFor good reasons.",
            [("app.yaml", "replicas: 2\n")],
        );
        self.git.remove("team/gone");
        self.registry
            .push("team/app", "latest", &Artifact::files(&[("b", "2")]));
        self.registry.untag("team/gone", "latest");
        self.charts.add(&Chart::new("podinfo", "6.2.0"));
        self.buckets.bucket("manifests").put("apps/more.yaml", "x: 1\n");
    }

    pub(super) fn secrets(&self) -> Vec<Value> {
        let secret = |name: &str, kind: &str, data: Value| {
            json!({
                "apiVersion": "v1", "kind": "Secret", "type": kind, "stringData": data,
                "metadata": {"name": name, "namespace": NAMESPACE},
            })
        };
        let config = |host: String| {
            let config = json!({"auths": {host: {"username": "ada", "password": "geheim"}}});
            json!({".dockerconfigjson": config.to_string()})
        };
        let pull = "kubernetes.io/dockerconfigjson";
        vec![
            secret("ada", "Opaque", json!({"username": "ada", "password": "geheim"})),
            secret("eve", "Opaque", json!({"username": "eve", "password": "wrong"})),
            secret("password", "Opaque", json!({"password": "geheim"})),
            secret("half", "Opaque", json!({"username": "ada"})),
            secret("empty", "Opaque", json!({})),
            secret(
                "both",
                "Opaque",
                json!({"username": "a", "password": "b", "bearerToken": "c"}),
            ),
            secret("broken-token", "Opaque", json!({"bearerToken": "to\nken"})),
            secret("app", "Opaque", json!({"githubAppID": "1"})),
            secret(
                "keys",
                "Opaque",
                json!({"accesskey": "access", "secretkey": "geheim"}),
            ),
            secret(
                "wrong-keys",
                "Opaque",
                json!({"accesskey": "access", "secretkey": "wrong"}),
            ),
            secret(
                "bad-tls",
                "kubernetes.io/tls",
                json!({"tls.crt": "x", "tls.key": "y"}),
            ),
            secret("bad-ca", "Opaque", json!({"ca.crt": "no certificate"})),
            secret("pull", pull, config(self.closed_registry.host())),
            secret("pull-elsewhere", pull, config("example.com".into())),
            secret("bad-proxy", "Opaque", json!({"username": "ada"})),
            // Nobody may listen on this port but the system's own multiplexer, which nobody runs.
            secret("dead-proxy", "Opaque", json!({"address": "http://127.0.0.1:1"})),
            secret(
                "bad-known-hosts",
                "Opaque",
                json!({"identity": git::KeyPair::generate(git::KeyKind::Ed25519).private(), "known_hosts": "one two\n"}),
            ),
            secret("no-pub", "Opaque", json!({"cosign.key": "x"})),
            secret("bad-pub", "Opaque", json!({"cosign.pub": "no key"})),
        ]
    }
}

fn fill_git(git: &git::Server) -> String {
    let app = git.repository("team/app");
    let files = [
        ("app.yaml", "replicas: 1\n"),
        ("docs/logo.png", "x"),
        ("docs/readme.md", "x"),
        ("deploy/a/k.yaml", "x"),
        ("deploy/b/k.yaml", "x"),
    ];
    let commit = app.commit("main", "Start with one\n\nAnd more.", files);
    app.tag("v1.0.0", commit);
    app.tag("1.1.0", commit);
    app.tag("not-a-version", commit);
    app.annotated_tag("v2.0.0", commit).message("Two").create();
    git.repository("team/empty");
    let mut files = Vec::new();
    for (folder, chart) in [
        ("app", Chart::new("app", "0.1.0").values("replicas: 1\n")),
        (
            "parent",
            Chart::new("parent", "0.2.0").dependency("app", "0.1.0", "file://../app"),
        ),
        (
            "orphan",
            Chart::new("orphan", "0.3.0").dependency("nobody", "1.0.0", "file://../nobody"),
        ),
    ] {
        let own = chart.all_files().into_iter();
        files.extend(own.map(|(path, content)| {
            let path = path.split_once('/').map_or(path.as_str(), |(_, rest)| rest);
            (
                format!("charts/{folder}/{path}"),
                String::from_utf8(content).unwrap(),
            )
        }));
    }
    files.push(("prod.yaml".into(), "replicas: 3\n".into()));
    let files = files
        .iter()
        .map(|(path, content)| (path.as_str(), content.as_str()));
    git.repository("team/charts").commit("main", "Charts", files);
    git.repository("team/gone").commit("main", "Start", [("a", "1")]);
    let lib = git.repository("team/lib");
    let lib = lib.commit(
        "main",
        "Lib",
        [("deploy/lib.yaml", "x: 1\n"), ("other/o.yaml", "x")],
    );
    let modules = "[submodule \"lib\"]\n\tpath = vendor/lib\n\turl = ../lib.git\n";
    git.repository("team/modules")
        .change("main")
        .file(".gitmodules", modules)
        .file("vendor/own.yaml", "x")
        .file("app.yaml", "x")
        .submodule("vendor/lib", lib)
        .commit();
    commit.to_string()
}

fn fill_registry(registry: &oci::Server) -> String {
    let origin = Artifact::files(&[("app.yaml", "a: 1\n"), ("logo.png", "x")])
        .annotation("org.opencontainers.image.source", "https://example.com/app")
        .annotation("org.opencontainers.image.revision", "main@sha1:abc");
    let digest = registry.push("team/app", "latest", &origin);
    for tag in ["1.0.0", "v1.2.0", "2.0.0-rc.1", "2.0.0", "dev"] {
        registry.push("team/app", tag, &Artifact::files(&[("tag", tag)]));
    }
    registry.push("team/gone", "latest", &Artifact::files(&[("a", "1")]));
    let escape = escaping();
    let layer = "application/vnd.cncf.flux.content.v1.tar+gzip";
    registry.push(
        "team/escape",
        "latest",
        &Artifact::empty("application/x").layer(layer, escape),
    );
    registry.push(
        "team/text",
        "latest",
        &Artifact::empty("application/x").layer("text/plain", "words"),
    );
    registry.push("team/chart", "6.1.0", &Chart::new("podinfo", "6.1.0").artifact());
    registry.push(
        "team/chart",
        "6.1.1_build.5",
        &Chart::new("podinfo", "6.1.1+build.5").artifact(),
    );
    digest
}

fn fill_charts(charts: &helm::Server) {
    charts.add(&Chart::new("podinfo", "6.0.0"));
    let chart = Chart::new("podinfo", "6.1.0").values("replicas: 1\n");
    charts.add(&chart.file("prod.yaml", "replicas: 3\n"));
    charts.add(&Chart::new("other", "1.0.0"));
}

fn fill_buckets(buckets: &s3::Server) {
    let bucket = buckets.bucket("manifests");
    bucket.put("apps/app.yaml", "replicas: 1\n");
    bucket.put(
        "charts/app/Chart.yaml",
        "apiVersion: v2\nname: app\nversion: 0.1.0\n",
    );
    bucket.put("logo.png", "x");
    bucket.put("notes.txt", "x");
    bucket.put(".sourceignore", "*.txt\n");
    buckets.bucket("bare");
}

/// An archive with a file that is not in its tree. The builder refuses such a path, so its bytes are set.
fn escaping() -> Vec<u8> {
    let mut header = tar::Header::new_gnu();
    header.set_size(1);
    header.set_mode(0o644);
    header.as_old_mut().name[..9].copy_from_slice(b"../../out");
    header.set_cksum();
    let mut archive = tar::Builder::new(flate2::write::GzEncoder::new(
        Vec::new(),
        flate2::Compression::fast(),
    ));
    archive.append(&header, &b"x"[..]).unwrap();
    archive.into_inner().unwrap().finish().unwrap()
}
