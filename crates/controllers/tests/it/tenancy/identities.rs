//! Credentials of cloud identities go to the servers of the cloud only, whatever server, proxy or
//! authority an object names.

use api::source::{BucketSpec, GitRepositorySpec, HelmChartSpec, HelmRepositorySpec, OciRepositorySpec};
use api::{Object, ReconcileStatus, Spec};
use controllers::sources::{Buckets, GitRepositories, HelmCharts, OciRepositories};
use serde_json::{Value, json};
use source::http::Proxy;
use source::identity::{Environment, Identities};
use testkit::gcp;
use testkit::http::{Reply, Request, Server, Service, Tunnel};
use testkit::tls::{Authority, Validity};

use crate::sources::bed::{Bed, condition, nobody_settings};

/// A server of a tenant. It answers everything, and keeps what it was sent.
fn server() -> Server<impl Service> {
    Server::serve(|_: &Request| Reply::json(json!({"items": []}).to_string()))
}

/// The machine that Azure manages an identity for.
fn machine() -> Server<impl Service> {
    Server::serve(|_: &Request| {
        Reply::json(json!({"access_token": "machine-token", "expires_in": "3600"}).to_string())
    })
}

/// The identities of a controller that is somebody to all clouds.
fn controller(azure: &str, google: &str) -> Identities {
    let mut settings = nobody_settings(Environment::of([
        ("AWS_ACCESS_KEY_ID", "AKIA"),
        ("AWS_SECRET_ACCESS_KEY", "geheim"),
        ("AWS_REGION", "eu-west-1"),
        ("AWS_ENDPOINT_URL_ECR", "http://ecr.test"),
    ]));
    settings.endpoints.azure_metadata = Some(azure.to_owned());
    settings.endpoints.gcp_metadata = Some(google.to_owned());
    Identities::new(settings)
}

fn refusal<S: Spec<Status: ReconcileStatus>>(object: &Object<S>) -> String {
    let message = condition(object, "Ready").unwrap().message;
    assert!(
        message.contains("credentials of a cloud identity are not sent to '"),
        "{message}"
    );
    assert!(message.contains("--trusted-identity-endpoints"), "{message}");
    assert!(!message.contains("geheim"), "{message}");
    message
}

/// Each of these sent the token, or a request signed with the key, of the controller to the tenant's server.
#[tokio::test]
async fn a_bucket_at_an_endpoint_of_a_tenant_gets_no_credentials() {
    let (evil, machine, node) = (server(), machine(), gcp::metadata());
    let mut bed = Bed::<BucketSpec>::start().await;
    bed.shared.identities = controller(&machine.url(), &node.url());
    bed.run(Buckets::new);
    bed.secret("machine", "Opaque", json!({"clientId": "client-1"}))
        .await;
    let spec = |provider: &str, endpoint: &str, more: Value| {
        let mut spec = json!({
            "provider": provider, "bucketName": "manifests", "endpoint": endpoint, "insecure": true, "interval": "1h",
        });
        spec.as_object_mut()
            .unwrap()
            .extend(more.as_object().unwrap().clone());
        spec
    };
    for (name, provider, endpoint, more) in [
        ("google", "gcp", evil.host(), json!({})),
        ("aws", "aws", evil.host(), json!({})),
        ("azure", "azure", evil.url(), json!({})),
        (
            "azure-machine",
            "azure",
            evil.url(),
            json!({"secretRef": {"name": "machine"}}),
        ),
        // The host is the part after the '@'.
        (
            "login",
            "gcp",
            format!("storage.googleapis.com@{}", evil.host()),
            json!({}),
        ),
    ] {
        bed.create(name, spec(provider, &endpoint, more)).await;
        refusal(&bed.ready(name, "False", "AuthenticationFailed").await);
    }
    assert_eq!(evil.requests().len(), 0);
}

