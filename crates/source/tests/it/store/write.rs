//! Files that are put, read, linked to and found to be valid.

use std::fs;
use std::io::{self, Read};

use model::digest::Algorithm;
use source::archive::ignore::Rules;
use source::archive::{Hasher, Limits, MemoryTree, read};
use source::store::{Error, Options, Place, Presence};

use super::{Fixture, artifact, place, put, revision, verify};

#[test]
fn a_tree_is_packed_to_its_place_and_read_again() {
    let fixture = Fixture::new();
    let store = fixture.open();
    let tree = MemoryTree::new()
        .with("app.yaml", "replicas: 1\n")
        .with("logo.png", "");
    let rules = Rules::of(&tree, None).unwrap();
    let place = Place::new("GitRepository", "flux-system", "podinfo").unwrap();
    let stored = store.pack(&place, "0123.tar.gz", &tree, &rules).unwrap();
    assert_eq!(stored.path, "gitrepository/flux-system/podinfo/0123.tar.gz");
    assert_eq!(
        stored.url,
        "http://storage.test/gitrepository/flux-system/podinfo/0123.tar.gz"
    );
    let bytes = fs::read(fixture.path(&stored.path)).unwrap();
    assert_eq!(stored.digest, Hasher::digest(Algorithm::Sha256, &bytes));
    assert_eq!(stored.size, bytes.len() as u64);
    assert_eq!(stored.time.to_string(), "2026-01-01T00:00:00Z");

    let artifact = artifact(&stored);
    assert_eq!(artifact.revision, revision());
    assert_eq!(artifact.size, Some(bytes.len() as i64));
    let file = store.read(&artifact).unwrap();
    let back = read(file, &Limits::default()).unwrap();
    assert_eq!(back, MemoryTree::new().with("app.yaml", "replicas: 1\n"));
}

#[test]
fn nothing_is_left_beside_the_file() {
    let fixture = Fixture::new();
    let store = fixture.open();
    put(&store, &place("a"), "1.tar.gz", "one");
    put(&store, &place("a"), "1.tar.gz", "one");
    assert_eq!(fixture.artifacts(), ["bucket/apps/a/1.tar.gz"]);
}

#[test]
fn a_write_that_fails_leaves_what_was_there() {
    let fixture = Fixture::new();
    let store = fixture.open();
    let artifact = put(&store, &place("a"), "1.tar.gz", "good");
    let before = fixture.files();
    let failed = store.put(&place("a"), "1.tar.gz", |writer| {
        writer.write_all(b"half of ")?;
        Err(io::Error::other("the remote side broke off"))
    });
    let Err(Error::Write { source, .. }) = failed else {
        panic!("{failed:?}");
    };
    assert_eq!(source.to_string(), "the remote side broke off");
    assert_eq!(fixture.files(), before);
    assert_eq!(verify(&store, &artifact).unwrap(), Presence::Valid);
}

#[test]
fn a_name_that_cannot_be_given_leaves_nothing_behind() {
    let fixture = Fixture::new();
    let store = fixture.open();
    let stored = put(&store, &place("a"), "1.tar.gz", "one");
    // Nothing takes the place of a directory that is not empty.
    for name in ["taken.tar.gz", "latest.tar.gz"] {
        let taken = fixture.path(&format!("bucket/apps/b/{name}"));
        fs::create_dir_all(&taken).unwrap();
        fs::write(taken.join("x"), "x").unwrap();
    }
    let before = fixture.files();
    let place = place("b");
    for content in ["one", "another"] {
        let failed = store.copy(&place, "taken.tar.gz", content.as_bytes());
        assert!(matches!(failed, Err(Error::Write { .. })), "{failed:?}");
    }
    let digest = stored.digest.unwrap();
    store.link(&place, "taken.tar.gz", &digest).unwrap_err();
    let path = "bucket/apps/b/taken.tar.gz";
    store.point(path, "latest.tar.gz").unwrap_err();
    assert_eq!(fixture.files(), before);
}

#[test]
fn every_algorithm_gives_its_digest() {
    let fixture = Fixture::new();
    for algorithm in Algorithm::ALL {
        let store = fixture.open_with(Options {
            algorithm,
            ..Options::new("storage.test")
        });
        let artifact = put(&store, &place("a"), "1.tar.gz", "one");
        assert_eq!(artifact.digest, Some(Hasher::digest(algorithm, b"one")));
        assert_eq!(verify(&fixture.open(), &artifact).unwrap(), Presence::Valid);
    }
}

#[test]
fn a_file_that_is_gone_is_missing() {
    let fixture = Fixture::new();
    let store = fixture.open();
    let artifact = put(&store, &place("a"), "1.tar.gz", "one");
    fs::remove_file(fixture.path(&artifact.path)).unwrap();
    assert_eq!(verify(&store, &artifact).unwrap(), Presence::Missing);
    assert!(matches!(store.read(&artifact), Err(Error::Missing { .. })));
}

