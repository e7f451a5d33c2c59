//! What polls and later fetches cost, and what becomes of a cache that is broken.

use std::fs;
use std::path::Path;

use http::Method;
use source::archive::Tree;
use source::git::{Cache, Outcome, Reference, Remote, Request, Settings};
use testkit::git;

use super::{Place, content, fetch, wanted};

#[tokio::test]
async fn a_poll_that_finds_nothing_new_is_one_request() {
    let server = git::Server::start();
    server.repository("app").commit("main", "Start", [("a", "1")]);
    let place = Place::new();
    let remote = place.remote(&server.clone_url("app"));
    let checkout = fetch(&remote, Reference::branch("main")).await.unwrap();
    // The first contact: what the server can do, the references, the pack.
    assert_eq!(server.requests().len(), 3);
    for reference in [Reference::branch("main"), Reference::name("refs/heads/main")] {
        let previous = match &reference.name {
            Some(name) => format!("{name}@{}", checkout.revision.digest().unwrap())
                .parse()
                .unwrap(),
            None => checkout.revision.clone(),
        };
        server.forget_requests();
        let request = Request {
            previous: Some(previous),
            ..wanted(reference)
        };
        let outcome = place
            .remote(&server.clone_url("app"))
            .fetch(&request)
            .await
            .unwrap();
        assert!(matches!(outcome, Outcome::Unchanged(_)));
        let requests = server.requests();
        assert_eq!(requests.len(), 1, "{requests:?}");
        assert_eq!(requests[0].method, Method::POST);
    }
}

#[tokio::test]
async fn a_server_that_no_longer_speaks_the_second_version_is_greeted_again() {
    let server = git::Server::start();
    server.repository("app").commit("main", "Start", [("a", "1")]);
    let place = Place::new();
    let remote = place.remote(&server.clone_url("app"));
    fetch(&remote, Reference::branch("main")).await.unwrap();
    server.forget_requests();
    server.fail(testkit::http::Fault::status(400));
    let refs = remote.list(&Reference::branch("main")).await.unwrap();
    assert_eq!(refs.len(), 1);
    let paths: Vec<_> = server
        .requests()
        .iter()
        .map(|record| record.method.clone())
        .collect();
    assert_eq!(paths, [Method::POST, Method::GET, Method::POST]);
}

#[tokio::test]
async fn a_second_fetch_transfers_only_what_has_changed() {
    let server = git::Server::start();
    let repository = server.repository("app");
    let files: Vec<(String, String)> = (0..200)
        .map(|n| (format!("d{}/f{n}", n % 10), format!("{n}")))
        .collect();
    repository.commit(
        "main",
        "Start",
        files.iter().map(|(path, text)| (path.as_str(), text.as_str())),
    );
    let place = Place::new();
    let remote = place.remote(&server.clone_url("app"));
    fetch(&remote, Reference::branch("main")).await.unwrap();
    assert!(repository.stats().objects_sent > 200);

    repository.commit("main", "More", [("d1/f1", "changed")]);
    repository.commit("main", "Again", [("d1/f1", "changed again")]);
    let checkout = fetch(&remote, Reference::branch("main")).await.unwrap();
    // A commit, two trees, a file; not the commit between.
    assert_eq!(repository.stats().objects_sent, 4);
    assert_eq!(content(&*checkout).len(), 210);
    assert!(content(&*checkout).contains(&"d1/f1 changed again".to_owned()));

    let fetches = repository.stats().fetches;
    fetch(&remote, Reference::branch("main")).await.unwrap();
    assert_eq!(
        repository.stats().fetches,
        fetches,
        "what is here is not fetched again"
    );
}

#[tokio::test]
async fn a_branch_that_was_pushed_over_is_fetched_all_the_same() {
    let server = git::Server::start();
    let repository = server.repository("app");
    repository.commit("main", "Start", [("a", "1")]);
    let place = Place::new();
    let remote = place.remote(&server.clone_url("app"));
    fetch(&remote, Reference::branch("main")).await.unwrap();
    repository.change("main").orphan().file("b", "2").commit();
    let checkout = fetch(&remote, Reference::branch("main")).await.unwrap();
    assert_eq!(content(&*checkout), ["b 2"]);
}

