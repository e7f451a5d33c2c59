//! Servers that fail: each failure has its cause, and the next fetch is none the worse for it.

use std::time::{Duration, Instant};

use source::git::{Cause, Limits, Reference};
use testkit::git::{self, PackFault};
use testkit::http::Fault;

use super::{Place, chain, content, fetch};

#[tokio::test]
async fn broken_packs_are_refused_and_the_next_fetch_succeeds() {
    let server = git::Server::start();
    let repository = server.repository("app");
    repository.commit(
        "main",
        "Start",
        [("a", "some content that is long enough"), ("b", "2")],
    );
    let place = Place::new();
    let remote = place.remote(&server.clone_url("app"));
    for fault in [PackFault::Corrupted, PackFault::Truncated] {
        // The fetch is tried once more with an empty cache: that one is broken as well.
        repository.break_next_pack(fault.clone());
        repository.break_next_pack(fault.clone());
        let error = fetch(&remote, Reference::branch("main")).await.unwrap_err();
        assert!(
            matches!(error.cause(), Cause::Pack(_)),
            "{fault:?}: {}",
            chain(&error)
        );
        assert!(
            error
                .to_string()
                .contains("the pack that the server sent is broken")
        );
    }
    repository.break_next_pack(PackFault::Failed("out of memory".into()));
    let error = fetch(&remote, Reference::branch("main")).await.unwrap_err();
    assert!(
        error.to_string().contains("the server refused: out of memory"),
        "{error}"
    );
    assert_eq!(
        content(&*fetch(&remote, Reference::branch("main")).await.unwrap()).len(),
        2
    );
}

#[tokio::test]
async fn a_pack_that_is_broken_once_is_fetched_again() {
    let server = git::Server::start();
    let repository = server.repository("app");
    repository.commit("main", "Start", [("a", "1")]);
    repository.break_next_pack(PackFault::Corrupted);
    let place = Place::new();
    let remote = place.remote(&server.clone_url("app"));
    assert_eq!(
        content(&*fetch(&remote, Reference::branch("main")).await.unwrap()),
        ["a 1"]
    );
    assert_eq!(repository.stats().fetches, 2);
}

#[tokio::test]
async fn connections_that_break_and_statuses_are_told_apart() {
    let server = git::Server::start();
    server.repository("app").commit("main", "Start", [("a", "1")]);
    let place = Place::new();
    let url = server.clone_url("app");
    let error = async |fault: Fault| {
        // Each time as if for the first time.
        let fresh = Place::new();
        server.heal();
        server.fail(fault);
        fetch(&fresh.remote(&url), Reference::branch("main"))
            .await
            .unwrap_err()
    };
    assert!(matches!(
        error(Fault::drop_connection()).await.cause(),
        Cause::Disconnected(_) | Cause::Connect(_)
    ));
    assert!(matches!(
        error(Fault::truncate(20)).await.cause(),
        Cause::Disconnected(_)
    ));
    assert!(matches!(
        error(Fault::truncate(100).on("git-upload-pack").times(3))
            .await
            .cause(),
        Cause::Disconnected(_)
    ));
    assert!(matches!(
        error(Fault::status(500)).await.cause(),
        Cause::Status(500)
    ));
    assert!(matches!(
        error(Fault::status(403)).await.cause(),
        Cause::Anonymous(_)
    ));
    server.heal();
    fetch(&place.remote(&url), Reference::branch("main"))
        .await
        .unwrap();

    let page =
        testkit::http::Server::serve(|_: &testkit::http::Request| testkit::http::Reply::text("<html>"));
    let error = fetch(
        &place.remote(&format!("{}/app", page.url())),
        Reference::default(),
    )
    .await
    .unwrap_err();
    assert!(matches!(error.cause(), Cause::Protocol(_)), "{error}");
    let error = fetch(&place.remote("http://127.0.0.1:1/app"), Reference::default())
        .await
        .unwrap_err();
    assert!(matches!(error.cause(), Cause::Connect(_)), "{error}");
}

