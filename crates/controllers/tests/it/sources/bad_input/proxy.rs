//! Proxies that do not lead to their servers: they are blamed, and not the servers.

use api::source::{BucketSpec, GitRepositorySpec, HelmRepositorySpec, OciRepositorySpec};
use api::{ReconcileStatus, Spec};
use controllers::sources::{Buckets, GitRepositories, HelmRepositories, OciRepositories};
use serde_json::{Value, json};
use source::http::{Login, Proxy};
use testkit::git::{KeyKind, KeyPair};
use testkit::http::{Reply, Request, Server, Socks};

use crate::sources::bed::{Bed, condition};

/// Nobody may listen on this port but the system's own multiplexer, which nobody runs.
const DEAD: &str = "127.0.0.1:1";
const ADDRESS: &str = "check 'address' of the proxy's Secret";
const LOGIN: &str = "refuses the login: check 'username' and 'password' of the proxy's Secret";

/// Proxies by name: their addresses, host and port as they must be told, and what to do about them for servers without TLS and
/// with it.
struct Proxies {
    cases: Vec<(&'static str, String, String, [&'static str; 2])>,
    _running: Vec<Box<dyn std::any::Any>>,
}

fn proxies() -> Proxies {
    let login = Server::serve(|_: &Request| Reply::status(407));
    let gateway = Server::serve(|_: &Request| Reply::status(502));
    let socks = Socks::with_login(login.address(), "ada", "another");
    let socks_at = socks.url().trim_start_matches("socks5://").to_owned();
    let cases = vec![
        (
            "dead",
            format!("http://ada:geheim@{DEAD}"),
            DEAD.to_owned(),
            [ADDRESS; 2],
        ),
        (
            "dead-socks",
            format!("socks5://{DEAD}"),
            DEAD.to_owned(),
            [ADDRESS; 2],
        ),
        ("login", login.url(), login.host(), [LOGIN; 2]),
        ("socks", socks.url(), socks_at, [LOGIN; 2]),
        (
            "gateway",
            gateway.url(),
            gateway.host(),
            [
                "answered with HTTP status 502, for the server or of its own accord: check that both run",
                "does not connect to the server: check the name of the server, and that the proxy may reach it",
            ],
        ),
    ];
    Proxies {
        cases,
        _running: vec![Box::new(login), Box::new(gateway), Box::new(socks)],
    }
}

/// Makes an object for each proxy, with and without TLS, and looks at what is told of it.
async fn blamed<S>(bed: &Bed<S>, reason: &str, spec: impl Fn(bool) -> Value)
where
    S: Spec<Status: ReconcileStatus + PartialEq>,
{
    let proxies = proxies();
    for (name, address, _, _) in &proxies.cases {
        let secret = json!({"address": address, "username": "ada", "password": "geheim"});
        bed.secret(name, "Opaque", secret).await;
        for tls in [false, true] {
            let mut spec = spec(tls);
            spec["proxySecretRef"] = json!({"name": name});
            bed.create(&format!("{name}-{tls}"), spec).await;
        }
    }
    for (name, _, shown, remedies) in &proxies.cases {
        for tls in [false, true] {
            let object = bed.ready(&format!("{name}-{tls}"), "False", reason).await;
            let message = condition(&object, "Ready").unwrap().message;
            let told = format!("the proxy {shown} ");
            assert_eq!(message.matches(&told).count(), 1, "{name}: {message}");
            assert!(
                message.contains(remedies[usize::from(tls)]),
                "{name} {tls}: {message}"
            );
            for wrong in ["geheim", "nobody listens", "check the certificate"] {
                assert!(!message.contains(wrong), "{name}: {message}");
            }
            assert_eq!(condition(&object, "FetchFailed").unwrap().reason, reason);
        }
    }
}

fn scheme(tls: bool) -> &'static str {
    if tls { "https" } else { "http" }
}

/// AU7
#[tokio::test]
async fn a_proxy_that_does_not_lead_to_a_git_server_is_blamed() {
    let mut bed: Bed<GitRepositorySpec> = Bed::start().await;
    bed.run(GitRepositories::new);
    blamed(
        &bed,
        "GitOperationFailed",
        |tls| json!({"url": format!("{}://git.invalid/app.git", scheme(tls)), "interval": "1h"}),
    )
    .await;
}

