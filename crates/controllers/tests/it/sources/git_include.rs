//! GitRepository: `include`.

use std::io::Read;

use api::source::GitRepository;
use serde_json::{Value, json};
use testkit::git::Server;

use super::bed::condition;
use super::git_repository::{GitBed, artifact_of, revision, spec, started};

fn files(bed: &GitBed, object: &GitRepository) -> Vec<String> {
    let mut names = bed.names(artifact_of(object));
    names.retain(|name| name != ".");
    names
}

fn text(bed: &GitBed, object: &GitRepository, path: &str) -> String {
    let file = bed.store.read(artifact_of(object).unwrap()).unwrap();
    let mut archive = tar::Archive::new(flate2::read::GzDecoder::new(file));
    let mut entries = archive.entries().unwrap().map(Result::unwrap);
    let mut entry = entries
        .find(|entry| entry.path().unwrap().to_str() == Some(path))
        .unwrap();
    let mut text = String::new();
    entry.read_to_string(&mut text).unwrap();
    text
}

fn include(list: Value) -> Value {
    json!({"include": list})
}

fn ready(object: &GitRepository) -> bool {
    condition(object, "Ready").is_some_and(|ready| ready.status.to_string() == "True")
}

/// `include`, G6: what is included is waited for, copied, and followed: its artifact wakes those that include it.
#[tokio::test]
async fn files_of_other_repositories_are_copied_and_followed() {
    let server = Server::start();
    let (app, base) = (server.repository("team/app"), server.repository("team/base"));
    app.commit("main", "Start", [("app.yaml", "app\n")]);
    let first = base.commit("main", "Start", [("deploy/base.yaml", "1\n"), ("readme", "x")]);
    let bed = started().await;
    let both = include(json!([
        {"repository": {"name": "base"}},
        {"repository": {"name": "base"}, "fromPath": "deploy", "toPath": "./vendor/base/"},
    ]));
    bed.create("app", spec(&server.clone_url("team/app"), both)).await;
    let waiting = bed.ready("app", "False", "NotFound").await;
    assert_eq!(
        condition(&waiting, "IncludeUnavailable").unwrap().message,
        "could not get resource for include 'base': GitRepository.source.toolkit.fluxcd.io \"base\" not found"
    );
    assert_eq!(
        condition(&waiting, "Reconciling").unwrap().reason,
        "ProgressingWithRetry"
    );
    assert_eq!(revision(&waiting), "");
    let often = json!({"interval": "1s"});
    bed.create("base", spec(&server.clone_url("team/base"), often))
        .await;
    let object = bed.until("app", ready).await;
    let wanted = [
        "app.yaml",
        "base",
        "base/deploy",
        "base/deploy/base.yaml",
        "base/readme",
        "vendor",
        "vendor/base",
        "vendor/base/base.yaml",
    ];
    assert_eq!(files(&bed, &object), wanted);
    assert!(condition(&object, "IncludeUnavailable").is_none());
    let status = object.status.clone().unwrap();
    assert_eq!(status.observed_include, object.spec.include);
    let included: Vec<String> = status
        .included_artifacts
        .iter()
        .map(|artifact| artifact.revision.to_string())
        .collect();
    assert_eq!(included, vec![format!("main@sha1:{first}"); 2]);
    let second = base.commit("main", "More", [("deploy/base.yaml", "2\n")]);
    let new = bed
        .until("app", |object| {
            let status = object.status.as_ref().unwrap();
            let included = status.included_artifacts.first();
            included.is_some_and(|included| included.revision.to_string().ends_with(&second.to_string()))
                && ready(object)
        })
        .await;
    assert_eq!(text(&bed, &new, "vendor/base/base.yaml"), "2\n");
    assert_eq!(revision(&new), revision(&object), "its own revision is the same");
    // What is no longer included goes.
    bed.patch("app", json!({"spec": {"include": null}})).await;
    let object = bed
        .until("app", |object| {
            object.status.as_ref().unwrap().observed_generation == Some(2) && ready(object)
        })
        .await;
    assert_eq!(files(&bed, &object), ["app.yaml"]);
    let status = object.status.unwrap();
    assert!(status.observed_include.is_empty() && status.included_artifacts.is_empty());
}

/// `include`: what gzip compresses a thousandfold in our own archive is no bomb.
#[tokio::test]
async fn a_large_file_of_zeros_is_included() {
    let server = Server::start();
    let (app, base) = (server.repository("team/app"), server.repository("team/base"));
    app.commit("main", "Start", [("a", "1")]);
    base.commit("main", "Start", [("disk.img", "\0".repeat(20 << 20).as_str())]);
    let bed = started().await;
    bed.create("base", spec(&server.clone_url("team/base"), json!({})))
        .await;
    let list = include(json!([{"repository": {"name": "base"}}]));
    bed.create("app", spec(&server.clone_url("team/app"), list)).await;
    let object = bed.until("app", ready).await;
    assert_eq!(files(&bed, &object), ["a", "base", "base/disk.img"]);
    assert_eq!(text(&bed, &object, "base/disk.img").len(), 20 << 20);
}

