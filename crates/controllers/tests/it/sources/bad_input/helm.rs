//! Indexes of Helm repositories that cannot be had or read.

use api::source::HelmRepositorySpec;
use controllers::sources::HelmRepositories;
use serde_json::{Value, json};
use testkit::helm::{Chart, Server};
use testkit::http::{Credential, Fault};
use testkit::tls::Authority;

use crate::sources::bed::Bed;

const FETCH: &str = "FetchFailed";

async fn started() -> Bed<HelmRepositorySpec> {
    let mut bed = Bed::start().await;
    bed.run(HelmRepositories::new);
    bed
}

#[tokio::test]
async fn a_helm_repository_that_no_longer_takes_the_credentials() {
    let charts = Server::builder().basic("ada", "geheim").start();
    charts.add(&Chart::new("podinfo", "6.1.0"));
    let bed = started().await;
    bed.secret(
        "login",
        "Opaque",
        json!({"username": "ada", "password": "geheim"}),
    )
    .await;
    let spec = json!({"url": charts.url(), "interval": "1h", "secretRef": {"name": "login"}});
    bed.create("charts", spec).await;
    bed.ready("charts", "True", "Succeeded").await;
    charts.accept_only(&[Credential::basic("ada", "rotated")]);
    let words = [
        "failed to fetch Helm repository index",
        "/index.yaml",
        "401",
        "check the credentials",
    ];
    bed.fails("charts", FETCH, "Failed", &words).await;
    bed.change_secret("login", json!({"password": "rotated"})).await;
    bed.recovers("charts").await;
}

#[tokio::test]
async fn a_helm_repository_whose_certificate_is_not_trusted() {
    let authority = Authority::default();
    let charts = Server::builder().tls(&authority).start();
    charts.add(&Chart::new("podinfo", "6.1.0"));
    let bed = started().await;
    bed.secret("ca", "Opaque", json!({"ca.crt": authority.pem()}))
        .await;
    let spec = json!({"url": charts.url(), "interval": "1h", "certSecretRef": {"name": "ca"}});
    bed.create("charts", spec).await;
    bed.ready("charts", "True", "Succeeded").await;
    let stranger = Authority::new("somebody else");
    bed.change_secret("ca", json!({"ca.crt": stranger.pem()})).await;
    bed.fails("charts", FETCH, "Failed", &["/index.yaml", "certificate"])
        .await;
    bed.change_secret("ca", json!({"ca.crt": authority.pem()})).await;
    bed.recovers("charts").await;
}

#[tokio::test]
async fn indexes_that_are_none_or_do_not_come() {
    let charts = Server::start();
    charts.add(&Chart::new("podinfo", "6.1.0"));
    let bed = started().await;
    let spec = json!({"url": charts.url(), "interval": "1h", "timeout": "1s"});
    bed.create("charts", spec).await;
    bed.ready("charts", "True", "Succeeded").await;
    for (index, words) in [
        ("", "empty index.yaml file"),
        ("<html>", "failed to load Helm repository from index YAML"),
        ("entries: {}\n", "no API version specified"),
        ("a: [\n", "failed to load Helm repository from index YAML"),
    ] {
        charts.set_index(index);
        bed.fails("charts", FETCH, "IndexationFailed", &[words]).await;
    }
    charts.set_index("apiVersion: v1\nentries: {}\n");
    for (fault, words) in [
        (Fault::status(404), "check the URL"),
        (Fault::truncate(10), "/index.yaml"),
        (Fault::hang(), "/index.yaml"),
    ] {
        charts.heal();
        charts.fail(fault.forever());
        bed.fails("charts", FETCH, "Failed", &[words]).await;
    }
}

/// H2: an entry that cannot be read is left out, the rest is stored
#[tokio::test]
async fn a_broken_entry_of_an_index_is_left_out() {
    let charts = Server::start();
    let index = "apiVersion: v1\nentries:\n  good:\n  - {apiVersion: v2, name: good, version: 1.0.0, urls: [good.tgz]}\n  \
                 - {apiVersion: v2, name: good, version: not-a-version, urls: [bad.tgz]}\n  broken:\n  - {name: \"\", version: 1.0.0}\n";
    charts.set_index(index);
    let bed = started().await;
    bed.create("charts", json!({"url": charts.url(), "interval": "1h"}))
        .await;
    let object = bed.ready("charts", "True", "Succeeded").await;
    let artifact = super::artifact(&object).unwrap();
    let file = bed.store.read(&artifact).unwrap();
    let stored: Value = serde_json::from_reader(file).unwrap();
    let good: Vec<&Value> = stored["entries"]["good"]
        .as_array()
        .unwrap()
        .iter()
        .map(|entry| &entry["version"])
        .collect();
    assert_eq!(good, ["1.0.0"]);
    assert_eq!(stored["entries"]["broken"].as_array().map_or(0, Vec::len), 0);
}

/// H2: an index that breaks off is not stored, and the charts of the last good one stay
#[tokio::test]
async fn an_index_that_breaks_off_leaves_the_last_good_one() {
    let charts = Server::start();
    let good = "apiVersion: v1\nentries:\n  app:\n  - apiVersion: v2\n    name: app\n    version: 1.0.0\n    description: \"an app\"\n    urls: [app.tgz]\n";
    charts.set_index(good);
    let bed = started().await;
    bed.create("charts", json!({"url": charts.url(), "interval": "1h"}))
        .await;
    bed.ready("charts", "True", "Succeeded").await;
    charts.set_index(good.split("an app").next().unwrap());
    let words = ["chart 'app'", "helm repo index"];
    bed.fails("charts", FETCH, "IndexationFailed", &words).await;
    charts.set_index(&good.replace("1.0.0", "1.1.0"));
    bed.recovers("charts").await;
}
