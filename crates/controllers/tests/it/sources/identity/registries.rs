//! Registries of the clouds, for OCIRepositories and for charts: row AU8 and the field `provider`.

use api::source::{HelmChartSpec, HelmRepositorySpec, OciRepositorySpec};
use base64::Engine;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use controllers::sources::{HelmCharts, OciRepositories};
use serde_json::{Value, json};
use source::http::Proxy;
use source::identity::{Environment, Settings};
use testkit::azure;
use testkit::gcp;
use testkit::helm::Chart;
use testkit::http::{Reply, Request, Server, Service};
use testkit::oci::{Artifact, Registry};

use super::{Identities, identities, is_reader, trust};
use crate::sources::bed::{Bed, condition, nobody_settings};

const AWS: &str = "012345678901.dkr.ecr.eu-west-1.amazonaws.com";
const AZURE: &str = "team.azurecr.io";
const GOOGLE: &str = "europe-west1-docker.pkg.dev";
const PROVIDER: &str = "projects/1234567890/locations/global/workloadIdentityPools/pool/providers/cluster";

/// What Azure gives for a token of its directory.
fn azure_login() -> String {
    let claims = json!({"exp": 4_000_000_000_u64});
    format!("e30.{}.c2ln", URL_SAFE_NO_PAD.encode(claims.to_string()))
}

