//! GitRepository: what is fetched and what is kept of it.

use api::source::{GitRepository, GitRepositorySpec};
use controllers::sources::GitRepositories;
use serde_json::{Value, json};
use testkit::git::Server;

use crate::sources::bad_input::{artifact, with};
use crate::sources::bed::{Bed, condition};

async fn started() -> Bed<GitRepositorySpec> {
    let mut bed = Bed::start().await;
    bed.run(GitRepositories::new);
    bed
}

fn spec(server: &Server, rest: Value) -> Value {
    with(json!({"url": server.clone_url("app"), "interval": "1h"}), rest)
}

fn revision(object: &GitRepository) -> String {
    artifact(object).unwrap().revision.to_string()
}

/// `ref` not given, and a branch with slashes in its name (A5)
#[tokio::test]
async fn without_a_reference_the_branch_master_is_taken() {
    let server = Server::start();
    let repository = server.repository("app");
    let master = repository.commit("master", "Start", [("a", "1")]);
    let feature = repository.commit("feature/x", "Other", [("b", "1")]);
    let bed = started().await;
    bed.create("master", spec(&server, json!({}))).await;
    let object = bed.ready("master", "True", "Succeeded").await;
    assert_eq!(revision(&object), format!("master@sha1:{master}"));
    let feature_ref = json!({"ref": {"branch": "feature/x"}});
    bed.create("feature", spec(&server, feature_ref)).await;
    let object = bed.ready("feature", "True", "Succeeded").await;
    assert_eq!(revision(&object), format!("feature/x@sha1:{feature}"));
}

/// `ref`: a commit counts before a name, a name before a tag, a tag before a range, a range before a branch
#[tokio::test]
async fn of_several_references_the_most_exact_counts() {
    let server = Server::start();
    let repository = server.repository("app");
    let first = repository.commit("main", "First", [("a", "1")]);
    repository.tag("v1.0.0", first);
    let second = repository.commit("main", "Second", [("a", "2")]);
    repository.tag("v2.0.0", second);
    let third = repository.commit("main", "Third", [("a", "3")]);
    let all = json!({"branch": "main", "semver": "2.x", "tag": "v1.0.0", "name": "refs/heads/main"});
    let mut all = with(all, json!({"commit": second.to_string()}));
    let bed = started().await;
    bed.create("app", spec(&server, json!({"ref": all}))).await;
    bed.ready("app", "True", "Succeeded").await;
    for (field, expected) in [
        // Where a name is given too, the whole name of the branch is shown.
        (None, format!("refs/heads/main@sha1:{second}")),
        (Some("commit"), format!("refs/heads/main@sha1:{third}")),
        (Some("name"), format!("v1.0.0@sha1:{first}")),
        (Some("tag"), format!("v2.0.0@sha1:{second}")),
        (Some("semver"), format!("main@sha1:{third}")),
    ] {
        if let Some(field) = field {
            all[field] = Value::Null;
            bed.patch("app", json!({"spec": {"ref": all}})).await;
        }
        assert_eq!(
            revision(&bed.recovers("app").await),
            expected,
            "without {field:?}"
        );
    }
}

/// G2: of a branch or tag only the newest commit is asked for
#[tokio::test]
async fn history_is_not_fetched() {
    let server = Server::start();
    let repository = server.repository("app");
    for number in 0..20 {
        repository.commit("main", "Next", [("a", format!("{number}").as_str())]);
    }
    let bed = started().await;
    bed.create("app", spec(&server, json!({"ref": {"branch": "main"}})))
        .await;
    bed.ready("app", "True", "Succeeded").await;
    let stats = repository.stats();
    assert_eq!(stats.objects_sent, 3, "a commit, a tree and a file");
    assert_eq!(stats.fetches, 1);
}

/// G3, G4: a range takes the newest version with three parts, `v` or not, and an annotated tag counts as its commit
#[tokio::test]
async fn a_range_takes_the_newest_version() {
    let server = Server::start();
    let repository = server.repository("app");
    let old = repository.commit("main", "Old", [("a", "1")]);
    repository.annotated_tag("1.9.0", old).create();
    let new = repository.commit("main", "New", [("a", "2")]);
    repository.annotated_tag("v1.10.0", new).create();
    let newest = repository.commit("main", "Newest", [("a", "3")]);
    repository.tag("v1.11", newest);
    repository.tag("v1.12.0-rc.1", newest);
    repository.tag("latest", newest);
    let bed = started().await;
    bed.create("app", spec(&server, json!({"ref": {"semver": "~1"}})))
        .await;
    let object = bed.ready("app", "True", "Succeeded").await;
    assert_eq!(revision(&object), format!("v1.10.0@sha1:{new}"));
}

