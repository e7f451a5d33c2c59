//! Tokens of GitHub Apps, from a server that speaks as GitHub's does.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use aws_lc_rs::encoding::{AsDer, Pkcs8V1Der};
use aws_lc_rs::rsa::{KeyPair, KeySize};
use base64::Engine;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use jiff::Timestamp;
use source::git::Auth;
use source::git::github_app::{App, Error, Installation, Settings};
use testkit::http::{Reply, Request, Server};

use super::chain;

fn private_key() -> String {
    let key = KeyPair::generate(KeySize::Rsa2048).unwrap();
    let der: Pkcs8V1Der<'_> = key.as_der().unwrap();
    let body = STANDARD.encode(der.as_ref());
    format!("-----BEGIN PRIVATE KEY-----\n{body}\n-----END PRIVATE KEY-----\n")
}

/// Gives out `token-1`, `token-2`, … that expire at a fixed time.
fn github(given: Arc<AtomicUsize>) -> Server<impl testkit::http::Service> {
    Server::serve(move |request: &Request| {
        let json = |status: u16, text: String| Reply::ok("application/json", text).with_status(status);
        let proof = request.header("authorization").unwrap_or_default().to_owned();
        let claims = proof
            .strip_prefix("Bearer ")
            .and_then(|proof| proof.split('.').nth(1));
        let claims = claims
            .and_then(|part| URL_SAFE_NO_PAD.decode(part).ok())
            .unwrap_or_default();
        if !String::from_utf8_lossy(&claims).contains(r#""iss":"42""#) {
            return json(
                401,
                r#"{"message":"A JSON web token could not be decoded"}"#.into(),
            );
        }
        match request.path() {
            "/base/users/ada/installation" => json(200, r#"{"id":7}"#.into()),
            "/base/app/installations/7/access_tokens" => {
                let number = given.fetch_add(1, Ordering::Relaxed) + 1;
                json(
                    201,
                    format!(r#"{{"token":"token-{number}","expires_at":"2026-01-01T01:00:00Z"}}"#),
                )
            }
            _ => json(404, r#"{"message":"Not Found"}"#.into()),
        }
    })
}

fn settings(base: &str, installation: Installation) -> Settings {
    Settings {
        app_id: "42".into(),
        private_key: private_key().into(),
        installation,
        base_url: Some(format!("{base}/base/")),
        http: source::http::Options::default(),
    }
}

fn password(auth: &Auth) -> String {
    use secrecy::ExposeSecret;
    match auth {
        Auth::Basic { user, password } if user == "x-access-token" => password.expose_secret().to_owned(),
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn a_token_is_kept_until_shortly_before_it_expires() {
    let given = Arc::new(AtomicUsize::new(0));
    let server = github(given.clone());
    let app = App::new(&settings(&server.url(), Installation::Id("7".into()))).unwrap();
    let at = async |time: &str| password(&app.auth(time.parse::<Timestamp>().unwrap()).await.unwrap());
    assert_eq!(at("2026-01-01T00:00:00Z").await, "token-1");
    assert_eq!(at("2026-01-01T00:54:00Z").await, "token-1");
    assert_eq!(at("2026-01-01T00:56:00Z").await, "token-2");
    assert_eq!(given.load(Ordering::Relaxed), 2);
}

#[tokio::test]
async fn an_installation_is_found_by_its_owner() {
    let server = github(Arc::default());
    let now: Timestamp = "2026-01-01T00:00:00Z".parse().unwrap();
    let app = App::new(&settings(&server.url(), Installation::Owner("ada".into()))).unwrap();
    assert_eq!(password(&app.auth(now).await.unwrap()), "token-1");
    let paths: Vec<_> = server
        .requests()
        .iter()
        .map(|record| record.path.clone())
        .collect();
    let expected = [
        "/base/orgs/ada/installation",
        "/base/users/ada/installation",
        "/base/app/installations/7/access_tokens",
    ];
    assert_eq!(paths, expected);
    let nobody = App::new(&settings(&server.url(), Installation::Owner("bob".into()))).unwrap();
    let error = nobody.auth(now).await.unwrap_err();
    assert!(
        error
            .to_string()
            .contains("find the installation of 'bob' with HTTP status 404: Not Found"),
        "{error}"
    );
}

#[tokio::test]
async fn what_is_malformed_or_refused_is_told_without_secrets() {
    let server = github(Arc::default());
    let with = |change: fn(&mut Settings)| {
        let mut settings = settings(&server.url(), Installation::Id("7".into()));
        change(&mut settings);
        assert!(!format!("{settings:?}").contains("PRIVATE"));
        App::new(&settings)
    };
    assert!(matches!(
        with(|settings| settings.app_id = "x".into()),
        Err(Error::Id("githubAppID"))
    ));
    let id = with(|settings| settings.installation = Installation::Id("0".into()));
    assert!(matches!(id, Err(Error::Id("githubAppInstallationID"))));
    let key = with(|settings| settings.private_key = "-----BEGIN RSA PRIVATE KEY-----\n".into());
    assert!(matches!(key, Err(Error::Key)));
    assert!(matches!(
        with(|settings| settings.base_url = Some("github".into())),
        Err(Error::BaseUrl)
    ));
    let stranger = with(|settings| settings.app_id = "43".into()).unwrap();
    let error = stranger
        .auth("2026-01-01T00:00:00Z".parse().unwrap())
        .await
        .unwrap_err();
    assert!(
        chain(&error).contains("401: A JSON web token could not be decoded"),
        "{}",
        chain(&error)
    );
}
