//! How data keys are had, and what is said where they are not.

use sops::{Encrypted, Format, Keys, Mac, Remote};

use crate::kit::{self, file};

fn failure(name: &str, keys: &Keys) -> String {
    let read = Encrypted::read(&file(name), Format::for_path(name)).unwrap();
    read.unlock(keys).finish().unwrap_err().to_string()
}

/// SO8: the error names who the file is for and what to add to the Secret.
#[test]
fn a_file_that_no_key_fits_says_whom_it_is_for_and_what_to_add() {
    let (_, recipient) = kit::AGE;
    assert_eq!(
        failure("age.yaml", &Keys::default()),
        format!(
            "cannot get sops data key: none of the file's recipients can be used: age recipient {recipient}: there is no age \
             identity. Add an entry `*.agekey` with its identity to the decryption Secret"
        )
    );
    let other = failure("age.yaml", &kit::secret("other.agekey"));
    assert!(other.contains("no age identity fits"), "{other}");
    let pgp = failure("pgp.yaml", &kit::secret("curve.asc"));
    assert!(
        pgp.contains(": no PGP secret key fits. Add an entry `*.asc`"),
        "{pgp}"
    );
}

#[test]
fn any_of_several_recipients_will_do() {
    for keys in [kit::age(), kit::secret("other.agekey"), kit::secret("pgp.asc")] {
        let read = Encrypted::read(&file("several.json"), Format::Json).unwrap();
        assert_eq!(read.recipients().count(), 3);
        let key = read.unlock(&keys).finish().unwrap();
        let found = read
            .decrypt(&key, Mac::Verified)
            .unwrap()
            .write(Format::Json)
            .unwrap();
        assert_eq!(found, file("decrypted.json"));
    }
}

/// SO1: post-quantum identities of age.
#[test]
fn a_post_quantum_identity_of_age_will_do() {
    let read = Encrypted::read(&file("pq.json"), Format::Json).unwrap();
    let key = read.unlock(&kit::secret("pq.agekey")).finish().unwrap();
    let found = read
        .decrypt(&key, Mac::Verified)
        .unwrap()
        .write(Format::Json)
        .unwrap();
    assert_eq!(found, file("decrypted.json"));
    let other = failure("pq.json", &kit::age());
    assert!(other.contains(": no age identity fits"), "{other}");
    let other = failure("age.json", &kit::secret("pq.agekey"));
    assert!(other.contains(": no age identity fits"), "{other}");
}

/// Key groups: as many shares as the threshold says make the data key.
#[test]
fn enough_groups_of_recipients_make_the_data_key() {
    let entries = |names: &[&str]| -> Vec<(String, Vec<u8>)> {
        names
            .iter()
            .map(|name| ((*name).to_owned(), kit::entry(name)))
            .collect()
    };
    for names in [
        &["key.agekey", "pgp.asc"][..],
        &["key.agekey", "other.agekey"],
        &["pgp.asc", "other.agekey"],
        &["key.agekey", "pgp.asc", "other.agekey"],
    ] {
        let entries = entries(names);
        let entries = entries
            .iter()
            .map(|(name, value)| (name.as_str(), value.as_slice()));
        let keys = Keys::from_secret(entries).unwrap();
        let read = Encrypted::read(&file("groups.json"), Format::Json).unwrap();
        let key = read.unlock(&keys).finish().unwrap();
        let found = read
            .decrypt(&key, Mac::Verified)
            .unwrap()
            .write(Format::Json)
            .unwrap();
        assert_eq!(found, file("decrypted.json"), "{names:?}");
    }
    let error = failure("groups.json", &kit::age());
    assert!(error.contains("2 of 3 key groups are needed"), "{error}");
}