/// `recurseSubmodules`, G6
#[tokio::test]
async fn submodules_come_when_they_are_asked_for() {
    let server = Server::builder().basic("ada", "geheim").start();
    let lib = server
        .repository("lib")
        .commit("main", "Lib", [("lib.yaml", "1")]);
    let modules = "[submodule \"lib\"]\n\tpath = vendor/lib\n\turl = ./lib.git\n";
    let modules = modules.replace("./lib.git", &server.clone_url("lib"));
    let change = server.repository("app").change("main").file("app.yaml", "1");
    let change = change.file(".gitmodules", modules);
    change.submodule("vendor/lib", lib).commit();
    let bed = started().await;
    bed.secret(
        "login",
        "Opaque",
        json!({"username": "ada", "password": "geheim"}),
    )
    .await;
    let rest = json!({"ref": {"branch": "main"}, "secretRef": {"name": "login"}});
    bed.create("app", spec(&server, rest)).await;
    let object = bed.ready("app", "True", "Succeeded").await;
    let names = bed.names(artifact(&object).as_ref());
    assert!(!names.contains(&"vendor/lib/lib.yaml".to_owned()), "{names:?}");
    let before = artifact(&object).unwrap();
    bed.patch("app", json!({"spec": {"recurseSubmodules": true}}))
        .await;
    let object = bed.recovers("app").await;
    let names = bed.names(artifact(&object).as_ref());
    assert!(names.contains(&"vendor/lib/lib.yaml".to_owned()), "{names:?}");
    assert!(!names.contains(&".gitmodules".to_owned()), "{names:?}");
    let status = object.status.clone().unwrap();
    assert!(status.observed_recurse_submodules);
    let after = artifact(&object).unwrap();
    assert_eq!(after.revision, before.revision);
    assert_ne!(after.digest, before.digest);
}

/// `sparseCheckout`, `ignore`, G6
#[tokio::test]
async fn sparse_directories_may_begin_with_a_dot() {
    let server = Server::start();
    let files = [("apps/a.yaml", ""), ("infra/b.yaml", ""), ("c.yaml", "")];
    server.repository("app").commit("main", "Start", files);
    let bed = started().await;
    let rest = json!({"ref": {"branch": "main"}, "sparseCheckout": ["./apps"]});
    bed.create("app", spec(&server, rest)).await;
    let object = bed.ready("app", "True", "Succeeded").await;
    let names = bed.names(artifact(&object).as_ref());
    assert_eq!(names, [".", "apps", "apps/a.yaml"]);
    let status = object.status.clone().unwrap();
    assert_eq!(status.observed_sparse_checkout, ["./apps"]);
    bed.patch("app", json!({"spec": {"sparseCheckout": ["gone"]}}))
        .await;
    let words = ["sparse checkout dir 'gone' does not exist in repository"];
    bed.fails("app", "FetchFailed", "GitOperationFailed", &words)
        .await;
}

/// T3, T4, T5, T6: files of rules in the tree, then the rules of the spec; the defaults only where there is no rule at all
#[tokio::test]
async fn rules_of_the_tree_and_of_the_spec_are_added_up() {
    let server = Server::start();
    let repository = server.repository("app");
    let files = [
        (".sourceignore", "*.md\n"),
        ("apps/.sourceignore", "# a comment\n\n/secret.txt\n"),
        ("apps/secret.txt", ""),
        ("apps/deep/secret.txt", ""),
        ("logo.png", ""),
        ("readme.md", ""),
        (".gitignore", ""),
        ("notes.txt", ""),
    ];
    repository.commit("main", "Start", files);
    let bed = started().await;
    let rest = json!({"ref": {"branch": "main"}, "ignore": "notes.txt\n!readme.md\n"});
    bed.create("app", spec(&server, rest)).await;
    let object = bed.ready("app", "True", "Succeeded").await;
    let names = bed.names(artifact(&object).as_ref());
    let expected = [
        ".",
        ".sourceignore",
        "apps",
        "apps/.sourceignore",
        "apps/deep",
        "apps/deep/secret.txt",
        "logo.png",
        "readme.md",
    ];
    assert_eq!(names, expected);
    bed.patch("app", json!({"spec": {"ignore": "/*\n!/apps\n"}}))
        .await;
    let object = bed.recovers("app").await;
    let names = bed.names(artifact(&object).as_ref());
    assert!(names.contains(&"apps/deep/secret.txt".to_owned()), "{names:?}");
    assert!(!names.contains(&"logo.png".to_owned()), "{names:?}");
    let observed = object.status.clone().unwrap().observed_ignore;
    assert_eq!(observed.as_deref(), Some("/*\n!/apps\n"));
}

