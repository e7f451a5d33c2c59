//! HelmCharts that want the same chart: it is downloaded once.

use api::source::HelmRepositorySpec;
use serde_json::{Value, json};
use testkit::cluster::object_settled;
use testkit::helm::{Chart, Server};
use testkit::http::Method;

use super::bed::condition;
use super::helm_chart::{ChartBed, revision, spec, started};

async fn repository(bed: &ChartBed, name: &str, url: &str, rest: Value) {
    let mut spec = json!({"url": url, "interval": "1h"});
    let rest = rest.as_object().unwrap().clone();
    spec.as_object_mut().unwrap().extend(rest);
    bed.create_other::<HelmRepositorySpec>(name, spec).await;
}

#[tokio::test]
async fn a_chart_of_a_repository_is_downloaded_once_for_all() {
    let server = Server::builder().basic("ada", "geheim").start();
    let chart = Chart::new("podinfo", "6.1.0").values("a: 1\n");
    server.add(&chart);
    let bed = started().await;
    let login = json!({"username": "ada", "password": "geheim"});
    bed.secret("login", "Opaque", login).await;
    let secret = json!({"secretRef": {"name": "login"}});
    repository(&bed, "charts", &server.url(), secret.clone()).await;
    let wanted = || spec("HelmRepository", "charts", "podinfo", json!({}));
    let archive = "/podinfo-6.1.0.tgz";
    for number in 0..5 {
        bed.create(&format!("app-{number}"), wanted()).await;
    }
    for number in 0..5 {
        let name = format!("app-{number}");
        let object = bed.ready(&name, "True", "ChartPullSucceeded").await;
        assert_eq!(bed.packed(&object), chart.archive());
        let url = object.status.unwrap().url.unwrap();
        assert!(url.ends_with(&format!("/{name}/latest.tar.gz")), "{url}");
    }
    assert_eq!(server.count(Method::GET, archive), 1);
    bed.create("later", wanted()).await;
    bed.ready("later", "True", "ChartPullSucceeded").await;
    assert_eq!(server.count(Method::GET, archive), 1, "it is still in the store");
    bed.delete("app-0").await;
    let object = bed.api.get("later").await.unwrap();
    assert_eq!(bed.packed(&object), chart.archive());

    // Who reaches the repository as somebody else is not given what others got.
    repository(&bed, "others", &server.url(), secret).await;
    let other = spec("HelmRepository", "others", "podinfo", json!({}));
    bed.create("other", other).await;
    bed.ready("other", "True", "ChartPullSucceeded").await;
    assert_eq!(server.count(Method::GET, archive), 2);

    // With other values it is another chart.
    let values = json!({"valuesFiles": ["values.yaml", "more.yaml"], "ignoreMissingValuesFiles": true});
    let other = spec("HelmRepository", "charts", "podinfo", values);
    bed.create("values", other).await;
    let object = bed.ready("values", "True", "ChartPackageSucceeded").await;
    assert_eq!(revision(&object), "6.1.0+1");
}

/// A repository that took the name of another is another one, though its index says the same.
#[tokio::test]
async fn a_repository_of_the_same_name_and_index_has_charts_of_its_own() {
    let (old, new) = (Server::start(), Server::start());
    let index = "apiVersion: v1\nentries:\n  podinfo:\n  - name: podinfo\n    version: 6.1.0\n    urls: [podinfo-6.1.0.tgz]\n";
    let chart = |values: &str| Chart::new("podinfo", "6.1.0").values(values);
    for (server, values) in [(&old, "old: true\n"), (&new, "new: true\n")] {
        server.add(&chart(values));
        server.set_index(index);
    }
    let bed = started().await;
    repository(&bed, "charts", &old.url(), json!({})).await;
    let wanted = || spec("HelmRepository", "charts", "podinfo", json!({}));
    bed.create("before", wanted()).await;
    let before = bed.ready("before", "True", "ChartPullSucceeded").await;
    assert_eq!(bed.packed(&before), chart("old: true\n").archive());

    let repositories = bed.other::<HelmRepositorySpec>();
    repositories.delete("charts", &Default::default()).await.unwrap();
    let limit = testkit::DEADLINE;
    let gone = object_settled(repositories, "charts", limit, |object| match object {
        None => Ok(()),
        Some(_) => Err("it is still there".into()),
    });
    gone.await.unwrap();
    // Whether it is known yet that the object is gone, or only that its files are: there is nothing to make a chart of.
    bed.create("after", wanted()).await;
    bed.until("after", |object| {
        condition(object, "Ready").is_some_and(|ready| ready.status.to_string() == "False")
    })
    .await;
    repository(&bed, "charts", &new.url(), json!({})).await;
    let after = bed.ready("after", "True", "ChartPullSucceeded").await;
    assert_eq!(bed.packed(&after), chart("new: true\n").archive());
    let before = bed.api.get("before").await.unwrap();
    assert_eq!(bed.packed(&before), chart("old: true\n").archive());
}

#[tokio::test]
async fn a_chart_of_a_registry_is_downloaded_once_for_all() {
    let server = testkit::oci::Server::builder().basic("ada", "geheim").start();
    let chart = Chart::new("podinfo", "6.1.0");
    server.push("charts/podinfo", "6.1.0", &chart.artifact());
    let bed = started().await;
    let login = json!({"username": "ada", "password": "geheim"});
    bed.secret("login", "Opaque", login).await;
    let url = format!("oci://{}/charts", server.host());
    let oci = json!({"type": "oci", "insecure": true});
    let mut known = oci.clone();
    known["secretRef"] = json!({"name": "login"});
    repository(&bed, "charts", &url, known).await;
    repository(&bed, "strangers", &url, oci).await;
    for number in 0..5 {
        let wanted = spec("HelmRepository", "charts", "podinfo", json!({"version": "6.1.0"}));
        bed.create(&format!("app-{number}"), wanted).await;
    }
    for number in 0..5 {
        let object = bed
            .ready(&format!("app-{number}"), "True", "ChartPullSucceeded")
            .await;
        assert_eq!(bed.packed(&object), chart.archive());
    }
    assert_eq!(server.count(Method::GET, "/blobs/"), 1);
    // Whoever may not read it gets nothing, though it is there.
    let wanted = spec(
        "HelmRepository",
        "strangers",
        "podinfo",
        json!({"version": "6.1.0"}),
    );
    bed.create("stranger", wanted).await;
    bed.ready("stranger", "False", "Unknown").await;

    // What a tag leads to by now counts, not what it led to when others asked.
    let moved = Chart::new("podinfo", "6.1.0").values("moved: true\n");
    server.push("charts/podinfo", "6.1.0", &moved.artifact());
    let wanted = spec("HelmRepository", "charts", "podinfo", json!({"version": "6.1.0"}));
    bed.create("moved", wanted).await;
    let object = bed.ready("moved", "True", "ChartPullSucceeded").await;
    assert_eq!(bed.packed(&object), moved.archive());
}
