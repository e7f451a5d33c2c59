//! What a process is surrounded with: the system's authorities and the proxies of the environment, beside what Secrets say. The
//! environment is the whole process's, so that one of its own is started for each test.

use std::process::Stdio;

use api::source::{BucketSpec, GitRepositorySpec, HelmRepositorySpec, OciRepositorySpec};
use controllers::sources::{Buckets, GitRepositories, HelmRepositories, OciRepositories};
use serde_json::{Value, json};
use testkit::git::{KeyKind, KeyPair};
use testkit::helm::Chart;
use testkit::http::{Socks, Tunnel};
use testkit::tls::{Authority, Validity};
use testkit::{git, helm, oci, s3};

use super::bed::Bed;

/// What the process that is started is told.
const TOLD: &str = "SLUICE_TEST_SURROUNDINGS";
/// Hosts that nobody can resolve: only proxies lead there.
const BY_SECRET: &str = "by-secret.invalid";
const BY_ENVIRONMENT: &str = "by-environment.invalid";

/// Runs one of the tests below in a process of its own.
async fn run(name: &str, told: Value, environment: &[(&str, &str)]) {
    let mut command = tokio::process::Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", &format!("sources::surroundings::{name}")]);
    command
        .env(TOLD, told.to_string())
        .envs(environment.iter().copied());
    let output = command.stdin(Stdio::null()).output().await.unwrap();
    let said = [output.stdout, output.stderr].concat();
    let said = String::from_utf8_lossy(&said);
    assert!(output.status.success() && said.contains("1 passed"), "{said}");
}

/// What this process was told, if it is one that was started for a test.
fn told() -> Option<Value> {
    let told = std::env::var(TOLD).ok()?;
    Some(serde_json::from_str(&told).unwrap())
}

/// AU6: for every kind, the authorities of a Secret are added to those of the system
#[tokio::test]
async fn authorities_of_secrets_are_added_to_those_of_the_system() {
    let (system, given) = (Authority::new("system"), Authority::new("given"));
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("system.pem");
    std::fs::write(&file, system.pem()).unwrap();
    let gits = [&system, &given].map(|authority| {
        let server = git::Server::builder().tls(authority).start();
        server.repository("app").commit("main", "Start", [("a", "1")]);
        server
    });
    let charts = [&system, &given].map(|authority| {
        let server = helm::Server::builder().tls(authority).start();
        server.add(&Chart::new("podinfo", "6.1.0"));
        server
    });
    let registries = [&system, &given].map(|authority| {
        let server = oci::Server::builder().tls(authority).start();
        server.push("team/app", "latest", &oci::Artifact::files(&[("a", "1")]));
        server
    });
    let stores = [&system, &given].map(|authority| {
        let server = s3::Server::builder()
            .key("access", "geheim")
            .tls(authority)
            .start();
        server.bucket("manifests").put("a.yaml", "1");
        server
    });
    let told = json!({
        "ca": given.pem(),
        "git": gits.each_ref().map(|server| server.clone_url("app")),
        "helm": charts.each_ref().map(|server| server.url()),
        "oci": registries.each_ref().map(|server| format!("oci://{}/team/app", server.host())),
        "s3": stores.each_ref().map(|server| server.host()),
    });
    let file = file.display().to_string();
    run(
        "where_the_system_has_its_own_authorities",
        told,
        &[("SSL_CERT_FILE", &file)],
    )
    .await;
}

