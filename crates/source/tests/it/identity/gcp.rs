//! Google Cloud: contract row AU8.

use secrecy::ExposeSecret;
use serde_json::json;
use source::identity::{Asker, Cloud, Destination, Identities};
use testkit::gcp::{Account, EMAIL, SCOPES, acting, exchange, metadata};
use testkit::http::{Server, Service};

use super::{Cluster, all_of, echo, identities, login, token_file};

const REGISTRY: &str = "europe-west1-docker.pkg.dev";
const PROVIDER: &str = "projects/1234567890/locations/global/workloadIdentityPools/pool/providers/cluster";

/// The token service, for who shows a token to an audience.
fn sts(audience: String, token: String, scope: &'static str) -> Server<impl Service> {
    exchange(&audience, scope, move |shown| shown == token)
}

fn iam() -> Server<impl Service> {
    acting("2026-01-01T01:00:00Z")
}

async fn ask(identities: &Identities, asker: &Asker, registry: &str) -> Result<(String, String), String> {
    let credential = identities
        .registry(Cloud::Gcp, asker, registry, Destination::Configured)
        .await;
    credential.map(login).map_err(|error| all_of(&error))
}

fn granted(token: &str) -> Result<(String, String), String> {
    Ok(("oauth2accesstoken".to_owned(), token.to_owned()))
}

#[tokio::test]
async fn the_account_of_the_node_reads_registries_and_buckets() {
    let metadata = metadata();
    let host = metadata.host();
    let identities = identities(&[("GCE_METADATA_HOST", host.as_str())], |_| {});
    let me = Asker::default();
    assert_eq!(ask(&identities, &me, REGISTRY).await, granted("node"));
    let token = identities
        .gcs(me.clone(), Destination::Configured)
        .unwrap()
        .grant()
        .await
        .unwrap()
        .secret;
    assert_eq!(token.expose_secret(), "node");
    assert_eq!(metadata.requests().len(), 1, "kept");
    let error = ask(&identities, &me, "ghcr.io").await.unwrap_err();
    assert!(error.contains("invalid GCP registry: 'ghcr.io'"), "{error}");
}

#[tokio::test]
async fn a_service_account_of_any_cluster_is_known_by_its_provider() {
    let audience = format!("//iam.googleapis.com/{PROVIDER}");
    let sts = sts(audience.clone(), format!("cluster:{audience}"), SCOPES);
    let identities = identities(&[], |settings| settings.endpoints.gcp_sts = Some(sts.url()));
    let cluster = Cluster::default();
    let reader = cluster.reader(&[("gcp.auth.fluxcd.io/workload-identity-provider", PROVIDER)]);
    assert_eq!(ask(&identities, &reader, REGISTRY).await, granted("federated"));
    assert_eq!(*cluster.0.lock(), [audience]);
    let wrong = cluster.reader(&[("gcp.auth.fluxcd.io/workload-identity-provider", "pool")]);
    let error = ask(&identities, &wrong, REGISTRY).await.unwrap_err();
    assert!(
        error.contains("invalid gcp.auth.fluxcd.io/workload-identity-provider annotation"),
        "{error}"
    );
}

#[tokio::test]
async fn a_service_account_of_gke_acts_as_the_account_of_its_annotation() {
    let metadata = metadata();
    let audience = "identitynamespace:project.svc.id.goog:https://container.googleapis.com/v1/projects/project/locations/europe-west1/clusters/main";
    let sts = sts(
        audience.to_owned(),
        "cluster:project.svc.id.goog".to_owned(),
        "https://www.googleapis.com/auth/cloud-platform",
    );
    let iam = iam();
    let identities = identities(&[], |settings| {
        settings.endpoints.gcp_metadata = Some(metadata.url());
        settings.endpoints.gcp_sts = Some(sts.url());
        settings.endpoints.gcp_iam = Some(iam.url());
    });
    let cluster = Cluster::default();
    let reader = cluster.reader(&[("iam.gke.io/gcp-service-account", EMAIL)]);
    assert_eq!(ask(&identities, &reader, REGISTRY).await, granted("acting"));
    let wrong = cluster.reader(&[("iam.gke.io/gcp-service-account", "someone@example.com")]);
    let error = ask(&identities, &wrong, REGISTRY).await.unwrap_err();
    assert!(
        error.contains("invalid iam.gke.io/gcp-service-account annotation"),
        "{error}"
    );
}

#[tokio::test]
async fn a_file_holds_the_key_of_an_account_or_leads_to_the_token_of_others() {
    let account = Account::default();
    let oauth = account.token_server("keyed", SCOPES);
    let (_file, path) = token_file(&account.key_file(&oauth.url()));
    let with_key = identities(&[("GOOGLE_APPLICATION_CREDENTIALS", path.as_str())], |_| {});
    assert_eq!(
        ask(&with_key, &Asker::default(), REGISTRY).await,
        granted("keyed")
    );

    let sts = sts(
        "//iam.googleapis.com/x".into(),
        "mounted".into(),
        "https://www.googleapis.com/auth/cloud-platform",
    );
    let iam = iam();
    let (_token, token) = token_file("mounted");
    let external = json!({
        "type": "external_account", "audience": "//iam.googleapis.com/x",
        "subject_token_type": "urn:ietf:params:oauth:token-type:jwt",
        "token_url": format!("{}/v1/token", sts.url()),
        "service_account_impersonation_url":
            format!("{}/v1/projects/-/serviceAccounts/{EMAIL}:generateAccessToken", iam.url()),
        "credential_source": {"file": token},
    });
    let (_file, path) = token_file(&external.to_string());
    let federated = identities(&[("GOOGLE_APPLICATION_CREDENTIALS", path.as_str())], |_| {});
    assert_eq!(
        ask(&federated, &Asker::default(), REGISTRY).await,
        granted("acting")
    );

    let (_file, path) = token_file(r#"{"type":"authorized_user","refresh_token":"geheim"}"#);
    let other = identities(&[("GOOGLE_APPLICATION_CREDENTIALS", path.as_str())], |_| {});
    let error = ask(&other, &Asker::default(), REGISTRY).await.unwrap_err();
    assert!(error.contains("they are of type 'authorized_user'"), "{error}");
    assert!(!error.contains("geheim"), "{error}");
}

#[tokio::test]
async fn nothing_secret_is_told_even_where_servers_repeat_it() {
    let unkind = Server::serve(echo);
    let audience = format!("//iam.googleapis.com/{PROVIDER}");
    let secret = format!("cluster:{audience}");
    let kind = sts(
        audience,
        secret.clone(),
        "https://www.googleapis.com/auth/cloud-platform",
    );
    for (sts, told) in [(unkind.url(), &secret), (kind.url(), &"federated".to_owned())] {
        let identities = identities(&[], |settings| {
            settings.endpoints.gcp_sts = Some(sts);
            settings.endpoints.gcp_iam = Some(unkind.url());
        });
        let reader = Cluster::default().reader(&[
            ("gcp.auth.fluxcd.io/workload-identity-provider", PROVIDER),
            ("iam.gke.io/gcp-service-account", EMAIL),
        ]);
        let error = ask(&identities, &reader, REGISTRY).await.unwrap_err();
        assert!(error.contains("gives no credentials: 400"), "{error}");
        assert!(!error.contains(told.as_str()), "{error}");
    }
}
