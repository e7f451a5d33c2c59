//! Containers of Azure Blob Storage: the rows Bucket.provider and Bucket.secretRef, and AU8.

use api::source::BucketSpec;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use controllers::sources::Buckets;
use p12_keystore::{KeyStore, KeyStoreEntry, PrivateKey, PrivateKeyChain};
use serde_json::{Value, json};
use source::identity::Identities;
use testkit::azure::{Blobs, Certificate, Server, assertion_of, directory};
use testkit::http::{self, Builder, Reply, Request};

use super::{identities, is_reader, token_file, trust};
use crate::sources::bad_input::{artifact, with};
use crate::sources::bed::{Bed, condition, nobody};

/// What the directory gives for Blob Storage.
const TOKEN: &str = "aad:https://storage.azure.com/.default";

fn filled(builder: Builder<Blobs>) -> Server {
    let server = builder.start();
    server.put("manifests", "apps/a b.yaml", "replicas: 1\n");
    server.put("manifests", "apps/c&d.yaml", "x\n");
    server.put("manifests", "notes.md", "y\n");
    server.put("manifests", ".sourceignore", "*.md\n");
    server
}

fn spec(store: &Server, rest: Value) -> Value {
    let spec = json!({
        "provider": "azure", "endpoint": store.url(), "bucketName": "manifests", "interval": "1h",
    });
    with(spec, rest)
}

async fn started(identities: Identities) -> Bed<BucketSpec> {
    let mut bed = Bed::<BucketSpec>::start().await;
    bed.shared.identities = identities;
    bed.run(Buckets::new);
    bed
}

impl Bed<BucketSpec> {
    /// Reads a container as the Secret of this content.
    async fn with_secret(&self, name: &str, store: &Server, data: Value) {
        self.secret(name, "Opaque", data).await;
        self.create(name, spec(store, json!({"secretRef": {"name": name}})))
            .await;
    }

    /// Adds what is no text to a Secret.
    async fn add_to_secret(&self, name: &str, data: Value) {
        let api: kube::Api<k8s_openapi::api::core::v1::Secret> =
            kube::Api::namespaced(self.cluster.client(), &self.namespace);
        let patch = kube::api::Patch::Merge(json!({ "data": data }));
        api.patch(name, &Default::default(), &patch).await.unwrap();
    }

    async fn is_stored(&self, name: &str) {
        let object = self.ready(name, "True", "Succeeded").await;
        let names = self.names(artifact(&object).as_ref());
        assert_eq!(
            names,
            [".", ".sourceignore", "apps", "apps/a b.yaml", "apps/c&d.yaml"],
            "{name}"
        );
    }

    async fn is_refused(&self, name: &str, reason: &str) -> String {
        let object = self.ready(name, "False", reason).await;
        assert!(artifact(&object).is_none());
        let message = condition(&object, "Ready").unwrap().message;
        assert!(!message.contains("geheim"), "{message}");
        message
    }
}

/// Bucket.secretRef of Azure: `sasKey` and `accountKey`
#[tokio::test]
async fn a_container_is_read_with_a_signature_or_the_key_of_the_account() {
    let bed = started(nobody()).await;
    let signed = filled(Server::builder().sas("sv=2023&sig=a%2Bb%3D"));
    bed.with_secret("sas", &signed, json!({"sasKey": "?sv=2023&sig=a%2Bb%3D"}))
        .await;
    bed.is_stored("sas").await;
    bed.with_secret("wrong-sas", &signed, json!({"sasKey": "?sv=2023&sig=geheim"}))
        .await;
    let message = bed.is_refused("wrong-sas", "BucketOperationFailed").await;
    assert!(message.contains("AuthenticationFailed"), "{message}");

    // The account is the first part of the host, which is that of this machine here.
    let keyed = filled(Server::builder().account_key("127", "c2NobHVlc3NlbA=="));
    bed.with_secret("key", &keyed, json!({"accountKey": "c2NobHVlc3NlbA=="}))
        .await;
    bed.is_stored("key").await;
    for (name, key) in [("wrong-key", "Z2VoZWlt"), ("no-base64", "geheim!")] {
        bed.with_secret(name, &keyed, json!({ "accountKey": key })).await;
        bed.is_refused(name, "BucketOperationFailed").await;
    }
}

