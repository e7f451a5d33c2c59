//! Key management services, against servers that check what they are asked as those of the clouds do.

use std::collections::BTreeMap;

use base64::Engine;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use jiff::Timestamp;
use reqwest::Client;
use secrecy::{ExposeSecret, SecretSlice, SecretString};
use serde_json::{Value, json};
use source::identity::aws::Key;
use source::kms::{Error, aws, azure, gcp, vault};
use testkit::http::{Method, Reply, Request, Server, Service};

use crate::identity::signature::signed;

const PLAIN: &[u8] = b"0123456789abcdef0123456789abcdef";

fn body(request: &Request) -> Value {
    serde_json::from_slice(&request.body).unwrap_or_default()
}

fn bytes(found: Result<SecretSlice<u8>, Error>) -> Vec<u8> {
    found.unwrap().expose_secret().to_vec()
}

/// The error with all its causes, and with everything that `Debug` shows.
fn all_of(error: &Error) -> String {
    let mut text = format!("{error:?} {error}");
    let mut cause = std::error::Error::source(error);
    while let Some(error) = cause {
        text += &format!(": {error}");
        cause = error.source();
    }
    text
}

fn now() -> Timestamp {
    "2026-01-01T00:00:00Z".parse().unwrap()
}

const ARN: &str = "arn:aws:kms:eu-west-1:012345678901:key/k";
const ROLE: &str = "arn:aws:iam::012345678901:role/reader";

fn key(secret: &str, session: Option<&str>) -> Key {
    Key {
        id: "AKIA".into(),
        secret: secret.into(),
        session: session.map(Into::into),
    }
}

/// KMS of one region, for who signs with this secret and has this session.
fn kms(secret: &'static str, session: Option<&'static str>) -> Server<impl Service> {
    Server::serve(move |request: &Request| {
        let names = signed(request, secret, "kms", "eu-west-1").unwrap_or_default();
        let is_signed = ["content-type", "host", "x-amz-date", "x-amz-target"]
            .iter()
            .all(|name| names.iter().any(|one| one == name));
        let wanted = json!({
            "CiphertextBlob": STANDARD.encode("sealed"),
            "KeyId": ARN,
            "EncryptionContext": {"app": "shop"},
        });
        let is_call = request.method == Method::POST
            && request.path() == "/"
            && request.header("x-amz-target") == Some("TrentService.Decrypt")
            && request.header("content-type") == Some("application/x-amz-json-1.1")
            && request.header("x-amz-security-token") == session;
        if !is_signed || !is_call {
            let text = format!("not for {:?}", request.headers);
            let refusal = json!({"__type": "AccessDeniedException", "Message": text});
            return Reply::json(refusal.to_string()).with_status(400);
        }
        if body(request) != wanted {
            return Reply::json(json!({"__type": "InvalidCiphertextException"}).to_string()).with_status(400);
        }
        Reply::json(json!({"KeyId": ARN, "Plaintext": STANDARD.encode(PLAIN)}).to_string())
    })
}

fn aws_request<'a>(ciphertext: &'a str, context: &'a BTreeMap<String, String>) -> aws::Request<'a> {
    aws::Request {
        arn: ARN,
        region: "eu-west-1",
        ciphertext,
        context,
    }
}

#[tokio::test]
async fn aws_decrypts_for_who_signs_and_knows_the_context() {
    let server = kms("geheim", None);
    let endpoints = aws::Endpoints {
        kms: Some(server.url()),
        sts: None,
    };
    let context = BTreeMap::from([("app".to_owned(), "shop".to_owned())]);
    let sealed = STANDARD.encode("sealed");
    let client = Client::new();
    let ask = async |secret: &str, context: &BTreeMap<String, String>| {
        let request = aws_request(&sealed, context);
        aws::decrypt(&client, &endpoints, &key(secret, None), &request, now()).await
    };
    assert_eq!(bytes(ask("geheim", &context).await), PLAIN);
    let error = ask("geheim", &BTreeMap::new()).await.unwrap_err();
    assert!(
        all_of(&error).contains("400 InvalidCiphertextException"),
        "{error}"
    );
    let error = ask("anderes", &context).await.unwrap_err();
    assert!(
        matches!(&error, Error::Refused { why, .. } if why.starts_with("400 AccessDeniedException: not for"))
    );
    assert!(!all_of(&error).contains("anderes"), "{error}");
}

