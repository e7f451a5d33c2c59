//! Bucket: what is read and what is kept of it.

use api::source::BucketSpec;
use controllers::sources::Buckets;
use serde_json::{Value, json};
use testkit::s3::Server;

use crate::sources::bad_input::{artifact, with};
use crate::sources::bed::Bed;

async fn started() -> Bed<BucketSpec> {
    let mut bed = Bed::start().await;
    bed.run(Buckets::new);
    let keys = json!({"accesskey": "access", "secretkey": "geheim"});
    bed.secret("keys", "Opaque", keys).await;
    bed
}

fn spec(store: &Server, rest: Value) -> Value {
    let spec = json!({
        "endpoint": store.host(), "bucketName": "manifests", "interval": "1h", "insecure": true,
        "secretRef": {"name": "keys"},
    });
    with(spec, rest)
}

/// `region`, `prefix`, `ignore`
#[tokio::test]
async fn the_region_prefix_and_rules_of_a_bucket_count() {
    let builder = Server::builder().key("access", "geheim");
    let store = builder.region("eu-central-1").start();
    let bucket = store.bucket("manifests");
    for key in ["apps/a.yaml", "apps/b.txt", "apps/deep/c.yaml", "infra/d.yaml"] {
        bucket.put(key, "x");
    }
    let bed = started().await;
    let rest = json!({"region": "eu-central-1", "prefix": "apps/", "ignore": "*.txt\n"});
    bed.create("files", spec(&store, rest.clone())).await;
    let object = bed.ready("files", "True", "Succeeded").await;
    let names = bed.names(artifact(&object).as_ref());
    assert_eq!(
        names,
        [".", "apps", "apps/a.yaml", "apps/deep", "apps/deep/c.yaml"]
    );
    let observed = object.status.unwrap().observed_ignore;
    assert_eq!(observed.as_deref(), Some("*.txt\n"));
    let elsewhere = with(rest, json!({"region": "us-west-2"}));
    bed.create("elsewhere", spec(&store, elsewhere)).await;
    bed.ready("elsewhere", "False", "BucketOperationFailed").await;
}

/// B2, B7, A5: the revision is that of the lines `key etag`, without folders and the file of rules
#[tokio::test]
async fn the_revision_of_a_bucket_is_that_of_its_keys_and_tags() {
    let store = Server::builder().key("access", "geheim").start();
    let bucket = store.bucket("manifests");
    let tags = [
        ("b.yaml", bucket.put("b.yaml", "2")),
        ("a.yaml", bucket.put("a.yaml", "1")),
    ];
    bucket.put("folder/", "");
    bucket.put(".sourceignore", "*.md\n");
    let bed = started().await;
    bed.create("files", spec(&store, json!({}))).await;
    let object = bed.ready("files", "True", "Succeeded").await;
    let mut lines = tags.map(|(key, tag)| format!("{key} {}\n", tag.trim_matches('"')));
    lines.sort();
    let mut command = std::process::Command::new("sha256sum");
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("lines");
    std::fs::write(&file, lines.concat()).unwrap();
    let printed = testkit::program::run(command.arg(&file));
    let hex = printed.split(' ').next().unwrap();
    let artifact = artifact(&object).unwrap();
    assert_eq!(artifact.revision.to_string(), format!("sha256:{hex}"));
    let names = bed.names(Some(&artifact));
    assert_eq!(names, [".", ".sourceignore", "a.yaml", "b.yaml"]);
}

/// `suspend`
#[tokio::test]
async fn a_suspended_bucket_is_left_alone() {
    let store = Server::builder().key("access", "geheim").start();
    store.bucket("manifests").put("a", "x");
    let bed = started().await;
    bed.create("files", spec(&store, json!({"suspend": true}))).await;
    bed.requested("files", "now").await;
    assert!(store.requests().is_empty());
    bed.patch("files", json!({"spec": {"suspend": false}})).await;
    bed.ready("files", "True", "Succeeded").await;
}