#[test]
fn a_file_that_changed_is_removed() {
    let fixture = Fixture::new();
    for reopened in [false, true] {
        let mut store = fixture.open();
        let artifact = put(&store, &place("a"), "1.tar.gz", "one");
        assert_eq!(verify(&store, &artifact).unwrap(), Presence::Valid);
        fs::write(fixture.path(&artifact.path), "two").unwrap();
        if reopened {
            store = fixture.open();
        }
        assert!(matches!(store.read(&artifact), Err(Error::Mismatch { .. })));
        assert_eq!(verify(&store, &artifact).unwrap(), Presence::Corrupt);
        assert_eq!(verify(&store, &artifact).unwrap(), Presence::Missing);
        let again = put(&store, &place("a"), "1.tar.gz", "one");
        assert_eq!(
            verify(&store, &again).unwrap(),
            Presence::Valid,
            "the broken content is not used again"
        );
        store.remove_all(&place("a")).unwrap();
        assert_eq!(fixture.files(), [""; 0]);
    }
}

#[test]
fn paths_from_outside_lead_nowhere() {
    let fixture = Fixture::new();
    let store = fixture.open();
    let good = put(&store, &place("a"), "1.tar.gz", "one");
    for path in [
        "",
        "a",
        "../../etc/passwd",
        "bucket/apps/a/../b",
        "/etc/a/b/c",
        ".content/a/b/c",
        "bucket/apps/a/b/1.tar.gz",
    ] {
        let mut artifact = good.clone();
        artifact.path = path.to_owned();
        assert!(
            matches!(store.verify(&place("a"), &artifact), Err(Error::Path { .. })),
            "{path:?}"
        );
        assert!(
            matches!(store.read(&artifact), Err(Error::Path { .. })),
            "{path:?}"
        );
    }
}

#[test]
fn an_artifact_without_a_digest_is_not_trusted() {
    let fixture = Fixture::new();
    let store = fixture.open();
    let mut artifact = put(&store, &place("a"), "1.tar.gz", "one");
    artifact.digest = None;
    assert!(matches!(verify(&store, &artifact), Err(Error::NoDigest { .. })));
    assert!(matches!(store.read(&artifact), Err(Error::NoDigest { .. })));
}

#[test]
fn a_link_leads_to_the_current_file() {
    let fixture = Fixture::new();
    let store = fixture.open();
    for content in ["one", "two", "two"] {
        let artifact = put(&store, &place("a"), &format!("{content}.tar.gz"), content);
        let url = store.point(&artifact.path, "latest.tar.gz").unwrap();
        assert_eq!(url, "http://storage.test/bucket/apps/a/latest.tar.gz");
        let link = fixture.path("bucket/apps/a/latest.tar.gz");
        assert_eq!(fs::read_to_string(link).unwrap(), content);
    }
    assert!(matches!(
        store.point("bucket/apps/a/one.tar.gz", "../x"),
        Err(Error::Path { .. })
    ));
    let mut artifact = put(&store, &place("a"), "one.tar.gz", "one");
    artifact.path = "bucket/apps/a/latest.tar.gz".to_owned();
    assert_eq!(
        verify(&store, &artifact).unwrap(),
        Presence::Missing,
        "a link is no artifact"
    );
}

#[test]
fn urls_follow_the_advertised_host() {
    let fixture = Fixture::new();
    let store = fixture.open_with(Options::new("source-controller.flux-system.svc.cluster.local."));
    let old = "http://localhost:9090/ocirepository/apps/a/sha256:00.tar.gz";
    assert_eq!(
        store.relocate(old),
        "http://source-controller.flux-system.svc.cluster.local./ocirepository/apps/a/sha256:00.tar.gz"
    );
    let store = fixture.open_with(Options::new("https://files.example.com/"));
    assert_eq!(store.url_of("a/b/c/d"), "https://files.example.com/a/b/c/d");
}

#[test]
fn writers_of_one_file_come_one_after_another() {
    let fixture = Fixture::new();
    let store = fixture.open();
    let digests: Vec<_> = std::thread::scope(|scope| {
        let writers: Vec<_> = (0..8)
            .map(|number| {
                let store = &store;
                scope.spawn(move || put(store, &place("a"), "1.tar.gz", &format!("content {number}")).digest)
            })
            .collect();
        writers.into_iter().map(|writer| writer.join().unwrap()).collect()
    });
    let mut content = String::new();
    fs::File::open(fixture.path("bucket/apps/a/1.tar.gz"))
        .unwrap()
        .read_to_string(&mut content)
        .unwrap();
    let found = Hasher::digest(Algorithm::Sha256, content.as_bytes());
    assert!(digests.contains(&Some(found)));
    assert_eq!(
        fixture.files().len(),
        2,
        "the file and its content: {:?}",
        fixture.files()
    );
}