/// Run as a test of its own it has nothing to do.
#[tokio::test]
async fn where_the_system_has_its_own_authorities() {
    let Some(told) = told() else {
        return;
    };
    let mut bed: Bed<GitRepositorySpec> = Bed::start().await;
    bed.serve::<HelmRepositorySpec>().await;
    bed.serve::<OciRepositorySpec>().await;
    bed.serve::<BucketSpec>().await;
    bed.run(GitRepositories::new);
    bed.run(HelmRepositories::new);
    bed.run(OciRepositories::new);
    bed.run(Buckets::new);
    bed.secret("ca", "Opaque", json!({"ca.crt": told["ca"]})).await;
    let keys = json!({"accesskey": "access", "secretkey": "geheim"});
    bed.secret("keys", "Opaque", keys).await;
    for (number, name) in ["system", "given"].into_iter().enumerate() {
        let ca = json!({"name": "ca"});
        let spec =
            json!({"url": told["git"][number], "interval": "1h", "ref": {"branch": "main"}, "secretRef": ca});
        bed.create(name, spec).await;
        let spec = json!({"url": told["helm"][number], "interval": "1h", "certSecretRef": ca});
        bed.create_other::<HelmRepositorySpec>(name, spec).await;
        let spec = json!({"url": told["oci"][number], "interval": "1h", "certSecretRef": ca});
        bed.create_other::<OciRepositorySpec>(name, spec).await;
        let spec = json!({
            "endpoint": told["s3"][number], "bucketName": "manifests", "interval": "1h",
            "secretRef": {"name": "keys"}, "certSecretRef": ca,
        });
        bed.create_other::<BucketSpec>(name, spec).await;
    }
    for name in ["system", "given"] {
        bed.ready(name, "True", "Succeeded").await;
        bed.ready_other::<HelmRepositorySpec>(name, "True", "Succeeded")
            .await;
        bed.ready_other::<OciRepositorySpec>(name, "True", "Succeeded")
            .await;
        bed.ready_other::<BucketSpec>(name, "True", "Succeeded").await;
    }
}

/// AU7: the proxy of a Secret counts more than that of the environment, and than what the environment says to reach directly; SOCKS
/// proxies, with which Git goes over SSH too
#[tokio::test]
async fn the_proxy_of_a_secret_counts_more_than_that_of_the_environment() {
    let authority = Authority::default();
    let identity = authority.server(&[BY_SECRET, BY_ENVIRONMENT], Validity::Current);
    let gits = git::Server::builder().identity(identity.clone()).start();
    gits.repository("app").commit("main", "Start", [("a", "1")]);
    let key = KeyPair::generate(KeyKind::Ed25519);
    let ssh = gits.over_ssh().allow(&key).start();
    let registry = oci::Server::builder().identity(identity.clone()).start();
    registry.push("team/app", "latest", &oci::Artifact::files(&[("a", "1")]));
    let store = s3::Server::builder()
        .key("access", "geheim")
        .identity(identity)
        .start();
    store.bucket("manifests").put("a.yaml", "1");
    let servers = [gits.address(), registry.address(), store.address()];
    let tunnels = servers.map(Tunnel::to);
    let socks = servers.map(|server| Socks::with_login(server, "ada", "geheim"));
    let (socks_ssh, environment) = (Socks::to(ssh.address()), Tunnel::to(gits.address()));
    let known_hosts = ssh.known_hosts();
    let shown = known_hosts.lines().map(|line| line.split_once(' ').unwrap().1);
    let known_hosts: Vec<String> = shown.map(|key| format!("{BY_SECRET} {key}")).collect();
    let told = json!({
        "ca": authority.pem(),
        "tunnels": tunnels.each_ref().map(Tunnel::url),
        "socks": socks.each_ref().map(Socks::url),
        "socks-ssh": socks_ssh.url(),
        "key": key.private(),
        "known_hosts": known_hosts.join("\n"),
    });
    let (url, direct) = (environment.url(), format!("127.0.0.1,{BY_SECRET}"));
    let variables = [
        ("HTTPS_PROXY", url.as_str()),
        ("https_proxy", &url),
        ("NO_PROXY", &direct),
        ("no_proxy", &direct),
    ];
    run("where_the_environment_has_a_proxy", told, &variables).await;
    let through = |hosts: Vec<String>, host: &str| {
        assert!(
            !hosts.is_empty() && hosts.iter().all(|found| found == host),
            "{hosts:?}"
        );
    };
    through(environment.hosts(), &format!("{BY_ENVIRONMENT}:443"));
    for tunnel in &tunnels {
        through(tunnel.hosts(), &format!("{BY_SECRET}:443"));
    }
    for socks in &socks {
        through(socks.hosts(), &format!("{BY_SECRET}:443"));
    }
    through(socks_ssh.hosts(), &format!("{BY_SECRET}:22"));
}