/// A certificate and its key in a PKCS #12 file.
fn pkcs12(known: &Certificate, password: &str) -> Vec<u8> {
    let (certificate, key) = known.der();
    let key = PrivateKey::from_der(&key).unwrap();
    let certificate = p12_keystore::Certificate::from_der(&certificate).unwrap();
    let mut file = KeyStore::new();
    let chain = PrivateKeyChain::new(vec![1; 20], key, [certificate]);
    file.add_entry("app", KeyStoreEntry::PrivateKeyChain(chain));
    file.writer(password).write().unwrap()
}

/// Bucket.secretRef of Azure: an application with a secret or a certificate, at `authorityHost`; `clientCertificatePassword`
#[tokio::test]
async fn a_container_is_read_as_an_application() {
    let store = filled(Server::builder().bearer(TOKEN));
    let known = Certificate::default();
    let (plain, chain) = (known.clone(), known.clone());
    let by_secret = directory(|request| {
        let secret = request.form().remove("client_secret");
        secret.as_deref() == Some("app-geheim")
    });
    let by_certificate = directory(move |request| plain.is_shown_by(request, false));
    let by_chain = directory(move |request| chain.is_shown_by(request, true));
    let bed = started(nobody()).await;
    let application = |authority: &str, rest: Value| {
        let data = json!({"tenantId": "tenant-1", "clientId": "client-1", "authorityHost": authority});
        with(data, rest)
    };
    let secret = |text: &str| application(&by_secret.url(), json!({ "clientSecret": text }));
    bed.with_secret("secret", &store, secret("app-geheim")).await;
    bed.is_stored("secret").await;
    bed.with_secret("wrong-secret", &store, secret("other-geheim"))
        .await;
    let message = bed.is_refused("wrong-secret", "BucketOperationFailed").await;
    assert!(message.contains("401 invalid_client"), "{message}");

    let pem = known.pem();
    let certificate = json!({ "clientCertificate": pem });
    bed.with_secret(
        "certificate",
        &store,
        application(&by_certificate.url(), certificate),
    )
    .await;
    bed.is_stored("certificate").await;
    let chained = json!({"clientCertificate": pem, "clientCertificateSendChain": "true"});
    bed.with_secret("chain", &store, application(&by_chain.url(), chained))
        .await;
    bed.is_stored("chain").await;
    for (name, password, given) in [
        ("pkcs12", "geheim", Some("geheim")),
        ("open-pkcs12", "", None),
        ("wrong-pkcs12", "geheim", Some("geheim-2")),
    ] {
        let mut rest = json!({});
        if let Some(given) = given {
            rest = json!({ "clientCertificatePassword": given });
        }
        bed.secret(
            name,
            "Opaque",
            application(
                &by_chain.url(),
                with(rest, json!({"clientCertificateSendChain": "1"})),
            ),
        )
        .await;
        let file = STANDARD.encode(pkcs12(&known, password));
        bed.add_to_secret(name, json!({ "clientCertificate": file }))
            .await;
        bed.create(name, spec(&store, json!({"secretRef": {"name": name}})))
            .await;
    }
    bed.is_stored("pkcs12").await;
    bed.is_stored("open-pkcs12").await;
    let message = bed.is_refused("wrong-pkcs12", "AuthenticationFailed").await;
    assert!(message.contains("'clientCertificatePassword'"), "{message}");
    let stranger = json!({"clientCertificate": Certificate::default().pem()});
    bed.with_secret("stranger", &store, application(&by_certificate.url(), stranger))
        .await;
    bed.is_refused("stranger", "BucketOperationFailed").await;
    let key = "-----BEGIN ENCRYPTED PRIVATE KEY-----\nAAAA\n-----END ENCRYPTED PRIVATE KEY-----\n";
    let encrypted = json!({"clientCertificate": key, "clientCertificatePassword": "geheim"});
    bed.with_secret("encrypted", &store, application(&by_certificate.url(), encrypted))
        .await;
    let message = bed.is_refused("encrypted", "AuthenticationFailed").await;
    assert!(
        message.contains("/encrypted'") && message.contains("is encrypted"),
        "{message}"
    );
}

