//! Azure: contract row AU8.

use std::sync::Arc;

use aws_lc_rs::signature::{RSA_PKCS1_2048_8192_SHA256, UnparsedPublicKey};
use base64::Engine;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use rcgen::{CertificateParams, KeyPair, PKCS_RSA_SHA256};
use secrecy::ExposeSecret;
use serde_json::{Value, json};
use sha1::Digest as _;
use source::git::Auth;
use source::identity::azure::{Application, Proof};
use source::identity::{Asker, Cloud, CredentialSource, Identities};
use testkit::http::{Method, Reply, Request, Server, Service};

use super::{Cluster, all_of, echo, form, identities, is_form, login, token_file};

const REGISTRY: &str = "team.azurecr.io";
const JWT_BEARER: &str = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer";

/// The directory: a token that is named after what it is for, for who shows the assertion.
fn directory(assertion: &'static str) -> Server<impl Service> {
    Server::serve(move |request: &Request| {
        let scope = form(request).remove("scope").unwrap_or_default();
        let fields = [
            ("client_id", "client-1"),
            ("client_assertion_type", JWT_BEARER),
            ("client_assertion", assertion),
            ("grant_type", "client_credentials"),
            ("scope", scope.as_str()),
        ];
        let is_call = request.method == Method::POST && request.path() == "/tenant-1/oauth2/v2.0/token";
        if !is_call || !is_form(request, &fields) {
            return Reply::json(json!({"error": "invalid_client"}).to_string()).with_status(401);
        }
        let token = format!("aad:{scope}");
        Reply::json(json!({"token_type": "Bearer", "expires_in": 3599, "access_token": token}).to_string())
    })
}

/// The registry's exchange, for who shows the token.
fn exchange(token: &'static str) -> Server<impl Service> {
    Server::serve(move |request: &Request| {
        let fields = [
            ("grant_type", "access_token"),
            ("service", REGISTRY),
            ("access_token", token),
        ];
        if request.path() != "/oauth2/exchange" || !is_form(request, &fields) {
            return Reply::status(401);
        }
        Reply::json(json!({ "refresh_token": registry_token() }).to_string())
    })
}

/// A token of the registry that ends after three hours.
fn registry_token() -> String {
    let claims = json!({"exp": 1_767_236_400});
    format!("e30.{}.c2ln", URL_SAFE_NO_PAD.encode(claims.to_string()))
}

async fn ask(identities: &Identities, asker: &Asker, registry: &str) -> Result<(String, String), String> {
    let credential = identities.registry(Cloud::Azure, asker, registry).await;
    credential.map(login).map_err(|error| all_of(&error))
}

fn granted() -> (String, String) {
    (
        "00000000-0000-0000-0000-000000000000".to_owned(),
        registry_token(),
    )
}

#[tokio::test]
async fn the_token_that_the_webhook_mounts_leads_to_registries_and_azure_devops() {
    let directory = directory("mounted");
    let exchange = exchange("aad:https://containerregistry.azure.net/.default");
    let (_file, path) = token_file("mounted");
    let url = format!("{}/", directory.url());
    let variables = [
        ("AZURE_FEDERATED_TOKEN_FILE", path.as_str()),
        ("AZURE_CLIENT_ID", "client-1"),
        ("AZURE_TENANT_ID", "tenant-1"),
        ("AZURE_AUTHORITY_HOST", &url),
    ];
    let identities = identities(&variables, |settings| {
        settings.endpoints.azure_registry = Some(exchange.url());
    });
    let me = Asker::default();
    assert_eq!(ask(&identities, &me, REGISTRY).await, Ok(granted()));
    assert_eq!(ask(&identities, &me, REGISTRY).await, Ok(granted()));
    assert_eq!(
        (directory.requests().len(), exchange.requests().len()),
        (1, 1),
        "kept"
    );

    let url = "https://dev.azure.com/org/project/_git/app".parse().unwrap();
    match identities.git(Cloud::Azure, &me, &url).await.unwrap() {
        Auth::Bearer(token) => assert_eq!(
            token.expose_secret(),
            "aad:499b84ac-1321-427f-aa17-267ca6975798/.default"
        ),
        other => panic!("{other:?}"),
    }
    let storage = identities.azure_storage(me.clone()).grant().await.unwrap();
    assert_eq!(
        storage.secret.expose_secret(),
        "aad:https://storage.azure.com/.default"
    );
    let error = ask(&identities, &me, "team.azurecr.io.evil.example")
        .await
        .unwrap_err();
    assert!(error.contains("invalid Azure registry"), "{error}");
}

#[tokio::test]
async fn the_machine_is_asked_where_nothing_else_is_set_up() {
    let machine = Server::serve(|request: &Request| {
        let is_call = request.path() == "/metadata/identity/oauth2/token"
            && request.header("metadata") == Some("true")
            && request.query("api-version").as_deref() == Some("2018-02-01");
        let resource = request.query("resource").unwrap_or_default();
        let client = request.query("client_id").unwrap_or_default();
        match is_call {
            true => Reply::json(
                json!({"access_token": format!("{client}@{resource}"), "expires_in": "86399"}).to_string(),
            ),
            false => Reply::status(400),
        }
    });
    let exchange = exchange("client-1@https://containerregistry.azure.net");
    let identities = identities(&[("AZURE_CLIENT_ID", "client-1")], |settings| {
        settings.endpoints.azure_metadata = Some(machine.url());
        settings.endpoints.azure_registry = Some(exchange.url());
    });
    let me = Asker::default();
    assert_eq!(ask(&identities, &me, REGISTRY).await, Ok(granted()));
    let other = identities.azure_storage_of_machine(me, "client-2".into());
    let token = other.grant().await.unwrap().secret;
    assert_eq!(token.expose_secret(), "client-2@https://storage.azure.com");
}

