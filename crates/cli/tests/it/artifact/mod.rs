//! `sluice push|pull|tag|list|build|diff artifact`.

mod flux;
mod provider;

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use tempfile::TempDir;
use testkit::oci::{Artifact, Server};

const SOURCE: &str = "--source=https://example.com/repo.git";
const REVISION: &str = "--revision=main@sha1:c0ffee";

/// A directory with some files that are packed and some that are not.
fn files() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("apps")).unwrap();
    fs::write(folder.path().join("apps/web.yaml"), "kind: Deployment\n").unwrap();
    fs::write(folder.path().join("page.yaml"), "kind: ConfigMap\n").unwrap();
    fs::write(folder.path().join("picture.png"), "no picture").unwrap();
    folder
}

fn run(program: &str, folder: &Path, arguments: &[&str]) -> Output {
    Command::new(program)
        .args(arguments)
        .current_dir(folder)
        .env("HOME", folder)
        .env("DOCKER_CONFIG", folder.join(".docker"))
        .output()
        .unwrap()
}

fn sluice(folder: &Path, arguments: &[&str]) -> Output {
    run(env!("CARGO_BIN_EXE_sluice"), folder, arguments)
}

/// What it said to standard output and standard error, if it ended well.
fn good(output: Output) -> (String, String) {
    let text = |bytes| String::from_utf8(bytes).unwrap();
    let (out, error) = (text(output.stdout), text(output.stderr));
    assert!(output.status.success(), "{out}{error}");
    (out, error)
}

fn error(output: Output) -> String {
    assert_eq!(output.status.code(), Some(1));
    String::from_utf8(output.stderr).unwrap()
}

fn url(registry: &Server, tag: &str) -> String {
    format!("oci://{}", registry.reference("team/app", tag))
}

fn push(registry: &Server, tag: &str, folder: &Path, more: &[&str]) -> Output {
    let url = url(registry, tag);
    let arguments = [&["push", "artifact", &url, "--path=.", SOURCE, REVISION], more].concat();
    sluice(folder, &arguments)
}

/// T8: what gzip compresses as much as it can is no bomb.
#[test]
fn a_large_file_of_zeros_is_pushed_and_pulled() {
    let registry = Server::start();
    let (folder, output) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let zeros = vec![0; 20 << 20];
    fs::write(folder.path().join("zeros"), &zeros).unwrap();
    good(push(&registry, "1.0", folder.path(), &[]));
    let url = url(&registry, "1.0");
    good(sluice(output.path(), &["pull", "artifact", &url, "-o=."]));
    assert!(fs::read(output.path().join("zeros")).unwrap() == zeros);
}

#[test]
fn what_is_pushed_is_pulled() {
    let registry = Server::builder().tokens("ada", "secret").start();
    let (_, said) = good(push(
        &registry,
        "1.0",
        files().path(),
        &["--creds=ada:secret", "-a", "team=web"],
    ));
    let digest = registry.digest("team/app", "1.0").unwrap();
    let name = format!("{}/team/app", registry.host());
    assert!(
        said.contains("► logging in to registry with credentials\n"),
        "{said}"
    );
    assert!(
        said.contains(&format!("► pushing artifact to {name}:1.0\n")),
        "{said}"
    );
    assert!(
        said.contains(&format!("✔ artifact successfully pushed to {name}@{digest}\n")),
        "{said}"
    );

    let manifest = registry.manifest("team/app", "1.0").unwrap();
    assert_eq!(
        manifest["config"]["mediaType"],
        "application/vnd.cncf.flux.config.v1+json"
    );
    assert_eq!(
        manifest["layers"][0]["mediaType"],
        "application/vnd.cncf.flux.content.v1.tar+gzip"
    );
    let annotations = &manifest["annotations"];
    assert_eq!(
        annotations["org.opencontainers.image.source"],
        "https://example.com/repo.git"
    );
    assert_eq!(
        annotations["org.opencontainers.image.revision"],
        "main@sha1:c0ffee"
    );
    assert_eq!(annotations["team"], "web");

    let output = tempfile::tempdir().unwrap();
    fs::write(output.path().join("kept"), "").unwrap();
    let arguments = [
        "pull",
        "artifact",
        &url(&registry, "1.0"),
        "-o=.",
        "--creds=ada:secret",
    ];
    let (_, said) = good(sluice(output.path(), &arguments));
    assert!(said.contains("✔ revision main@sha1:c0ffee\n"), "{said}");
    assert!(said.contains(&format!("✔ digest {name}@{digest}\n")), "{said}");
    let web = fs::read_to_string(output.path().join("apps/web.yaml")).unwrap();
    assert_eq!(web, "kind: Deployment\n");
    let mut names: Vec<String> = fs::read_dir(output.path())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    assert_eq!(names, ["apps", "kept", "page.yaml"]);
}

