//! Git repositories at GitHub, Azure DevOps and CodeCommit: rows AU3 and AU8.

use std::sync::Arc;

use api::source::GitRepositorySpec;
use controllers::sources::GitRepositories;
use rcgen::{KeyPair, PKCS_RSA_SHA256};
use serde_json::{Value, json};
use source::http::Proxy;
use source::identity::Identities;
use testkit::git;
use testkit::http::{Reply, Request, Server, Tunnel};
use testkit::tls::{Authority, Validity};

use super::{identities, trust};
use crate::sources::bed::{Bed, condition};

async fn git_bed(identities: Option<Identities>) -> Bed<GitRepositorySpec> {
    let mut bed = Bed::<GitRepositorySpec>::start().await;
    if let Some(identities) = identities {
        bed.shared.identities = identities;
    }
    bed.run(GitRepositories::new);
    bed
}

fn git_spec(url: &str, rest: Value) -> Value {
    let mut spec = json!({"url": url, "interval": "1h", "ref": {"branch": "main"}});
    let rest = rest.as_object().unwrap().clone();
    spec.as_object_mut().unwrap().extend(rest);
    spec
}

/// AU3
#[tokio::test]
async fn a_github_app_is_logged_in_to_with_one_token_for_all_its_repositories() {
    let server = git::Server::builder().basic("x-access-token", "token-1").start();
    server.repository("app").commit("main", "Start", [("a", "1")]);
    let github = Server::serve(|request: &Request| match request.path() {
        "/app/installations/7/access_tokens" => {
            let token = json!({"token": "token-1", "expires_at": "2090-01-01T00:00:00Z"});
            Reply::json(token.to_string()).with_status(201)
        }
        _ => Reply::json(json!({"message": "Not Found"}).to_string()).with_status(404),
    });
    let key = KeyPair::generate_for(&PKCS_RSA_SHA256).unwrap().serialize_pem();
    let bed = git_bed(None).await;
    let data = json!({
        "githubAppID": "42", "githubAppInstallationID": "7", "githubAppPrivateKey": key,
        "githubAppBaseURL": github.url(),
    });
    bed.secret("app", "Opaque", data.clone()).await;
    let rest = json!({"provider": "github", "secretRef": {"name": "app"}});
    for name in ["one", "two"] {
        bed.create(name, git_spec(&server.clone_url("app"), rest.clone()))
            .await;
        bed.ready(name, "True", "Succeeded").await;
    }
    assert_eq!(github.requests().len(), 1, "the token is kept for all");

    let with = |more: Value| {
        let mut data = data.clone();
        data.as_object_mut()
            .unwrap()
            .extend(more.as_object().unwrap().clone());
        data
    };
    for (name, data, reason, told) in [
        (
            "both",
            with(json!({"githubAppInstallationOwner": "org"})),
            "InvalidProviderConfiguration",
            "must contain exactly one of 'githubAppInstallationOwner' or 'githubAppInstallationID'",
        ),
        (
            "none",
            json!({"githubAppID": "42"}),
            "InvalidProviderConfiguration",
            "secretRef with github app data must be specified when provider is set to github",
        ),
        (
            "unknown",
            with(json!({"githubAppInstallationID": "8"})),
            "AuthenticationFailed",
            "with HTTP status 404: Not Found",
        ),
    ] {
        bed.secret(name, "Opaque", data).await;
        let rest = json!({"provider": "github", "secretRef": {"name": name}});
        bed.create(name, git_spec(&server.clone_url("app"), rest)).await;
        let object = bed.ready(name, "False", reason).await;
        let message = condition(&object, "Ready").unwrap().message;
        assert!(message.contains(told), "{name}: {message}");
        assert!(!message.contains("PRIVATE KEY"), "{message}");
    }
}

/// AU8
#[tokio::test]
async fn azure_devops_is_logged_in_to_with_a_token() {
    let server = git::Server::builder().bearer("devops-token").start();
    server.repository("app").commit("main", "Start", [("a", "1")]);
    let machine = Server::serve(|request: &Request| {
        let resource = request.query("resource");
        match resource.as_deref() == Some("499b84ac-1321-427f-aa17-267ca6975798") {
            true => Reply::json(json!({"access_token": "devops-token", "expires_in": "3600"}).to_string()),
            false => Reply::status(400),
        }
    });
    let me = identities(&[], |settings| {
        settings.endpoints.azure_metadata = Some(machine.url());
        trust(settings, "azure-devops", &server.url());
    });
    let bed = git_bed(Some(me)).await;
    let url = server.clone_url("app");
    bed.create("app", git_spec(&url, json!({"provider": "azure"})))
        .await;
    bed.ready("app", "True", "Succeeded").await;

    bed.create("aws", git_spec(&url, json!({"provider": "aws"})))
        .await;
    let object = bed.ready("aws", "False", "AuthenticationFailed").await;
    let message = condition(&object, "Ready").unwrap().message;
    assert!(
        message.starts_with("failed to configure authentication options: invalid AWS CodeCommit"),
        "{message}"
    );
    let rest = json!({"provider": "azure", "serviceAccountName": "reader"});
    bed.create("closed", git_spec(&url, rest)).await;
    let object = bed.ready("closed", "False", "FeatureGateDisabled").await;
    assert!(condition(&object, "Stalled").is_some());
}

/// AU8: the password of a CodeCommit repository is a signature of its address, here that of a day long ago
#[tokio::test]
async fn a_codecommit_repository_is_read_as_the_controller() {
    const HOST: &str = "git-codecommit.us-east-1.amazonaws.com";
    let authority = Authority::default();
    let signature = "20260102T030405Z4fec311dbf16b509bd0fe3b44bcfbb6977b0750538cad86953be9225e87b69e3";
    let server = git::Server::builder()
        .identity(authority.server(&[HOST], Validity::Current))
        .basic("AKIAIOSFODNN7EXAMPLE", signature)
        .start();
    let repository = server.repository("v1/repos/my-app");
    repository.commit("main", "Start", [("a", "1")]);
    let tunnel = Tunnel::to(server.address());
    let keys = [
        ("AWS_ACCESS_KEY_ID", "AKIAIOSFODNN7EXAMPLE"),
        (
            "AWS_SECRET_ACCESS_KEY",
            "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
        ),
    ];
    let me = identities(&keys, |settings| {
        settings.clock = Arc::new(|| "2026-01-02T03:04:05Z".parse().unwrap());
        trust(settings, "codecommit", &format!("https://{HOST}"));
    });
    let mut bed = Bed::<GitRepositorySpec>::start().await;
    bed.shared.identities = me;
    bed.shared.proxy = Some(Proxy {
        address: tunnel.url(),
        login: None,
    });
    bed.run(GitRepositories::new);
    bed.secret("ca", "Opaque", json!({"ca.crt": authority.pem()}))
        .await;
    let rest = json!({"provider": "aws", "secretRef": {"name": "ca"}});
    let url = format!("https://{HOST}/v1/repos/my-app");
    bed.create("app", git_spec(&url, rest.clone())).await;
    bed.ready("app", "True", "Succeeded").await;
    assert!(tunnel.hosts().iter().all(|host| *host == format!("{HOST}:443")));
    let other = format!("https://{HOST}/v1/repos/other");
    bed.create("other", git_spec(&other, rest)).await;
    bed.ready("other", "False", "GitOperationFailed").await;
}
