//! Which commit is fetched, how its revision is written, and what its files are.

use source::archive::Tree;
use source::git::{Auth, Cause, Outcome, Reference, Request};
use testkit::git;
use testkit::tls::Authority;

use super::{Place, chain, content, fetch, fetched, wanted};

fn sha(id: git::Id) -> String {
    format!("sha1:{id}")
}

#[tokio::test]
async fn branches_tags_names_versions_and_commits_are_fetched() {
    let server = git::Server::start();
    let repository = server.repository("team/app");
    let first = repository.commit("master", "First", [("a.yaml", "one")]);
    repository.annotated_tag("v1.0.0", first).create();
    let second = repository.commit("master", "Second\n\nbody", [("a.yaml", "two")]);
    repository.tag("v1.1.0", second);
    let third = repository.commit("feature/x", "Third", [("b.yaml", "three")]);
    repository.set_ref("refs/pull/7/head", third);
    let place = Place::new();
    let remote = place.remote(&server.clone_url("team/app"));

    for (reference, revision, message) in [
        (Reference::default(), format!("master@{}", sha(second)), "Second"),
        (
            Reference::branch("feature/x"),
            format!("feature/x@{}", sha(third)),
            "Third",
        ),
        (
            Reference::tag("v1.0.0"),
            format!("v1.0.0@{}", sha(first)),
            "First",
        ),
        (
            Reference::semver(">=1.0.0"),
            format!("v1.1.0@{}", sha(second)),
            "Second",
        ),
        (
            Reference::semver("1.0.x"),
            format!("v1.0.0@{}", sha(first)),
            "First",
        ),
        (
            Reference::name("refs/pull/7/head"),
            format!("refs/pull/7/head@{}", sha(third)),
            "Third",
        ),
        (
            Reference::name("refs/tags/v1.0.0"),
            format!("refs/tags/v1.0.0@{}", sha(first)),
            "First",
        ),
        (Reference::commit(first.to_string()), sha(first), "First"),
    ] {
        let checkout = fetch(&remote, reference).await.unwrap();
        assert_eq!(checkout.revision.to_string(), revision);
        assert_eq!(checkout.commit.short_message(), message);
    }
    let tagged = fetch(&remote, Reference::tag("v1.0.0")).await.unwrap();
    let tag = tagged.tag.as_ref().unwrap();
    assert!(tag.id.is_some() && tag.name == "v1.0.0");
    assert_eq!(content(&*tagged), ["a.yaml one"]);
    let light = fetch(&remote, Reference::tag("v1.1.0")).await.unwrap();
    assert_eq!(light.tag.as_ref().unwrap().id, None);
}

#[tokio::test]
async fn files_directories_and_modes_are_read_and_links_left_out() {
    let server = git::Server::start();
    let repository = server.repository("app");
    let change = repository
        .change("main")
        .file("z/deep/file", "1")
        .file("z.txt", "2");
    change
        .executable("a/run.sh", "3")
        .symlink("a/link", "run.sh")
        .symlink("only/link", "x")
        .commit();
    let place = Place::new();
    let checkout = fetch(&place.remote(&server.clone_url("app")), Reference::branch("main"))
        .await
        .unwrap();
    let expected = [
        "a/",
        "a/run.sh* 3",
        "only/",
        "z/",
        "z/deep/",
        "z/deep/file 1",
        "z.txt 2",
    ];
    assert_eq!(content(&*checkout), expected);
    assert!(checkout.open("a/link").is_err());
    assert!(checkout.open("a").is_err());
}