/// With a default account, the controller's own identity is nobody's: an empty name leads to the default too.
#[tokio::test]
async fn an_empty_account_name_is_not_the_identity_of_the_controller() {
    let evil = server();
    let mut bed = Bed::<BucketSpec>::start().await;
    bed.shared.identities = controller(&evil.url(), &evil.url());
    bed.shared.settings.default_service_account = Some("usual".to_owned());
    bed.shared.settings.object_level_workload_identity = true;
    bed.run(Buckets::new);
    for (name, account) in [("empty", json!("")), ("unset", Value::Null)] {
        let spec = json!({
            "provider": "aws", "bucketName": "manifests", "endpoint": "s3.eu-west-1.amazonaws.com", "interval": "1h",
            "serviceAccountName": account,
        });
        bed.create(name, spec).await;
        let object = bed.ready(name, "False", "AuthenticationFailed").await;
        let message = condition(&object, "Ready").unwrap().message;
        // The default account is asked for; this namespace has none.
        assert!(message.contains("ServiceAccount"), "{message}");
        assert!(message.contains("/usual'"), "{message}");
    }
}

/// The name of a managed identity is no secret: a Secret with one led around the account of the object.
#[tokio::test]
async fn an_object_with_an_account_chooses_no_identity_of_the_machine() {
    let (store, machine) = (server(), machine());
    let mut settings = nobody_settings(Environment::default());
    settings.endpoints.azure_metadata = Some(machine.url());
    let endpoint = format!("azure-storage={}", store.url());
    settings.trusted.push(endpoint.parse().unwrap());
    let mut bed = Bed::<BucketSpec>::start().await;
    bed.shared.identities = Identities::new(settings);
    bed.shared.settings.default_service_account = Some("usual".to_owned());
    bed.shared.settings.object_level_workload_identity = true;
    bed.service_account("usual", json!({})).await;
    bed.run(Buckets::new);
    bed.secret("machine", "Opaque", json!({"clientId": "client-1"}))
        .await;
    let spec = json!({
        "provider": "azure", "bucketName": "manifests", "endpoint": store.url(), "insecure": true, "interval": "1h",
        "secretRef": {"name": "machine"},
    });
    bed.create("bucket", spec).await;
    let object = bed.until("bucket", |object| {
        condition(object, "Ready").is_some_and(|ready| ready.status.to_string() == "False")
    });
    let message = condition(&object.await, "Ready").unwrap().message;
    assert!(
        message
            .contains("the managed identity 'client-1' of the machine is not used for the service account"),
        "{message}"
    );
    assert_eq!((store.requests().len(), machine.requests().len()), (0, 0));
}

/// A proxy of the tenant reads everything where the tenant also names the authorities.
#[tokio::test]
async fn a_tenants_authority_and_proxy_read_no_credentials_of_a_bucket() {
    const HOST: &str = "storage.googleapis.com";
    let (authority, node) = (Authority::default(), gcp::metadata());
    let evil = gcp::Server::builder()
        .identity(authority.server(&[HOST], Validity::Current))
        .start();
    let tunnel = Tunnel::to(evil.address());
    let mut bed = Bed::<BucketSpec>::start().await;
    bed.shared.identities = controller("http://127.0.0.1:1", &node.url());
    bed.run(Buckets::new);
    bed.secret("proxy", "Opaque", json!({"address": tunnel.url()}))
        .await;
    bed.secret("ca", "Opaque", json!({"ca.crt": authority.pem()}))
        .await;
    let spec = |more: Value| {
        let mut spec = json!({
            "provider": "gcp", "bucketName": "manifests", "endpoint": HOST, "interval": "1h",
            "proxySecretRef": {"name": "proxy"},
        });
        spec.as_object_mut()
            .unwrap()
            .extend(more.as_object().unwrap().clone());
        spec
    };
    bed.create("both", spec(json!({"certSecretRef": {"name": "ca"}})))
        .await;
    let message = refusal(&bed.ready("both", "False", "AuthenticationFailed").await);
    assert!(message.contains("authorities"), "{message}");
    // With the authorities of the system, the proxy sees an encrypted connection, which ends at the certificate.
    bed.create("proxy", spec(json!({}))).await;
    let object = bed.ready("proxy", "False", "BucketOperationFailed").await;
    let message = condition(&object, "Ready").unwrap().message;
    assert!(message.contains("certificate"), "{message}");
    assert_eq!(evil.requests().len(), 0);
}