const REMOTE: &str = r#"{
  "a": "ENC[AES256_GCM,data:x,iv:x,tag:x,type:str]",
  "sops": {
    "kms": [{"arn": "arn:aws:kms:eu-west-1:1:key/k", "role": "arn:aws:iam::1:role/r", "context": {"app": "x"},
             "created_at": "2020-01-01T00:00:00Z", "enc": "YXdz", "aws_profile": ""}],
    "gcp_kms": [{"resource_id": "projects/p/locations/l/keyRings/r/cryptoKeys/k", "created_at": "2020-01-01T00:00:00Z", "enc": "Z2Nw"}],
    "azure_kv": [{"vault_url": "https://v.vault.azure.net", "name": "n", "version": "1", "created_at": "2020-01-01T00:00:00Z", "enc": "YXp1cmU"}],
    "hc_vault": [{"vault_address": "https://vault.example", "engine_path": "transit", "key_name": "k",
                  "created_at": "2020-01-01T00:00:00Z", "enc": "vault:v1:x"}],
    "hckms": [{"key_id": "cn-north-1:x", "created_at": "2020-01-01T00:00:00Z", "enc": "eA"}],
    "lastmodified": "2020-01-01T00:00:00Z",
    "mac": "ENC[AES256_GCM,data:x,iv:x,tag:x,type:str]",
    "version": "3.9.0"
  }
}"#;

#[test]
fn services_are_asked_one_after_the_other_until_one_answers() {
    let read = Encrypted::read(REMOTE.as_bytes(), Format::Json).unwrap();
    let mut unlock = read.unlock(&Keys::default());
    let mut asked = Vec::new();
    while let Some(wanted) = unlock.wanted() {
        let name = match &wanted.key {
            Remote::AwsKms(key) => {
                assert_eq!(
                    (key.region(), key.role.as_deref()),
                    (Some("eu-west-1"), Some("arn:aws:iam::1:role/r"))
                );
                assert_eq!(key.context.get("app").map(String::as_str), Some("x"));
                "aws"
            }
            Remote::AzureKeyVault(key) => {
                assert_eq!((key.name.as_str(), key.version.as_str()), ("n", "1"));
                "azure"
            }
            Remote::GcpKms(_) => "gcp",
            Remote::Vault(_) => "vault",
        };
        asked.push((name, wanted.ciphertext.clone()));
        let answer = if name == "vault" {
            Ok(vec![7; 32].into())
        } else {
            Err("no".to_owned())
        };
        unlock.answer(answer);
    }
    let asked: Vec<_> = asked
        .iter()
        .map(|(name, ciphertext)| (*name, ciphertext.as_str()))
        .collect();
    assert_eq!(
        asked,
        [
            ("aws", "YXdz"),
            ("gcp", "Z2Nw"),
            ("azure", "YXp1cmU"),
            ("vault", "vault:v1:x")
        ]
    );
    assert!(unlock.finish().is_ok());
}

#[test]
fn services_that_refuse_are_all_named() {
    let read = Encrypted::read(REMOTE.as_bytes(), Format::Json).unwrap();
    let mut unlock = read.unlock(&Keys::default());
    while unlock.wanted().is_some() {
        unlock.answer(Err("access denied".to_owned()));
    }
    let error = unlock.finish().unwrap_err().to_string();
    for part in [
        "AWS KMS key arn:aws:kms:eu-west-1:1:key/k: access denied",
        "Azure Key Vault key https://v.vault.azure.net/keys/n/1: access denied",
        "GCP KMS key projects/p/locations/l/keyRings/r/cryptoKeys/k: access denied",
        "Vault key https://vault.example/v1/transit/keys/k: access denied",
        "Huawei Cloud KMS key cn-north-1:x: this kind of key is not supported",
        "`sops.aws-kms`",
        "`sops.vault-token`",
    ] {
        assert!(error.contains(part), "{part}: {error}");
    }
}

/// Age and PGP come before services, so that nobody is asked needlessly.
#[test]
fn no_service_is_asked_where_a_local_key_fits() {
    let text = String::from_utf8(file("age.json")).unwrap();
    let with = r#""sops": {"hc_vault": [{"vault_address": "https://v", "engine_path": "t", "key_name": "k", "enc": "x"}],"#;
    let text = text.replacen("\"sops\": {", with, 1);
    let read = Encrypted::read(text.as_bytes(), Format::Json).unwrap();
    assert!(read.unlock(&kit::age()).wanted().is_none());
    assert!(read.unlock(&Keys::default()).wanted().is_some());
}
