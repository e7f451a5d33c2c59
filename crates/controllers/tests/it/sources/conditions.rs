//! What statuses come to: the order of conditions, what `Ready` follows from, how failures are tried again, and what lies beside
//! an artifact.

use std::time::{Duration, Instant};

use api::source::{BucketSpec, GitRepositorySpec, OciRepositorySpec};
use api::{Object, ReconcileStatus, Spec};
use controllers::sources::{Buckets, GitRepositories, OciRepositories};
use serde_json::json;
use testkit::git;
use testkit::http::{Fault, Method};
use testkit::oci::{Artifact, Server};
use testkit::s3;

use super::bad_input::artifact;
use super::bed::{Bed, condition};
use super::follow::shown;

fn kinds<S: Spec<Status: ReconcileStatus>>(object: &Object<S>) -> Vec<String> {
    let conditions = object.status.as_ref().unwrap().conditions();
    conditions.iter().map(|one| one.kind.clone()).collect()
}

/// C2, C9: `Ready` is what is stored, unless something is wrong, of which a bad signature weighs most; the conditions stand in
/// their order
#[tokio::test]
async fn ready_follows_from_the_other_conditions_which_stand_in_order() {
    let registry = Server::start();
    registry.push("team/app", "latest", &Artifact::files(&[("a", "1")]));
    let mut bed = Bed::<OciRepositorySpec>::start().await;
    bed.run(OciRepositories::new);
    let url = format!("oci://{}/team/app", registry.host());
    bed.create("app", json!({"url": url, "interval": "1h", "insecure": true}))
        .await;
    let object = bed.ready("app", "True", "Succeeded").await;
    assert_eq!(kinds(&object), ["Ready", "ArtifactInStorage"]);
    let (ready, stored) = (
        condition(&object, "Ready"),
        condition(&object, "ArtifactInStorage"),
    );
    assert_eq!(ready.unwrap().message, stored.unwrap().message);

    registry.fail(Fault::status(500).forever());
    let words = ["failed to determine artifact digest"];
    let reason = "OCIArtifactPullFailed";
    let object = bed.fails("app", "FetchFailed", reason, &words).await;
    let order = ["Reconciling", "Ready", "ArtifactInStorage", "FetchFailed"];
    assert_eq!(
        kinds(&object),
        order,
        "those of one generation stand by their names"
    );
    registry.heal();
    bed.recovers("app").await;

    // Nobody signed: that weighs more than that there is an artifact.
    let key = rcgen::KeyPair::generate().unwrap().public_key_pem();
    bed.secret("keys", "Opaque", json!({"a.pub": key})).await;
    let verify = json!({"spec": {"verify": {"provider": "cosign", "secretRef": {"name": "keys"}}}});
    bed.patch("app", verify).await;
    let object = bed.ready("app", "False", "VerificationError").await;
    assert_eq!(shown(&object, "ArtifactInStorage"), "True/Succeeded");
    let (ready, verified) = (condition(&object, "Ready"), condition(&object, "SourceVerified"));
    assert_eq!(ready.unwrap().message, verified.unwrap().message);
    let order = ["Reconciling", "Ready", "SourceVerified", "ArtifactInStorage"];
    assert_eq!(kinds(&object), order, "those of the newer generation stand first");

    // What only a change can mend is stalled, and no longer reconciling.
    bed.patch(
        "app",
        json!({"spec": {"url": format!("{url}:tag"), "verify": null}}),
    )
    .await;
    let object = bed.ready("app", "False", "URLInvalid").await;
    let order = ["Stalled", "Ready", "FetchFailed"];
    assert_eq!(kinds(&object)[..3], order.map(str::to_owned));
}