#[tokio::test]
async fn a_server_that_hangs_holds_nobody_longer_than_the_timeout() {
    let server = git::Server::start();
    server.repository("app").commit("main", "Start", [("a", "1")]);
    let place = Place::new();
    let timeout = Duration::from_millis(300);
    let faults = [
        Fault::hang().on("info/refs"),
        Fault::hang().on("git-upload-pack").method(http::Method::POST),
        Fault::slow(1, Duration::from_secs(5))
            .on("git-upload-pack")
            .method(http::Method::POST),
    ];
    for fault in faults {
        let fresh = Place::new();
        let remote = fresh.remote_with(&server.clone_url("app"), |settings| settings.timeout = timeout);
        server.heal();
        server.fail(fault.forever());
        let begun = Instant::now();
        let error = fetch(&remote, Reference::branch("main")).await.unwrap_err();
        assert!(matches!(error.cause(), Cause::Timeout(_)), "{error}");
        assert!(error.to_string().contains("timed out after 300ms"));
        assert!(begun.elapsed() < Duration::from_secs(60));
    }
    server.heal();
    fetch(&place.remote(&server.clone_url("app")), Reference::branch("main"))
        .await
        .unwrap();
}

#[tokio::test]
async fn a_runtime_ends_although_a_pack_never_does() {
    let server = git::Server::start();
    server.repository("app").commit("main", "Start", [("a", "1")]);
    let url = server.clone_url("app");
    // The listing passes; the answer with the pack drips.
    let work = std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .unwrap();
        runtime.block_on(async {
            let place = Place::new();
            let remote = place.remote_with(&url, |settings| settings.timeout = Duration::from_millis(500));
            let patient = place.remote(&url);
            patient.list(&Reference::branch("main")).await.unwrap();
            server.fail(Fault::delay(Duration::ZERO).on("git-upload-pack"));
            server.fail(Fault::slow(10, Duration::from_secs(3600)).on("git-upload-pack"));
            let error = fetch(&remote, Reference::branch("main")).await.unwrap_err();
            assert!(matches!(error.cause(), Cause::Timeout(_)), "{error}");
        });
        // Dropping the runtime waits for the threads that it has started.
        drop(runtime);
    });
    let begun = Instant::now();
    work.join().unwrap();
    assert!(begun.elapsed() < Duration::from_secs(30));
}

/// What there is too much of, and how the limit is set.
type Limited = (&'static str, fn(&mut Limits));

#[tokio::test]
async fn repositories_that_are_too_large_are_refused() {
    let server = git::Server::start();
    let repository = server.repository("app");
    repository.commit("main", "Start", [("a", "1"), ("b", "2"), ("c/d", "3")]);
    let limits: [Limited; 3] = [
        ("objects", |limits| limits.objects = 5),
        ("bytes in its pack", |limits| limits.pack_bytes = 50),
        ("files", |limits| limits.files = 3),
    ];
    for (what, set) in limits {
        let place = Place::new();
        let remote = place.remote_with(&server.clone_url("app"), |settings| set(&mut settings.limits));
        let error = fetch(&remote, Reference::branch("main")).await.unwrap_err();
        assert!(
            matches!(error.cause(), Cause::Limit { what: found, .. } if *found == what),
            "{error}"
        );
    }
}

#[tokio::test]
async fn trees_with_names_that_lead_elsewhere_are_refused() {
    let server = git::Server::start();
    let repository = server.repository("app");
    let blob = repository.put(git::Object::new(git::Kind::Blob, "x"));
    for name in ["..", ".git", "a/b"] {
        let mut tree = format!("100644 {name}\0").into_bytes();
        let hex = blob.to_string();
        tree.extend((0..20).map(|at| u8::from_str_radix(&hex[2 * at..2 * at + 2], 16).unwrap()));
        let tree = repository.put(git::Object::new(git::Kind::Tree, tree));
        let text = format!("tree {tree}\nauthor A <a> 1 +0000\ncommitter A <a> 1 +0000\n\nBad\n");
        let commit = repository.put(git::Object::new(git::Kind::Commit, text));
        repository.set_ref("refs/heads/main", commit);
        let place = Place::new();
        let error = fetch(&place.remote(&server.clone_url("app")), Reference::branch("main"))
            .await
            .unwrap_err();
        assert!(matches!(error.cause(), Cause::Path { .. }), "{error}");
    }
}
