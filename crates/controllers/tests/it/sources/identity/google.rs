//! Buckets of Google Cloud Storage: the rows Bucket.provider and Bucket.secretRef, and AU8.

use api::source::BucketSpec;
use controllers::sources::Buckets;
use serde_json::{Value, json};
use testkit::gcp::{self, Account, Server};

use super::{identities, is_reader, token_file, trust};
use crate::sources::bad_input::{artifact, with};
use crate::sources::bed::{Bed, condition};

const READ: &str = "https://www.googleapis.com/auth/devstorage.read_only";

/// Storage for the holder of a token.
fn filled(token: &str) -> Server {
    let server = Server::builder().bearer(token).start();
    server.put("manifests", "apps/a b.yaml", "replicas: 1\n");
    server.put("manifests", "apps/c.yaml", "x\n");
    server.put("manifests", "notes.md", "y\n");
    server.put("manifests", ".sourceignore", "*.md\n");
    server
}

fn spec(store: &Server, rest: Value) -> Value {
    let spec = json!({
        "provider": "gcp", "bucketName": "manifests", "endpoint": store.host(), "insecure": true, "interval": "1h",
    });
    with(spec, rest)
}

impl Bed<BucketSpec> {
    async fn has_objects(&self, name: &str) {
        let object = self.ready(name, "True", "Succeeded").await;
        let names = self.names(artifact(&object).as_ref());
        assert_eq!(
            names,
            [".", ".sourceignore", "apps", "apps/a b.yaml", "apps/c.yaml"],
            "{name}"
        );
    }
}

/// Bucket.secretRef of Google: `serviceaccount`, the key file of an account; the bucket is followed
#[tokio::test]
async fn a_bucket_of_google_is_read_with_a_key_file_and_followed() {
    let store = filled("keyed");
    let account = Account::default();
    let tokens = account.token_server("keyed", READ);
    let mut bed = Bed::<BucketSpec>::start().await;
    bed.run(Buckets::new);
    let good = account.key_file(&tokens.url());
    bed.secret("good", "Opaque", json!({ "serviceaccount": good }))
        .await;
    let of = |secret: &str| json!({"secretRef": {"name": secret}});
    for name in ["one", "two"] {
        bed.create(name, spec(&store, of("good"))).await;
        bed.has_objects(name).await;
    }
    assert_eq!(tokens.requests().len(), 1, "the token is kept for all");
    store.put("manifests", "more.yaml", "");
    let object = bed.recovers("one").await;
    assert!(
        bed.names(artifact(&object).as_ref())
            .contains(&"more.yaml".to_owned())
    );
    let rest = json!({"secretRef": {"name": "good"}, "prefix": "apps/", "ignore": "c*\n"});
    bed.create("few", spec(&store, rest)).await;
    let object = bed.ready("few", "True", "Succeeded").await;
    let names = bed.names(artifact(&object).as_ref());
    assert_eq!(names, [".", ".sourceignore", "apps", "apps/a b.yaml"]);

    let stranger = Account::default().key_file(&tokens.url());
    for (name, data, reason, told) in [
        (
            "stranger",
            json!({ "serviceaccount": stranger }),
            "BucketOperationFailed",
            "invalid_grant",
        ),
        (
            "no-file",
            json!({"serviceaccount": "geheim"}),
            "AuthenticationFailed",
            "JSON",
        ),
        (
            "no-key",
            json!({"other": "geheim"}),
            "AuthenticationFailed",
            "has no key 'serviceaccount'",
        ),
    ] {
        bed.secret(name, "Opaque", data).await;
        bed.create(name, spec(&store, of(name))).await;
        let object = bed.ready(name, "False", reason).await;
        let message = condition(&object, "Ready").unwrap().message;
        assert!(message.contains(told), "{name}: {message}");
        assert!(
            !message.contains("geheim") && !message.contains("PRIVATE KEY"),
            "{message}"
        );
    }
}

/// AU8, Bucket.provider: the node's account, a key file of the process, and a ServiceAccount of the object
#[tokio::test]
async fn a_bucket_of_google_is_read_as_a_workload() {
    let (node, store) = (gcp::metadata(), filled("node"));
    let mut bed = Bed::<BucketSpec>::start().await;
    bed.shared.identities = identities(&[], |settings| {
        settings.endpoints.gcp_metadata = Some(node.url());
        trust(settings, "google-storage", &store.url());
    });
    bed.run(Buckets::new);
    bed.create("node", spec(&store, json!({}))).await;
    bed.has_objects("node").await;

    let (account, store) = (Account::default(), filled("filed"));
    let tokens = account.token_server("filed", gcp::SCOPES);
    let (_file, path) = token_file(&account.key_file(&tokens.url()));
    let mut bed = Bed::<BucketSpec>::start().await;
    bed.shared.identities = identities(&[("GOOGLE_APPLICATION_CREDENTIALS", path.as_str())], |settings| {
        trust(settings, "google-storage", &store.url())
    });
    bed.run(Buckets::new);
    bed.create("file", spec(&store, json!({}))).await;
    bed.has_objects("file").await;

    let (store, acting) = (filled("acting"), gcp::acting("2090-01-01T00:00:00Z"));
    let mut bed = Bed::<BucketSpec>::start().await;
    let namespace = bed.namespace.clone();
    let audience = "identitynamespace:project.svc.id.goog:https://container.googleapis.com/v1/projects/project/locations/europe-west1/clusters/main";
    let scope = gcp::SCOPES.split(' ').next().unwrap();
    let exchange = gcp::exchange(audience, scope, move |token| {
        is_reader(token, &namespace, "project.svc.id.goog")
    });
    bed.shared.identities = identities(&[], |settings| {
        settings.endpoints.gcp_metadata = Some(node.url());
        settings.endpoints.gcp_sts = Some(exchange.url());
        settings.endpoints.gcp_iam = Some(acting.url());
        trust(settings, "google-storage", &store.url());
    });
    bed.shared.settings.object_level_workload_identity = true;
    bed.service_account("reader", json!({"iam.gke.io/gcp-service-account": gcp::EMAIL}))
        .await;
    bed.run(Buckets::new);
    bed.create("account", spec(&store, json!({"serviceAccountName": "reader"})))
        .await;
    bed.has_objects("account").await;
}