#[tokio::test]
async fn aws_gives_a_role_whose_key_then_decrypts() {
    let sts = Server::serve(|request: &Request| {
        let form: BTreeMap<String, String> =
            url::form_urlencoded::parse(&request.body).into_owned().collect();
        let fits = signed(request, "geheim", "sts", "eu-west-1").is_some()
            && form.get("Action").is_some_and(|action| action == "AssumeRole")
            && form.get("Version").is_some_and(|version| version == "2011-06-15")
            && form.get("RoleArn").is_some_and(|role| role == ROLE)
            && form.get("RoleSessionName").is_some_and(|name| !name.is_empty());
        if !fits {
            let no = "<ErrorResponse><Error><Code>AccessDenied</Code><Message>no</Message></Error></ErrorResponse>";
            return Reply::ok("text/xml", no).with_status(403);
        }
        Reply::ok(
            "text/xml",
            "<AssumeRoleResponse><AssumeRoleResult><Credentials><AccessKeyId>ASIA</AccessKeyId>\
             <SecretAccessKey>role-secret</SecretAccessKey><SessionToken>role-session</SessionToken>\
             </Credentials></AssumeRoleResult></AssumeRoleResponse>",
        )
    });
    let server = kms("role-secret", Some("role-session"));
    let endpoints = aws::Endpoints {
        kms: Some(server.url()),
        sts: Some(sts.url()),
    };
    let client = Client::new();
    let context = BTreeMap::from([("app".to_owned(), "shop".to_owned())]);
    let sealed = STANDARD.encode("sealed");
    let mine = key("geheim", None);
    let role = aws::assume_role(&client, &endpoints, &mine, ROLE, "eu-west-1", now())
        .await
        .unwrap();
    let request = aws_request(&sealed, &context);
    assert_eq!(
        bytes(aws::decrypt(&client, &endpoints, &role, &request, now()).await),
        PLAIN
    );
    let error = aws::assume_role(&client, &endpoints, &mine, "arn:other", "eu-west-1", now())
        .await
        .unwrap_err();
    assert!(
        matches!(&error, Error::Refused { why, .. } if why == "403 AccessDenied: no"),
        "{error}"
    );
}

#[tokio::test]
async fn a_region_that_leads_elsewhere_and_what_is_no_base64_are_refused_before_anyone_is_asked() {
    let (client, endpoints) = (Client::new(), aws::Endpoints::default());
    let context = BTreeMap::new();
    let mut request = aws_request("AAAA", &context);
    request.region = "x.evil.example/";
    let mine = key("geheim", None);
    let error = aws::decrypt(&client, &endpoints, &mine, &request, now())
        .await
        .unwrap_err();
    assert!(matches!(error, Error::Key(_)), "{error}");
    let request = aws_request("no base64", &context);
    let error = aws::decrypt(&client, &endpoints, &mine, &request, now())
        .await
        .unwrap_err();
    assert_eq!(error.to_string(), "the encrypted data key is not base64");
    let token = SecretString::from("t");
    for name in [
        "projects/p",
        "projects/p/locations/l/keyRings/r/cryptoKeys/..",
        "../x",
        "",
    ] {
        let request = gcp::Request {
            resource_id: name,
            ciphertext: "AAAA",
        };
        let error = gcp::decrypt(&client, None, &token, &request).await.unwrap_err();
        assert!(matches!(error, Error::Key(_)), "{name}: {error}");
    }
    for (address, engine, name) in [
        ("ftp://v", "transit", "k"),
        ("https://v", "../sys", "k"),
        ("https://v", "transit", ""),
        ("https://v", "", "k"),
    ] {
        let request = vault::Request {
            address,
            engine_path: engine,
            key_name: name,
            ciphertext: "vault:v1:x",
        };
        let error = vault::decrypt(&client, &token, &request).await.unwrap_err();
        assert!(
            matches!(error, Error::Key(_)),
            "{address} {engine} {name}: {error}"
        );
    }
}

#[tokio::test]
async fn azure_decrypts_for_the_holder_of_a_token() {
    let server = Server::serve(|request: &Request| {
        let versions = ["/keys/sops/1/decrypt", "/keys/sops/decrypt"];
        if request.header("authorization") != Some("Bearer geheim") {
            let error = json!({"error": {"code": "Unauthorized", "message": "geheim is not enough"}});
            return Reply::json(error.to_string()).with_status(401);
        }
        let wanted = json!({"alg": "RSA-OAEP-256", "value": URL_SAFE_NO_PAD.encode("sealed")});
        if request.method != Method::POST || !versions.contains(&request.path()) || body(request) != wanted {
            return Reply::status(404);
        }
        Reply::json(json!({"kid": "x", "value": URL_SAFE_NO_PAD.encode(PLAIN)}).to_string())
    });
    let client = Client::new();
    let sealed = URL_SAFE_NO_PAD.encode("sealed");
    for version in ["1", ""] {
        let request = azure::Request {
            vault_url: &server.url(),
            name: "sops",
            version,
            ciphertext: &sealed,
        };
        assert_eq!(
            bytes(azure::decrypt(&client, &"geheim".into(), &request).await),
            PLAIN
        );
        let error = azure::decrypt(&client, &"anderes".into(), &request)
            .await
            .unwrap_err();
        assert!(
            error
                .to_string()
                .contains("401 Unauthorized: geheim is not enough"),
            "{error}"
        );
    }
}