/// Bucket.secretRef of Azure: the identity of the machine that `clientId` names; what is in none of the forms
#[tokio::test]
async fn a_container_is_read_as_an_identity_of_the_machine() {
    let store = filled(Server::builder().bearer("client-2@https://storage.azure.com"));
    let machine = http::Server::serve(|request: &Request| {
        let (client, resource) = (request.query("client_id"), request.query("resource"));
        let token = format!("{}@{}", client.unwrap_or_default(), resource.unwrap_or_default());
        Reply::json(json!({"access_token": token, "expires_in": "3600"}).to_string())
    });
    let here = identities(&[], |settings| {
        settings.endpoints.azure_metadata = Some(machine.url());
        trust(settings, "azure-storage", &store.url());
    });
    let bed = started(here).await;
    bed.with_secret("machine", &store, json!({"clientId": "client-2"}))
        .await;
    bed.is_stored("machine").await;
    bed.with_secret("other", &store, json!({"clientId": "client-3"}))
        .await;
    bed.is_refused("other", "BucketOperationFailed").await;
    bed.with_secret("none", &store, json!({"tenantId": "tenant-1"}))
        .await;
    let message = bed.is_refused("none", "AuthenticationFailed").await;
    assert!(
        message.contains("/none' must have 'tenantId', 'clientId'"),
        "{message}"
    );
}

/// AU8, Bucket.provider: the token that the webhook mounts, and a ServiceAccount of the object
#[tokio::test]
async fn a_container_is_read_as_a_workload() {
    let store = filled(Server::builder().bearer(TOKEN));
    let of_pod = directory(|request| assertion_of(request).as_deref() == Some("mounted-geheim"));
    let (_file, path) = token_file("mounted-geheim");
    let url = of_pod.url();
    let variables = [
        ("AZURE_FEDERATED_TOKEN_FILE", path.as_str()),
        ("AZURE_CLIENT_ID", "client-1"),
        ("AZURE_TENANT_ID", "tenant-1"),
        ("AZURE_AUTHORITY_HOST", url.as_str()),
    ];
    let bed = started(identities(&variables, |settings| {
        trust(settings, "azure-storage", &store.url());
    }))
    .await;
    bed.create("pod", spec(&store, json!({}))).await;
    bed.is_stored("pod").await;
    bed.create("closed", spec(&store, json!({"serviceAccountName": "reader"})))
        .await;
    bed.is_refused("closed", "FeatureGateDisabled").await;

    let mut bed = Bed::<BucketSpec>::start().await;
    let namespace = bed.namespace.clone();
    let of_account = directory(move |request| {
        let assertion = assertion_of(request).unwrap_or_default();
        is_reader(&assertion, &namespace, "api://AzureADTokenExchange")
    });
    bed.shared.identities = identities(&[], |settings| {
        settings.endpoints.azure_authority = Some(of_account.url());
        trust(settings, "azure-storage", &store.url());
    });
    bed.shared.settings.object_level_workload_identity = true;
    let annotations = json!({
        "azure.workload.identity/tenant-id": "tenant-1", "azure.workload.identity/client-id": "client-1",
    });
    bed.service_account("reader", annotations).await;
    bed.run(Buckets::new);
    bed.create("account", spec(&store, json!({"serviceAccountName": "reader"})))
        .await;
    bed.is_stored("account").await;
}

/// A3, A5, B1, B3: containers are followed, and prefix and rules count, as of other buckets
#[tokio::test]
async fn a_container_is_followed() {
    let store = filled(Server::builder());
    let bed = started(nobody()).await;
    // Someone is needed, though this storage asks for nobody.
    bed.with_secret("files", &store, json!({"sasKey": "sig=a"})).await;
    bed.is_stored("files").await;
    store.put("manifests", "more.yaml", "");
    let object = bed.recovers("files").await;
    assert!(
        bed.names(artifact(&object).as_ref())
            .contains(&"more.yaml".to_owned())
    );
    let rest = json!({"secretRef": {"name": "files"}, "prefix": "apps/", "ignore": "c*\n"});
    bed.create("few", spec(&store, rest)).await;
    let object = bed.ready("few", "True", "Succeeded").await;
    let names = bed.names(artifact(&object).as_ref());
    assert_eq!(names, [".", ".sourceignore", "apps", "apps/a b.yaml"]);
    let rest = json!({"secretRef": {"name": "files"}, "bucketName": "none"});
    bed.create("none", spec(&store, rest)).await;
    let message = bed.is_refused("none", "BucketOperationFailed").await;
    assert!(message.contains("none"), "{message}");
}