#[tokio::test]
async fn a_checkout_outlives_later_fetches_and_a_replaced_cache() {
    let server = git::Server::start();
    let repository = server.repository("app");
    repository.commit("main", "Start", [("a", "1")]);
    let place = Place::new();
    let remote = place.remote(&server.clone_url("app"));
    let first = fetch(&remote, Reference::branch("main")).await.unwrap();
    for number in 0..70 {
        repository.commit("main", "More", [("a", number.to_string().as_str())]);
        fetch(&remote, Reference::branch("main")).await.unwrap();
    }
    assert_eq!(content(&*first), ["a 1"]);
    drop(first);
    assert!(
        packs(place.directory.path()).len() < 20,
        "packs do not pile up for ever"
    );
}

#[tokio::test]
async fn many_at_once_get_what_they_want_with_one_transfer() {
    let server = git::Server::start();
    let repository = server.repository("app");
    repository.commit("main", "Start", [("a", "1")]);
    let place = Place::new();
    let remote = place.remote(&server.clone_url("app"));
    let fetches = (0..16).map(|_| fetch(&remote, Reference::branch("main")));
    for checkout in futures::future::join_all(fetches).await {
        assert_eq!(content(&*checkout.unwrap()), ["a 1"]);
    }
    assert_eq!(repository.stats().fetches, 1);
}

/// All packs and indexes below a directory.
fn packs(directory: &Path) -> Vec<std::path::PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(directory).unwrap().flatten() {
        match entry.file_type().unwrap().is_dir() {
            true => found.extend(packs(&entry.path())),
            false if entry.file_name().to_string_lossy().starts_with("pack-") => found.push(entry.path()),
            false => {}
        }
    }
    found
}

/// A way to break a file, and what to call it.
type Harm = (&'static str, fn(&Path));

#[tokio::test]
async fn a_broken_cache_is_cloned_anew() {
    let ways: [Harm; 5] = [
        ("emptied", |path| fs::write(path, "").unwrap()),
        ("cut", |path| {
            let content = fs::read(path).unwrap();
            fs::remove_file(path).unwrap();
            fs::write(path, &content[..content.len() / 2]).unwrap();
        }),
        ("removed", |path| fs::remove_file(path).unwrap()),
        ("garbage", |path| {
            let length = fs::read(path).unwrap().len();
            fs::remove_file(path).unwrap();
            fs::write(path, vec![0xa5; length]).unwrap();
        }),
        ("a directory", |path| {
            fs::remove_file(path).unwrap();
            fs::create_dir(path).unwrap();
        }),
    ];
    for (way, harm) in ways {
        for extension in ["pack", "idx"] {
            let server = git::Server::start();
            let repository = server.repository("app");
            repository.commit("main", "Start", [("a", "1"), ("b", "2")]);
            let root = tempfile::tempdir().unwrap();
            let remote = || {
                let settings = Settings::new(server.clone_url("app").parse().unwrap());
                Remote::new(settings, Cache::open(root.path()).unwrap())
            };
            fetch(&remote(), Reference::branch("main")).await.unwrap();
            let ending = std::ffi::OsStr::new(extension);
            packs(root.path())
                .iter()
                .filter(|path| path.extension() == Some(ending))
                .for_each(|path| harm(path));
            repository.commit("main", "More", [("b", "3")]);
            // What cannot be seen when the commit is fetched shows when its files are read; then the next fetch heals it.
            let checkout = fetch(&remote(), Reference::branch("main")).await.unwrap();
            let entries = checkout.entries().unwrap();
            let broken = entries
                .iter()
                .filter(|entry| checkout.open(&entry.path).is_err())
                .count();
            drop(checkout);
            if broken > 0 {
                eprintln!("{way} {extension}: {broken} files were found broken when they were read");
            }
            let checkout = fetch(&remote(), Reference::branch("main")).await.unwrap();
            assert_eq!(content(&*checkout), ["a 1", "b 3"], "{way} {extension}");
        }
    }
}
