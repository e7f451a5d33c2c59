//! Key management services: which credentials they are asked with.

use std::collections::BTreeMap;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use base64::Engine;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use builder::{CloudServices, KeyServices, VaultLogins};
use secrecy::{ExposeSecret, SecretString};
use sops::{AwsKmsKey, AzureKey, Keys, Remote, RemoteKey, VaultKey};
use source::identity::{Asker, Environment, Identities, ServiceAccountTokens, Settings};
use source::kms;
use testkit::http::{Reply, Request, Server};
use tokio::runtime::Runtime;

const PLAIN: &[u8] = b"0123456789abcdef0123456789abcdef";

/// Asks as the workload with these variables, with a Secret of these entries.
pub(crate) fn ask(
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
        vault: None,
        runtime: runtime.handle().clone(),
        budget: builder::WaitBudget::default(),
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

/// Gives a token for each audience, as a cluster does, and counts them.
struct Tokens(AtomicUsize);

impl ServiceAccountTokens for Tokens {
    fn token<'a>(
        &'a self,
        audience: &'a str,
    ) -> Pin<
        Box<dyn Future<Output = Result<SecretString, Box<dyn std::error::Error + Send + Sync>>> + Send + 'a>,
    > {
        self.0.fetch_add(1, Ordering::Relaxed);
        let claims = format!("{{\"sub\": \"system:serviceaccount:team:app\", \"aud\": \"{audience}\"}}");
        let token = format!("e30.{}.c2ln", URL_SAFE_NO_PAD.encode(claims));
        Box::pin(async move { Ok(token.into()) })
    }
}

/// SO3: without a token in the Secret, the workload logs in to the servers of the ConfigMap, and to no other; its role is made of its
/// namespace and name, and its token is for the address of the server.
#[test]
fn so3_a_service_account_logs_in_to_the_vaults_that_are_listed() {
    let server = Server::serve(|request: &Request| {
        if request.path() == "/v1/auth/kubernetes/login" {
            let body = String::from_utf8_lossy(&request.body).into_owned();
            let host = request.header("host").unwrap_or_default();
            let claims = body
                .split('.')
                .nth(1)
                .and_then(|claims| URL_SAFE_NO_PAD.decode(claims).ok());
            let claims = String::from_utf8(claims.unwrap_or_default()).unwrap();
            let is_right =
                body.contains("\"role\":\"team_app\"") && claims.contains(&format!("\"http://{host}\""));
            return match is_right {
                true => Reply::json("{\"auth\": {\"client_token\": \"given\"}}".to_owned()),
                false => Reply::status(400),
            };
        }
        match request.header("x-vault-token") {
            Some("given") => Reply::json(format!(
                "{{\"data\": {{\"plaintext\": \"{}\"}}}}",
                STANDARD.encode(PLAIN)
            )),
            _ => Reply::status(403),
        }
    });
    let tokens = Arc::new(Tokens(AtomicUsize::new(0)));
    let address = server.url().trim_end_matches('/').to_owned();
    let paths = BTreeMap::from([(address.clone(), "auth/kubernetes/login".to_owned())]);
    let logins = VaultLogins::new(paths, "flux-system/vaults", Arc::clone(&tokens) as _);
    let runtime = Runtime::new().unwrap();
    let keys = Keys::from_secret(std::iter::empty::<(&str, &[u8])>()).unwrap();
    let identities = Identities::new(Settings::new(Environment::of(std::iter::empty::<(&str, &str)>())));
    let services = CloudServices {
        keys: &keys,
        identities: &identities,
        asker: Asker::default(),
        http: source::http::Options::default(),
        aws: kms::aws::Endpoints::default(),
        gcp: None,
        vault: Some(&logins),
        runtime: runtime.handle().clone(),
        budget: builder::WaitBudget::default(),
    };
    let key = |address: &str| RemoteKey {
        key: Remote::Vault(VaultKey {
            address: address.to_owned(),
            engine_path: "transit".to_owned(),
            key_name: "k".to_owned(),
        }),
        ciphertext: "vault:v1:x".to_owned(),
    };
    for _ in 0..2 {
        assert_eq!(services.decrypt(&key(&address)).unwrap().expose_secret(), PLAIN);
    }
    assert_eq!(
        tokens.0.load(Ordering::Relaxed),
        1,
        "one login is enough for a build"
    );
    assert_eq!(
        services.decrypt(&key("https://other.example")).unwrap_err(),
        "no Vault login path configured for address 'https://other.example' in ConfigMap 'flux-system/vaults'"
    );
}
