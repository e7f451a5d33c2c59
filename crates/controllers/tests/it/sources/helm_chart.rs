//! HelmChart, of Helm repositories with an index.

use std::io::Read;

use api::source::{BucketSpec, GitRepositorySpec, HelmChart, HelmChartSpec, HelmRepositorySpec};
use controllers::sources::{Buckets, GitRepositories, HelmCharts, HelmRepositories, Shared};
use serde_json::{Value, json};
use testkit::helm::{Chart, Server};
use testkit::http::Fault;

use super::bed::{Bed, condition};

pub(super) type ChartBed = Bed<HelmChartSpec>;

/// A cluster with charts and all kinds that they are made of; nobody works on them yet.
pub(super) async fn cluster() -> ChartBed {
    let bed = ChartBed::start().await;
    bed.serve::<HelmRepositorySpec>().await;
    bed.serve::<GitRepositorySpec>().await;
    bed.serve::<BucketSpec>().await;
    bed
}

/// The same with all controllers at work.
pub(super) async fn started() -> ChartBed {
    started_with(|_| {}).await
}

/// The same with other settings of the chart controller.
pub(super) async fn started_with(change: impl FnOnce(&mut Shared)) -> ChartBed {
    let mut bed = cluster().await;
    bed.run(HelmRepositories::new);
    bed.run(GitRepositories::new);
    bed.run(Buckets::new);
    bed.run(|mut shared| {
        change(&mut shared);
        HelmCharts::new(shared)
    });
    bed
}

pub(super) fn spec(kind: &str, source: &str, chart: &str, rest: Value) -> Value {
    let mut spec = json!({"chart": chart, "interval": "1h", "sourceRef": {"kind": kind, "name": source}});
    let fields = spec.as_object_mut().unwrap();
    fields.extend(rest.as_object().unwrap().clone());
    spec
}

pub(super) fn revision(object: &HelmChart) -> String {
    let artifact = object.status.as_ref().and_then(|status| status.artifact.as_ref());
    artifact
        .map(|artifact| artifact.revision.to_string())
        .unwrap_or_default()
}

pub(super) fn message(object: &HelmChart) -> String {
    condition(object, "Ready").unwrap().message
}

impl ChartBed {
    async fn repository(&self, name: &str, server: &Server, rest: Value) {
        let mut spec = json!({"url": server.url(), "interval": "1h"});
        let fields = spec.as_object_mut().unwrap();
        fields.extend(rest.as_object().unwrap().clone());
        self.create_other::<HelmRepositorySpec>(name, spec).await;
    }

    /// The packed chart.
    pub(super) fn packed(&self, object: &HelmChart) -> Vec<u8> {
        let artifact = object.status.as_ref().unwrap().artifact.as_ref().unwrap();
        let mut bytes = Vec::new();
        let mut file = self.store.read(artifact).unwrap();
        file.read_to_end(&mut bytes).unwrap();
        bytes
    }

    /// A file of the packed chart.
    pub(super) fn file(&self, object: &HelmChart, path: &str) -> String {
        let packed = self.packed(object);
        let mut archive = tar::Archive::new(flate2::read::GzDecoder::new(&packed[..]));
        let mut entries = archive.entries().unwrap().map(Result::unwrap);
        let mut entry = entries
            .find(|entry| entry.path().unwrap().to_str() == Some(path))
            .unwrap_or_else(|| panic!("{path} is not in the chart"));
        let mut text = String::new();
        entry.read_to_string(&mut text).unwrap();
        text
    }

    /// Waits for a version and that nothing goes on.
    pub(super) async fn version(&self, name: &str, version: &str) -> HelmChart {
        self.until(name, |object| {
            let ready = condition(object, "Ready");
            revision(object) == version && ready.is_some_and(|ready| ready.status.to_string() == "True")
        })
        .await
    }
}