/// `include`: a run that finds nothing new asks once and fetches nothing.
#[tokio::test]
async fn what_is_included_and_did_not_change_is_not_copied_again() {
    let server = Server::start();
    let (app, base) = (server.repository("team/app"), server.repository("team/base"));
    app.commit("main", "Start", [("a", "1")]);
    base.commit("main", "Start", [("b", "1")]);
    let bed = started().await;
    bed.create("base", spec(&server.clone_url("team/base"), json!({})))
        .await;
    bed.until("base", ready).await;
    let list = include(json!([{"repository": {"name": "base"}}]));
    bed.create("app", spec(&server.clone_url("team/app"), list)).await;
    let before = bed.until("app", ready).await;
    let (fetches, asked) = (app.stats().fetches, server.requests().len());
    let after = bed.requested("app", "1").await;
    assert_eq!(app.stats().fetches, fetches);
    assert_eq!(server.requests().len(), asked + 1);
    assert_eq!(artifact_of(&after), artifact_of(&before));
}

/// `include`: nothing gets out of the tree, nothing is overwritten, and the last good artifact stays.
#[tokio::test]
async fn what_does_not_fit_is_refused_and_the_last_artifact_stays() {
    let server = Server::start();
    let (app, base) = (server.repository("team/app"), server.repository("team/base"));
    app.commit("main", "Start", [("own/a", "1")]);
    app.change("main")
        .message("Link")
        .symlink("link", "/etc")
        .commit();
    base.commit("main", "Start", [("b", "1")]);
    let bed = started().await;
    bed.create("base", spec(&server.clone_url("team/base"), json!({})))
        .await;
    bed.create("app", spec(&server.clone_url("team/app"), json!({})))
        .await;
    bed.until("base", ready).await;
    let good = bed.until("app", ready).await;
    for (to, from, says) in [
        ("own", "", "there is something at 'own' already"),
        ("/", "", "already"),
        ("own/a/b", "", "'own/a' is a file"),
        ("new", "none", "there is no file or directory 'none'"),
    ] {
        let list = json!([{"repository": {"name": "base"}, "fromPath": from, "toPath": to}]);
        bed.patch("app", json!({"spec": include(list)})).await;
        let object = bed
            .until("app", |object| {
                condition(object, "StorageOperationFailed")
                    .is_some_and(|failed| failed.message.contains(says))
            })
            .await;
        assert_eq!(condition(&object, "Ready").unwrap().reason, "CopyFailure");
        assert_eq!(
            artifact_of(&object),
            artifact_of(&good),
            "the last good artifact stays"
        );
        bed.store.read(artifact_of(&object).unwrap()).unwrap();
    }
    // What leads out of the tree stays in it, and a link is no way out.
    let list = json!([
        {"repository": {"name": "base"}, "toPath": "../../escaped"},
        {"repository": {"name": "base"}, "toPath": "link/base"},
    ]);
    bed.patch("app", json!({"spec": include(list)})).await;
    let object = bed.until("app", ready).await;
    let wanted = [
        "escaped",
        "escaped/b",
        "link",
        "link/base",
        "link/base/b",
        "own",
        "own/a",
    ];
    assert_eq!(files(&bed, &object), wanted);
}

/// `include`: objects that include each other are told so, instead of growing with each run.
#[tokio::test]
async fn objects_that_include_each_other_are_told_so() {
    let server = Server::start();
    server
        .repository("team/app")
        .commit("main", "Start", [("a", "1")]);
    let bed = started().await;
    let url = server.clone_url("team/app");
    for (name, other) in [
        ("one", "two"),
        ("two", "three"),
        ("three", "one"),
        ("self", "self"),
    ] {
        let list = include(json!([{"repository": {"name": other}}]));
        bed.create(name, spec(&url, list)).await;
    }
    // Those that came first wait for an artifact that cannot come.
    for (name, way) in [
        ("three", "three -> one -> two -> three"),
        ("self", "self -> self"),
    ] {
        let object = bed.ready(name, "False", "Failed").await;
        let message = condition(&object, "IncludeUnavailable").unwrap().message;
        assert!(
            message.contains(&format!("includes this object itself ({way})")),
            "{message}"
        );
    }
    // Nobody wakes itself or the others by saying that it waits.
    let before = bed.api.get("self").await.unwrap();
    let asked = server.requests().len();
    bed.create("last", spec(&url, json!({}))).await;
    bed.until("last", ready).await;
    bed.patch("last", json!({"spec": {"interval": "2h"}})).await;
    bed.until("last", |object| {
        object
            .status
            .as_ref()
            .and_then(|status| status.observed_generation)
            == Some(2)
            && ready(object)
    })
    .await;
    assert!(server.requests().len() > asked);
    let after = bed.api.get("self").await.unwrap();
    assert_eq!(after.metadata.resource_version, before.metadata.resource_version);
    // Once one of them goes without, the others are woken one after the other.
    bed.patch("three", json!({"spec": {"include": null}})).await;
    for name in ["three", "two", "one"] {
        bed.until(name, ready).await;
    }
}
