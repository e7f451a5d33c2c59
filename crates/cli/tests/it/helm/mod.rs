//! `sluice helm`. The real helm runs beside it where it is installed.

mod check;
mod lint;
mod remote;
mod verify;

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use tempfile::TempDir;

fn folder(files: &[(&str, &str)]) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in files {
        let file = folder.path().join(name);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, text).unwrap();
    }
    folder
}

fn chart() -> TempDir {
    folder(&[
        (
            "app/Chart.yaml",
            "apiVersion: v2\nname: app\nversion: 1.2.3\ndescription: An app\n",
        ),
        ("app/values.yaml", "name: web\nport: 8080\n"),
        ("app/README.md", "# app\n"),
        (
            "app/crds/crd.yaml",
            "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: things.example.com}\n",
        ),
        (
            "app/templates/service.yaml",
            "kind: Service\nmetadata:\n  name: {{ .Release.Name }}-{{ .Values.name | lower }}\nport: {{ .Values.port }}\nversion: {{ .Capabilities.KubeVersion.Version }}\n",
        ),
        (
            "app/templates/tests/test.yaml",
            "kind: Pod\nmetadata:\n  name: test\n  annotations:\n    helm.sh/hook: test\n",
        ),
        ("more.yaml", "name: other\n"),
    ])
}

fn run(program: &str, arguments: &[&str], folder: &Path) -> Output {
    Command::new(program)
        .args(arguments)
        .current_dir(folder)
        .env("HOME", folder)
        .env_remove("KUBECONFIG")
        .output()
        .unwrap()
}