/// E4: `gotk_cache_events_total` tells for each repository how often its index was read for a chart, and how often it did not have
/// to be; it goes with the repository
#[tokio::test]
async fn lookups_of_an_index_are_counted() {
    let charts = Server::start();
    charts.add(&Chart::new("podinfo", "6.1.0"));
    let bed = started().await;
    let metrics = controllers::kit::Metrics::new();
    metrics.tell_indexes(bed.shared.index_lookups.clone());
    let counted = |event: &str| {
        let labels = format!(
            "event_type=\"{event}\",name=\"charts\",namespace=\"{}\"",
            bed.namespace
        );
        let line = format!("gotk_cache_events_total{{{labels}}} ");
        let text = metrics.render();
        let found = text
            .lines()
            .find_map(|text| text.strip_prefix(&line).map(str::to_owned));
        found.unwrap_or_default()
    };
    bed.repository("charts", &charts, json!({})).await;
    bed.create("app", spec("HelmRepository", "charts", "podinfo", json!({})))
        .await;
    bed.ready("app", "True", "ChartPullSucceeded").await;
    assert_eq!(counted("cache_miss"), "1");
    for token in ["one", "two"] {
        bed.requested("app", token).await;
    }
    assert_eq!(counted("cache_miss"), "1");
    // One for each request; what its repository says of itself may have woken it once more.
    let hits: u32 = counted("cache_hit").parse().unwrap();
    assert!(hits >= 2, "{hits}");
    let repositories = bed.other::<HelmRepositorySpec>();
    repositories.delete("charts", &Default::default()).await.unwrap();
    let limit = testkit::DEADLINE;
    let gone = testkit::cluster::object_settled(repositories, "charts", limit, |object| match object {
        None => Ok(()),
        Some(_) => Err("it is still there".into()),
    });
    gone.await.unwrap();
    assert_eq!(counted("cache_miss"), "");
}

/// HC6, HC12, A3, A7, S4: a chart is stored byte by byte and told of.
#[tokio::test]
async fn a_chart_of_a_repository_is_stored_as_it_is_and_told_of() {
    let charts = Server::start();
    let chart = Chart::new("podinfo", "6.1.0").values("replicas: 1\n");
    charts.add(&chart);
    let bed = started().await;
    bed.repository("charts", &charts, json!({})).await;
    bed.create("app", spec("HelmRepository", "charts", "podinfo", json!({})))
        .await;
    let object = bed.ready("app", "True", "ChartPullSucceeded").await;
    assert_eq!(message(&object), "pulled 'podinfo' chart with version '6.1.0'");
    assert_eq!(bed.packed(&object), chart.archive());
    let status = object.status.clone().unwrap();
    let artifact = status.artifact.clone().unwrap();
    let folder = format!("helmchart/{}/app", bed.namespace);
    assert_eq!(artifact.path, format!("{folder}/podinfo-6.1.0.tgz"));
    assert_eq!(artifact.revision.to_string(), "6.1.0");
    assert_eq!(
        status.url,
        Some(format!("http://store.test/{folder}/latest.tar.gz"))
    );
    assert_eq!(status.observed_chart_name.as_deref(), Some("podinfo"));
    assert_eq!(status.observed_generation, Some(1));
    let repository = bed.other::<HelmRepositorySpec>().get("charts").await.unwrap();
    let index = repository.status.unwrap().artifact.unwrap().revision;
    assert_eq!(status.observed_source_artifact_revision, Some(index.to_string()));
    let kinds: Vec<&str> = status.conditions.iter().map(|one| one.kind.as_str()).collect();
    assert_eq!(kinds, ["Ready", "ArtifactInStorage"]);
    let told = "pulled 'podinfo' chart with version '6.1.0'";
    bed.until_told("app", "Normal", "ChartPullSucceeded", told).await;
    bed.delete("app").await;
    assert!(bed.store.read(&artifact).is_err(), "nothing is left behind");
}

/// HC1: a new index wakes the charts of that repository, and no others.
#[tokio::test]
async fn a_new_index_wakes_the_charts_of_its_repository_only() {
    let (charts, others) = (Server::start(), Server::start());
    charts.add(&Chart::new("podinfo", "6.1.0"));
    others.add(&Chart::new("podinfo", "6.1.0"));
    let bed = started().await;
    bed.repository("charts", &charts, json!({"interval": "1s"})).await;
    bed.repository("others", &others, json!({})).await;
    bed.create(
        "app",
        spec("HelmRepository", "charts", "podinfo", json!({"version": "6.x"})),
    )
    .await;
    bed.create("other", spec("HelmRepository", "others", "podinfo", json!({})))
        .await;
    let old = bed.version("app", "6.1.0").await;
    let other = bed.version("other", "6.1.0").await;
    charts.add(&Chart::new("podinfo", "6.2.0"));
    charts.add(&Chart::new("podinfo", "7.0.0"));
    let new = bed.version("app", "6.2.0").await;
    let seen = |object: &HelmChart| {
        let status = object.status.clone().unwrap();
        status.observed_source_artifact_revision
    };
    assert_ne!(seen(&new), seen(&old));
    let after = bed.api.get("other").await.unwrap();
    assert_eq!(after.metadata.resource_version, other.metadata.resource_version);
}