/// D7, trap 16: failures wait twice as long each time, and a success begins anew
#[tokio::test]
async fn failures_are_tried_again_after_longer_and_longer_waits() {
    let server = git::Server::start();
    server.repository("app").commit("main", "Start", [("a", "1")]);
    server.fail(Fault::status(503).forever());
    let mut bed = Bed::<GitRepositorySpec>::start().await;
    bed.run(GitRepositories::new);
    let spec = json!({"url": server.clone_url("app"), "interval": "1h", "ref": {"branch": "main"}});
    bed.create("app", spec).await;
    let attempt = async |seen: usize| {
        let made = testkit::settled(testkit::DEADLINE, server.changes(), async || {
            match server.requests().len() > seen {
                true => Ok(Instant::now()),
                false => Err("nobody asked"),
            }
        });
        made.await.unwrap()
    };
    let mut times = vec![attempt(0).await];
    for seen in 1..4 {
        times.push(attempt(seen).await);
    }
    let gaps: Vec<Duration> = times.windows(2).map(|pair| pair[1] - pair[0]).collect();
    for (gap, least) in gaps.iter().zip([700, 1400, 2900]) {
        assert!(*gap >= Duration::from_millis(least), "{gaps:?}");
    }
    server.heal();
    bed.ready("app", "True", "Succeeded").await;
}

/// A7, A8: beside an artifact lies the link to it and nothing else
#[tokio::test]
async fn beside_an_artifact_is_nothing_but_its_link() {
    let registry = Server::start();
    let mut bed = Bed::<OciRepositorySpec>::start().await;
    bed.run(OciRepositories::new);
    registry.push("team/app", "latest", &Artifact::files(&[("a", "1")]));
    let url = format!("oci://{}/team/app", registry.host());
    bed.create("app", json!({"url": url, "interval": "1h", "insecure": true}))
        .await;
    bed.ready("app", "True", "Succeeded").await;
    registry.push("team/app", "latest", &Artifact::files(&[("a", "2")]));
    bed.recovers("app").await;
    // The next run collects what was replaced.
    let object = bed.recovers("app").await;
    let path = bed.store.root().join(artifact(&object).unwrap().path);
    let mut names: Vec<String> = std::fs::read_dir(path.parent().unwrap())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    let file = path.file_name().unwrap().to_str().unwrap().to_owned();
    assert_eq!(names, ["latest.tar.gz".to_owned(), file.clone()]);
    let link = std::fs::read_link(path.with_file_name("latest.tar.gz")).unwrap();
    assert_eq!(link.to_str().unwrap(), file);
}

/// B3: what is gone between the list and the fetch is not part of the revision
#[tokio::test]
async fn objects_that_vanish_while_a_bucket_is_read_are_left_out() {
    let store = s3::Server::builder().key("access", "geheim").start();
    let bucket = store.bucket("manifests");
    bucket.put("a.yaml", "1");
    let mut bed = Bed::<BucketSpec>::start().await;
    bed.run(Buckets::new);
    let keys = json!({"accesskey": "access", "secretkey": "geheim"});
    bed.secret("keys", "Opaque", keys).await;
    let spec = json!({
        "endpoint": store.host(), "bucketName": "manifests", "interval": "1h", "insecure": true,
        "secretRef": {"name": "keys"},
    });
    bed.create("alone", spec.clone()).await;
    let alone = artifact(&bed.ready("alone", "True", "Succeeded").await).unwrap();
    bucket.put("b.yaml", "2");
    store.fail(Fault::status(404).on("/manifests/b.yaml").forever());
    bed.create("both", spec).await;
    let object = bed.ready("both", "True", "Succeeded").await;
    let both = artifact(&object).unwrap();
    assert_eq!(both.revision, alone.revision);
    assert_eq!(bed.names(Some(&both)), [".", "a.yaml"]);
    let asked = store.requests();
    let fetched = asked
        .iter()
        .filter(|one| one.method == Method::GET && one.path.ends_with("/a.yaml"));
    for request in fetched {
        assert!(
            !request.header("if-match").is_empty(),
            "the tag of the list is asked for"
        );
    }
}