#[tokio::test]
async fn only_the_wanted_directories_are_in_a_sparse_checkout() {
    let server = git::Server::start();
    let repository = server.repository("app");
    let files = [
        ("apps/one/a", "1"),
        ("apps/two/b", "2"),
        ("infra/c", "3"),
        ("top", "4"),
    ];
    repository.commit("main", "Start", files);
    let place = Place::new();
    let remote = place.remote(&server.clone_url("app"));
    let request = |sparse: &[&str]| Request {
        sparse: sparse.iter().map(ToString::to_string).collect(),
        ..wanted(Reference::branch("main"))
    };
    let checkout = fetched(remote.fetch(&request(&["./apps/two", "infra/"])).await).unwrap();
    assert_eq!(
        content(&*checkout),
        ["apps/", "apps/two/", "apps/two/b 2", "infra/", "infra/c 3"]
    );
    let error = remote.fetch(&request(&["apps/three"])).await.unwrap_err();
    assert!(matches!(error.cause(), Cause::SparsePath(path) if path == "apps/three"));
    assert!(
        error
            .to_string()
            .contains("sparse checkout dir 'apps/three' does not exist in repository")
    );
}

#[tokio::test]
async fn of_versions_that_differ_only_in_metadata_the_newest_commit_is_taken() {
    let server = git::Server::start();
    let repository = server.repository("app");
    let newer = repository
        .change("main")
        .message("Newer")
        .file("a", "1")
        .time(2_000_000_000)
        .commit();
    let older = repository
        .change("main")
        .message("Older")
        .file("a", "2")
        .time(1_000_000_000)
        .commit();
    repository.tag("1.0.0+z", older);
    repository.tag("1.0.0+a", newer);
    let place = Place::new();
    let remote = place.remote(&server.clone_url("app"));
    let checkout = fetch(&remote, Reference::semver("1.x")).await.unwrap();
    assert_eq!(checkout.revision.to_string(), format!("1.0.0+a@{}", sha(newer)));
    let again = Request {
        previous: Some(checkout.revision.clone()),
        ..wanted(Reference::semver("1.x"))
    };
    assert!(matches!(
        remote.fetch(&again).await.unwrap(),
        Outcome::Unchanged(_)
    ));
}

#[tokio::test]
async fn what_is_not_there_is_told_apart() {
    let server = git::Server::start();
    server.repository("empty");
    let repository = server.repository("app");
    let blob = repository.put(git::Object::new(git::Kind::Blob, "x"));
    repository.commit("main", "Start", [("a", "1")]);
    repository.tag("blob", blob);
    let place = Place::new();
    let remote = place.remote(&server.clone_url("app"));
    let cause = async |reference: Reference| fetch(&remote, reference).await.unwrap_err().to_string();
    assert!(
        cause(Reference::branch("gone"))
            .await
            .contains("couldn't find remote ref 'refs/heads/gone'")
    );
    assert!(cause(Reference::tag("gone")).await.contains("refs/tags/gone"));
    assert!(
        cause(Reference::semver(">=1"))
            .await
            .contains("no match found for semver: >=1")
    );
    assert!(
        cause(Reference::semver("x y"))
            .await
            .contains("semver parse error")
    );
    assert!(
        cause(Reference::tag("blob"))
            .await
            .contains("does not lead to a commit but to a blob")
    );
    let missing = "1".repeat(40);
    assert!(
        cause(Reference::commit(&missing))
            .await
            .contains(&format!("unable to resolve commit '{missing}'"))
    );

    for reference in [
        Reference::default(),
        Reference::semver("*"),
        Reference::commit(&missing),
    ] {
        let error = fetch(&place.remote(&server.clone_url("empty")), reference)
            .await
            .unwrap_err();
        assert!(matches!(error.cause(), Cause::Empty), "{error}");
    }
    let error = fetch(&place.remote(&server.clone_url("none")), Reference::default())
        .await
        .unwrap_err();
    assert!(matches!(error.cause(), Cause::NotFound), "{error}");
    assert!(error.to_string().contains(&server.clone_url("none")));
}