/// HC4: what is stored is not fetched again, and a run that finds nothing new writes no more than its answer.
#[tokio::test]
async fn a_run_that_finds_nothing_new_asks_nobody() {
    let charts = Server::start();
    charts.add(&Chart::new("podinfo", "6.1.0"));
    let bed = started().await;
    bed.repository("charts", &charts, json!({})).await;
    bed.create("app", spec("HelmRepository", "charts", "podinfo", json!({})))
        .await;
    let before = bed.ready("app", "True", "ChartPullSucceeded").await;
    let asked = charts.requests().len();
    let after = bed.requested("app", "1").await;
    assert_eq!(charts.requests().len(), asked);
    let facts = |object: &HelmChart| {
        (
            object.status.clone().unwrap().artifact,
            condition(object, "Ready"),
        )
    };
    assert_eq!(facts(&after), facts(&before), "Ready does not flap");
}

/// `version`: exactly that one first, or else the highest of a range; the highest release where nothing is said.
#[tokio::test]
async fn versions_are_picked_exactly_or_by_range() {
    let charts = Server::start();
    for version in ["1.0.0", "1.2.0", "2.0.0", "2.1.0-rc.1", "weird"] {
        charts.add(&Chart::new("podinfo", version));
    }
    let bed = started().await;
    bed.repository("charts", &charts, json!({})).await;
    for (name, wanted, found) in [
        ("any", json!({}), "2.0.0"),
        ("range", json!({"version": "1.x"}), "1.2.0"),
        ("exact", json!({"version": "1.0.0"}), "1.0.0"),
        ("pre", json!({"version": ">=2.0.0-0"}), "2.1.0-rc.1"),
    ] {
        bed.create(name, spec("HelmRepository", "charts", "podinfo", wanted))
            .await;
        bed.version(name, found).await;
    }
}

/// HC3: values files are merged, and the generation stands in the version.
#[tokio::test]
async fn values_files_are_merged_and_change_the_version() {
    let charts = Server::start();
    let chart = Chart::new("podinfo", "6.1.0")
        .values("replicas: 1\nname: a\n")
        .file("values-prod.yaml", "replicas: 3\n");
    charts.add(&chart);
    let bed = started().await;
    bed.repository("charts", &charts, json!({})).await;
    let files = json!({"valuesFiles": ["values.yaml", "values-prod.yaml"]});
    bed.create("app", spec("HelmRepository", "charts", "podinfo", files))
        .await;
    let object = bed.ready("app", "True", "ChartPackageSucceeded").await;
    assert_eq!(revision(&object), "6.1.0+1");
    assert_eq!(
        message(&object),
        "packaged 'podinfo' chart with version '6.1.0+1' and merged values files [values.yaml values-prod.yaml]"
    );
    assert_eq!(bed.file(&object, "podinfo/values.yaml"), "name: a\nreplicas: 3\n");
    assert_eq!(object.status.unwrap().observed_values_files, Vec::<String>::new());
    // A file that is not there is left out only where that is said.
    let missing = json!({"spec": {"valuesFiles": ["values.yaml", "values-test.yaml"]}});
    bed.patch("app", missing).await;
    let failed = bed.ready("app", "False", "ValuesFilesError").await;
    assert!(condition(&failed, "Stalled").is_some() && condition(&failed, "BuildFailed").is_some());
    assert!(
        message(&failed).contains("values-test.yaml"),
        "{}",
        message(&failed)
    );
    assert_eq!(revision(&failed), "6.1.0+1", "the last good chart stays");
    bed.packed(&failed);
    let ignore = json!({"spec": {"ignoreMissingValuesFiles": true, "valuesFiles": ["values-prod.yaml", "values-test.yaml"]}});
    bed.patch("app", ignore).await;
    let object = bed.version("app", "6.1.0+3").await;
    assert_eq!(bed.file(&object, "podinfo/values.yaml"), "replicas: 3\n");
    assert_eq!(object.status.unwrap().observed_values_files, ["values-prod.yaml"]);
    // Only `values.yaml` changes nothing.
    bed.create(
        "plain",
        spec(
            "HelmRepository",
            "charts",
            "podinfo",
            json!({"valuesFiles": ["values.yaml"]}),
        ),
    )
    .await;
    bed.ready("plain", "True", "ChartPullSucceeded").await;
}

