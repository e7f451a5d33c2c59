//! What is removed, and what stays.

use std::fs;
use std::time::Duration;

use source::store::Options;

use super::{Fixture, place, put};

const SECOND: Duration = Duration::from_secs(1);

fn names(fixture: &Fixture) -> Vec<String> {
    let names = fixture.artifacts().into_iter();
    names
        .map(|path| path.rsplit('/').next().unwrap().to_owned())
        .collect()
}

#[test]
fn files_older_than_the_retention_time_go() {
    let fixture = Fixture::new();
    let store = fixture.open();
    put(&store, &place("a"), "1", "1");
    fixture.clock.advance(30 * SECOND);
    put(&store, &place("a"), "2", "2");
    fixture.clock.advance(30 * SECOND);
    assert_eq!(
        store.collect(&place("a"), Some("2")).unwrap(),
        [""; 0],
        "a minute is not more than a minute"
    );
    fixture.clock.advance(SECOND);
    assert_eq!(
        store.collect(&place("a"), Some("2")).unwrap(),
        ["bucket/apps/a/1"]
    );
    fixture.clock.advance(1000 * SECOND);
    assert_eq!(
        store.collect(&place("a"), Some("2")).unwrap(),
        [""; 0],
        "the current one stays"
    );
    assert_eq!(
        store.collect(&place("a"), Some("bucket/apps/a/2")).unwrap(),
        [""; 0],
        "also when it is named by its path, as a status has it"
    );
    assert_eq!(names(&fixture), ["2"]);
}

#[test]
fn of_younger_files_the_oldest_beyond_the_number_go() {
    let fixture = Fixture::new();
    let store = fixture.open();
    for number in 1..=5 {
        put(&store, &place("a"), &number.to_string(), &number.to_string());
        fixture.clock.advance(SECOND);
    }
    let removed = store.collect(&place("a"), Some("5")).unwrap();
    assert_eq!(removed, ["bucket/apps/a/1", "bucket/apps/a/2", "bucket/apps/a/3"]);
    assert_eq!(names(&fixture), ["4", "5"]);
    assert_eq!(fixture.files().len(), 4, "their content is gone too");
}

#[test]
fn the_current_file_stays_though_it_is_the_oldest() {
    let fixture = Fixture::new();
    let store = fixture.open();
    for number in 1..=4 {
        put(&store, &place("a"), &number.to_string(), &number.to_string());
        fixture.clock.advance(SECOND);
    }
    store.collect(&place("a"), Some("1")).unwrap();
    assert_eq!(names(&fixture), ["1", "4"]);
}

#[test]
fn links_and_locks_are_not_counted_and_locks_go_with_their_file() {
    let fixture = Fixture::new();
    let store = fixture.open();
    for number in 1..=3 {
        let artifact = put(&store, &place("a"), &number.to_string(), &number.to_string());
        store.point(&artifact.path, "latest.tar.gz").unwrap();
        fixture.clock.advance(SECOND);
    }
    for lock in ["1.lock", "2.lock"] {
        fs::write(fixture.path("bucket/apps/a").join(lock), "").unwrap();
    }
    store.collect(&place("a"), Some("3")).unwrap();
    assert_eq!(names(&fixture), ["2", "2.lock", "3", "latest.tar.gz"]);
}

#[test]
fn an_object_without_files_has_nothing_to_collect() {
    let fixture = Fixture::new();
    let store = fixture.open();
    assert_eq!(store.collect(&place("a"), None).unwrap(), [""; 0]);
    assert!(!fixture.path("bucket/apps/a").exists());
}

#[test]
fn other_objects_are_left_alone() {
    let fixture = Fixture::new();
    let store = fixture.open_with(Options {
        retention_records: 0,
        ..Options::new("storage.test")
    });
    put(&store, &place("a"), "1", "same");
    let other = put(&store, &place("b"), "1", "same");
    store.collect(&place("a"), None).unwrap();
    assert_eq!(fixture.artifacts(), std::slice::from_ref(&other.path));
    assert!(store.has(&other.digest.unwrap()));
}

#[test]
fn no_more_than_a_thousand_files_are_looked_at_in_one_go() {
    let fixture = Fixture::new();
    let store = fixture.open();
    let directory = fixture.path("bucket/apps/a");
    fs::create_dir_all(&directory).unwrap();
    for number in 0..1100 {
        fs::write(directory.join(number.to_string()), "").unwrap();
    }
    let first = store.collect(&place("a"), None).unwrap().len();
    assert_eq!(first, 998);
    let second = store.collect(&place("a"), None).unwrap().len();
    assert_eq!(first + second, 1098);
}
