//! Files that SOPS 3.13.3 has encrypted, with what it has decrypted them to.

use sops::{Encrypted, Error, Format, Keys, Mac};

use crate::kit::{self, file};

fn decrypt(name: &str, keys: &Keys, mac: Mac) -> Result<Vec<u8>, Error> {
    let format = match name.rsplit_once('.') {
        Some((_, "bin")) => Format::Binary,
        _ => Format::for_path(name),
    };
    decrypt_bytes(&file(name), format, keys, mac)
}

fn decrypt_bytes(data: &[u8], format: Format, keys: &Keys, mac: Mac) -> Result<Vec<u8>, Error> {
    let file = Encrypted::read(data, format)?;
    let key = file.unlock(keys).finish()?;
    file.decrypt(&key, mac)?.write(format)
}

/// SO1, SO6: every format with an age key.
#[test]
fn every_format_is_decrypted_to_the_bytes_of_sops() {
    for name in ["yaml", "json", "env", "ini", "bin"] {
        let found = decrypt(&format!("age.{name}"), &kit::age(), Mac::Verified).unwrap();
        let wanted = file(&format!("decrypted.{name}"));
        assert_eq!(
            String::from_utf8_lossy(&found),
            String::from_utf8_lossy(&wanted),
            "{name}"
        );
    }
}

/// SO1: RSA and curve keys of PGP.
#[test]
fn files_for_pgp_keys_are_decrypted() {
    assert_eq!(
        decrypt("pgp.yaml", &kit::secret("pgp.asc"), Mac::Verified).unwrap(),
        file("decrypted.yaml")
    );
    assert_eq!(
        decrypt("curve.json", &kit::secret("curve.asc"), Mac::Verified).unwrap(),
        file("decrypted.json")
    );
}

#[test]
fn a_rule_says_which_values_are_encrypted_and_the_mac_may_be_about_those_only() {
    let found = decrypt("regex.yaml", &kit::age(), Mac::Verified).unwrap();
    assert_eq!(found, file("decrypted.yaml"));
    assert!(String::from_utf8_lossy(&file("regex.yaml")).contains("name: credentials"));
}

/// SO4: a whole object is decrypted as JSON, whatever its kind, with the order of keys that it has.
#[test]
fn a_whole_object_is_decrypted_as_json() {
    // What a build makes of the file: other order, no comments, a label.
    let file = file("regex.yaml");
    let object = yaml::parse(&file).unwrap();
    let mut text = String::from_utf8(model::json::to_vec(&object)).unwrap();
    text = text.replacen(
        "\"metadata\":{",
        "\"metadata\":{\"labels\":{\"added\":\"by a build\"},",
        1,
    );
    let found = decrypt_bytes(text.as_bytes(), Format::Json, &kit::age(), Mac::Ignored).unwrap();
    let found: serde_json::Value = serde_json::from_slice(&found).unwrap();
    assert_eq!(found["stringData"]["password"], "correct horse battery staple");
    assert_eq!(found["metadata"]["labels"]["added"], "by a build");
    assert_eq!(found.get("sops"), None);
}

/// SO7: what was added to a file after it was encrypted does not matter, unless the MAC is asked for.
#[test]
fn the_mac_is_not_looked_at_unless_it_is_asked_for() {
    let text = String::from_utf8(file("age.json")).unwrap();
    let changed = text.replacen('{', "{\"added_unencrypted\": \"later\",", 1);
    let found = decrypt_bytes(changed.as_bytes(), Format::Json, &kit::age(), Mac::Ignored).unwrap();
    assert!(String::from_utf8_lossy(&found).contains("\"added_unencrypted\": \"later\""));
    let refused = decrypt_bytes(changed.as_bytes(), Format::Json, &kit::age(), Mac::Verified);
    assert!(matches!(refused, Err(Error::Mac)));
}

/// SO5: a value of a Secret can be written in another format than it is encrypted in.
#[test]
fn what_is_encrypted_in_one_format_is_written_in_another() {
    let read = Encrypted::read(&file("age.env"), Format::Dotenv).unwrap();
    let key = read.unlock(&kit::age()).finish().unwrap();
    let decrypted = read.decrypt(&key, Mac::Ignored).unwrap();
    let text = |format| String::from_utf8(decrypted.write(format).unwrap()).unwrap();
    assert_eq!(
        text(Format::Yaml),
        "# who\nUSER: admin\nPASSWORD: |-\n    two\n    lines\nEMPTY: \"\"\n"
    );
    assert_eq!(
        text(Format::Json),
        "{\n\t\"USER\": \"admin\",\n\t\"PASSWORD\": \"two\\nlines\",\n\t\"EMPTY\": \"\"\n}\n"
    );
    let refused = decrypted.write(Format::Binary).unwrap_err();
    assert_eq!(
        refused.to_string(),
        "failed to emit encrypted dotenv file as decrypted binary: there is no value data"
    );
    assert!(decrypted.write(Format::Ini).is_err());
}

/// A value that was moved to another key is not decrypted: it is bound to its place.
#[test]
fn a_value_is_bound_to_the_keys_that_lead_to_it() {
    let text = String::from_utf8(file("age.env"))
        .unwrap()
        .replacen("USER=", "OTHER=", 1);
    let error = decrypt_bytes(text.as_bytes(), Format::Dotenv, &kit::age(), Mac::Ignored).unwrap_err();
    assert_eq!(
        error.to_string(),
        "error decrypting sops tree: the value of 'OTHER' was not encrypted with this file's data key for this place"
    );
}

/// SO8: no value, encrypted or not, is in an error.
#[test]
fn a_value_that_should_be_encrypted_is_named_and_not_shown() {
    let text = String::from_utf8(file("age.env")).unwrap();
    let changed = format!("NEW=geheim\n{text}");
    let error = decrypt_bytes(changed.as_bytes(), Format::Dotenv, &kit::age(), Mac::Ignored).unwrap_err();
    let shown = format!("{error} {error:?}");
    assert!(shown.contains("NEW") && !shown.contains("geheim"), "{shown}");
}