/// HC8: what only a change can mend is stalled, what may mend itself is tried again; the last good chart stays.
#[tokio::test]
async fn what_is_not_there_stalls_and_what_cannot_be_fetched_is_tried_again() {
    let charts = Server::start();
    charts.add(&Chart::new("podinfo", "6.1.0"));
    let bed = started().await;
    bed.repository("charts", &charts, json!({"interval": "1s"})).await;
    for (name, chart, rest, says) in [
        ("no-chart", "other", json!({}), "no chart 'other'"),
        (
            "no-version",
            "podinfo",
            json!({"version": "9.x"}),
            "no 'podinfo' chart with version matching '9.x' found",
        ),
        ("no-name", "Podinfo", json!({}), "invalid chart name 'Podinfo'"),
    ] {
        bed.create(name, spec("HelmRepository", "charts", chart, rest))
            .await;
        let object = bed.ready(name, "False", "InvalidChartReference").await;
        assert!(message(&object).contains(says), "{}", message(&object));
        assert!(message(&object).starts_with("invalid chart reference: "));
        assert_eq!(
            condition(&object, "Stalled").unwrap().reason,
            "InvalidChartReference"
        );
        assert!(condition(&object, "FetchFailed").is_some());
        assert_eq!(object.status.unwrap().observed_generation, Some(1));
    }
    // What stalled is looked at again when its source has something new.
    charts.add(&Chart::new("podinfo", "9.0.0"));
    bed.version("no-version", "9.0.0").await;
    charts.fail(Fault::status(500).on("/podinfo-6.1.0.tgz").forever());
    bed.patch("no-version", json!({"spec": {"version": "6.1.0"}}))
        .await;
    let failed = bed.ready("no-version", "False", "ChartPullError").await;
    assert!(condition(&failed, "Stalled").is_none());
    assert_eq!(
        condition(&failed, "Reconciling").unwrap().reason,
        "ProgressingWithRetry"
    );
    assert_eq!(revision(&failed), "9.0.0", "the last good chart stays");
    bed.packed(&failed);
    charts.heal();
    bed.version("no-version", "6.1.0").await;
}

/// HC9: a source without an artifact is waited for, and its artifact wakes the chart.
#[tokio::test]
async fn a_source_that_is_not_there_yet_is_waited_for() {
    let charts = Server::start();
    charts.add(&Chart::new("podinfo", "6.1.0"));
    charts.fail(Fault::status(500).forever());
    let bed = started().await;
    bed.create("app", spec("HelmRepository", "charts", "podinfo", json!({})))
        .await;
    let object = bed.ready("app", "False", "SourceUnavailable").await;
    assert_eq!(
        message(&object),
        "failed to get source: HelmRepository.source.toolkit.fluxcd.io \"charts\" not found: create it, or \
         correct spec.sourceRef"
    );
    bed.repository("charts", &charts, json!({"interval": "1s"})).await;
    let object = bed.ready("app", "False", "NoSourceArtifact").await;
    let why = "no artifact available for HelmRepository source 'charts'";
    assert_eq!(message(&object), why);
    bed.until_told("app", "Normal", "NoSourceArtifact", why).await;
    charts.heal();
    bed.ready("app", "True", "ChartPullSucceeded").await;
}

/// AU4: the credentials of the HelmRepository are shown when a chart is fetched; without them Flux calls it unknown.
#[tokio::test]
async fn charts_are_fetched_with_the_credentials_of_the_repository() {
    let charts = Server::builder().basic("ada", "geheim").start();
    charts.add(&Chart::new("podinfo", "6.1.0"));
    let bed = started().await;
    let login = json!({"username": "ada", "password": "geheim"});
    bed.secret("login", "Opaque", login).await;
    bed.repository("charts", &charts, json!({"secretRef": {"name": "login"}}))
        .await;
    bed.create("app", spec("HelmRepository", "charts", "podinfo", json!({})))
        .await;
    bed.ready("app", "True", "ChartPullSucceeded").await;
    // The index is known by now, but the Secret is gone.
    let api = bed.other::<HelmRepositorySpec>();
    let patch = json!({"spec": {"secretRef": null, "suspend": true}});
    let patch = kube::api::Patch::Merge(&patch);
    api.patch("charts", &Default::default(), &patch).await.unwrap();
    bed.create("late", spec("HelmRepository", "charts", "podinfo", json!({})))
        .await;
    let object = bed.ready("late", "False", "Unknown").await;
    assert!(
        message(&object).starts_with("unknown build error: failed to authenticate with the Helm repository"),
        "{}",
        message(&object)
    );
    assert!(!message(&object).contains("geheim"));
}