#[tokio::test]
async fn a_service_account_is_the_application_of_its_annotations() {
    let directory = directory("cluster:api://AzureADTokenExchange");
    let identities = identities(&[], |settings| {
        settings.endpoints.azure_authority = Some(directory.url());
    });
    let cluster = Cluster::default();
    let reader = cluster.reader(&[
        ("azure.workload.identity/tenant-id", "tenant-1"),
        ("azure.workload.identity/client-id", "client-1"),
    ]);
    let token = identities.azure_storage(reader).grant().await.unwrap().secret;
    assert_eq!(token.expose_secret(), "aad:https://storage.azure.com/.default");
    let half = cluster.reader(&[("azure.workload.identity/tenant-id", "tenant-1")]);
    let error = identities.azure_storage(half).grant().await.unwrap_err();
    assert!(
        error.to_string().contains("azure.workload.identity/client-id"),
        "{error}"
    );
}

#[tokio::test]
async fn an_application_proves_itself_by_a_certificate() {
    let key = KeyPair::generate_for(&PKCS_RSA_SHA256).unwrap();
    let certificate = CertificateParams::new(Vec::new())
        .unwrap()
        .self_signed(&key)
        .unwrap();
    let (der, public) = (certificate.der().to_vec(), Arc::new(public_key(&key)));
    let print = URL_SAFE_NO_PAD.encode(sha1::Sha1::digest(&der));
    let chain = STANDARD.encode(&der);
    let directory = Server::serve(move |request: &Request| {
        let assertion = form(request).remove("client_assertion").unwrap_or_default();
        let (text, signature) = assertion.rsplit_once('.').unwrap_or_default();
        let signature = URL_SAFE_NO_PAD.decode(signature).unwrap_or_default();
        let key = UnparsedPublicKey::new(&RSA_PKCS1_2048_8192_SHA256, public.as_slice());
        let part = |number: usize| -> Value {
            let part = text.split('.').nth(number).unwrap_or_default();
            serde_json::from_slice(&URL_SAFE_NO_PAD.decode(part).unwrap_or_default()).unwrap_or_default()
        };
        let (head, claims) = (part(0), part(1));
        let address = format!("{}/tenant-1/oauth2/v2.0/token", request.origin());
        let is_right = key.verify(text.as_bytes(), &signature).is_ok()
            && head["x5t"] == print.as_str()
            && head["x5c"] == json!([chain])
            && claims["iss"] == "client-1"
            && claims["sub"] == "client-1"
            && claims["aud"] == address.as_str()
            && form(request).get("client_assertion_type").map(String::as_str) == Some(JWT_BEARER);
        match is_right {
            true => Reply::json(json!({"access_token": "good", "expires_in": 3600}).to_string()),
            false => Reply::status(401),
        }
    });
    let pem = format!("{}{}", certificate.pem(), key.serialize_pem());
    let application = Application {
        tenant: "tenant-1".into(),
        client_id: "client-1".into(),
        proof: Proof::certificate(&pem.into(), true).unwrap(),
        authority: directory.url(),
        client: source::http::Options::default().client().unwrap(),
    };
    assert_eq!(application.grant().await.unwrap().secret.expose_secret(), "good");
}

/// The RSA public key in the form that signatures are verified with.
fn public_key(key: &KeyPair) -> Vec<u8> {
    use aws_lc_rs::signature::{KeyPair as _, RsaKeyPair};
    let pair = RsaKeyPair::from_pkcs8(key.serialized_der()).unwrap();
    pair.public_key().as_ref().to_vec()
}

#[tokio::test]
async fn nothing_secret_is_told_even_where_servers_repeat_it() {
    let unkind = Server::serve(echo);
    let (_file, path) = token_file("mounted-geheim");
    let url = unkind.url();
    let common = [
        ("AZURE_CLIENT_ID", "client-1"),
        ("AZURE_TENANT_ID", "tenant-1"),
        ("AZURE_AUTHORITY_HOST", url.as_str()),
    ];
    for proof in [
        ("AZURE_FEDERATED_TOKEN_FILE", path.as_str()),
        ("AZURE_CLIENT_SECRET", "secret-geheim"),
    ] {
        let variables: Vec<_> = common.into_iter().chain([proof]).collect();
        let identities = identities(&variables, |_| {});
        let error = ask(&identities, &Asker::default(), REGISTRY).await.unwrap_err();
        assert!(error.contains("400 invalid_grant"), "{error}");
        assert!(!error.contains("geheim"), "{error}");
    }
    let directory = directory("mounted-geheim");
    let identities = identities(
        &[
            ("AZURE_FEDERATED_TOKEN_FILE", path.as_str()),
            ("AZURE_CLIENT_ID", "client-1"),
            ("AZURE_TENANT_ID", "tenant-1"),
        ],
        |settings| {
            settings.endpoints.azure_authority = Some(directory.url());
            settings.endpoints.azure_registry = Some(unkind.url());
        },
    );
    let error = ask(&identities, &Asker::default(), REGISTRY).await.unwrap_err();
    assert!(
        error.contains("/oauth2/exchange' gives no credentials: 400"),
        "{error}"
    );
    assert!(!error.contains("aad:https"), "{error}");
}
