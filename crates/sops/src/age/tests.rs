use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use secrecy::ExposeSecret as _;

use super::*;

/// An armored file that `sops` wrote, and the identity it is for.
fn sample() -> (String, Identity) {
    let file: serde_json::Value =
        serde_json::from_str(include_str!("../../tests/data/several.json")).unwrap();
    let secret = include_str!("../../tests/data/other.agekey");
    let line = secret.lines().find(|line| line.starts_with("AGE-SECRET-KEY-1"));
    let identity = Identity::x25519(line.unwrap()).unwrap();
    let sealed = file["sops"]["age"].as_array().unwrap().iter();
    let mut texts = sealed.map(|entry| entry["enc"].as_str().unwrap().to_owned());
    let text = texts.find(|text| decrypt(text, std::slice::from_ref(&identity)).is_ok());
    (text.unwrap(), identity)
}

/// The file below an armor, changed and armored again.
fn changed(armored: &str, change: impl FnOnce(&mut Vec<u8>)) -> String {
    let mut file = dearmor(armored).unwrap();
    change(&mut file);
    format!("{BEGIN}\n{}\n{END}\n", STANDARD.encode(file))
}

#[test]
fn a_data_key_has_32_bytes() {
    let (armored, identity) = sample();
    assert_eq!(decrypt(&armored, &[identity]).unwrap().expose_secret().len(), 32);
}

#[test]
fn every_changed_byte_is_noticed() {
    let (armored, identity) = sample();
    let identities = [identity];
    for at in 0..dearmor(&armored).unwrap().len() {
        let text = changed(&armored, |file| file[at] ^= 1);
        assert!(decrypt(&text, &identities).is_err(), "byte {at}");
    }
}

#[test]
fn every_truncated_file_is_refused() {
    let (armored, identity) = sample();
    let identities = [identity];
    for length in 0..dearmor(&armored).unwrap().len() {
        let text = changed(&armored, |file| file.truncate(length));
        assert!(decrypt(&text, &identities).is_err(), "{length} bytes");
    }
}

#[test]
fn another_version_and_another_identity_have_their_own_errors() {
    let (armored, identity) = sample();
    let newer = changed(&armored, |file| file[20] = b'2');
    assert_eq!(decrypt(&newer, &[identity]).unwrap_err(), Error::Version);
    assert_eq!(decrypt(&armored, &[]).unwrap_err(), Error::NoMatch);
    assert_eq!(decrypt("x", &[]).unwrap_err(), Error::Broken);
}

#[test]
fn an_identity_in_small_letters_or_with_another_prefix_is_refused() {
    let text = "AGE-SECRET-KEY-1GFPYYSJZGFPYYSJZGFPYYSJZGFPYYSJZGFPYYSJZGFPYYSJZGFPQ4EGAEX";
    assert!(Identity::x25519(text).is_some(), "the key of age's own example");
    assert!(Identity::x25519(&text.to_lowercase()).is_none());
    assert!(Identity::hybrid(text).is_none());
    assert!(Identity::x25519("AGE-SECRET-KEY-1GFPYYSJZ").is_none());
}
