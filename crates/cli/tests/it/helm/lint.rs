//! What is wrong with charts.

use super::{folder, run, text};

/// What both say of a chart, with the exit code.
fn same(files: &[(&str, &str)], flags: &[&str]) -> (String, Option<i32>) {
    let folder = folder(files);
    let arguments = [&["lint", "./app"], flags].concat();
    let place = folder.path().display().to_string();
    let said = |program: &str, first: &[&str]| {
        let output = run(program, &[first, &arguments].concat(), folder.path());
        let summary = text(&output.stderr).to_lowercase();
        let printed = text(&output.stdout).replace(&place, "HERE");
        (format!("{printed}{summary}"), output.status.code())
    };
    let ours = said(env!("CARGO_BIN_EXE_sluice"), &["helm"]);
    if testkit::program::find("helm").is_some() {
        assert_eq!(ours, said("helm", &[]));
    }
    ours
}

const CHART: (&str, &str) = (
    "app/Chart.yaml",
    "apiVersion: v2\nname: app\nversion: 1.2.3\nicon: https://a.example/b.png\n",
);

#[test]
fn objects_are_looked_at() {
    let (said, code) = same(
        &[
            CHART,
            ("app/values.yaml", "a: 1\n"),
            (
                "app/templates/a-name.yaml",
                "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: Bad_Name}\n---\napiVersion: v1\nkind: Service\nmetadata: {name: 1-a}\n---\nkind: Namespace\nmetadata: {name: a.b}\n",
            ),
            (
                "app/templates/b-old.yaml",
                "apiVersion: policy/v1beta1\nkind: PodDisruptionBudget\nmetadata: {name: {{ .Release.Name }}}\n",
            ),
            (
                "app/templates/c-deploy.yaml",
                "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: a}\n",
            ),
            (
                "app/templates/d-list.yaml",
                "apiVersion: v1\nkind: List\nmetadata: {name: a}\nitems:\n- metadata: {annotations: {helm.sh/resource-policy: keep}}\n",
            ),
            (
                "app/templates/e-indent.yaml",
                "\n  kind: A\n  metadata: {name: a}\n",
            ),
            ("app/templates/f.json", "{}"),
        ],
        &[],
    );
    assert_eq!(code, Some(1));
    for word in [
        "Bad_Name",
        "a DNS-1035 label",
        "must not contain dots",
        "use policy/v1 PodDisruptionBudget",
        "a Deployment must contain matchLabels",
        "within List objects are ignored",
        "illegal indent",
        "file extension '.json' not valid",
    ] {
        assert!(said.contains(word), "{word}: {said}");
    }
}

#[test]
fn definitions_and_charts_below_are_looked_at() {
    let (said, code) = same(
        &[
            (
                "app/Chart.yaml",
                "apiVersion: v2\nname: app\nversion: 1.2.3\ndependencies:\n- {name: gone, version: 1.x.x, repository: https://a.example}\n",
            ),
            ("app/values.yaml", "a: 1\n"),
            ("app/templates/a.yaml", "kind: A\nmetadata: {name: a}\n"),
            (
                "app/charts/other/Chart.yaml",
                "apiVersion: v2\nname: other\nversion: 1.0.0\n",
            ),
            (
                "app/crds/a.yaml",
                "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n",
            ),
        ],
        &[],
    );
    assert_eq!(code, Some(1));
    for word in [
        "[INFO] Chart.yaml: icon is recommended",
        "chart metadata is missing these dependencies: other",
        "chart directory is missing these dependencies: gone",
        "apiVersion is not in 'apiextensions.k8s.io'",
        "object kind is not 'CustomResourceDefinition'",
    ] {
        assert!(said.contains(word), "{word}: {said}");
    }
}

