//! Mallory may be able to write the status of her own objects. What she writes there is no way to the artifacts of others.

use source::store::{Error, Presence};

use crate::store::{Fixture, place, put};

#[test]
fn the_path_of_an_artifact_is_one_of_its_object() {
    let fixture = Fixture::new();
    let store = fixture.open();
    let ada = put(&store, &place("ada"), "1.tar.gz", "secret");
    let mallory = put(&store, &place("mallory"), "1.tar.gz", "own");

    // She knows the path and guesses at the digest.
    let mut forged = mallory.clone();
    forged.path = ada.path.clone();
    let error = store.verify(&place("mallory"), &forged).unwrap_err();
    assert!(matches!(error, Error::Path { .. }), "{error:?}");
    assert!(!error.to_string().contains("sha256"), "{error}");
    // She knows the digest too.
    let error = store.verify(&place("mallory"), &ada).unwrap_err();
    assert!(matches!(error, Error::Path { .. }), "{error:?}");
    assert_eq!(store.verify(&place("ada"), &ada).unwrap(), Presence::Valid);
}

#[test]
fn the_digest_that_a_file_has_is_not_told() {
    let fixture = Fixture::new();
    let store = fixture.open();
    let ada = put(&store, &place("ada"), "1.tar.gz", "secret");
    let mut forged = put(&store, &place("mallory"), "1.tar.gz", "own");
    forged.path = ada.path;
    let error = store.read(&forged).unwrap_err().to_string();
    let hidden = ada.digest.unwrap().to_string();
    assert!(!error.contains(&hidden), "{error}");
}
