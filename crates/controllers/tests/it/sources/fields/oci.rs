//! OCIRepository: what is pulled and what is kept of it.

use std::io::Read;

use api::source::{OciRepository, OciRepositorySpec};
use controllers::sources::OciRepositories;
use serde_json::{Value, json};
use testkit::helm::Chart;
use testkit::http::Method;
use testkit::oci::{Artifact, Server};

use crate::sources::bad_input::{artifact, with};
use crate::sources::bed::Bed;

async fn started() -> Bed<OciRepositorySpec> {
    let mut bed = Bed::start().await;
    bed.run(OciRepositories::new);
    bed
}

fn spec(registry: &Server, rest: Value) -> Value {
    let url = format!("oci://{}/team/app", registry.host());
    with(json!({"url": url, "interval": "1h", "insecure": true}), rest)
}

fn revision(object: &OciRepository) -> String {
    artifact(object).unwrap().revision.to_string()
}

/// `ref`, A5: a digest counts before a range, a range before a tag, and without any it is `latest`
#[tokio::test]
async fn of_digest_range_and_tag_the_most_exact_counts() {
    let registry = Server::start();
    let push = |tag: &str| registry.push("team/app", tag, &Artifact::files(&[("a", tag)]));
    let [latest, one, two, canary] = ["latest", "1.0.0", "1.1.0", "1.2.0-canary.1"].map(push);
    let bed = started().await;
    let all = json!({"digest": one, "semver": "1.x", "tag": "latest"});
    for (name, reference, expected) in [
        ("none", Value::Null, format!("latest@{latest}")),
        ("tag", json!({"tag": "1.0.0"}), format!("1.0.0@{one}")),
        ("all", all, one.clone()),
        (
            "range",
            json!({"semver": "1.x", "tag": "latest"}),
            format!("1.1.0@{two}"),
        ),
        (
            "filter",
            json!({"semver": ">=1.0.0-0", "semverFilter": ".*-canary.*"}),
            format!("1.2.0-canary.1@{canary}"),
        ),
    ] {
        bed.create(name, spec(&registry, json!({"ref": reference}))).await;
        let object = bed.ready(name, "True", "Succeeded").await;
        assert_eq!(revision(&object), expected, "{name}");
    }
}

/// O1, O2: a poll asks for the digest and nothing else, and says who asks
#[tokio::test]
async fn a_poll_asks_for_the_digest_only() {
    let registry = Server::start();
    registry.push("team/app", "latest", &Artifact::files(&[("a", "1")]));
    let bed = started().await;
    bed.create("app", spec(&registry, json!({}))).await;
    bed.ready("app", "True", "Succeeded").await;
    let pulled = registry.requests();
    let by_digest = |path: &str| path.contains("sha256:");
    let later = pulled.iter().filter(|request| request.method == Method::GET);
    let later: Vec<&str> = later.map(|request| request.path.as_str()).collect();
    assert!(
        later
            .iter()
            .filter(|path| path.contains("/team/app/"))
            .all(|path| by_digest(path)),
        "what is pulled is pulled by its digest: {later:?}"
    );
    assert!(
        pulled
            .iter()
            .all(|request| request.header("user-agent") == "flux/v2")
    );
    registry.forget_requests();
    bed.recovers("app").await;
    let polled = registry.requests();
    assert_eq!(polled.len(), 1);
    assert_eq!(polled[0].method, Method::HEAD);
    let change = json!({"ignore": "b\n", "layerSelector": {"operation": "extract"}});
    bed.patch("app", json!({"spec": change})).await;
    let status = bed.recovers("app").await.status.unwrap();
    assert_eq!(status.observed_ignore.as_deref(), Some("b\n"));
    assert!(status.observed_layer_selector.is_some());
}

/// O3: a chart's version has a plus where its tag has an underscore
#[tokio::test]
async fn versions_of_charts_have_a_plus_for_an_underscore() {
    let registry = Server::start();
    let chart = Chart::new("app", "1.2.0+build.5");
    let digest = registry.push("team/app", "1.2.0_build.5", &chart.artifact());
    let bed = started().await;
    let media_type = "application/vnd.cncf.helm.chart.content.v1.tar+gzip";
    let rest = json!({
        "ref": {"semver": "1.x"}, "layerSelector": {"mediaType": media_type, "operation": "copy"},
    });
    bed.create("app", spec(&registry, rest)).await;
    let object = bed.ready("app", "True", "Succeeded").await;
    assert_eq!(revision(&object), format!("1.2.0_build.5@{digest}"));
    let mut stored = Vec::new();
    let mut file = bed.store.read(&artifact(&object).unwrap()).unwrap();
    file.read_to_end(&mut stored).unwrap();
    assert_eq!(stored, chart.archive(), "the chart is as it was pushed");
}

/// `layerSelector`, O5: the first layer of a type is taken, or the first at all
#[tokio::test]
async fn the_first_layer_of_a_type_is_taken() {
    let registry = Server::start();
    let tgz = |name: &str| testkit::archive::tgz(&[testkit::archive::File::new(name, "x")]);
    let pushed = Artifact::empty("application/x")
        .layer("text/one", tgz("one"))
        .layer("text/two", tgz("two"))
        .layer("text/two", tgz("three"));
    registry.push("team/app", "latest", &pushed);
    let bed = started().await;
    bed.create("any", spec(&registry, json!({}))).await;
    let object = bed.ready("any", "True", "Succeeded").await;
    assert_eq!(bed.names(artifact(&object).as_ref()), [".", "one"]);
    let rest = json!({"layerSelector": {"mediaType": "text/two"}});
    bed.create("two", spec(&registry, rest)).await;
    let object = bed.ready("two", "True", "Succeeded").await;
    assert_eq!(bed.names(artifact(&object).as_ref()), [".", "two"]);
}

/// O6, and that links never reach an artifact
#[tokio::test]
async fn a_layer_is_packed_anew_by_our_rules() {
    let registry = Server::start();
    let gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    let mut archive = tar::Builder::new(gzip);
    let mut link = tar::Header::new_gnu();
    link.set_entry_type(tar::EntryType::Symlink);
    link.set_size(0);
    archive.append_link(&mut link, "link", "/etc/passwd").unwrap();
    for (name, mode) in [("run.sh", 0o755), ("app.yaml", 0o644), ("logo.png", 0o644)] {
        let mut header = tar::Header::new_gnu();
        header.set_size(1);
        header.set_mode(mode);
        header.set_mtime(1_700_000_000);
        archive.append_data(&mut header, name, b"x".as_slice()).unwrap();
    }
    let layer = archive.into_inner().unwrap().finish().unwrap();
    let pushed = Artifact::empty("application/x").layer("any/type", layer);
    registry.push("team/app", "latest", &pushed);
    let bed = started().await;
    bed.create("app", spec(&registry, json!({}))).await;
    let object = bed.ready("app", "True", "Succeeded").await;
    let file = bed.store.read(&artifact(&object).unwrap()).unwrap();
    let mut stored = tar::Archive::new(flate2::read::GzDecoder::new(file));
    let entries = stored.entries().unwrap().map(|entry| {
        let entry = entry.unwrap();
        let header = entry.header();
        let name = entry.path().unwrap().display().to_string();
        assert_eq!((header.uid().unwrap(), header.mtime().unwrap()), (0, 0), "{name}");
        (name, header.mode().unwrap() & 0o777)
    });
    let entries: Vec<(String, u32)> = entries.collect();
    let expected = [(".", 0o750), ("app.yaml", 0o600), ("run.sh", 0o700)];
    assert_eq!(entries, expected.map(|(name, mode)| (name.to_owned(), mode)));
}