#[tokio::test]
async fn google_decrypts_for_the_holder_of_a_token() {
    let name = "projects/p/locations/global/keyRings/r/cryptoKeys/k";
    let server = Server::serve(move |request: &Request| {
        if request.header("authorization") != Some("Bearer geheim") {
            let error = json!({"error": {"code": 403, "message": "Permission denied", "status": "PERMISSION_DENIED"}});
            return Reply::json(error.to_string()).with_status(403);
        }
        let fits = request.method == Method::POST
            && request.path() == format!("/v1/{name}:decrypt")
            && body(request) == json!({"ciphertext": STANDARD.encode("sealed")});
        match fits {
            true => Reply::json(json!({"plaintext": STANDARD.encode(PLAIN)}).to_string()),
            false => Reply::status(404),
        }
    });
    let client = Client::new();
    let sealed = STANDARD.encode("sealed");
    let request = gcp::Request {
        resource_id: name,
        ciphertext: &sealed,
    };
    let url = server.url();
    assert_eq!(
        bytes(gcp::decrypt(&client, Some(&url), &"geheim".into(), &request).await),
        PLAIN
    );
    let error = gcp::decrypt(&client, Some(&url), &"anderes".into(), &request)
        .await
        .unwrap_err();
    assert!(
        error
            .to_string()
            .ends_with("does not decrypt: 403 Permission denied"),
        "{error}"
    );
}

#[tokio::test]
async fn vault_decrypts_for_the_holder_of_a_token_or_after_a_login() {
    let server = Server::serve(
        |request: &Request| match (request.method == Method::PUT, request.path()) {
            (true, "/v1/auth/jwt/login")
                if body(request) == json!({"role": "apps_reader", "jwt": "of the cluster"}) =>
            {
                Reply::json(json!({"auth": {"client_token": "geheim"}}).to_string())
            }
            (true, "/v1/auth/jwt/login") => {
                let errors = json!({"errors": [String::from_utf8_lossy(&request.body)]});
                Reply::json(errors.to_string()).with_status(400)
            }
            (true, "/v1/team/transit/decrypt/k") if request.header("x-vault-token") == Some("geheim") => {
                match body(request) == json!({"ciphertext": "vault:v1:sealed"}) {
                    true => Reply::json(json!({"data": {"plaintext": STANDARD.encode(PLAIN)}}).to_string()),
                    false => {
                        Reply::json(json!({"errors": ["invalid ciphertext"]}).to_string()).with_status(400)
                    }
                }
            }
            _ => Reply::json(json!({"errors": ["permission denied"]}).to_string()).with_status(403),
        },
    );
    let client = Client::new();
    let url = server.url();
    let jwt = SecretString::from("of the cluster");
    let login = vault::Login {
        address: &url,
        path: "auth/jwt/login",
        role: "apps_reader",
        jwt: &jwt,
    };
    let token = vault::login(&client, &login).await.unwrap();
    let request = vault::Request {
        address: &url,
        engine_path: "team/transit",
        key_name: "k",
        ciphertext: "vault:v1:sealed",
    };
    assert_eq!(bytes(vault::decrypt(&client, &token, &request).await), PLAIN);
    let error = vault::decrypt(&client, &"anderes".into(), &request)
        .await
        .unwrap_err();
    assert!(
        error
            .to_string()
            .ends_with("does not decrypt: 403 permission denied"),
        "{error}"
    );
    let other = vault::Login {
        role: "other",
        ..login
    };
    let error = vault::login(&client, &other).await.unwrap_err();
    assert!(!all_of(&error).contains("of the cluster"), "{error}");
}

#[tokio::test]
async fn a_server_that_is_not_there_or_answers_nonsense_is_named() {
    let server = Server::serve(|_: &Request| Reply::text("hello"));
    let client = Client::new();
    let url = server.url();
    let request = vault::Request {
        address: &url,
        engine_path: "transit",
        key_name: "k",
        ciphertext: "vault:v1:x",
    };
    let error = vault::decrypt(&client, &"t".into(), &request).await.unwrap_err();
    assert!(matches!(error, Error::Answer { .. }), "{error}");
    drop(server);
    let request = vault::Request {
        address: "http://127.0.0.1:1",
        ..request
    };
    let error = vault::decrypt(&client, &"t".into(), &request).await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "'http://127.0.0.1:1/v1/transit/decrypt/k' cannot be reached: nobody listens there: check host and port"
    );
}
