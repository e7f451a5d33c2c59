//! Azure: contract row AU8.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use secrecy::ExposeSecret;
use serde_json::json;
use source::git::Auth;
use source::identity::azure::{Application, Proof};
use source::identity::{Asker, Cloud, CredentialSource, Destination, Identities};
use testkit::azure::{Certificate, assertion_of};
use testkit::http::{Reply, Request, Server, Service};

use super::{Cluster, all_of, echo, identities, login, token_file};

const REGISTRY: &str = "team.azurecr.io";
/// The directory, for who shows the assertion.
fn directory(assertion: &'static str) -> Server<impl Service> {
    testkit::azure::directory(move |request| assertion_of(request).as_deref() == Some(assertion))
}

/// The registry's exchange, for who shows the token.
fn exchange(token: &'static str) -> Server<impl Service> {
    Server::serve(move |request: &Request| {
        let fields = [
            ("grant_type", "access_token"),
            ("service", REGISTRY),
            ("access_token", token),
        ];
        if request.path() != "/oauth2/exchange" || !request.is_form(&fields) {
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
    let credential = identities
        .registry(Cloud::Azure, asker, registry, Destination::Configured)
        .await;
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
    match identities
        .git(Cloud::Azure, &me, &url, Destination::Configured)
        .await
        .unwrap()
    {
        Auth::Bearer(token) => assert_eq!(
            token.expose_secret(),
            "aad:499b84ac-1321-427f-aa17-267ca6975798/.default"
        ),
        other => panic!("{other:?}"),
    }
    let storage = identities
        .azure_storage(me.clone(), None, Destination::Configured)
        .unwrap()
        .grant()
        .await
        .unwrap();
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
    let other = identities
        .azure_storage(me, Some("client-2".into()), Destination::Configured)
        .unwrap();
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
    let token = identities
        .azure_storage(reader, None, Destination::Configured)
        .unwrap()
        .grant()
        .await
        .unwrap()
        .secret;
    assert_eq!(token.expose_secret(), "aad:https://storage.azure.com/.default");
    let half = cluster.reader(&[("azure.workload.identity/tenant-id", "tenant-1")]);
    let error = identities
        .azure_storage(half, None, Destination::Configured)
        .unwrap()
        .grant()
        .await
        .unwrap_err();
    assert!(
        error.to_string().contains("azure.workload.identity/client-id"),
        "{error}"
    );
}

#[tokio::test]
async fn an_application_proves_itself_by_a_certificate() {
    let certificate = Certificate::default();
    let shown = certificate.clone();
    let directory = testkit::azure::directory(move |request| shown.is_shown_by(request, true));
    let application = Application {
        tenant: "tenant-1".into(),
        client_id: "client-1".into(),
        proof: Proof::certificate(&certificate.pem().into(), true).unwrap(),
        authority: directory.url(),
        client: source::http::Options::default().client().unwrap(),
    };
    let token = application.grant().await.unwrap().secret;
    assert_eq!(token.expose_secret(), "aad:https://storage.azure.com/.default");
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
