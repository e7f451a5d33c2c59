//! Charts, in this process; the real kustomize has the real helm render them beside it.

use testkit::helm::{Chart, Server};
use testkit::{git, oci};

use super::{build, folder, refused, same};

const TEMPLATE: &str = "apiVersion: v1
kind: ConfigMap
metadata:
  name: {{ .Release.Name }}-web
  namespace: {{ .Release.Namespace }}
data:
  replicas: {{ .Values.replicas | quote }}
  tag: {{ .Values.image.tag | quote }}
  version: {{ .Capabilities.KubeVersion.Version | quote }}
  known: {{ .Capabilities.APIVersions.Has \"example.com/v1\" | quote }}
";
const TEST: &str = "apiVersion: v1
kind: Pod
metadata:
  name: {{ .Release.Name }}-test
  annotations: {helm.sh/hook: test}
";
const VALUES: &str = "replicas: 1\nimage: {tag: own, name: web}\n";

fn files(kustomization: &str) -> Vec<(&str, &str)> {
    vec![
        ("kustomization.yaml", kustomization),
        (
            "charts/web/Chart.yaml",
            "apiVersion: v2\nname: web\nversion: 1.0.0\n",
        ),
        ("charts/web/values.yaml", VALUES),
        ("charts/web/templates/config.yaml", TEMPLATE),
        ("charts/web/templates/test.yaml", TEST),
        (
            "charts/web/crds/thing.yaml",
            "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: things.example.com}\n",
        ),
        ("values.yaml", "image: {tag: file}\n"),
        ("more.yaml", "replicas: 5\n"),
    ]
}

#[test]
fn charts_of_a_directory_are_rendered_as_kustomize_has_it() {
    for (kustomization, word) in [
        ("helmCharts: [{name: web, releaseName: rel}]\n", "tag: own"),
        (
            "helmCharts: [{name: web, releaseName: rel, namespace: ns, includeCRDs: true}]\nnamePrefix: p-\n",
            "p-rel-web",
        ),
        (
            "helmCharts: [{name: web, releaseName: rel, valuesFile: values.yaml, additionalValuesFiles: [more.yaml]}]\n",
            "replicas: \"5\"",
        ),
        (
            "helmCharts: [{name: web, releaseName: rel, valuesFile: values.yaml, valuesInline: {replicas: 7, image: {tag: inline}}}]\n",
            "tag: inline",
        ),
        (
            "helmCharts: [{name: web, releaseName: rel, valuesFile: values.yaml, valuesMerge: merge, valuesInline: {replicas: 7, image: {tag: inline}}}]\n",
            "tag: file",
        ),
        (
            "helmCharts: [{name: web, releaseName: rel, valuesMerge: replace, valuesInline: {replicas: 7}}]\n",
            "replicas: \"7\"",
        ),
        (
            "helmCharts: [{name: web, releaseName: rel, skipTests: true, kubeVersion: '1.30', apiVersions: [example.com/v1]}]\nnamespace: other\n",
            "version: v1.30",
        ),
        (
            "helmGlobals: {chartHome: charts}\nhelmCharts: [{name: web, releaseName: rel, skipHooks: true}]\n",
            "rel-web",
        ),
        (
            "helmChartInflationGenerator: [{chartName: web, releaseName: rel, values: values.yaml}]\n",
            "tag: file",
        ),
    ] {
        let text = same(&["--enable-helm"], folder(&files(kustomization)).path());
        assert!(text.contains(word), "{kustomization}{text}");
    }
}

#[test]
fn charts_of_a_repository_are_pulled() {
    let server = Server::start();
    for version in ["1.0.0", "1.1.0"] {
        server.add(
            &Chart::new("web", version)
                .values(&VALUES.replace("own", version))
                .template("config.yaml", TEMPLATE),
        );
    }
    for (version, expected) in [("", "tag: 1.1.0"), (", version: 1.0.0", "tag: 1.0.0")] {
        let kustomization = format!(
            "helmGlobals: {{chartHome: pulled}}\nhelmCharts: [{{name: web, releaseName: rel, repo: '{}'{version}}}]\n",
            server.url()
        );
        let text = same(
            &["--enable-helm"],
            folder(&[("kustomization.yaml", &kustomization)]).path(),
        );
        assert!(text.contains(expected), "{text}");
    }
    let kustomization = format!(
        "helmCharts: [{{name: gone, releaseName: rel, repo: '{}'}}]\n",
        server.url()
    );
    let said = refused(
        &["--enable-helm"],
        folder(&[("kustomization.yaml", &kustomization)]).path(),
    );
    assert!(said.contains("gone"), "{said}");
}

#[test]
fn a_chart_that_is_nowhere_is_named() {
    let folder = folder(&[("kustomization.yaml", "helmCharts: [{name: gone}]\n")]);
    let said = refused(&["--enable-helm"], folder.path());
    assert!(
        said.contains("no repo specified for pull, no chart found"),
        "{said}"
    );
    let said = refused(&[], folder.path());
    assert!(said.contains("must specify --enable-helm"), "{said}");
}

/// What a kustomization may not read, its charts may not either, nor hand to helm as a flag.
#[test]
fn values_outside_of_the_kustomization_are_refused() {
    let outside = tempfile::tempdir().unwrap();
    let secret = outside.path().join("secret.yaml");
    std::fs::write(&secret, "replicas: 7\n").unwrap();
    let secret = secret.display();
    for (chart, word) in [
        (format!("valuesFile: {secret}"), "security; file"),
        (format!("additionalValuesFiles: [{secret}]"), "security; file"),
        ("valuesFile: ../../values.yaml".to_owned(), "values.yaml"),
        ("valuesFile: /dev/zero".to_owned(), "/dev/zero"),
        (
            format!("releaseName: \"--post-renderer={secret}\""),
            "must not begin with '-'",
        ),
    ] {
        let kustomization = format!("helmCharts: [{{name: web, {chart}}}]\n");
        let folder = folder(&files(&kustomization));
        let said = refused(&["--enable-helm"], folder.path());
        assert!(said.contains(word), "{chart}: {said}");
    }
}

/// Helm follows links, and a chart may print its files.
#[test]
fn links_of_a_chart_lead_to_no_file_that_the_kustomization_may_not_read() {
    use std::os::unix::fs::symlink;

    let outside = tempfile::tempdir().unwrap();
    std::fs::create_dir(outside.path().join("deep")).unwrap();
    std::fs::write(outside.path().join("deep/secret.txt"), "secret").unwrap();
    let kustomization = "helmCharts: [{name: web, releaseName: rel}]\n";
    for (link, leads_to) in [
        ("charts/web/secret.txt", "deep/secret.txt"),
        ("charts/web/files", "deep"),
        ("charts/web/files", "."),
    ] {
        let folder = folder(&files(kustomization));
        symlink(outside.path().join(leads_to), folder.path().join(link)).unwrap();
        let said = refused(&["--enable-helm"], folder.path());
        assert!(
            said.contains("chart 'web': security; file") && said.contains("secret.txt"),
            "{link} to {leads_to}: {said}"
        );
    }
    // The chart as a whole, and the directory of charts.
    for link in ["charts/web", "charts"] {
        let folder = folder(&files(kustomization));
        let moved = outside.path().join(link.replace('/', "-"));
        std::fs::rename(folder.path().join(link), &moved).unwrap();
        symlink(&moved, folder.path().join(link)).unwrap();
        let said = refused(&["--enable-helm"], folder.path());
        assert!(said.contains("security; file"), "{link}: {said}");
    }
}

/// The directory of charts is what a kustomization says, and so nothing that it may rely on.
#[test]
fn a_directory_of_charts_around_the_kustomization_opens_no_other_files() {
    use std::os::unix::fs::symlink;

    let kustomization =
        "helmGlobals: {chartHome: ..}\nhelmCharts: [{name: repo/charts/web, releaseName: rel}]\n";
    let around = tempfile::tempdir().unwrap();
    std::fs::write(around.path().join("secret.txt"), "secret").unwrap();
    let inner = folder(&files(kustomization));
    let repo = around.path().join("repo");
    std::fs::create_dir(&repo).unwrap();
    for name in ["kustomization.yaml", "charts"] {
        std::fs::rename(inner.path().join(name), repo.join(name)).unwrap();
    }
    symlink(
        around.path().join("secret.txt"),
        repo.join("charts/web/secret.txt"),
    )
    .unwrap();
    let said = refused(&["--enable-helm"], &repo);
    assert!(
        said.contains("security; file") && said.contains("secret.txt"),
        "{said}"
    );
}

#[test]
fn links_of_a_chart_that_stay_with_the_kustomization_are_followed() {
    use std::os::unix::fs::symlink;

    let folder = folder(&files("helmCharts: [{name: web, releaseName: rel}]\n"));
    std::fs::create_dir(folder.path().join("charts/shared")).unwrap();
    std::fs::write(
        folder.path().join("charts/shared/other.yaml"),
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: linked}\n",
    )
    .unwrap();
    let templates = folder.path().join("charts/web/templates");
    symlink("../../shared/other.yaml", templates.join("other.yaml")).unwrap();
    let text = same(&["--enable-helm"], folder.path());
    assert!(text.contains("linked"), "{text}");
}

/// What ours prints, with nothing else to be found on this machine.
fn alone(folder: &std::path::Path) -> String {
    let output = std::process::Command::new(env!("CARGO_BIN_EXE_sluice"))
        .args(["kustomize", "build", "--enable-helm", "."])
        .current_dir(folder)
        .env("HOME", folder)
        .env("PATH", "")
        .output()
        .unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success(), "{said}");
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn charts_of_a_registry_are_pulled_without_any_program() {
    let registry = oci::Server::start();
    for version in ["1.0.0", "1.1.0"] {
        let chart = Chart::new("web", version)
            .values(&VALUES.replace("own", version))
            .template("config.yaml", TEMPLATE);
        registry.push("charts/web", version, &chart.artifact());
    }
    let kustomization = format!(
        "helmCharts: [{{name: web, releaseName: rel, repo: 'oci://{}/charts', version: 1.0.0}}]\n",
        registry.host()
    );
    let folder = folder(&[("kustomization.yaml", &kustomization)]);
    let text = alone(folder.path());
    assert!(text.contains("tag: 1.0.0"), "{text}");
    // It stays where kustomize leaves it, and is not pulled again.
    assert!(folder.path().join("charts/web-1.0.0/web/Chart.yaml").is_file());
    drop(registry);
    assert_eq!(alone(folder.path()), text);
}

#[test]
fn charts_of_a_base_in_git_are_rendered_and_cannot_leave_it() {
    let server = git::Server::start();
    let repository = server.repository("team/app");
    let kustomization = "helmCharts: [{name: web, releaseName: rel, valuesFile: values.yaml}]\n";
    let placed: Vec<(String, &str)> = files(kustomization)
        .into_iter()
        .map(|(name, text)| (format!("base/{name}"), text))
        .collect();
    repository.commit(
        "main",
        "a chart",
        placed.iter().map(|(name, text)| (name.as_str(), *text)),
    );
    let url = format!("{}//base", server.clone_url("team/app"));
    let text = same(
        &["--enable-helm"],
        folder(&[("kustomization.yaml", &format!("resources: ['{url}']\n"))]).path(),
    );
    assert!(text.contains("tag: file"), "{text}");
    // The directory of charts is looked for in the repository, wherever it is said to be.
    let elsewhere = "helmGlobals: {chartHome: ../../../../../../etc}\nhelmCharts: [{name: ssl}]\n";
    repository.commit("main", "elsewhere", [("base/kustomization.yaml", elsewhere)]);
    let here = folder(&[("kustomization.yaml", &format!("resources: ['{url}']\n"))]);
    let said = refused(&["--enable-helm"], here.path());
    assert!(said.contains("no chart found at 'etc/ssl'"), "{said}");
}

#[test]
fn a_helm_program_renders_charts_where_one_is_named() {
    if testkit::program::find("helm").is_none() {
        return;
    }
    let folder = folder(&files("helmCharts: [{name: web, releaseName: rel}]\n"));
    let inside = same(&["--enable-helm"], folder.path());
    assert_eq!(
        same(&["--enable-helm", "--helm-command=helm"], folder.path()),
        inside
    );
    let gone = build(
        env!("CARGO_BIN_EXE_sluice"),
        &[
            "kustomize",
            "build",
            "--enable-helm",
            "--helm-command=no-such-program",
        ],
        folder.path(),
    );
    let said = String::from_utf8(gone.stderr).unwrap();
    assert!(said.contains("no-such-program"), "{said}");
}

#[test]
fn what_is_wrong_with_a_chart_is_told_with_its_file_and_line() {
    let mut all = files("helmCharts: [{name: web, releaseName: rel}]\n");
    all.push((
        "charts/web/templates/bad.yaml",
        "a: 1\nb: {{ required \"needed\" .Values.gone }}\n",
    ));
    let said = refused(&["--enable-helm"], folder(&all).path());
    let wanted = "chart 'web': execution error at (web/templates/bad.yaml:2:6): needed";
    assert!(said.contains(wanted), "{said}");
}
