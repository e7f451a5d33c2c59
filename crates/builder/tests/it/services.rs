//! Key management services: which credentials they are asked with.

use std::collections::BTreeMap;

use base64::Engine;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use builder::{CloudServices, KeyServices};
use secrecy::ExposeSecret;
use sops::{AwsKmsKey, AzureKey, Keys, Remote, RemoteKey, VaultKey};
use source::identity::{Asker, Environment, Identities, Settings};
use source::kms;
use testkit::http::{Reply, Request, Server};
use tokio::runtime::Runtime;

const PLAIN: &[u8] = b"0123456789abcdef0123456789abcdef";

/// Asks as the workload with these variables, with a Secret of these entries.
fn ask(
    variables: &[(&str, &str)],
    entries: &[(&str, &str)],
    aws: &str,
    key: &RemoteKey,
) -> Result<Vec<u8>, String> {
    let runtime = Runtime::new().unwrap();
    let keys = Keys::from_secret(entries.iter().map(|(name, value)| (*name, value.as_bytes()))).unwrap();
    let identities = Identities::new(Settings::new(Environment::of(variables.iter().copied())));
    let services = CloudServices {
        keys: &keys,
        identities: &identities,
        asker: Asker::default(),
        http: source::http::Options::default(),
        aws: kms::aws::Endpoints {
            kms: Some(aws.to_owned()),
            sts: Some(aws.to_owned()),
        },
        gcp: None,
        runtime: runtime.handle().clone(),
    };
    services.decrypt(key).map(|plain| plain.expose_secret().to_vec())
}

fn aws_key(role: Option<&str>) -> RemoteKey {
    let key = AwsKmsKey {
        arn: "arn:aws:kms:eu-west-1:1:key/k".to_owned(),
        role: role.map(str::to_owned),
        context: BTreeMap::new(),
    };
    RemoteKey {
        key: Remote::AwsKms(key),
        ciphertext: STANDARD.encode("sealed"),
    }
}

/// SO2: what the Secret has for a provider comes before the identity of the workload.
#[test]
fn the_credentials_of_the_secret_come_before_those_of_the_workload() {
    // A server that gives the name of the key that a request is signed with.
    let server = Server::serve(|request: &Request| {
        let signed = request.header("authorization").unwrap_or_default();
        let name = signed
            .split("Credential=")
            .nth(1)
            .and_then(|rest| rest.split('/').next());
        let body = format!(
            "{{\"Plaintext\": \"{}\"}}",
            STANDARD.encode(name.unwrap_or_default())
        );
        Reply::json(body)
    });
    let workload = [
        ("AWS_ACCESS_KEY_ID", "WORKLOAD"),
        ("AWS_SECRET_ACCESS_KEY", "geheim"),
    ];
    let entry = [(
        "sops.aws-kms",
        "aws_access_key_id: STATIC\naws_secret_access_key: geheim\n",
    )];
    assert_eq!(
        ask(&workload, &[], &server.url(), &aws_key(None)).unwrap(),
        b"WORKLOAD"
    );
    assert_eq!(
        ask(&workload, &entry, &server.url(), &aws_key(None)).unwrap(),
        b"STATIC"
    );
    let refused = ask(
        &workload,
        &entry,
        &server.url(),
        &aws_key(Some("arn:aws:iam::1:role/r")),
    )
    .unwrap_err();
    assert!(
        refused.starts_with("failed to assume role 'arn:aws:iam::1:role/r': "),
        "{refused}"
    );
    assert!(!refused.contains("geheim"), "{refused}");
}

#[test]
fn an_application_of_azure_gets_a_token_and_the_vault_decrypts_with_it() {
    let authority = Server::serve(|request: &Request| {
        let form = String::from_utf8_lossy(&request.body).into_owned();
        let fits = request.path() == "/tenant/oauth2/v2.0/token" && form.contains("client_secret=geheim");
        match fits {
            true => Reply::json(r#"{"access_token": "token", "expires_in": 3600}"#),
            false => Reply::status(400),
        }
    });
    let vault = Server::serve(|request: &Request| {
        let fits =
            request.header("authorization") == Some("Bearer token") && request.path() == "/keys/k/1/decrypt";
        match fits {
            true => Reply::json(format!("{{\"value\": \"{}\"}}", URL_SAFE_NO_PAD.encode(PLAIN))),
            false => Reply::status(403),
        }
    });
    let key = AzureKey {
        vault_url: vault.url(),
        name: "k".to_owned(),
        version: "1".to_owned(),
    };
    let key = RemoteKey {
        key: Remote::AzureKeyVault(key),
        ciphertext: URL_SAFE_NO_PAD.encode("sealed"),
    };
    let entry = format!(
        "tenantId: tenant\nclientId: c\nclientSecret: geheim\nauthorityHost: {}\n",
        authority.url()
    );
    assert_eq!(ask(&[], &[("sops.azure-kv", &entry)], "", &key).unwrap(), PLAIN);
    let locked = "tenantId: t\nclientId: c\nclientCertificate: PEM\nclientCertificatePassword: geheim\n";
    let refused = ask(&[], &[("sops.azure-kv", locked)], "", &key).unwrap_err();
    assert!(
        refused.contains("store it without a password") && !refused.contains("geheim"),
        "{refused}"
    );
}

#[test]
fn a_vault_is_asked_with_the_token_of_the_secret() {
    let server = Server::serve(|request: &Request| match request.header("x-vault-token") {
        Some("token") => Reply::json(format!(
            "{{\"data\": {{\"plaintext\": \"{}\"}}}}",
            STANDARD.encode(PLAIN)
        )),
        _ => Reply::status(403),
    });
    let key = VaultKey {
        address: server.url(),
        engine_path: "transit".to_owned(),
        key_name: "k".to_owned(),
    };
    let key = RemoteKey {
        key: Remote::Vault(key),
        ciphertext: "vault:v1:x".to_owned(),
    };
    assert_eq!(
        ask(&[], &[("sops.vault-token", "token\n")], "", &key).unwrap(),
        PLAIN
    );
    assert_eq!(ask(&[], &[], "", &key).unwrap_err(), "there is no token for it");
}