/// AU7
#[tokio::test]
async fn a_proxy_that_does_not_lead_to_an_ssh_server_is_blamed() {
    let mut bed: Bed<GitRepositorySpec> = Bed::start().await;
    bed.run(GitRepositories::new);
    let key = KeyPair::generate(KeyKind::Ed25519);
    let known_hosts = format!("git.invalid {}\n", key.public());
    let ssh = json!({"identity": key.private(), "known_hosts": known_hosts});
    bed.secret("ssh", "Opaque", ssh).await;
    let proxies = proxies();
    let wanted = [
        ("dead-socks", ADDRESS),
        ("socks", LOGIN),
        ("dead", "must begin with socks5://"),
    ];
    for (name, remedy) in wanted {
        let (_, address, shown, _) = proxies.cases.iter().find(|case| case.0 == name).unwrap();
        let secret = json!({"address": address, "username": "ada", "password": "geheim"});
        bed.secret(name, "Opaque", secret).await;
        let spec = json!({
            "url": "ssh://git@git.invalid/app.git", "interval": "1h",
            "secretRef": {"name": "ssh"}, "proxySecretRef": {"name": name},
        });
        bed.create(name, spec).await;
        let object = bed.ready(name, "False", "GitOperationFailed").await;
        let message = condition(&object, "Ready").unwrap().message;
        let told = format!("the proxy {shown} ");
        assert_eq!(message.matches(&told).count(), 1, "{message}");
        assert!(
            message.contains(remedy) && !message.contains("geheim"),
            "{message}"
        );
        assert!(!message.contains("nobody listens"), "{message}");
    }
}

/// AU7
#[tokio::test]
async fn a_proxy_that_does_not_lead_to_a_registry_is_blamed() {
    let mut bed: Bed<OciRepositorySpec> = Bed::start().await;
    bed.run(OciRepositories::new);
    // Of a registry that may lack TLS, a proxy is blamed for what it says to the first try, which has TLS, where it
    // says the same to both.
    blamed(
        &bed,
        "OCIArtifactPullFailed",
        |tls| json!({"url": "oci://registry.invalid/team/app", "interval": "1h", "insecure": !tls}),
    )
    .await;
}

/// AU7
#[tokio::test]
async fn a_proxy_that_does_not_lead_to_a_bucket_is_blamed() {
    let mut bed: Bed<BucketSpec> = Bed::start().await;
    bed.run(Buckets::new);
    bed.secret(
        "keys",
        "Opaque",
        json!({"accesskey": "ada", "secretkey": "geheim"}),
    )
    .await;
    blamed(&bed, "BucketOperationFailed", |tls| {
        json!({
            "endpoint": "bucket.invalid", "bucketName": "manifests", "interval": "1h", "insecure": !tls,
            "secretRef": {"name": "keys"},
        })
    })
    .await;
}

/// A HelmRepository names no proxy of its own.
#[tokio::test]
async fn a_proxy_that_does_not_lead_to_a_helm_repository_is_blamed() {
    let proxies = proxies();
    for (name, address, shown, remedies) in &proxies.cases {
        let mut bed: Bed<HelmRepositorySpec> = Bed::start().await;
        bed.shared.proxy = Some(Proxy {
            address: address.clone(),
            login: Some(Login {
                user: "ada".into(),
                password: "geheim".into(),
            }),
        });
        bed.run(HelmRepositories::new);
        for tls in [false, true] {
            let url = format!("{}://charts.invalid", scheme(tls));
            bed.create(&tls.to_string(), json!({"url": url, "interval": "1h"}))
                .await;
            let object = bed.ready(&tls.to_string(), "False", "Failed").await;
            let message = condition(&object, "Ready").unwrap().message;
            let told = format!("failed to fetch {url}/index.yaml: the proxy {shown} ");
            assert!(message.contains(&told), "{name}: {message}");
            assert!(message.contains(remedies[usize::from(tls)]), "{name}: {message}");
            assert!(!message.contains("geheim"), "{name}: {message}");
        }
    }
}
