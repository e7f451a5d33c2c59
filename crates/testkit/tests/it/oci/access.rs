//! Credentials and tokens.

use serde_json::Value;
use testkit::http::{Client, Credential, Method};
use testkit::oci::{Artifact, Server};

use super::send;

async fn token(server: &Server, user: Option<(&str, &str)>, scope: &str) -> Option<String> {
    let client = Client::new();
    let client = user.iter().fold(client, |client, (name, password)| {
        client.credential(&Credential::basic(name, password))
    });
    let url = format!("{}/token?service=testkit&scope={scope}", server.url());
    let response = client.get(&url).await.unwrap();
    let json: Value = serde_json::from_slice(&response.body).unwrap();
    Some(json["token"].as_str()?.to_string())
}

async fn status(server: &Server, token: &str, method: Method, path: &str) -> u16 {
    let authorization = format!("Bearer {token}");
    send(server, method, path, &[("authorization", &authorization)], "")
        .await
        .status
        .as_u16()
}

#[tokio::test]
async fn a_request_without_a_token_is_told_where_to_get_one() {
    let server = Server::builder().tokens("ada", "secret").start();
    server.push("team/app", "1.0", &Artifact::files(&[("a", "1")]));
    let ping = send(&server, Method::GET, "", &[], "").await;
    let realm = format!("Bearer realm=\"{}/token\",service=\"testkit\"", server.url());
    assert_eq!(
        (ping.status.as_u16(), ping.header("www-authenticate")),
        (401, realm.as_str())
    );
    let pull = send(&server, Method::GET, "team/app/manifests/1.0", &[], "").await;
    assert_eq!(
        pull.header("www-authenticate"),
        format!("{realm},scope=\"repository:team/app:pull\"")
    );
    let push = send(&server, Method::POST, "team/app/blobs/uploads/", &[], "").await;
    assert_eq!(
        push.header("www-authenticate"),
        format!("{realm},scope=\"repository:team/app:pull,push\"")
    );
}

#[tokio::test]
async fn a_token_is_good_for_its_scopes_until_it_expires() {
    let server = Server::builder().tokens("ada", "secret").start();
    server.push("app", "1.0", &Artifact::files(&[("a", "1")]));
    assert_eq!(
        token(&server, Some(("ada", "wrong")), "repository:app:pull").await,
        None
    );
    assert_eq!(token(&server, None, "repository:app:pull").await, None);
    let pull = token(&server, Some(("ada", "secret")), "repository:app:pull")
        .await
        .unwrap();
    assert_eq!(
        status(&server, &pull, Method::GET, "app/manifests/1.0").await,
        200
    );
    assert_eq!(status(&server, &pull, Method::GET, "").await, 200);
    assert_eq!(
        status(&server, &pull, Method::POST, "app/blobs/uploads/").await,
        401
    );
    assert_eq!(
        status(&server, &pull, Method::GET, "other/manifests/1.0").await,
        401
    );
    let push = token(&server, Some(("ada", "secret")), "repository:app:pull,push")
        .await
        .unwrap();
    assert_eq!(
        status(&server, &push, Method::POST, "app/blobs/uploads/").await,
        202
    );
    server.expire_tokens();
    let new = token(&server, Some(("ada", "secret")), "repository:app:pull")
        .await
        .unwrap();
    assert_eq!(
        status(&server, &pull, Method::GET, "app/manifests/1.0").await,
        401
    );
    assert_eq!(status(&server, &new, Method::GET, "app/manifests/1.0").await, 200);
}

#[tokio::test]
async fn a_public_registry_lets_anyone_pull() {
    let server = Server::builder().tokens("ada", "secret").anonymous_pull().start();
    server.push("app", "1.0", &Artifact::files(&[("a", "1")]));
    let anyone = token(&server, None, "repository:app:pull,push").await.unwrap();
    assert_eq!(
        status(&server, &anyone, Method::GET, "app/manifests/1.0").await,
        200
    );
    assert_eq!(
        status(&server, &anyone, Method::POST, "app/blobs/uploads/").await,
        401
    );
    assert_eq!(
        token(&server, Some(("ada", "wrong")), "repository:app:pull").await,
        None
    );
}

#[tokio::test]
async fn a_token_is_given_for_a_form_too() {
    let server = Server::builder().tokens("ada", "secret").start();
    server.push("app", "1.0", &Artifact::files(&[("a", "1")]));
    let form =
        "grant_type=password&username=ada&password=secret&service=testkit&scope=repository%3Aapp%3Apull";
    let response = Client::new()
        .send(Method::POST, &format!("{}/token", server.url()), form)
        .await
        .unwrap();
    let json: Value = serde_json::from_slice(&response.body).unwrap();
    let token = json["access_token"].as_str().unwrap();
    assert_eq!(
        status(&server, token, Method::GET, "app/manifests/1.0").await,
        200
    );
}