/// Flags that a command has no use for are taken, as they are by helm: scripts give them to every command.
#[test]
fn global_flags_are_taken_by_all_commands() {
    let folder = chart();
    let global = [
        "--debug",
        "--namespace=apps",
        "--namespace",
        "web",
        "--kube-context=nowhere",
        "--registry-config=registry.json",
        "--qps=5",
    ];
    for command in [
        &["lint", "app"][..],
        &["show", "chart", "app"],
        &["package", "app"],
    ] {
        let arguments = [command, &global].concat();
        let output = run(
            env!("CARGO_BIN_EXE_sluice"),
            &[&["helm"], &arguments[..]].concat(),
            folder.path(),
        );
        assert!(output.status.success(), "{arguments:?}: {}", text(&output.stderr));
        if testkit::program::find("helm").is_some() {
            let theirs = run("helm", &arguments, folder.path());
            assert!(theirs.status.success(), "{arguments:?}: {}", text(&theirs.stderr));
        }
    }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

/// What ours prints; the real one must print the same, if it is there.
fn same(arguments: &[&str], folder: &Path) -> String {
    let ours = run(
        env!("CARGO_BIN_EXE_sluice"),
        &[&["helm"], arguments].concat(),
        folder,
    );
    assert!(ours.status.success(), "{}", text(&ours.stderr));
    let ours = text(&ours.stdout);
    if testkit::program::find("helm").is_some() {
        let theirs = run("helm", arguments, folder);
        assert_eq!(ours, text(&theirs.stdout), "{}", text(&theirs.stderr));
    }
    ours
}

#[test]
fn template_takes_the_flags_of_helm() {
    let folder = chart();
    let same = |arguments: &[&str]| same(&[&["template", "r", "./app"], arguments].concat(), folder.path());
    assert!(same(&[]).contains("name: r-web\nport: 8080\n"));
    assert!(same(&["-f", "more.yaml", "--set", "port=1"]).contains("name: r-other\nport: 1\n"));
    assert!(same(&["--set-string", "port=true"]).contains("port: true"));
    assert!(same(&["--include-crds"]).starts_with("---\n# Source: app/crds/crd.yaml\n"));
    assert!(!same(&["--skip-tests"]).contains("Pod"));
    assert!(!same(&["--no-hooks"]).contains("Pod"));
    assert!(!same(&["-s", "templates/service.yaml"]).contains("Pod"));
    assert!(same(&["--kube-version", "1.30"]).contains("version: v1.30"));
}

#[test]
fn what_is_wrong_is_told_in_the_words_of_helm() {
    let folder = chart();
    fs::write(
        folder.path().join("app/templates/bad.yaml"),
        "a: {{ required \"needed\" .Values.gone }}",
    )
    .unwrap();
    let ours = run(
        env!("CARGO_BIN_EXE_sluice"),
        &["helm", "template", "r", "./app"],
        folder.path(),
    );
    assert!(!ours.status.success());
    let wanted = "execution error at (app/templates/bad.yaml:1:6): needed\n\nUse --debug flag to render out invalid YAML\n";
    assert_eq!(text(&ours.stderr), format!("error: {wanted}"));
    if testkit::program::find("helm").is_some() {
        let theirs = run("helm", &["template", "r", "./app"], folder.path());
        assert_eq!(text(&theirs.stderr), format!("Error: {wanted}"));
    }
}

#[test]
fn values_are_shown_by_their_paths() {
    let folder = folder(&[
        ("app/Chart.yaml", "apiVersion: v2\nname: app\nversion: 1.2.3\n"),
        (
            "app/values.yaml",
            "big: 12345678\nnone: null\nimage: {tag: <1>}\nports: [{port: 80, name: web}, {port: 1.5}]\n",
        ),
    ]);
    for (template, printed) in [
        ("{.image.tag}", "<1>"),
        ("{.big} {.image}", "1.2345678e+07 {\"tag\":\"\\u003c1\\u003e\"}"),
        ("{range .ports[*]}{.port}{'\\n'}{end}", "80\n1.5\n"),
        ("x{.none}", "xnull"),
        ("x{.gone}", ""),
        ("x{.ports[?(@.port==80)].name}", ""),
        ("{foo}", ""),
        ("{end}", ""),
    ] {
        let shown = same(
            &["show", "values", "./app", "--jsonpath", template],
            folder.path(),
        );
        assert_eq!(shown, printed, "{template}");
    }
}

#[test]
fn flags_that_are_on_or_off_take_a_value_too() {
    let folder = chart();
    let same = |arguments: &[&str]| same(&[&["template", "r", "./app"], arguments].concat(), folder.path());
    assert!(same(&["--include-crds=true"]).contains("kind: CustomResourceDefinition"));
    assert!(!same(&["--include-crds", "--include-crds=false"]).contains("CustomResourceDefinition"));
    assert!(!same(&["--skip-tests=1", "--dry-run=client"]).contains("Pod"));
}

#[test]
fn variables_that_are_empty_say_nothing() {
    let folder = chart();
    let output = Command::new(env!("CARGO_BIN_EXE_sluice"))
        .args(["helm", "template", "r", "./app"])
        .current_dir(folder.path())
        .env("HOME", folder.path())
        .envs(
            [
                "HELM_DEBUG",
                "HELM_NAMESPACE",
                "HELM_KUBECONTEXT",
                "HELM_KUBEASGROUPS",
            ]
            .map(|name| (name, "")),
        )
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", text(&output.stderr));
}

#[test]
fn the_namespace_is_that_of_the_kubeconfig_where_none_is_given() {
    let folder = folder(&[
        ("app/Chart.yaml", "apiVersion: v2\nname: app\nversion: 1.2.3\n"),
        ("app/templates/a.yaml", "in: {{ .Release.Namespace }}\n"),
        (
            ".kube/config",
            "apiVersion: v1\nkind: Config\ncurrent-context: one\ncontexts:\n- {name: one, context: {cluster: c, namespace: first}}\n- {name: two, context: {cluster: c, namespace: second}}\nclusters:\n- {name: c, cluster: {server: 'https://127.0.0.1:1'}}\n",
        ),
    ]);
    let same = |arguments: &[&str]| same(&[&["template", "./app"], arguments].concat(), folder.path());
    assert!(same(&[]).contains("in: first\n"));
    assert!(same(&["--kube-context", "two"]).contains("in: second\n"));
    assert!(same(&["-n", "third"]).contains("in: third\n"));
}

#[test]
fn charts_are_shown_checked_and_packed() {
    let folder = chart();
    for what in ["all", "chart", "values", "readme", "crds"] {
        assert!(!same(&["show", what, "./app"], folder.path()).is_empty());
    }
    assert!(same(&["lint", "./app"], folder.path()).contains("[INFO] Chart.yaml: icon is recommended"));
    let packed = run(
        env!("CARGO_BIN_EXE_sluice"),
        &["helm", "package", "./app"],
        folder.path(),
    );
    assert!(packed.status.success(), "{}", text(&packed.stderr));
    let from_archive = same(&["template", "r", "app-1.2.3.tgz"], folder.path());
    assert_eq!(from_archive, same(&["template", "r", "./app"], folder.path()));
}

/// A pipe would be waited for, and a device read without end.
#[test]
fn files_that_are_none_are_refused() {
    for (target, problem) in [
        ("pipe", "irregular file"),
        ("/dev/zero", "irregular file"),
        ("/gone", "No such file"),
    ] {
        let folder = chart();
        let file = folder.path().join("app/templates/a.yaml");
        match target {
            "pipe" => assert!(Command::new("mkfifo").arg(&file).status().unwrap().success()),
            device => std::os::unix::fs::symlink(device, &file).unwrap(),
        }
        let ours = run(
            env!("CARGO_BIN_EXE_sluice"),
            &["helm", "template", "r", "./app"],
            folder.path(),
        );
        let said = text(&ours.stderr);
        assert!(!ours.status.success());
        assert!(
            said.contains("templates/a.yaml") && said.contains(problem),
            "{said}"
        );
    }
}
