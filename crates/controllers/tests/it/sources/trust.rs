//! Servers whose certificates are not as they should be, but as people have them; and what is told of those that are not trusted.

use std::process::Command;

use api::Spec;
use api::source::{BucketSpec, GitRepositorySpec, HelmChartSpec, HelmRepositorySpec, OciRepositorySpec};
use controllers::sources::{Buckets, GitRepositories, HelmCharts, HelmRepositories, OciRepositories};
use serde_json::{Value, json};
use testkit::helm::Chart;
use testkit::tls::{Authority, Identity, LOOPBACK};
use testkit::{git, helm, oci, program, s3};

use super::bed::{Bed, condition};

/// A server's certificate as `openssl req -x509` makes it: nobody else vouches for it, and it may issue others. The real program
/// makes it where there is one.
fn self_signed() -> Identity {
    if program::find("openssl").is_none() {
        return Identity::self_signed(&LOOPBACK, |_| ());
    }
    let folder = tempfile::tempdir().unwrap();
    let mut command = Command::new("openssl");
    command
        .current_dir(folder.path())
        .args(["req", "-x509", "-nodes"]);
    command.args(["-newkey", "rsa:2048", "-keyout", "tls.key", "-out", "tls.crt"]);
    command.args(["-subj", "/CN=localhost", "-addext"]);
    program::run(command.arg("subjectAltName=DNS:localhost,IP:127.0.0.1"));
    let read = |name: &str| std::fs::read_to_string(folder.path().join(name)).unwrap();
    Identity {
        certificate: read("tls.crt"),
        key: read("tls.key"),
    }
}

/// Creates an object that is given the server's certificate, and one that is given another: the first is ready, and of the second
/// it is told what to do.
async fn trusted<S>(bed: &Bed<S>, server: &Identity, spec: impl Fn(&str) -> Value, reasons: [&str; 2])
where
    S: Spec<Status: api::ReconcileStatus + PartialEq>,
{
    let stranger = Authority::new("somebody else");
    bed.secret("listed", "Opaque", json!({"ca.crt": server.certificate}))
        .await;
    bed.secret("strange", "Opaque", json!({"ca.crt": stranger.pem()}))
        .await;
    bed.create("listed", spec("listed")).await;
    bed.ready("listed", "True", reasons[0]).await;
    bed.create("strange", spec("strange")).await;
    let object = bed.ready("strange", "False", reasons[1]).await;
    let message = condition(&object, "Ready").unwrap().message;
    assert!(
        message.contains("127.0.0.1") && message.contains("certificate"),
        "{message}"
    );
    assert!(
        message.contains("'ca.crt'") || message.contains("the CA"),
        "{message}"
    );
}

/// AU6
#[tokio::test]
async fn a_git_server_whose_certificate_is_listed_itself_is_trusted() {
    let identity = self_signed();
    let server = git::Server::builder().identity(identity.clone()).start();
    server.repository("app").commit("main", "Start", [("a", "1")]);
    let mut bed: Bed<GitRepositorySpec> = Bed::start().await;
    bed.run(GitRepositories::new);
    let url = server.clone_url("app");
    let spec = |secret: &str| json!({"url": url, "interval": "1h", "ref": {"branch": "main"}, "secretRef": {"name": secret}});
    trusted(&bed, &identity, spec, ["Succeeded", "GitOperationFailed"]).await;
}

/// AU6
#[tokio::test]
async fn a_helm_repository_whose_certificate_is_listed_itself_is_trusted() {
    let identity = self_signed();
    let server = helm::Server::builder().identity(identity.clone()).start();
    server.add(&Chart::new("podinfo", "6.1.0"));
    let mut bed: Bed<HelmRepositorySpec> = Bed::start().await;
    bed.run(HelmRepositories::new);
    let url = server.url();
    let spec = |secret: &str| json!({"url": url, "interval": "1h", "certSecretRef": {"name": secret}});
    trusted(&bed, &identity, spec, ["Succeeded", "Failed"]).await;
}

