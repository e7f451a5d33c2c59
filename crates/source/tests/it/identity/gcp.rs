//! Google Cloud: contract row AU8.

use aws_lc_rs::encoding::{AsDer, Pkcs8V1Der};
use aws_lc_rs::rsa::{KeyPair, KeySize};
use base64::Engine;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use secrecy::ExposeSecret;
use serde_json::{Value, json};
use source::identity::{Asker, Cloud, Identities};
use testkit::http::{Reply, Request, Server, Service};

use super::{Cluster, all_of, echo, form, identities, is_form, login, token_file};

const REGISTRY: &str = "europe-west1-docker.pkg.dev";
const SCOPES: &str =
    "https://www.googleapis.com/auth/cloud-platform https://www.googleapis.com/auth/userinfo.email";
const EMAIL: &str = "reader@project.iam.gserviceaccount.com";
const PROVIDER: &str = "projects/1234567890/locations/global/workloadIdentityPools/pool/providers/cluster";

/// The metadata server of a node of GKE.
fn metadata() -> Server<impl Service> {
    Server::serve(|request: &Request| {
        if request.header("metadata-flavor") != Some("Google") {
            return Reply::status(403);
        }
        let path = request.path().strip_prefix("/computeMetadata/v1/");
        match path.unwrap_or_default() {
            "instance/service-accounts/default/token"
                if request.query("scopes") == Some(SCOPES.replace(' ', ",")) =>
            {
                Reply::json(
                    json!({"access_token": "node", "expires_in": 3599, "token_type": "Bearer"}).to_string(),
                )
            }
            "project/project-id" => Reply::text("project"),
            "instance/attributes/cluster-location" => Reply::text("europe-west1"),
            "instance/attributes/cluster-name" => Reply::text("main"),
            _ => Reply::status(404),
        }
    })
}

/// The token service, for who shows a token to an audience.
fn sts(audience: String, token: String, scope: &'static str) -> Server<impl Service> {
    Server::serve(move |request: &Request| {
        let fields = [
            ("audience", audience.as_str()),
            ("grant_type", "urn:ietf:params:oauth:grant-type:token-exchange"),
            (
                "requested_token_type",
                "urn:ietf:params:oauth:token-type:access_token",
            ),
            ("scope", scope),
            ("subject_token", token.as_str()),
            ("subject_token_type", "urn:ietf:params:oauth:token-type:jwt"),
        ];
        match request.path() == "/v1/token" && is_form(request, &fields) {
            true => Reply::json(json!({"access_token": "federated", "expires_in": 3600}).to_string()),
            false => Reply::json(json!({"error": "invalid_request"}).to_string()).with_status(400),
        }
    })
}

/// The service that lets one act as an account.
fn iam() -> Server<impl Service> {
    Server::serve(|request: &Request| {
        let body: Value = serde_json::from_slice(&request.body).unwrap_or_default();
        let path = format!("/v1/projects/-/serviceAccounts/{EMAIL}:generateAccessToken");
        let scopes: Vec<&str> = SCOPES.split(' ').collect();
        let is_call = request.path() == path
            && request.header("authorization") == Some("Bearer federated")
            && body == json!({"lifetime": "3600s", "scope": scopes});
        match is_call {
            true => Reply::json(
                json!({"accessToken": "acting", "expireTime": "2026-01-01T01:00:00Z"}).to_string(),
            ),
            false => Reply::json(json!({"error": {"code": 403, "message": "Permission denied"}}).to_string())
                .with_status(403),
        }
    })
}

async fn ask(identities: &Identities, asker: &Asker, registry: &str) -> Result<(String, String), String> {
    let credential = identities.registry(Cloud::Gcp, asker, registry).await;
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
    let token = identities.gcs(me.clone()).grant().await.unwrap().secret;
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
    let key = KeyPair::generate(KeySize::Rsa2048).unwrap();
    let der: Pkcs8V1Der<'_> = key.as_der().unwrap();
    let pem = format!(
        "-----BEGIN PRIVATE KEY-----\n{}\n-----END PRIVATE KEY-----\n",
        STANDARD.encode(der.as_ref())
    );
    let oauth = Server::serve(|request: &Request| {
        let assertion = form(request).remove("assertion").unwrap_or_default();
        let claims = assertion.split('.').nth(1).unwrap_or_default();
        let claims: Value = serde_json::from_slice(&URL_SAFE_NO_PAD.decode(claims).unwrap()).unwrap();
        match claims["scope"] == SCOPES && claims["iss"] == EMAIL {
            true => Reply::json(json!({"access_token": "keyed", "expires_in": 3600}).to_string()),
            false => Reply::status(400),
        }
    });
    let account = json!({
        "type": "service_account", "client_email": EMAIL, "private_key": pem, "token_uri": oauth.url(),
    });
    let (_file, path) = token_file(&account.to_string());
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
