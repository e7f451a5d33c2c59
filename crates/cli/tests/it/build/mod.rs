//! `sluice build kustomization`.

mod cases;
mod cluster;
mod flux;

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use tempfile::TempDir;

/// Files, a spec and flags.
struct Case {
    name: &'static str,
    /// The spec of the Kustomization, as YAML in one line or several.
    spec: &'static str,
    files: &'static [(&'static str, &'static str)],
    /// The directory to build.
    path: &'static str,
    flags: &'static [&'static str],
}

const PLAIN: Case = Case {
    name: "",
    spec: "{}",
    files: &[],
    path: "",
    flags: &[],
};

/// Writes the files and the Kustomization `app` of a case.
fn write(case: &Case) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let tree = folder.path().join("tree");
    fs::create_dir_all(tree.join(case.path)).unwrap();
    for (name, text) in case.files {
        let file = tree.join(name);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, text).unwrap();
    }
    let object = format!(
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: other}}\n---\n\
         apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {{name: app, namespace: flux-system}}\n\
         spec: {}\n",
        case.spec
    );
    fs::write(folder.path().join("app.yaml"), object).unwrap();
    folder
}

fn run(program: &str, folder: &Path, arguments: &[&str]) -> Output {
    Command::new(program)
        .args(arguments)
        .current_dir(folder)
        .env("HOME", folder)
        .env_remove("KUBECONFIG")
        .output()
        .unwrap()
}

/// What a program makes of a case without a cluster.
fn build(program: &str, folder: &Path, case: &Case) -> Output {
    let path = format!("--path=tree/{}", case.path);
    let arguments = ["build", "kustomization", "app", path.as_str()];
    let file = ["--kustomization-file=app.yaml", "--dry-run"];
    run(program, folder, &[&arguments[..], &file, case.flags].concat())
}

fn sluice(folder: &Path, case: &Case) -> Output {
    build(env!("CARGO_BIN_EXE_sluice"), folder, case)
}

fn error(output: Output) -> String {
    assert_eq!(output.status.code(), Some(1));
    String::from_utf8(output.stderr).unwrap()
}

#[test]
fn a_dry_run_wants_a_file_and_the_path_a_directory() {
    let folder = write(&PLAIN);
    let program = env!("CARGO_BIN_EXE_sluice");
    let arguments = ["build", "kustomization", "app", "--path=tree", "--dry-run"];
    let said = error(run(program, folder.path(), &arguments));
    assert!(
        said.contains("dry-run mode requires a kustomization file"),
        "{said}"
    );
    let arguments = [
        "build",
        "ks",
        "app",
        "--path=gone",
        "--dry-run",
        "--kustomization-file=app.yaml",
    ];
    let said = error(run(program, folder.path(), &arguments));
    assert!(said.contains("invalid resource path \"gone\""), "{said}");
    let arguments = [
        "build",
        "ks",
        "web",
        "--path=tree",
        "--dry-run",
        "--kustomization-file=app.yaml",
    ];
    let said = error(run(program, folder.path(), &arguments));
    assert!(
        said.contains("failed find kustomization with name 'web'"),
        "{said}"
    );
}

#[test]
fn the_files_stay_as_they_are() {
    let case = Case {
        spec: "{namePrefix: x-}",
        files: &[("a.yaml", cases::CONFIG)],
        ..PLAIN
    };
    let folder = write(&case);
    let output = sluice(folder.path(), &case);
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let left = fs::read_dir(folder.path().join("tree")).unwrap();
    let left: Vec<_> = left.map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(left, ["a.yaml"]);
}

#[test]
fn all_errors_of_a_build_are_told() {
    let case = Case {
        spec: "{postBuild: {substitute: {x: '1'}}}",
        files: &[
            (
                "a.yaml",
                "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {v: '${a}'}\n",
            ),
            (
                "b.yaml",
                "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: b}\ndata: {v: '${b}'}\n",
            ),
        ],
        flags: &["--strict-substitute"],
        ..PLAIN
    };
    let said = error(sluice(write(&case).path(), &case));
    for word in ["ConfigMap/a", "\"a\"", "ConfigMap/b", "\"b\""] {
        assert!(said.contains(word), "{word}: {said}");
    }
}

#[test]
fn flags_of_flux_are_taken_and_the_last_of_equal_ones_counts() {
    let folder = write(&PLAIN);
    let case = Case {
        flags: &[
            "--verbose",
            "--timeout=1m0s",
            "--dry-run=false",
            "--dry-run=t",
            "-r=false",
            "--in-memory-build",
            "--strict-substitute=0",
            "--kube-api-qps=50",
            "--kube-api-burst=300",
            "--cache-dir=x",
            "--disable-compression",
            "--ns-follows-kube-context=false",
            "--context=a",
            "--context=b",
        ],
        ..PLAIN
    };
    let output = sluice(folder.path(), &case);
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
}

#[test]
fn a_build_ends_when_its_time_is_over() {
    // Connections are made, but nobody answers.
    let silent = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let folder = write(&PLAIN);
    let url = format!("http://{}/a.yaml", silent.local_addr().unwrap());
    fs::write(
        folder.path().join("tree/kustomization.yaml"),
        format!("resources: ['{url}']\n"),
    )
    .unwrap();
    let case = Case {
        flags: &["--timeout=100ms"],
        ..PLAIN
    };
    let said = error(sluice(folder.path(), &case));
    assert!(
        said.contains("not done after 100ms: --timeout gives it more time"),
        "{said}"
    );
}

/// What Flux says, and what to do instead.
#[test]
fn charts_are_refused_with_what_to_do_instead() {
    let folder = write(&PLAIN);
    fs::write(
        folder.path().join("tree/kustomization.yaml"),
        "helmCharts: [{name: a}]\n",
    )
    .unwrap();
    let said = error(sluice(folder.path(), &PLAIN));
    assert!(
        said.contains("use a HelmRelease (must specify --enable-helm)"),
        "{said}"
    );
}