/// AU6
#[tokio::test]
async fn a_registry_whose_certificate_is_listed_itself_is_trusted() {
    let identity = self_signed();
    let server = oci::Server::builder().identity(identity.clone()).start();
    server.push("team/app", "latest", &oci::Artifact::files(&[("a", "1")]));
    let mut bed: Bed<OciRepositorySpec> = Bed::start().await;
    bed.run(OciRepositories::new);
    let url = format!("oci://{}/team/app", server.host());
    let spec = |secret: &str| json!({"url": url, "interval": "1h", "certSecretRef": {"name": secret}});
    trusted(&bed, &identity, spec, ["Succeeded", "OCIArtifactPullFailed"]).await;
}

/// AU6
#[tokio::test]
async fn a_registry_of_charts_whose_certificate_is_listed_itself_is_trusted() {
    let identity = self_signed();
    let server = oci::Server::builder().identity(identity.clone()).start();
    server.push(
        "charts/podinfo",
        "6.1.0",
        &Chart::new("podinfo", "6.1.0").artifact(),
    );
    let mut bed: Bed<HelmChartSpec> = Bed::start().await;
    bed.serve::<HelmRepositorySpec>().await;
    bed.run(HelmRepositories::new);
    bed.run(HelmCharts::new);
    bed.secret("listed", "Opaque", json!({"ca.crt": identity.certificate}))
        .await;
    let url = format!("oci://{}/charts", server.host());
    let spec = json!({"url": url, "type": "oci", "interval": "1h", "certSecretRef": {"name": "listed"}});
    bed.create_other::<HelmRepositorySpec>("charts", spec).await;
    let source = json!({"kind": "HelmRepository", "name": "charts"});
    bed.create(
        "podinfo",
        json!({"chart": "podinfo", "version": "6.1.0", "interval": "1h", "sourceRef": source}),
    )
    .await;
    bed.ready("podinfo", "True", "ChartPullSucceeded").await;
}

/// AU6
#[tokio::test]
async fn a_bucket_whose_certificate_is_listed_itself_is_trusted() {
    let identity = self_signed();
    let server = s3::Server::builder()
        .key("access", "geheim")
        .identity(identity.clone())
        .start();
    server.bucket("manifests").put("a.yaml", "1");
    let mut bed: Bed<BucketSpec> = Bed::start().await;
    bed.run(Buckets::new);
    let keys = json!({"accesskey": "access", "secretkey": "geheim"});
    bed.secret("keys", "Opaque", keys).await;
    let host = server.host();
    let spec = |secret: &str| {
        json!({
            "endpoint": host, "bucketName": "manifests", "interval": "1h",
            "secretRef": {"name": "keys"}, "certSecretRef": {"name": secret},
        })
    };
    trusted(&bed, &identity, spec, ["Succeeded", "BucketOperationFailed"]).await;
}