/// Run as a test of its own it has nothing to do.
#[tokio::test]
async fn where_the_environment_has_a_proxy() {
    let Some(told) = told() else {
        return;
    };
    let mut bed: Bed<GitRepositorySpec> = Bed::start().await;
    bed.serve::<OciRepositorySpec>().await;
    bed.serve::<BucketSpec>().await;
    bed.run(GitRepositories::new);
    bed.run(OciRepositories::new);
    bed.run(Buckets::new);
    bed.secret("ca", "Opaque", json!({"ca.crt": told["ca"]})).await;
    let keys = json!({"accesskey": "access", "secretkey": "geheim"});
    bed.secret("keys", "Opaque", keys).await;
    let ssh = json!({"identity": told["key"], "known_hosts": told["known_hosts"]});
    bed.secret("ssh", "Opaque", ssh).await;
    let git = |host: &str| {
        json!({
            "url": format!("https://{host}/app.git"), "interval": "1h", "ref": {"branch": "main"}, "secretRef": {"name": "ca"},
        })
    };
    bed.create("environment", git(BY_ENVIRONMENT)).await;
    for kind in ["tunnels", "socks"] {
        for (number, part) in ["git", "oci", "s3"].into_iter().enumerate() {
            let name = format!("{kind}-{part}");
            let proxy = json!({"address": told[kind][number], "username": "ada", "password": "geheim"});
            bed.secret(&name, "Opaque", proxy).await;
            let through = json!({"name": name});
            let mut spec = git(BY_SECRET);
            spec["proxySecretRef"] = through.clone();
            let oci = json!({
                "url": format!("oci://{BY_SECRET}/team/app"), "interval": "1h",
                "certSecretRef": {"name": "ca"}, "proxySecretRef": through,
            });
            let bucket = json!({
                "endpoint": BY_SECRET, "bucketName": "manifests", "interval": "1h",
                "secretRef": {"name": "keys"}, "certSecretRef": {"name": "ca"}, "proxySecretRef": through,
            });
            match part {
                "git" => bed.create(&name, spec).await,
                "oci" => bed.create_other::<OciRepositorySpec>(&name, oci).await,
                _ => bed.create_other::<BucketSpec>(&name, bucket).await,
            }
        }
    }
    bed.secret("socks-ssh", "Opaque", json!({"address": told["socks-ssh"]}))
        .await;
    let mut spec =
        json!({"url": format!("ssh://git@{BY_SECRET}/app.git"), "interval": "1h", "ref": {"branch": "main"}});
    spec["secretRef"] = json!({"name": "ssh"});
    spec["proxySecretRef"] = json!({"name": "socks-ssh"});
    bed.create("socks-ssh", spec.clone()).await;
    // SSH goes through no HTTP proxy, and not around it either.
    spec["proxySecretRef"] = json!({"name": "tunnels-git"});
    bed.create("tunnel-ssh", spec).await;
    for name in ["environment", "tunnels-git", "socks-git", "socks-ssh"] {
        bed.ready(name, "True", "Succeeded").await;
    }
    for kind in ["tunnels", "socks"] {
        bed.ready_other::<OciRepositorySpec>(&format!("{kind}-oci"), "True", "Succeeded")
            .await;
        bed.ready_other::<BucketSpec>(&format!("{kind}-s3"), "True", "Succeeded")
            .await;
    }
    let object = bed.ready("tunnel-ssh", "False", "GitOperationFailed").await;
    let message = super::bed::condition(&object, "Ready").unwrap().message;
    assert!(message.contains("must begin with socks5://"), "{message}");
}