#[test]
fn the_same_files_give_the_same_digest_if_wanted() {
    let registry = Server::start();
    for tag in ["one", "two"] {
        let (out, _) = good(push(
            &registry,
            tag,
            files().path(),
            &["--reproducible", "-o=json"],
        ));
        let out: serde_json::Value = serde_json::from_str(&out).unwrap();
        assert_eq!(out["tag"], tag);
        assert_eq!(out["repository"], format!("{}/team/app", registry.host()));
        assert_eq!(
            out["url"],
            format!(
                "oci://{}/team/app@{}",
                registry.host(),
                out["digest"].as_str().unwrap()
            )
        );
    }
    assert_eq!(
        registry.digest("team/app", "one"),
        registry.digest("team/app", "two")
    );
}

#[test]
fn an_artifact_is_tagged_and_listed() {
    let registry = Server::start();
    let folder = files();
    good(push(&registry, "1.0.0", folder.path(), &[]));
    registry.push("team/app", "sha256-1.sig", &Artifact::files(&[]));
    let url = url(&registry, "1.0.0");
    let (_, said) = good(sluice(
        folder.path(),
        &["tag", "artifact", &url, "--tag=latest,1.0"],
    ));
    let latest = registry.reference("team/app", "latest");
    assert!(
        said.contains(&format!("✔ artifact tagged as {latest}\n")),
        "{said}"
    );
    let repository = format!("oci://{}/team/app", registry.host());
    let list = |more: &[&str]| {
        good(sluice(
            folder.path(),
            &[&["list", "artifacts", &repository], more].concat(),
        ))
        .0
    };
    let all = list(&[]);
    let rows: Vec<Vec<&str>> = all
        .lines()
        .map(|line| line.split_whitespace().collect())
        .collect();
    let digest = registry.digest("team/app", "latest").unwrap();
    assert_eq!(rows[0], ["ARTIFACT", "DIGEST", "SOURCE", "REVISION"]);
    assert_eq!(
        rows[1],
        [
            &latest,
            &digest,
            "https://example.com/repo.git",
            "main@sha1:c0ffee"
        ]
    );
    assert_eq!(rows.len(), 4);
    assert_eq!(list(&["--filter-semver=>=1.0.0"]).lines().count(), 2);
    assert_eq!(list(&["--filter-regex=^1"]).lines().count(), 3);
}

#[test]
fn a_difference_is_told_by_file() {
    let registry = Server::start();
    let folder = files();
    good(push(&registry, "1.0", folder.path(), &[]));
    let url = url(&registry, "1.0");
    let diff = || sluice(folder.path(), &["diff", "artifact", &url, "--path=."]);
    assert!(good(diff()).1.contains("✔ no changes detected"));
    fs::write(folder.path().join("page.yaml"), "kind: Secret\n").unwrap();
    fs::write(folder.path().join("new.yaml"), "").unwrap();
    fs::remove_file(folder.path().join("apps/web.yaml")).unwrap();
    let output = diff();
    assert_eq!(
        String::from_utf8_lossy(&output.stdout),
        "- apps/web.yaml\n+ new.yaml\n~ page.yaml\n"
    );
    assert!(error(output).contains("the remote artifact contents differs from the local one"));
}

#[test]
fn an_artifact_is_built_of_files_links_and_paths_to_ignore() {
    let folder = files();
    #[cfg(unix)]
    std::os::unix::fs::symlink("page.yaml", folder.path().join("link.yaml")).unwrap();
    let built = |more: &[&str]| {
        let target = tempfile::tempdir().unwrap();
        let file = target.path().join("built.tgz");
        let file = file.to_str().unwrap();
        good(sluice(
            folder.path(),
            &[&["build", "artifact", "--path=.", "-o", file], more].concat(),
        ));
        good(run("tar", folder.path(), &["tzf", file])).0
    };
    assert_eq!(built(&[]), ".\napps\napps/web.yaml\npage.yaml\n");
    assert!(built(&["--resolve-symlinks"]).contains("link.yaml\n"));
    assert!(built(&["--ignore-paths=apps/"]).contains("picture.png\n"));
    assert!(!built(&["--add-ignore-paths=page.yaml"]).contains("page.yaml"));
}

#[test]
fn docker_credentials_are_used_and_refusals_told() {
    let registry = Server::builder().basic("ada", "secret").start();
    let folder = files();
    let said = error(push(&registry, "1.0", folder.path(), &[]));
    assert!(said.contains("wants credentials"), "{said}");
    fs::create_dir(folder.path().join(".docker")).unwrap();
    let config = format!(
        "{{\"auths\":{{\"{}\":{{\"auth\":\"YWRhOnNlY3JldA==\"}}}}}}",
        registry.host()
    );
    fs::write(folder.path().join(".docker/config.json"), config).unwrap();
    good(push(&registry, "1.0", folder.path(), &[]));
    let said = error(push(&registry, "1.0", folder.path(), &["-a=novalue"]));
    assert!(said.contains("must be in the format key=value"), "{said}");
    let missing = [
        "push",
        "artifact",
        &url(&registry, "1.0"),
        "--path=missing",
        SOURCE,
        REVISION,
    ];
    assert!(error(sluice(folder.path(), &missing)).contains("must point to an existing directory or file"));
}