#[tokio::test]
async fn a_git_server_of_a_tenant_gets_no_token_of_azure() {
    let (evil, machine) = (server(), machine());
    let mut bed = Bed::<GitRepositorySpec>::start().await;
    bed.shared.identities = controller(&machine.url(), "http://127.0.0.1:1");
    bed.run(GitRepositories::new);
    let authority = Authority::default();
    bed.secret("ca", "Opaque", json!({"ca.crt": authority.pem()}))
        .await;
    for (name, spec) in [
        ("elsewhere", json!({"url": format!("{}/app.git", evil.url())})),
        (
            "plain",
            json!({"url": "http://dev.azure.com/org/project/_git/app"}),
        ),
        (
            "authority",
            json!({"url": "https://dev.azure.com/org/project/_git/app", "secretRef": {"name": "ca"}}),
        ),
    ] {
        let mut spec = spec;
        spec["provider"] = json!("azure");
        spec["interval"] = json!("1h");
        bed.create(name, spec).await;
        refusal(&bed.ready(name, "False", "AuthenticationFailed").await);
    }
    assert_eq!(evil.requests().len() + machine.requests().len(), 0);
}

const REGISTRIES: [(&str, &str); 3] = [
    ("aws", "012345678901.dkr.ecr.eu-west-1.amazonaws.com"),
    ("azure", "team.azurecr.io"),
    ("gcp", "europe-west1-docker.pkg.dev"),
];

/// `insecure` had the login of a whole region sent in the clear, or to whoever showed a certificate.
#[tokio::test]
async fn logins_of_registries_are_not_sent_without_tls_that_the_system_trusts() {
    let (evil, machine, node) = (server(), machine(), gcp::metadata());
    let mut bed = Bed::<OciRepositorySpec>::start().await;
    bed.shared.identities = controller(&machine.url(), &node.url());
    bed.run(OciRepositories::new);
    bed.secret("proxy", "Opaque", json!({"address": evil.url()}))
        .await;
    let authority = Authority::default();
    bed.secret("ca", "Opaque", json!({"ca.crt": authority.pem()}))
        .await;
    for (provider, host) in REGISTRIES {
        for (way, more) in [
            ("insecure", json!({"insecure": true})),
            ("authority", json!({"certSecretRef": {"name": "ca"}})),
        ] {
            let mut spec = json!({
                "url": format!("oci://{host}/team/app"), "interval": "1h", "provider": provider,
                "proxySecretRef": {"name": "proxy"},
            });
            spec.as_object_mut()
                .unwrap()
                .extend(more.as_object().unwrap().clone());
            let name = format!("{provider}-{way}");
            bed.create(&name, spec).await;
            refusal(&bed.ready(&name, "False", "AuthenticationFailed").await);
        }
    }
    assert_eq!(evil.requests().len(), 0);
}

#[tokio::test]
async fn logins_of_chart_registries_are_not_sent_without_tls_that_the_system_trusts() {
    let (clouds, machine, node) = (server(), machine(), gcp::metadata());
    let mut bed = Bed::<HelmChartSpec>::start().await;
    bed.serve::<HelmRepositorySpec>().await;
    bed.shared.identities = controller(&machine.url(), &node.url());
    bed.shared.proxy = Some(Proxy {
        address: clouds.url(),
        login: None,
    });
    bed.run(HelmCharts::new);
    let authority = Authority::default();
    bed.secret("ca", "Opaque", json!({"ca.crt": authority.pem()}))
        .await;
    for (provider, host) in REGISTRIES {
        for (way, more) in [
            ("insecure", json!({"insecure": true})),
            ("authority", json!({"certSecretRef": {"name": "ca"}})),
        ] {
            let mut spec = json!({
                "url": format!("oci://{host}/charts"), "type": "oci", "provider": provider,
            });
            spec.as_object_mut()
                .unwrap()
                .extend(more.as_object().unwrap().clone());
            let name = format!("{provider}-{way}");
            bed.create_other::<HelmRepositorySpec>(&name, spec).await;
            let source = json!({"kind": "HelmRepository", "name": name});
            let spec = json!({"chart": "podinfo", "version": "6.1.0", "interval": "1h", "sourceRef": source});
            bed.create(&name, spec).await;
            refusal(&bed.ready(&name, "False", "Unknown").await);
        }
    }
    assert_eq!(clouds.requests().len(), 0);
}