#[tokio::test]
async fn basic_and_bearer_credentials_are_shown_also_without_tls_and_from_the_url() {
    let server = git::Server::builder()
        .basic("ada", "p@ss")
        .bearer("token")
        .start();
    server.repository("app").commit("main", "Start", [("a", "1")]);
    let place = Place::new();
    let url = server.clone_url("app");
    let basic = |password: &str| Auth::Basic {
        user: "ada".into(),
        password: password.into(),
    };
    for auth in [basic("p@ss"), Auth::Bearer("token".into())] {
        let remote = place.remote_with(&url, |settings| settings.auth = auth.clone());
        fetch(&remote, Reference::branch("main")).await.unwrap();
    }
    let inside = url.replace("http://", "http://ada:p%40ss@");
    fetch(&place.remote(&inside), Reference::branch("main"))
        .await
        .unwrap();
    for auth in [basic("geheim"), Auth::Bearer("geheim".into()), Auth::None] {
        let remote = place.remote_with(&url, |settings| settings.auth = auth.clone());
        let error = fetch(&remote, Reference::branch("main")).await.unwrap_err();
        match auth {
            Auth::None => assert!(matches!(error.cause(), Cause::Anonymous(_)), "{error}"),
            _ => assert!(matches!(error.cause(), Cause::Authentication(_)), "{error}"),
        }
        assert!(!chain(&error).contains("geheim") && !format!("{error:?} {remote:?}").contains("geheim"));
    }
}

#[tokio::test]
async fn authorities_and_client_certificates_are_used() {
    let authority = Authority::default();
    let server = git::Server::builder()
        .tls(&authority)
        .client_certificates(&authority)
        .start();
    server.repository("app").commit("main", "Start", [("a", "1")]);
    let place = Place::new();
    let url = server.clone_url("app");
    let client = authority.client("ada");
    let with = |trusted: bool, shown: bool| {
        place.remote_with(&url, |settings| {
            settings.http.tls.authorities = trusted.then(|| authority.pem().into_bytes());
            settings.http.tls.certificate = shown.then(|| client.certificate.clone().into_bytes());
            settings.http.tls.key = shown.then(|| client.key.clone().into());
        })
    };
    fetch(&with(true, true), Reference::branch("main")).await.unwrap();
    for (trusted, shown) in [(false, true), (true, false)] {
        let error = fetch(&with(trusted, shown), Reference::branch("main"))
            .await
            .unwrap_err();
        // A server that misses our certificate says so after the handshake, and may close before that is heard.
        let told = matches!(error.cause(), Cause::Tls(_))
            || (trusted && matches!(error.cause(), Cause::Disconnected(_)));
        assert!(told, "{trusted} {shown} {}", chain(&error));
    }
}

#[tokio::test]
async fn a_proxy_is_gone_through_with_its_login() {
    // The server answers whatever host it is asked for, as a proxy would.
    let server = git::Server::start();
    server.repository("app").commit("main", "Start", [("a", "1")]);
    let place = Place::new();
    let remote = place.remote_with("http://git.invalid/app.git", |settings| {
        let login = source::http::Login {
            user: "me".into(),
            password: "geheim".into(),
        };
        settings.http.proxy = Some(source::http::Proxy {
            address: server.url(),
            login: Some(login),
        });
    });
    let checkout = fetch(&remote, Reference::branch("main")).await.unwrap();
    assert_eq!(content(&*checkout), ["a 1"]);
    assert!(
        server
            .requests()
            .iter()
            .all(|record| record.header("proxy-authorization").starts_with("Basic "))
    );
    assert!(!format!("{remote:?}").contains("geheim"));
}

#[tokio::test]
async fn a_commit_that_is_missing_on_a_branch_that_is_missing_is_no_empty_repository() {
    let server = git::Server::start();
    server.repository("app").commit("main", "Start", [("a", "1")]);
    let place = Place::new();
    let remote = place.remote(&server.clone_url("app"));
    let reference = Reference {
        branch: Some("gone".into()),
        ..Reference::commit("1".repeat(40))
    };
    let error = fetch(&remote, reference).await.unwrap_err();
    assert!(
        matches!(error.cause(), Cause::ReferenceMissing(name) if name == "refs/heads/gone"),
        "{error}"
    );
}
