//! Content that several objects have.

use std::fs;
use std::os::unix::fs::MetadataExt;

use model::digest::Algorithm;
use source::archive::Hasher;
use source::store::Presence;

use super::{Fixture, artifact, place, put, verify};

fn inode(fixture: &Fixture, path: &str) -> u64 {
    fs::metadata(fixture.path(path)).unwrap().ino()
}

#[test]
fn equal_content_is_stored_once() {
    let fixture = Fixture::new();
    let store = fixture.open();
    let first = put(&store, &place("a"), "1.tar.gz", "same");
    let second = put(&store, &place("b"), "2.tar.gz", "same");
    let other = put(&store, &place("c"), "2.tar.gz", "other");
    assert_eq!(inode(&fixture, &first.path), inode(&fixture, &second.path));
    assert_ne!(inode(&fixture, &first.path), inode(&fixture, &other.path));
    assert!(!fixture.files().iter().any(|file| file.contains("tmp")));
}

#[test]
fn content_goes_with_the_last_object_that_has_it() {
    let fixture = Fixture::new();
    let store = fixture.open();
    let first = put(&store, &place("a"), "1.tar.gz", "same");
    let second = put(&store, &place("b"), "1.tar.gz", "same");
    let digest = first.digest.unwrap();
    assert!(store.remove_all(&place("a")).unwrap());
    assert!(!store.remove_all(&place("a")).unwrap());
    assert!(store.has(&digest));
    assert_eq!(verify(&store, &first).unwrap(), Presence::Missing);
    assert_eq!(verify(&store, &second).unwrap(), Presence::Valid);
    put(&store, &place("b"), "1.tar.gz", "new content under the same name");
    assert!(!store.has(&digest));
    store.remove_all(&place("b")).unwrap();
    assert_eq!(fixture.files(), [""; 0]);
}

#[test]
fn content_is_linked_to_another_object_by_its_digest() {
    let fixture = Fixture::new();
    let store = fixture.open();
    let first = put(&store, &place("a"), "1.tar.gz", "same");
    let digest = first.digest.unwrap();
    // Also by a store that was opened since.
    drop(store);
    let store = fixture.open();
    let linked = store.link(&place("b"), "2.tar.gz", &digest).unwrap().unwrap();
    assert_eq!((linked.size, linked.digest), (4, digest));
    assert_eq!(linked.path, "bucket/apps/b/2.tar.gz");
    assert_eq!(inode(&fixture, &first.path), inode(&fixture, &linked.path));
    store.remove_all(&place("a")).unwrap();
    assert_eq!(verify(&store, &artifact(&linked)).unwrap(), Presence::Valid);
    let unknown = Hasher::digest(Algorithm::Sha256, b"unknown");
    assert_eq!(store.link(&place("b"), "3.tar.gz", &unknown).unwrap(), None);
    assert!(!fixture.artifacts().iter().any(|file| file.contains("tmp")));
}

#[test]
fn linking_what_is_linked_already_changes_nothing() {
    let fixture = Fixture::new();
    let store = fixture.open();
    let first = put(&store, &place("a"), "1.tar.gz", "same");
    let before = fixture.files();
    store
        .link(&place("a"), "1.tar.gz", &first.digest.unwrap())
        .unwrap()
        .unwrap();
    assert_eq!(fixture.files(), before);
}

#[test]
fn content_that_was_damaged_is_not_linked() {
    let fixture = Fixture::new();
    let store = fixture.open();
    let first = put(&store, &place("a"), "1.tar.gz", "same");
    fs::write(fixture.path(&first.path), "evil").unwrap();
    assert_eq!(
        store
            .link(&place("b"), "1.tar.gz", &first.digest.unwrap())
            .unwrap(),
        None
    );
    let second = put(&store, &place("b"), "1.tar.gz", "same");
    assert_eq!(verify(&store, &second).unwrap(), Presence::Valid);
    assert!(matches!(verify(&store, &first).unwrap(), Presence::Corrupt));
    assert_eq!(verify(&store, &second).unwrap(), Presence::Valid);
}

#[test]
fn a_file_that_looks_the_same_is_not_hashed_again() {
    let fixture = Fixture::new();
    let store = fixture.open();
    let stored = put(&store, &place("a"), "1.tar.gz", "same");
    let path = fixture.path(&stored.path);
    let time = fs::metadata(&path).unwrap().modified().unwrap();
    fs::write(&path, "evil").unwrap();
    fs::File::open(&path).unwrap().set_modified(time).unwrap();
    // No one but a test sets the time back, so this is how it shows.
    assert_eq!(verify(&store, &stored).unwrap(), Presence::Valid);
    assert!(matches!(
        verify(&fixture.open(), &stored).unwrap(),
        Presence::Corrupt
    ));
}
