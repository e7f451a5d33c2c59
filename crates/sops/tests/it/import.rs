//! What is taken from the entries of a decryption Secret.

use secrecy::ExposeSecret;
use sops::{AzureMethod, Keys, Provider};

use crate::kit;

fn import(name: &str, value: &[u8]) -> Result<Keys, String> {
    Keys::from_secret([(name, value)]).map_err(|error| error.to_string())
}

/// SO1: several identities and comments may be in one entry.
#[test]
fn age_identities_stand_on_lines_of_their_own() {
    let (identity, _) = kit::AGE;
    let text = format!("# one\n{identity}\n\n# the same again\n{identity}\r\n");
    assert!(import("a.agekey", text.as_bytes()).is_ok());
    for (text, wanted) in [
        (
            "# nothing\n",
            "there is no age identity (AGE-SECRET-KEY-1...) in it",
        ),
        (
            "AGE-SECRET-KEY-1GEHEIM\n",
            "line 1: this is no age identity (AGE-SECRET-KEY-1...)",
        ),
        (
            "\nAGE-PLUGIN-YUBIKEY-1GEHEIM",
            "line 2: identities of age plugins cannot be used here",
        ),
    ] {
        let error = import("a.agekey", text.as_bytes()).unwrap_err();
        assert_eq!(
            error,
            format!("failed to import 'a.agekey' data from sops decryption Secret: {wanted}")
        );
        assert!(!error.contains("GEHEIM"));
    }
}

/// SO1: PGP keys must have no passphrase.
#[test]
fn pgp_keys_must_be_secret_and_have_no_passphrase() {
    assert!(import("a.asc", &kit::file("pgp.asc")).is_ok());
    assert!(import("a.asc", &kit::file("curve.asc")).is_ok());
    let error = import("a.asc", &kit::file("locked.asc")).unwrap_err();
    assert!(
        error.contains("has a passphrase: export it without one"),
        "{error}"
    );
    let error = import("a.asc", b"-----BEGIN nothing").unwrap_err();
    assert!(error.contains("no armored PGP key"), "{error}");
}

/// SO1: other entries of the Secret are left alone.
#[test]
fn entries_with_other_names_are_left_alone() {
    for name in [
        "identity",
        "x.sops.aws-kms",
        "key.age",
        "sops.vault-token.bak",
        "other.aws-kms",
    ] {
        let keys = import(name, b"\xff nonsense").unwrap();
        assert_eq!(format!("{keys:?}"), format!("{:?}", Keys::default()), "{name}");
    }
}

/// SO1: the token of a Vault is trimmed.
#[test]
fn the_token_of_a_vault_is_trimmed() {
    let keys = import("sops.vault-token", b" \n hvs.token\n\n").unwrap();
    assert_eq!(keys.vault_token.unwrap().expose_secret(), "hvs.token");
}

/// SO1: `sops.aws-kms` is YAML.
#[test]
fn credentials_of_aws_are_yaml() {
    let text = "aws_access_key_id: AKIA\naws_secret_access_key: geheim\naws_session_token: session\n";
    let aws = import("sops.aws-kms", text.as_bytes()).unwrap().aws.unwrap();
    assert_eq!(aws.access_key_id, "AKIA");
    assert_eq!(aws.secret_access_key.expose_secret(), "geheim");
    assert_eq!(
        aws.session_token.as_ref().map(ExposeSecret::expose_secret),
        Some("session")
    );
    assert!(!format!("{aws:?}").contains("geheim"));
    let error = import("sops.aws-kms", b"aws_access_key_id: geheim").unwrap_err();
    assert!(
        error.ends_with("aws_access_key_id and aws_secret_access_key are needed"),
        "{error}"
    );
    assert!(
        !import("sops.aws-kms", b"- geheim: [")
            .unwrap_err()
            .contains("geheim")
    );
}

