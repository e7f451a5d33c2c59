//! Buckets that cannot be read.

use api::source::BucketSpec;
use controllers::sources::Buckets;
use serde_json::json;
use testkit::http::Fault;
use testkit::s3::{Key, Server};
use testkit::tls::Authority;

use super::with;
use crate::sources::bed::Bed;

const FETCH: &str = "FetchFailed";
const REASON: &str = "BucketOperationFailed";

async fn started() -> Bed<BucketSpec> {
    let mut bed = Bed::start().await;
    bed.run(Buckets::new);
    let keys = json!({"accesskey": "access", "secretkey": "geheim"});
    bed.secret("keys", "Opaque", keys).await;
    bed
}

#[tokio::test]
async fn a_bucket_that_is_closed_gone_or_fails() {
    let store = Server::builder().key("access", "geheim").start();
    store.bucket("manifests").put("a", "some content");
    let bed = started().await;
    let spec = json!({
        "endpoint": store.host(), "bucketName": "manifests", "interval": "1h", "insecure": true,
        "secretRef": {"name": "keys"}, "timeout": "1s",
    });
    bed.create("files", spec).await;
    bed.ready("files", "True", "Succeeded").await;
    store.set_keys(&[Key::new("access", "rotated")]);
    bed.fails("files", FETCH, REASON, &["manifests", "check the credentials"])
        .await;
    bed.change_secret("keys", json!({"secretkey": "rotated"})).await;
    bed.recovers("files").await;
    bed.patch("files", json!({"spec": {"bucketName": "gone"}})).await;
    bed.fails("files", FETCH, REASON, &["bucket 'gone' not found"])
        .await;
    bed.patch("files", json!({"spec": {"bucketName": "manifests"}}))
        .await;
    bed.recovers("files").await;
    store.bucket("manifests").put("b", "more");
    for fault in [Fault::status(500), Fault::truncate(5), Fault::hang()] {
        store.heal();
        store.fail(fault.forever());
        bed.fails("files", FETCH, REASON, &["manifests"]).await;
    }
}

#[tokio::test]
async fn a_bucket_whose_certificate_is_not_trusted() {
    let authority = Authority::default();
    let store = Server::builder().key("access", "geheim").tls(&authority).start();
    store.bucket("manifests").put("a", "some content");
    let bed = started().await;
    bed.secret("ca", "Opaque", json!({"ca.crt": authority.pem()}))
        .await;
    let spec = json!({
        "endpoint": store.host(), "bucketName": "manifests", "interval": "1h", "secretRef": {"name": "keys"},
    });
    let spec = with(spec, json!({"certSecretRef": {"name": "ca"}}));
    bed.create("files", spec).await;
    bed.ready("files", "True", "Succeeded").await;
    let stranger = Authority::new("somebody else");
    bed.change_secret("ca", json!({"ca.crt": stranger.pem()})).await;
    bed.fails("files", FETCH, REASON, &["manifests", "certificate"])
        .await;
    bed.change_secret("ca", json!({"ca.crt": authority.pem()})).await;
    bed.recovers("files").await;
}
