//! Git: addresses, and working trees of repositories.

use testkit::git;

use super::process::Up;
use super::{NAMESPACE, PAGE};

fn served() -> git::Server {
    let server = git::Server::start();
    let repository = server.repository("shop");
    let files = [("deploy/a.yaml", NAMESPACE), ("deploy/page.yaml", PAGE)];
    let first = repository.commit("trunk", "Start", files);
    repository.tag("v1.0.0", first);
    repository.set_head("trunk");
    let more = PAGE.replace("name: page", "name: more");
    repository.commit(
        "next",
        "More",
        files.into_iter().chain([("deploy/more.yaml", &more[..])]),
    );
    server
}

#[test]
fn a_repository_is_fetched_from_its_address() {
    let server = served();
    for (reference, count) in [(None, 2), (Some("--branch=next"), 3), (Some("--tag=v1.0.0"), 2)] {
        let mut up = Up::of(&server.clone_url("shop")).argument("--path=deploy");
        if let Some(reference) = reference {
            up = up.argument(reference);
        }
        let (code, text) = up.once();
        assert_eq!(code, Some(0), "{reference:?}: {text}");
        let said = format!("all {count} objects are ready");
        assert!(text.contains(&said), "{reference:?}: {text}");
    }
}

#[test]
fn a_repository_that_is_not_there_is_told() {
    let server = served();
    let (code, text) = Up::of(&server.clone_url("nothing")).once();
    assert_eq!(code, Some(1), "{text}");
    assert!(text.contains("GitRepository/flux-system/nothing"), "{text}");
}

#[test]
fn no_credentials_of_an_address_are_told() {
    let server = served();
    let url = server.clone_url("shop").replacen("://", "://ada:geheim%21@", 1);
    for (url, path) in [(url.clone(), "deploy"), (url.replace("shop", "nothing"), "./")] {
        let path = format!("--path={path}");
        let (_, text) = Up::of(&url).argument(&path).argument("--timeout=10").once();
        assert!(!text.contains("geheim"), "{text}");
        assert!(
            text.contains("It is asked for something new every 10 s."),
            "{text}"
        );
    }
}

#[test]
fn a_branch_of_a_directory_is_refused() {
    let (code, text) = Up::new().file("page.yaml", PAGE).argument("--branch=main").once();
    assert_eq!(code, Some(1), "{text}");
    assert!(text.contains("the working tree is followed"), "{text}");
}

/// Committed or not, what is there counts; what Git ignores, and what a `.sourceignore` leaves out, does not.
#[test]
fn of_a_git_work_tree_the_files_are_followed_as_they_are() {
    let other = |name: &str| PAGE.replace("name: page", &format!("name: {name}"));
    let (code, text) = Up::new()
        .file(".git/HEAD", "ref: refs/heads/main\n")
        .file(".gitignore", "/ignored/\n")
        .file(".sourceignore", "/left-out.yaml\n")
        .file("a.yaml", NAMESPACE)
        .file("page.yaml", PAGE)
        .file("ignored/b.yaml", &other("ignored"))
        .file("left-out.yaml", &other("left-out"))
        .once();
    assert_eq!(code, Some(0), "{text}");
    assert!(text.contains("all 2 objects are ready"), "{text}");
}
