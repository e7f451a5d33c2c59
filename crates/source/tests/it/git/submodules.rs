//! Submodules.

use source::git::{Auth, Cause, Reference, Request};
use testkit::git;

use super::{Place, content, fetched, wanted};

fn request() -> Request {
    Request {
        submodules: true,
        ..wanted(Reference::branch("main"))
    }
}

fn gitmodules(modules: &[(&str, &str)]) -> String {
    let section =
        |(path, url): &(&str, &str)| format!("[submodule \"{path}\"]\n\tpath = {path}\n\turl = {url}\n");
    modules.iter().map(section).collect()
}

#[tokio::test]
async fn submodules_of_submodules_are_fetched_with_the_same_credentials() {
    let server = git::Server::builder().basic("ada", "secret").start();
    let inner = server
        .repository("team/inner")
        .commit("main", "Inner", [("deep", "3")]);
    let lib = server.repository("team/lib");
    let lib = lib
        .change("main")
        .file(".gitmodules", gitmodules(&[("in", "../inner.git")]))
        .file("lib.txt", "2")
        .submodule("in", inner)
        .commit();
    // The commit that is wanted is no longer the tip.
    server
        .repository("team/lib")
        .commit("main", "Later", [("lib.txt", "later")]);
    let absolute = server.clone_url("team/lib");
    server
        .repository("team/app")
        .change("main")
        .file(
            ".gitmodules",
            gitmodules(&[("vendor/lib", "../lib.git"), ("abs", &absolute)]),
        )
        .file("app.txt", "1")
        .submodule("vendor/lib", lib)
        .submodule("abs", lib)
        .submodule("unlisted", lib)
        .commit();
    let place = Place::new();
    let remote = place.remote_with(&server.clone_url("team/app"), |settings| {
        settings.auth = Auth::Basic {
            user: "ada".into(),
            password: "secret".into(),
        };
    });
    let plain = fetched(remote.fetch(&wanted(Reference::branch("main"))).await).unwrap();
    let shown = content(&*plain);
    assert!(shown.contains(&"vendor/lib/".to_owned()) && shown.contains(&"unlisted/".to_owned()));
    assert_eq!(shown.len(), 6);

    let checkout = fetched(remote.fetch(&request()).await).unwrap();
    let shown = content(&*checkout);
    for expected in [
        "vendor/lib/lib.txt 2",
        "vendor/lib/in/deep 3",
        "abs/lib.txt 2",
        "abs/in/deep 3",
        "unlisted/",
    ] {
        assert!(shown.contains(&expected.to_owned()), "{expected} in {shown:?}");
    }
    let mut sorted = shown.clone();
    sorted.sort();
    sorted.dedup();
    assert_eq!(sorted.len(), shown.len(), "nothing is there twice");
}

#[tokio::test]
async fn a_submodule_that_cannot_be_fetched_is_named() {
    let server = git::Server::start();
    let app = server.repository("app");
    let commit = app.commit("main", "Start", [("a", "1")]);
    let place = Place::new();
    for (url, expected) in [
        ("../gone.git", "submodule 'lib' cannot be fetched"),
        ("git@host:lib.git", "the form host:path, which is not supported"),
    ] {
        app.change("main")
            .file(".gitmodules", gitmodules(&[("lib", url)]))
            .submodule("lib", commit)
            .commit();
        let error = place
            .remote(&server.clone_url("app"))
            .fetch(&request())
            .await
            .unwrap_err();
        assert!(
            matches!(error.cause(), Cause::Submodule { .. } | Cause::Submodules(_)),
            "{error}"
        );
        assert!(error.to_string().contains(expected), "{error}");
    }
}

#[tokio::test]
async fn repositories_that_contain_each_other_come_to_an_end() {
    let server = git::Server::start();
    let app = server.repository("app");
    let first = app.commit("main", "Start", [("a", "1")]);
    let modules = gitmodules(&[("me", "./../app.git")]);
    let mut last = first;
    for _ in 0..15 {
        last = app
            .change("main")
            .file(".gitmodules", modules.clone())
            .submodule("me", last)
            .commit();
    }
    let place = Place::new();
    let checkout = fetched(place.remote(&server.clone_url("app")).fetch(&request()).await).unwrap();
    let deepest = content(&*checkout)
        .iter()
        .map(|line| line.matches("me/").count())
        .max();
    assert_eq!(deepest, Some(11));
}

#[tokio::test]
async fn directories_inside_of_submodules_can_be_wanted_alone() {
    let server = git::Server::start();
    let inner = server
        .repository("inner")
        .commit("main", "Inner", [("deep/d", "4"), ("other/o", "5")]);
    let lib = server
        .repository("lib")
        .change("main")
        .file(".gitmodules", gitmodules(&[("in", "../inner.git")]))
        .file("deploy/l", "2")
        .file("docs/x", "3")
        .submodule("in", inner)
        .commit();
    server
        .repository("app")
        .change("main")
        .file(".gitmodules", gitmodules(&[("vendor/lib", "../lib.git")]))
        .file("vendor/own", "1")
        .file("top", "0")
        .submodule("vendor/lib", lib)
        .submodule("unlisted", lib)
        .commit();
    let place = Place::new();
    let remote = place.remote(&server.clone_url("app"));
    let sparse = |paths: &[&str]| Request {
        sparse: paths.iter().map(ToString::to_string).collect(),
        ..request()
    };
    let deploy = [
        "vendor/",
        "vendor/lib/",
        "vendor/lib/deploy/",
        "vendor/lib/deploy/l 2",
    ];
    let checkout = fetched(remote.fetch(&sparse(&["vendor/lib/deploy"])).await).unwrap();
    assert_eq!(content(&*checkout), deploy);
    let deep = [
        "vendor/",
        "vendor/lib/",
        "vendor/lib/in/",
        "vendor/lib/in/deep/",
        "vendor/lib/in/deep/d 4",
    ];
    let checkout = fetched(remote.fetch(&sparse(&["./vendor/lib/in/deep/"])).await).unwrap();
    assert_eq!(content(&*checkout), deep);
    let whole = fetched(remote.fetch(&sparse(&["vendor/lib"])).await).unwrap();
    assert_eq!(content(&*whole).len(), 12);

    for (path, named) in [
        ("vendor/lib/gone", "'gone'"),
        ("unlisted/deploy", "'unlisted/deploy'"),
    ] {
        let error = remote.fetch(&sparse(&[path])).await.unwrap_err();
        let text = super::chain(&error);
        assert!(
            text.contains(&format!("sparse checkout dir {named} does not exist")),
            "{text}"
        );
    }
    let without = Request {
        submodules: false,
        ..sparse(&["vendor/lib/deploy"])
    };
    let error = remote.fetch(&without).await.unwrap_err();
    assert!(
        matches!(error.cause(), Cause::SparsePath(path) if path == "vendor/lib/deploy"),
        "{error}"
    );
}