/// `suspend`: a suspended object keeps its artifact and is not looked at
#[tokio::test]
async fn a_suspended_repository_keeps_its_artifact() {
    let server = Server::start();
    let repository = server.repository("app");
    repository.commit("main", "Start", [("a", "1")]);
    let bed = started().await;
    let rest = json!({"ref": {"branch": "main"}});
    bed.create("app", spec(&server, rest)).await;
    let before = artifact(&bed.ready("app", "True", "Succeeded").await);
    bed.patch("app", json!({"spec": {"suspend": true}})).await;
    let asked = server.requests().len();
    let new = repository.commit("main", "More", [("b", "2")]);
    let object = bed.requested("app", "now").await;
    assert_eq!(server.requests().len(), asked, "nobody asks");
    assert_eq!(artifact(&object), before);
    bed.patch("app", json!({"spec": {"suspend": false}})).await;
    let object = bed.recovers("app").await;
    assert_eq!(revision(&object), format!("main@sha1:{new}"));
    assert!(condition(&object, "ArtifactOutdated").is_none());
}

/// T4, T5, T7: what is left out where nobody says anything, and what of it where somebody does; comments say nothing
#[tokio::test]
async fn the_usual_rules_hold_only_where_there_are_no_others() {
    let usual = [
        "a.flv",
        "a.gif",
        "a.jpeg",
        "a.jpg",
        "a.png",
        "a.tar.gz",
        "a.wmv",
        "a.zip",
        ".circleci/x",
        ".drone.yml",
        ".flux.yaml",
        ".github/x",
        ".gitlab-ci.yml",
        ".goreleaser.yml",
        ".sops.yaml",
        ".travis.yml",
        "appveyor.yml",
        "cloudbuild.yaml",
        "codeship-services.yml",
        "codeship-steps.yml",
        "deep/.flux.yaml",
        "deep/.goreleaser.yml",
        "deep/.sops.yaml",
        "deep/a.png",
    ];
    let of_git = [".gitattributes", ".gitignore", ".gitmodules"];
    let kept = ["deep/b.yaml", "keep.jpg.yaml", "keep.yaml"];
    let server = Server::start();
    let all = usual.iter().chain(&of_git).chain(&kept);
    let files: Vec<(&str, &str)> = all.map(|path| (*path, "")).collect();
    server.repository("app").commit("main", "Start", files);
    let bed = started().await;
    let files = |object: &GitRepository| -> Vec<String> {
        let mut names = bed.names(artifact(object).as_ref());
        names.retain(|name| !matches!(name.as_str(), "." | "deep" | ".github" | ".circleci"));
        names.sort();
        names
    };
    let sorted = |names: Vec<&str>| {
        let mut names: Vec<String> = names.into_iter().map(str::to_owned).collect();
        names.sort();
        names
    };
    let spec = |rest: Value| {
        let spec = json!({"url": server.clone_url("app"), "interval": "1h", "ref": {"branch": "main"}});
        with(spec, rest)
    };
    bed.create("usual", spec(json!({}))).await;
    let object = bed.ready("usual", "True", "Succeeded").await;
    assert_eq!(files(&object), sorted(kept.to_vec()));
    assert!(
        !bed.names(artifact(&object).as_ref())
            .contains(&".github".to_owned())
    );

    // One rule takes the place of them all, but for Git's own files; a comment and an empty line are none.
    let rules = "# keep.yaml\n\n/a.png   \n";
    bed.create("ruled", spec(json!({"ignore": rules}))).await;
    let object = bed.ready("ruled", "True", "Succeeded").await;
    let rest = usual.iter().filter(|path| **path != "a.png");
    assert_eq!(files(&object), sorted(rest.chain(&kept).copied().collect()));

    let rules = "!.gitignore\n";
    bed.create("git", spec(json!({"ignore": rules}))).await;
    let object = bed.ready("git", "True", "Succeeded").await;
    let rest = usual.iter().chain(&kept).chain([&".gitignore"]);
    assert_eq!(files(&object), sorted(rest.copied().collect()));
}
