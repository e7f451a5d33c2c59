use model::convert::{from_serde, to_serde};
use model::{Artifact, value};

#[test]
fn an_artifact_is_what_stands_in_the_status() {
    let status = value!({
        "digest": "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
        "lastUpdateTime": "2026-01-02T03:04:05Z",
        "metadata": { "org.opencontainers.image.revision": "main@sha1:da39a3ee5e6b4b0d3255bfef95601890afd80709" },
        "path": "gitrepository/flux-system/podinfo/da39a3ee5e6b4b0d3255bfef95601890afd80709.tar.gz",
        "revision": "main@sha1:da39a3ee5e6b4b0d3255bfef95601890afd80709",
        "size": 1024,
        "url": "http://source-controller.flux-system.svc.cluster.local./x.tar.gz",
    });
    let artifact: Artifact = to_serde(&status).unwrap();
    assert_eq!(artifact.revision.name(), Some("main"));
    assert_eq!(from_serde(&artifact).unwrap(), status);
}

#[test]
fn what_may_be_missing_is_left_out() {
    let status =
        value!({ "lastUpdateTime": "2026-01-02T03:04:05Z", "path": "p", "revision": "1.0.0", "url": "u" });
    let artifact: Artifact = to_serde(&status).unwrap();
    assert_eq!(from_serde(&artifact).unwrap(), status);
}

#[test]
fn time_and_place_do_not_make_another_content() {
    let status =
        value!({ "lastUpdateTime": "2026-01-02T03:04:05Z", "path": "p", "revision": "1.0.0", "url": "u" });
    let first: Artifact = to_serde(&status).unwrap();
    let moved = Artifact {
        url: "v".to_owned(),
        last_update_time: "2027-01-01T00:00:00Z".parse().unwrap(),
        ..first.clone()
    };
    assert!(first.has_content_of(&moved));
    let changed = Artifact {
        revision: "1.0.1".parse().unwrap(),
        ..first.clone()
    };
    assert!(!first.has_content_of(&changed));
}
