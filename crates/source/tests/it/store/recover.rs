//! What a killed process leaves.

use std::fs;
use std::os::unix::fs::symlink;

use source::store::Presence;

use super::{Fixture, place, put, verify};

#[test]
fn leftovers_go_when_the_store_is_opened() {
    let fixture = Fixture::new();
    let store = fixture.open();
    let artifact = put(&store, &place("a"), "1.tar.gz", "one");
    store.point(&artifact.path, "latest.tar.gz").unwrap();
    drop(store);
    let before = fixture.files();
    let directory = fixture.path("bucket/apps/a");
    fs::write(directory.join(".tmp-x1"), "half").unwrap();
    fs::write(directory.join("2.tar.gz.lock"), "").unwrap();
    fs::hard_link(directory.join(".tmp-x1"), fixture.path(".content/sha256-00")).unwrap();
    let digest = "0".repeat(64);
    fs::hard_link(
        directory.join(".tmp-x1"),
        fixture.path(&format!(".content/sha256-{digest}")),
    )
    .unwrap();
    fs::create_dir_all(fixture.path("gitrepository/apps/empty")).unwrap();
    fs::create_dir_all(fixture.path("bucket/apps/dangling")).unwrap();
    symlink("gone", fixture.path("bucket/apps/dangling/latest.tar.gz")).unwrap();
    let store = fixture.open();
    assert_eq!(fixture.files(), before);
    assert!(!fixture.path("gitrepository").exists());
    assert!(!fixture.path("bucket/apps/dangling").exists());
    assert_eq!(verify(&store, &artifact).unwrap(), Presence::Valid);
}

#[test]
fn what_someone_alive_is_writing_is_left_alone() {
    let fixture = Fixture::new();
    let store = fixture.open();
    let stored = store.put(&place("a"), "1.tar.gz", |writer| {
        writer.write_all(b"one")?;
        fixture.open();
        Ok(())
    });
    let stored = stored.unwrap();
    assert_eq!(
        verify(&store, &super::artifact(&stored)).unwrap(),
        Presence::Valid
    );
}

#[test]
fn links_that_lead_out_are_not_followed() {
    let fixture = Fixture::new();
    let outside = tempfile::tempdir().unwrap();
    fs::create_dir_all(outside.path().join("x/y")).unwrap();
    fs::write(outside.path().join("x/y/.tmp-1"), "mine").unwrap();
    symlink(outside.path(), fixture.path("bucket")).unwrap();
    fs::create_dir_all(fixture.path("gitrepository/apps")).unwrap();
    symlink(outside.path().join("x/y"), fixture.path("gitrepository/apps/a")).unwrap();
    fixture.open();
    assert!(outside.path().join("x/y/.tmp-1").exists());
}

#[test]
fn a_root_that_is_no_directory_is_told() {
    let fixture = Fixture::new();
    fs::write(fixture.path("file"), "").unwrap();
    let clock = fixture.clock.clone();
    let opened = source::store::Store::open(
        fixture.path("file"),
        source::store::Options::new("storage.test"),
        std::sync::Arc::new(move || clock.now()),
    );
    let error = opened.unwrap_err();
    assert!(error.to_string().contains("file"), "{error}");
}