/// HC7: charts and files in them have a largest size.
#[tokio::test]
async fn a_chart_that_is_too_large_is_not_taken() {
    let charts = Server::start();
    let noise = (0..40_000u32).flat_map(|number| number.wrapping_mul(2_654_435_761).to_le_bytes());
    charts.add(&Chart::new("noise", "1.0.0").file("noise", noise.collect::<Vec<u8>>()));
    charts.add(&Chart::new("zeros", "1.0.0").file("zeros", vec![0; 80_000]));
    let bed = started_with(|shared| {
        shared.settings.helm_chart_max_size = 100_000;
        shared.settings.helm_chart_file_max_size = 50_000;
    })
    .await;
    bed.repository("charts", &charts, json!({})).await;
    for (chart, says) in [
        ("noise", "exceeds the maximum size of 100000 bytes"),
        ("zeros", "exceeds the limit of 50000 bytes"),
    ] {
        bed.create(chart, spec("HelmRepository", "charts", chart, json!({})))
            .await;
        let object = bed.ready(chart, "False", "ChartPullError").await;
        assert!(message(&object).contains(says), "{}", message(&object));
    }
}

/// An index with a broken entry: the rest of it is used.
#[tokio::test]
async fn a_broken_entry_of_an_index_does_not_hide_the_others() {
    let charts = Server::start();
    charts.add(&Chart::new("podinfo", "6.1.0"));
    charts.set_index(
        "apiVersion: v1\nentries:\n  podinfo:\n  - name: podinfo\n    version: [nothing]\n    urls: [x.tgz]\n  - apiVersion: v2\n    \
         name: podinfo\n    version: 6.1.0\n    urls: [podinfo-6.1.0.tgz]\n  broken: 7\n",
    );
    let bed = started().await;
    bed.repository("charts", &charts, json!({})).await;
    bed.create("app", spec("HelmRepository", "charts", "podinfo", json!({})))
        .await;
    bed.version("app", "6.1.0").await;
}

/// S1, S2: what the store lost is made anew.
#[tokio::test]
async fn a_chart_that_is_lost_is_fetched_again() {
    let charts = Server::start();
    charts.add(&Chart::new("podinfo", "6.1.0"));
    let bed = started().await;
    bed.repository("charts", &charts, json!({})).await;
    bed.create("app", spec("HelmRepository", "charts", "podinfo", json!({})))
        .await;
    let object = bed.ready("app", "True", "ChartPullSucceeded").await;
    let artifact = object.status.unwrap().artifact.unwrap();
    std::fs::remove_file(bed.store.root().join(&artifact.path)).unwrap();
    let again = bed.requested("app", "1").await;
    assert_eq!(
        again.status.as_ref().unwrap().artifact.as_ref().unwrap().digest,
        artifact.digest
    );
    bed.packed(&again);
}

/// S2: after a start with an empty store the chart waits for its source, which wakes it: nobody polls.
#[tokio::test]
async fn an_empty_store_is_filled_again_from_source_to_chart() {
    let charts = Server::start();
    charts.add(&Chart::new("podinfo", "6.1.0"));
    let mut bed = started().await;
    bed.repository("charts", &charts, json!({})).await;
    bed.create("app", spec("HelmRepository", "charts", "podinfo", json!({})))
        .await;
    let before = bed.ready("app", "True", "ChartPullSucceeded").await;
    bed.kill();
    for kind in ["helmrepository", "helmchart"] {
        std::fs::remove_dir_all(bed.store.root().join(kind)).unwrap();
    }
    let start = std::time::Instant::now();
    bed.run(HelmCharts::new);
    bed.ready("app", "False", "NoSourceArtifact").await;
    bed.run(HelmRepositories::new);
    let after = bed.ready("app", "True", "ChartPullSucceeded").await;
    assert!(start.elapsed().as_secs() < 25, "it was woken");
    assert_eq!(bed.packed(&after), Chart::new("podinfo", "6.1.0").archive());
    assert_eq!(revision(&after), revision(&before));
}

/// A suspended chart is left alone, but answers.
#[tokio::test]
async fn a_suspended_chart_is_left_alone_but_answers() {
    let bed = started().await;
    bed.create(
        "app",
        spec("HelmRepository", "charts", "podinfo", json!({"suspend": true})),
    )
    .await;
    let object = bed.requested("app", "1").await;
    assert!(condition(&object, "Ready").is_none());
}