/// More servers, by their hosts.
type Servers = Vec<(&'static str, Box<dyn Service>)>;

/// A proxy behind which are registries of all clouds, with an artifact and a chart for whoever has the login of that registry,
/// and the servers that give the logins of AWS and Azure.
fn clouds(azure_token: &'static str, google_token: &'static str, more: Servers) -> Server<impl Service> {
    let registry = Registry::default();
    let files = Artifact::files(&[("app.yaml", "replicas: 1\n")]);
    registry.push("team/app", "latest", &files);
    registry.push(
        "charts/podinfo",
        "6.1.0",
        &Chart::new("podinfo", "6.1.0").artifact(),
    );
    Server::serve(move |request: &Request| {
        let host = request.host();
        let password = match host {
            "ecr.test" => {
                let token = STANDARD.encode("AWS:ecr-geheim");
                let login = json!({"authorizationToken": token, "expiresAt": 4_000_000_000.0});
                return Reply::json(json!({ "authorizationData": [login] }).to_string());
            }
            AZURE if request.path() == "/oauth2/exchange" => {
                let fields = [
                    ("grant_type", "access_token"),
                    ("service", AZURE),
                    ("access_token", azure_token),
                ];
                return match request.is_form(&fields) {
                    true => Reply::json(json!({"refresh_token": azure_login()}).to_string()),
                    false => Reply::status(401),
                };
            }
            AWS => "AWS:ecr-geheim".to_owned(),
            AZURE => format!("00000000-0000-0000-0000-000000000000:{}", azure_login()),
            GOOGLE => format!("oauth2accesstoken:{google_token}"),
            host => {
                let found = more.iter().find(|(name, _)| *name == host);
                return found.map_or_else(|| Reply::status(404), |(_, server)| server.reply(request));
            }
        };
        let shown = request.header("authorization");
        match shown == Some(format!("Basic {}", STANDARD.encode(password)).as_str()) {
            true => registry.reply(request),
            false => Reply::status(401).with("www-authenticate", "Basic realm=\"registry\""),
        }
    })
}

fn through(proxy: &str) -> Option<Proxy> {
    Some(Proxy {
        address: proxy.to_owned(),
        login: None,
    })
}

/// The machine that Azure manages an identity for, whose tokens are named after what they are for.
fn azure_machine() -> Server<impl Service> {
    Server::serve(|request: &Request| {
        let resource = request.query("resource").unwrap_or_default();
        Reply::json(json!({"access_token": format!("machine@{resource}"), "expires_in": "3600"}).to_string())
    })
}

/// Trusts the registries without TLS, as they are behind the proxy.
fn trust_registries(settings: &mut Settings) {
    for (service, host) in [
        ("ecr", AWS),
        ("azure-registry", AZURE),
        ("google-registry", GOOGLE),
    ] {
        trust(settings, service, &format!("http://{host}"));
    }
}

/// A process that has a key of AWS and runs on machines of both other clouds.
fn controller(azure: &str, google: &str) -> Identities {
    let keys = [
        ("AWS_ACCESS_KEY_ID", "AKIA"),
        ("AWS_SECRET_ACCESS_KEY", "geheim"),
        ("AWS_ENDPOINT_URL_ECR", "http://ecr.test"),
    ];
    identities(&keys, |settings| {
        settings.endpoints.azure_metadata = Some(azure.to_owned());
        settings.endpoints.azure_registry = Some(format!("http://{AZURE}"));
        settings.endpoints.gcp_metadata = Some(google.to_owned());
        trust_registries(settings);
    })
}

const MACHINE_TOKEN: &str = "machine@https://containerregistry.azure.net";

/// OCIRepository.provider: each cloud gives the login of its registries, and of no others
#[tokio::test]
async fn registries_of_all_clouds_are_read_as_the_controller() {
    let clouds = clouds(MACHINE_TOKEN, "node", Vec::new());
    let (machine, node) = (azure_machine(), gcp::metadata());
    let mut bed = Bed::<OciRepositorySpec>::start().await;
    bed.shared.identities = controller(&machine.url(), &node.url());
    bed.shared.proxy = through(&clouds.url());
    bed.run(OciRepositories::new);
    let spec = |host: &str, provider: &str| {
        json!({
            "url": format!("oci://{host}/team/app"), "interval": "1h", "insecure": true, "provider": provider,
        })
    };
    for (provider, host) in [("aws", AWS), ("azure", AZURE), ("gcp", GOOGLE)] {
        bed.create(provider, spec(host, provider)).await;
        bed.ready(provider, "True", "Succeeded").await;
        let closed = format!("{provider}-anonymous");
        bed.create(&closed, spec(host, "generic")).await;
        bed.ready(&closed, "False", "OCIArtifactPullFailed").await;
        let elsewhere = format!("{provider}-elsewhere");
        bed.create(&elsewhere, spec("ghcr.io", provider)).await;
        let object = bed.ready(&elsewhere, "False", "AuthenticationFailed").await;
        let message = condition(&object, "Ready").unwrap().message;
        let told = format!("failed to get credential from {provider}: invalid ");
        assert!(
            message.starts_with(&told) && message.contains("registry: 'ghcr.io'"),
            "{message}"
        );
        assert!(!message.contains("geheim"), "{message}");
    }
}

/// OCIRepository.provider: the pull secrets that are named count more than the cloud
#[tokio::test]
async fn a_pull_secret_counts_more_than_the_provider() {
    let registry = testkit::oci::Server::builder().basic("ada", "geheim").start();
    registry.push("team/app", "latest", &Artifact::files(&[("a", "1")]));
    let mut bed = Bed::<OciRepositorySpec>::start().await;
    bed.run(OciRepositories::new);
    let config = json!({"auths": {registry.host(): {"username": "ada", "password": "geheim"}}});
    let data = json!({".dockerconfigjson": config.to_string()});
    bed.secret("pull", "kubernetes.io/dockerconfigjson", data).await;
    let spec = json!({
        "url": format!("oci://{}/team/app", registry.host()), "interval": "1h", "insecure": true,
        "provider": "aws", "secretRef": {"name": "pull"},
    });
    bed.create("app", spec).await;
    bed.ready("app", "True", "Succeeded").await;
}

/// HelmRepository.provider: the same for charts
#[tokio::test]
async fn charts_of_registries_of_all_clouds_are_read_as_the_controller() {
    let clouds = clouds(MACHINE_TOKEN, "node", Vec::new());
    let (machine, node) = (azure_machine(), gcp::metadata());
    let mut bed = Bed::<HelmChartSpec>::start().await;
    bed.serve::<HelmRepositorySpec>().await;
    bed.shared.identities = controller(&machine.url(), &node.url());
    bed.shared.proxy = through(&clouds.url());
    bed.run(HelmCharts::new);
    let create = async |name: &str, host: &str, provider: &str| {
        let url = format!("oci://{host}/charts");
        let spec = json!({"url": url, "type": "oci", "insecure": true, "provider": provider});
        bed.create_other::<HelmRepositorySpec>(name, spec).await;
        let source = json!({"kind": "HelmRepository", "name": name});
        let spec = json!({"chart": "podinfo", "version": "6.1.0", "interval": "1h", "sourceRef": source});
        bed.create(name, spec).await;
    };
    for (provider, host) in [("aws", AWS), ("azure", AZURE), ("gcp", GOOGLE)] {
        create(provider, host, provider).await;
        bed.ready(provider, "True", "ChartPullSucceeded").await;
        let closed = format!("{provider}-anonymous");
        create(&closed, host, "generic").await;
        // Flux, too, calls what goes wrong before a chart is there unknown.
        bed.ready(&closed, "False", "Unknown").await;
        let elsewhere = format!("{provider}-elsewhere");
        create(&elsewhere, "ghcr.io", provider).await;
        let object = bed.ready(&elsewhere, "False", "Unknown").await;
        let message = condition(&object, "Ready").unwrap().message;
        let told = format!("failed to get credential from '{provider}': invalid ");
        assert!(message.contains(&told), "{message}");
    }
}

/// AU8: the ServiceAccount of an object is its identity in Azure and Google Cloud, by its annotations
#[tokio::test]
async fn service_accounts_are_identities_of_azure_and_google() {
    let mut bed = Bed::<OciRepositorySpec>::start().await;
    let namespace = bed.namespace.clone();
    let directory = azure::directory(move |request| {
        let assertion = azure::assertion_of(request).unwrap_or_default();
        is_reader(&assertion, &namespace, "api://AzureADTokenExchange")
    });
    let (namespace, audience) = (bed.namespace.clone(), format!("//iam.googleapis.com/{PROVIDER}"));
    let wanted = audience.clone();
    let scope = gcp::SCOPES.split(' ').next().unwrap();
    let exchange = gcp::exchange(&audience, scope, move |token| {
        is_reader(token, &namespace, &wanted)
    });
    let acting = gcp::acting("2090-01-01T00:00:00Z");
    // Whoever goes through a proxy to the registry goes through it for tokens too.
    let behind: Servers = vec![
        (
            "directory.test",
            Box::new(move |request: &Request| directory.reply(request)),
        ),
        (
            "sts.test",
            Box::new(move |request: &Request| exchange.reply(request)),
        ),
        (
            "iam.test",
            Box::new(move |request: &Request| acting.reply(request)),
        ),
    ];
    let token = "aad:https://containerregistry.azure.net/.default";
    let clouds = clouds(token, "acting", behind);
    let mut settings: Settings = nobody_settings(Environment::default());
    settings.endpoints.azure_authority = Some("http://directory.test".into());
    settings.endpoints.azure_registry = Some(format!("http://{AZURE}"));
    settings.endpoints.gcp_sts = Some("http://sts.test".into());
    settings.endpoints.gcp_iam = Some("http://iam.test".into());
    trust_registries(&mut settings);
    bed.shared.identities = Identities::new(settings);
    bed.shared.settings.object_level_workload_identity = true;
    let annotations = json!({
        "azure.workload.identity/tenant-id": "tenant-1", "azure.workload.identity/client-id": "client-1",
        "gcp.auth.fluxcd.io/workload-identity-provider": PROVIDER, "iam.gke.io/gcp-service-account": gcp::EMAIL,
    });
    bed.service_account("reader", annotations).await;
    bed.service_account("bare", json!({})).await;
    bed.shared.proxy = through(&clouds.url());
    bed.run(OciRepositories::new);
    let spec = |host: &str, provider: &str, account: &str| -> Value {
        json!({
            "url": format!("oci://{host}/team/app"), "interval": "1h", "insecure": true, "provider": provider,
            "serviceAccountName": account,
        })
    };
    for (provider, host) in [("azure", AZURE), ("gcp", GOOGLE)] {
        bed.create(provider, spec(host, provider, "reader")).await;
    }
    bed.create("bare", spec(AZURE, "azure", "bare")).await;
    bed.ready("azure", "True", "Succeeded").await;
    bed.ready("gcp", "True", "Succeeded").await;
    let object = bed.ready("bare", "False", "AuthenticationFailed").await;
    let message = condition(&object, "Ready").unwrap().message;
    assert!(message.contains("azure.workload.identity/tenant-id"), "{message}");
}
