//! HelmRepository: how an index is fetched and what is told of it.

use api::source::{HelmChartSpec, HelmRepositorySpec};
use controllers::sources::{HelmCharts, HelmRepositories};
use serde_json::json;
use testkit::helm::{Chart, Server};
use testkit::tls::Authority;

use crate::sources::bad_input::artifact;
use crate::sources::bed::{Bed, condition};

async fn started() -> Bed<HelmRepositorySpec> {
    let mut bed = Bed::start().await;
    bed.run(HelmRepositories::new);
    bed
}

/// AU6, `certSecretRef`: certificates beside the password still count, those of the other field count more
#[tokio::test]
async fn certificates_of_their_own_secret_count_more() {
    let authority = Authority::default();
    let charts = Server::builder().tls(&authority).basic("ada", "geheim").start();
    charts.add(&Chart::new("podinfo", "6.1.0"));
    let bed = started().await;
    let stranger = Authority::new("somebody else");
    let login = |ca: &str| json!({"username": "ada", "password": "geheim", "caFile": ca});
    bed.secret("older", "Opaque", login(&authority.pem())).await;
    bed.secret("wrong", "Opaque", login(&stranger.pem())).await;
    bed.secret("ca", "Opaque", json!({"ca.crt": authority.pem()}))
        .await;
    let (url, interval) = (charts.url(), "1h");
    for (name, secret, certificates, status, reason) in [
        ("older", "older", None, "True", "Succeeded"),
        ("wrong", "wrong", None, "False", "Failed"),
        ("both", "wrong", Some(json!({"name": "ca"})), "True", "Succeeded"),
    ] {
        let spec = json!({
            "url": url, "interval": interval, "secretRef": {"name": secret}, "certSecretRef": certificates,
        });
        bed.create(name, spec).await;
        bed.ready(name, status, reason).await;
    }
}

/// H2, H5, A3, A5: an index is fetched whole at each poll, but stored and told of only when it differs
#[tokio::test]
async fn an_index_that_is_the_same_is_not_stored_again() {
    let charts = Server::start();
    charts.add(&Chart::new("podinfo", "6.1.0"));
    let bed = started().await;
    // Without an interval it is a minute.
    bed.create("charts", json!({"url": format!("{}/", charts.url())}))
        .await;
    let object = bed.ready("charts", "True", "Succeeded").await;
    let before = artifact(&object).unwrap();
    let size = before.size.unwrap();
    assert!(size < 1000, "the sentence below is for small indexes");
    let message = format!("stored fetched index of size {size}B from '{}/'", charts.url());
    bed.until_told("charts", "Normal", "NewArtifact", &message).await;
    assert_ne!(
        before.revision.to_string(),
        before.digest.unwrap().to_string(),
        "the revision is of what was fetched, the digest of what is stored"
    );
    let object = bed.recovers("charts").await;
    assert_eq!(artifact(&object), Some(before));
    let fetched = charts.count(testkit::http::Method::GET, "/index.yaml");
    assert_eq!(fetched, 2);
}

/// `suspend`
#[tokio::test]
async fn a_suspended_helm_repository_is_left_alone() {
    let charts = Server::start();
    charts.add(&Chart::new("podinfo", "6.1.0"));
    let bed = started().await;
    bed.create("charts", json!({"url": charts.url(), "suspend": true}))
        .await;
    bed.requested("charts", "now").await;
    assert!(charts.requests().is_empty());
    bed.patch("charts", json!({"spec": {"suspend": false}})).await;
    bed.ready("charts", "True", "Succeeded").await;
}

/// `passCredentials`: charts that the index has elsewhere are asked for without the credentials, unless that is wanted
#[tokio::test]
async fn credentials_of_a_repository_go_to_other_hosts_only_if_that_is_wanted() {
    let elsewhere = Server::builder().basic("ada", "geheim").start();
    elsewhere.add(&Chart::new("podinfo", "6.1.0"));
    let repository = Server::builder().basic("ada", "geheim").start();
    let url = format!("{}/podinfo-6.1.0.tgz", elsewhere.url());
    let entry = format!("[{{name: podinfo, version: 6.1.0, urls: [\"{url}\"]}}]");
    repository.set_index(&format!("apiVersion: v1\nentries:\n  podinfo: {entry}\n"));
    let mut bed: Bed<HelmChartSpec> = Bed::start().await;
    bed.serve::<HelmRepositorySpec>().await;
    bed.run(HelmRepositories::new);
    bed.run(HelmCharts::new);
    let login = json!({"username": "ada", "password": "geheim"});
    bed.secret("login", "Opaque", login).await;
    for (name, pass) in [("unsaid", None), ("kept", Some(false)), ("passed", Some(true))] {
        elsewhere.forget_requests();
        let mut spec = json!({"url": repository.url(), "interval": "1h", "secretRef": {"name": "login"}});
        if let Some(pass) = pass {
            spec["passCredentials"] = json!(pass);
        }
        bed.create_other::<HelmRepositorySpec>(name, spec).await;
        let source = json!({"kind": "HelmRepository", "name": name});
        let spec = json!({"chart": "podinfo", "version": "6.1.0", "interval": "1h", "sourceRef": source});
        bed.create(name, spec).await;
        if pass == Some(true) {
            bed.ready(name, "True", "ChartPullSucceeded").await;
        } else {
            // Flux, too, calls what is refused before there is a chart unknown.
            let object = bed.ready(name, "False", "Unknown").await;
            let message = condition(&object, "Ready").unwrap().message;
            assert!(
                message.contains("401") && !message.contains("geheim"),
                "{message}"
            );
        }
        let asked = elsewhere.requests();
        assert!(!asked.is_empty());
        for request in asked {
            let credentials = request.header("authorization");
            assert_eq!(!credentials.is_empty(), pass == Some(true), "{name}");
        }
        // It is not tried again beside the next one.
        bed.delete(name).await;
    }
}