/// AU6: half a client certificate is an error where a Secret is for certificates, and as none where it is for all
#[tokio::test]
async fn half_a_client_certificate_is_told_by_its_secret() {
    let authority = Authority::default();
    let charts = helm::Server::builder()
        .tls(&authority)
        .client_certificates(&authority)
        .start();
    charts.add(&Chart::new("podinfo", "6.1.0"));
    let mut bed: Bed<HelmRepositorySpec> = Bed::start().await;
    bed.run(HelmRepositories::new);
    let (client, other) = (authority.client("ada"), authority.client("bob"));
    let half = json!({"ca.crt": authority.pem(), "tls.key": client.key});
    bed.secret("half", "Opaque", half).await;
    let mixed = json!({"ca.crt": authority.pem(), "tls.crt": client.certificate, "tls.key": other.key});
    bed.secret("mixed", "Opaque", mixed).await;
    bed.secret("none", "Opaque", json!({"ca.crt": "geheim"})).await;
    let url = charts.url();
    for (name, field, secret, reason, told) in [
        (
            "half",
            "certSecretRef",
            "half",
            "AuthenticationFailed",
            "has a key 'tls.key' but no 'tls.crt'",
        ),
        (
            "half-beside",
            "secretRef",
            "half",
            "Failed",
            "has a key 'tls.key' but no 'tls.crt'",
        ),
        (
            "mixed",
            "certSecretRef",
            "mixed",
            "AuthenticationFailed",
            "has keys 'tls.crt' and 'tls.key' that do not belong together",
        ),
        (
            "mixed-beside",
            "secretRef",
            "mixed",
            "AuthenticationFailed",
            "has keys 'tls.crt' and 'tls.key' that do not belong together",
        ),
        (
            "none",
            "certSecretRef",
            "none",
            "AuthenticationFailed",
            "has a key 'ca.crt' that holds no certificate: it must be PEM",
        ),
        (
            "none-beside",
            "secretRef",
            "none",
            "AuthenticationFailed",
            "has a key 'ca.crt' that holds no certificate: it must be PEM",
        ),
    ] {
        let mut spec = json!({"url": url, "interval": "1h"});
        spec[field] = json!({"name": secret});
        bed.create(name, spec).await;
        let object = bed.ready(name, "False", reason).await;
        let message = condition(&object, "Ready").unwrap().message;
        let told = format!("the Secret '{}/{secret}' {told}", bed.namespace);
        assert_eq!(message.matches(&told).count(), 1, "{message}");
    }
}

/// AU6: Git uses what it can of a Secret, and a key of another certificate is told once
#[tokio::test]
async fn git_makes_do_with_half_a_client_certificate() {
    let authority = Authority::default();
    let server = git::Server::builder().tls(&authority).start();
    server.repository("app").commit("main", "Start", [("a", "1")]);
    let plain = git::Server::start();
    plain.repository("app").commit("main", "Start", [("a", "1")]);
    let mut bed: Bed<GitRepositorySpec> = Bed::start().await;
    bed.run(GitRepositories::new);
    let (client, other) = (authority.client("ada"), authority.client("bob"));
    for (name, server, data, told) in [
        (
            "half",
            &server,
            json!({"ca.crt": authority.pem(), "tls.crt": client.certificate}),
            None,
        ),
        ("none", &plain, json!({"ca.crt": "geheim"}), None),
        (
            "mixed",
            &server,
            json!({"ca.crt": authority.pem(), "tls.crt": client.certificate, "tls.key": other.key}),
            Some("has keys 'tls.crt' and 'tls.key' that do not belong together"),
        ),
    ] {
        bed.secret(name, "Opaque", data).await;
        let spec = json!({
            "url": server.clone_url("app"), "interval": "1h", "ref": {"branch": "main"}, "secretRef": {"name": name},
        });
        bed.create(name, spec).await;
        let Some(told) = told else {
            bed.ready(name, "True", "Succeeded").await;
            continue;
        };
        let object = bed.ready(name, "False", "GitOperationFailed").await;
        let message = condition(&object, "Ready").unwrap().message;
        let told = format!("the Secret '{}/{name}' {told}", bed.namespace);
        assert_eq!(message.matches(&told).count(), 1, "{message}");
    }
}

/// What to do about a server that is not there is told with its address.
#[tokio::test]
async fn a_helm_repository_that_nobody_serves_is_told_with_a_remedy() {
    let mut bed: Bed<HelmRepositorySpec> = Bed::start().await;
    bed.run(HelmRepositories::new);
    // Nobody may listen on this port but the system's own multiplexer, which nobody runs.
    let url = "http://127.0.0.1:1/charts";
    bed.create("charts", json!({"url": url, "interval": "1h"})).await;
    let object = bed.ready("charts", "False", "Failed").await;
    let message = condition(&object, "Ready").unwrap().message;
    let told = format!("failed to fetch {url}/index.yaml: nobody listens there: check host and port");
    assert!(message.contains(&told), "{message}");
}