#[test]
fn warnings_fail_only_where_that_is_asked_for() {
    let files = [
        CHART,
        ("app/values.yaml", "a: 1\n"),
        (
            "app/templates/a.yaml",
            "apiVersion: policy/v1beta1\nkind: PodDisruptionBudget\nmetadata: {name: a}\n",
        ),
    ];
    assert_eq!(same(&files, &[]).1, Some(0));
    assert_eq!(same(&files, &["--strict"]).1, Some(1));
    let (said, _) = same(&files, &["--kube-version", "1.20"]);
    assert!(!said.contains("deprecated"), "{said}");
    let schema = "{\"properties\":{\"a\":{\"type\":\"string\"}}}";
    let with_schema = [&files[..], &[("app/values.schema.json", schema)]].concat();
    assert_eq!(same(&with_schema, &[]).1, Some(1));
    assert_eq!(same(&with_schema, &["--skip-schema-validation"]).1, Some(0));
}

#[test]
fn what_chart_yaml_says_is_looked_at() {
    let template = ("app/templates/a.yaml", "kind: A\nmetadata: {name: a}\n");
    for (more, word) in [
        ("colour: red\nshape: round\n", "unknown field \"colour\""),
        (
            "maintainers:\n- {name: x, twitter: y}\nsize: 1\n",
            "unknown field \"twitter\"",
        ),
        ("dependencies: []\nName: app\n", ""),
        ("icon: https://a.example/c.png\n", "already set in map"),
        (
            "maintainers:\n- {name: x, email: nobody}\n- {name: y, email: a@b}\n",
            "invalid email 'nobody' for maintainer 'x'",
        ),
        (
            "maintainers:\n- {name: x, email: a.b+c@d-e.f.gh}\n- {name: y, email: ü@c.d}\n",
            "",
        ),
    ] {
        let chart = format!("{}{more}", CHART.1);
        let files = [(CHART.0, chart.as_str()), ("app/values.yaml", "a: 1\n"), template];
        let (said, _) = same(&files, &[]);
        assert!(said.contains(word), "{more}: {said}");
    }
}

#[test]
fn numbers_stand_for_texts_only_where_they_may() {
    let (said, code) = same(
        &[
            (
                "app/Chart.yaml",
                "apiVersion: v2\nname: app\nversion: 1.2.3\nappVersion: 1.10\nicon: https://a.example/b.png\n",
            ),
            ("app/values.yaml", "a: 1\n"),
            (
                "app/templates/a.yaml",
                "apiVersion: v1\nkind: Namespace\nmetadata: {name: 123}\n",
            ),
        ],
        &[],
    );
    assert_eq!(code, Some(1), "{said}");
    assert!(said.contains("appVersion should be of type string"), "{said}");
    assert!(!said.contains("does not conform"), "{said}");
    let quiet = [
        CHART,
        ("app/values.yaml", "a: 1\n"),
        ("app/templates/a.yaml", "a: 1\n"),
    ];
    assert_eq!(same(&quiet, &["--quiet"]).1, Some(0));
}

#[test]
fn charts_below_are_looked_at_where_that_is_asked_for() {
    let files = [
        CHART,
        ("app/values.yaml", "a: 1\n"),
        ("app/templates/a.yaml", "kind: ConfigMap\nmetadata: {name: a}\n"),
        (
            "app/charts/b/Chart.yaml",
            "apiVersion: v2\nname: b\nversion: 1.0.0\n",
        ),
        (
            "app/charts/b/charts/c/Chart.yaml",
            "apiVersion: v2\nname: c\nversion: 1.0.0\n",
        ),
    ];
    let (said, code) = same(&files, &["--with-subcharts"]);
    assert!(said.contains("==> Linting app/charts/b\n"), "{said}");
    assert!(said.contains("==> Linting app/charts/b/charts/c\n"), "{said}");
    assert!(said.contains("3 chart(s) linted"), "{said}");
    assert_eq!(code, Some(1));
    let (said, _) = same(&files, &[]);
    assert!(said.contains("1 chart(s) linted"), "{said}");
}