/// SO1: `sops.azure-kv` in all the forms that Flux takes, in the order in which it tries them.
#[test]
fn credentials_of_azure_have_many_forms() {
    let method = |text: &str| match import("sops.azure-kv", text.as_bytes()) {
        Ok(keys) => match keys.azure.unwrap().method {
            AzureMethod::Secret {
                tenant_id,
                client_id,
                client_secret,
            } => {
                format!("secret {tenant_id} {client_id} {}", client_secret.expose_secret())
            }
            AzureMethod::Certificate {
                tenant_id,
                client_id,
                send_chain,
                password,
                ..
            } => {
                format!(
                    "certificate {tenant_id} {client_id} {send_chain} {}",
                    password.is_some()
                )
            }
            AzureMethod::ManagedIdentity { client_id } => format!("managed {client_id}"),
        },
        Err(error) => error,
    };
    for (text, wanted) in [
        ("tenantId: t\nclientId: c\nclientSecret: s\n", "secret t c s"),
        (
            "{\"tenantId\": \"t\", \"clientId\": \"c\", \"clientSecret\": \"s\"}",
            "secret t c s",
        ),
        (
            "tenantId: t\nclientId: c\nclientCertificate: |\n  PEM\n",
            "certificate t c false false",
        ),
        (
            "tenantId: t\nclientId: c\nclientCertificate: P\nclientCertificatePassword: p\nclientCertificateSendChain: true\n",
            "certificate t c true true",
        ),
        (
            "{\"appId\": \"a\", \"displayName\": \"d\", \"password\": \"p\", \"tenant\": \"t\"}",
            "secret t a p",
        ),
        ("clientId: c\n", "managed c"),
        ("tenantId: t\nclientId: c\n", "managed c"),
        (
            "tenantId: t\n",
            "failed to import 'sops.azure-kv' data from sops decryption Secret: invalid data: requires a 'clientId' field, a \
             combination of 'tenantId', 'clientId' and 'clientSecret', or 'tenantId', 'clientId' and 'clientCertificate'",
        ),
    ] {
        assert_eq!(method(text), wanted, "{text}");
    }
    let keys = import(
        "sops.azure-kv",
        b"clientId: c\nauthorityHost: https://login.example\n",
    )
    .unwrap();
    assert_eq!(
        keys.azure.unwrap().authority_host.as_deref(),
        Some("https://login.example")
    );
}

/// SO1: what `az` prints on Windows is UTF-16.
#[test]
fn credentials_of_azure_may_be_utf_16() {
    let text = "{\"appId\": \"a\", \"password\": \"p\", \"tenant\": \"t\"}";
    let little: Vec<u8> = [0xfeff]
        .into_iter()
        .chain(text.encode_utf16())
        .flat_map(u16::to_le_bytes)
        .collect();
    let big: Vec<u8> = [0xfeff]
        .into_iter()
        .chain(text.encode_utf16())
        .flat_map(u16::to_be_bytes)
        .collect();
    for bytes in [little, big, format!("\u{feff}{text}").into_bytes()] {
        assert!(import("sops.azure-kv", &bytes).unwrap().azure.is_some());
    }
    assert!(import("sops.azure-kv", &[0xff, 0xfe, 0x00]).is_err());
}

/// SO1: `sops.gcp-kms` is the JSON that Google hands out.
#[test]
fn credentials_of_google_are_json_of_a_known_type() {
    let keys = import("sops.gcp-kms", b"\n{\"type\": \"service_account\", \"x\": 1}\n").unwrap();
    assert_eq!(
        keys.gcp.unwrap().expose_secret(),
        "{\"type\": \"service_account\", \"x\": 1}"
    );
    assert!(import("sops.gcp-kms", b"{\"type\": \"geheim\"}").is_err_and(|error| !error.contains("geheim")));
    assert!(import("sops.gcp-kms", b"geheim").is_err_and(|error| !error.contains("geheim")));
}

/// SO2: an entry for a provider comes before the identity of the workload; each provider by itself.
#[test]
fn an_entry_for_a_provider_comes_before_the_identity_of_the_workload() {
    let keys = import("sops.vault-token", b"t").unwrap();
    assert!(keys.has(Provider::Vault));
    for provider in [Provider::Aws, Provider::Azure, Provider::Gcp] {
        assert!(!keys.has(provider), "{provider:?}");
    }
    assert!(!import("sops.vault-token", b"\n").unwrap().has(Provider::Vault));
}

/// SO2: of the Secret of a whole controller only the age identities count.
#[test]
fn of_the_secret_of_a_whole_controller_only_the_age_identities_count() {
    let (identity, _) = kit::AGE;
    let pgp = kit::file("pgp.asc");
    let entries = [
        ("a.agekey", identity.as_bytes()),
        ("sops.vault-token", b"t"),
        ("b.asc", pgp.as_slice()),
    ];
    let keys = Keys::from_global_secret(entries).unwrap();
    assert!(
        format!("{keys:?}").starts_with("Keys { age: 1, pgp: 0, vault_token: false"),
        "{keys:?}"
    );
}
