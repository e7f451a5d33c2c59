//! Small charts, and what Helm 4.2.4 prints of them.

use gotemplate::FixedWorld;
use helm::HelmVersion;
use helm::capabilities::Capabilities;
use helm::chart::{Chart, Limits, MemoryTree};
use helm::print;
use helm::release::{self, PostRenderer, Rendered, Request, Strategy};
use helm::render::{self, Engine, Release};
use helm::values::set;
use model::Map;

const CHART: &str = "apiVersion: v2\nname: app\nversion: 1.2.3\nappVersion: \"4.5\"\n";

pub(crate) fn load(files: &[(&str, &str)]) -> Chart {
    let with_metadata = [("Chart.yaml", CHART)].into_iter().chain(files.iter().copied());
    Chart::from_tree(&MemoryTree::new(with_metadata), "", &Limits::default()).unwrap()
}

pub(crate) fn request<'r>(chart: Chart, sets: &str) -> Request<'r> {
    let mut given = Map::new();
    set::plain(sets, &mut given).unwrap();
    Request {
        chart,
        given,
        release: Release {
            name: "r".to_owned(),
            namespace: "default".to_owned(),
            is_upgrade: false,
            revision: 1,
        },
        capabilities: Capabilities::default_of(HelmVersion::V4),
        options: render::Options::default(),
        skip_schema: false,
        sub_notes: false,
        post_renderer: None,
        strategy: Strategy::default(),
    }
}

pub(crate) fn make(request: Request<'_>) -> Result<Rendered, String> {
    let mut world = FixedWorld::new("2026-01-02T03:04:05Z".parse().unwrap(), 1);
    release::render(&Engine::new(), request, &mut world, &mut Vec::new()).map_err(|error| error.to_string())
}

fn printed(files: &[(&str, &str)], sets: &str) -> Result<String, String> {
    let rendered = make(request(load(files), sets))?;
    Ok(print::template(&rendered, &print::Options::default(), HelmVersion::V4).unwrap())
}

/// One template, without the lines before its text.
fn text(template: &str, values: &str, sets: &str) -> Result<String, String> {
    let all = printed(&[("templates/a.yaml", template), ("values.yaml", values)], sets)?;
    let text = all
        .strip_prefix("---\n# Source: app/templates/a.yaml\n")
        .unwrap_or(&all);
    Ok(text.to_owned())
}

#[test]
fn a_chart_is_printed_as_helm_prints_it() {
    let files = [
        (
            "templates/b.yaml",
            "kind: Service\nname: {{ .Values.name }}\n---\nkind: ConfigMap\n",
        ),
        ("templates/_helpers.tpl", "{{- define \"x\" }}<{{ . }}>{{ end }}"),
        (
            "templates/a.yaml",
            "kind: Job\nmetadata: {annotations: {helm.sh/hook: pre-install}}\nx: {{ include \"x\" .Release.Name }}",
        ),
        ("templates/NOTES.txt", "Hello {{ .Chart.Name }}"),
        ("values.yaml", "name: web\n"),
    ];
    let wanted = "---\n# Source: app/templates/b.yaml\nkind: ConfigMap\n\n---\n# Source: app/templates/b.yaml\nkind: Service\nname: web\n---\n# Source: app/templates/a.yaml\nkind: Job\nmetadata: {annotations: {helm.sh/hook: pre-install}}\nx: <r>\n";
    let rendered = make(request(load(&files), "")).unwrap();
    assert_eq!(rendered.notes, "Hello app");
    let print = |options: &print::Options| print::template(&rendered, options, HelmVersion::V4);
    let all = print(&print::Options::default()).unwrap();
    assert_eq!(all.replace("\n\n", "\n"), wanted.replace("\n\n", "\n"));
    let only = print::Options {
        show_only: vec!["templates/a.*".to_owned()],
        ..print::Options::default()
    };
    assert!(
        print(&only)
            .unwrap()
            .starts_with("---\n# Source: app/templates/a.yaml\nkind: Job")
    );
    let missing = print::Options {
        show_only: vec!["templates/c.yaml".to_owned()],
        ..print::Options::default()
    };
    assert_eq!(
        print(&missing).unwrap_err().to_string(),
        "could not find template templates/c.yaml in chart"
    );
    let without = print::Options {
        no_hooks: true,
        ..print::Options::default()
    };
    assert!(!print(&without).unwrap().contains("Job"));
}

#[test]
fn numbers_of_files_are_floats_and_those_of_set_are_not() {
    let template = "a: {{ .Values.a }}\nb: {{ .Values.b }}\nc: {{ toYaml .Values.a }}";
    let found = text(template, "a: 1000000\n", "b=1000000").unwrap();
    assert_eq!(found, "a: 1e+06\nb: 1000000\nc: 1000000\n");
}

#[test]
fn functions_of_helm_give_what_they_give_there() {
    for (template, wanted) in [
        (
            r#"a: {{ tpl "{{ .Values.x }}-{{ include \"gone\" . }}" . }}{{ define "gone" }}g{{ end }}"#,
            "a: v-g\n",
        ),
        (r#"a: {{ required "needed" .Values.x }}"#, "a: v\n"),
        (
            r#"a: {{ (fromYaml "b: [1, x]").b | toYaml | printf "%q" }}"#,
            "a: \"- 1\\n- x\"\n",
        ),
        (
            r#"a: {{ (fromYaml "[1]").Error | quote }}"#,
            "a: \"error unmarshaling JSON: while decoding JSON: json: cannot unmarshal array into Go value of type map[string]interface {}\"\n",
        ),
        (
            r##"a: '{{ fromYaml "" | toJson }}{{ fromYaml "# no" | toJson }}{{ fromYamlArray "null" | toJson }}'"##,
            "a: '{}{}[]'\n",
        ),
        (r#"a: {{ getHostByName "localhost" | quote }}"#, "a: \"\"\n"),
        (r#"a: {{ fromJsonArray "[1, 2]" }}"#, "a: [1 2]\n"),
        (
            r#"a: {{ .Capabilities.APIVersions.Has "apps/v1" }} {{ .Capabilities.KubeVersion }} {{ .Capabilities.KubeVersion.Minor }}"#,
            "a: true v1.36.0 36\n",
        ),
        (
            r#"a: {{ .Files.Get "config/a.txt" }} {{ len (.Files.Lines "config/a.txt") }}"#,
            "a: text 1\n",
        ),
        (
            r#"a: {{ (.Files.Glob "config/*").AsSecrets | quote }}"#,
            "a: \"a.txt: dGV4dA==\"\n",
        ),
        (
            r#"a: {{ .Template.Name }} {{ .Template.BasePath }}"#,
            "a: app/templates/a.yaml app/templates\n",
        ),
        (r#"a: {{ lookup "v1" "Secret" "" "" }}"#, "a: map[]\n"),
        (r#"a: "{{ .Values.missing }}""#, "a: \"\"\n"),
        (
            r#"a: {{ toToml (index .Values "m") | printf "%q" }}"#,
            "a: \"b = 1.0\\n\\n[c]\\n  d = \\\"x\\\"\\n\"\n",
        ),
    ] {
        let files = [
            ("templates/a.yaml", template),
            ("values.yaml", "x: v\nm: {b: 1, c: {d: x}}"),
            ("config/a.txt", "text"),
        ];
        let found = printed(&files, "").map(|all| all.replace("---\n# Source: app/templates/a.yaml\n", ""));
        assert_eq!(found.as_deref(), Ok(wanted), "{template}");
    }
}

#[test]
fn failures_are_told_in_the_words_of_helm() {
    for (template, wanted) in [
        (
            "a: {{ required \"needed\" .Values.x }}",
            "execution error at (app/templates/a.yaml:1:6): needed",
        ),
        (
            "a: {{ b64dec \"/w==\" }}",
            "YAML parse error on app/templates/a.yaml: error converting YAML to JSON: yaml: invalid leading UTF-8 octet",
        ),
        (
            "a: {{ fail \"no\" }}",
            "execution error at (app/templates/a.yaml:1:6): no",
        ),
        (
            "a: {{ .Values.x.y }}",
            "app/templates/a.yaml:1:13\n  executing \"app/templates/a.yaml\" at <.Values.x.y>:\n    nil pointer evaluating interface {}.y",
        ),
        (
            "{{ define \"h\" }}{{ .Values.x.y }}{{ end }}a: {{ include \"h\" . }}",
            "app/templates/a.yaml:1:48\n  executing \"app/templates/a.yaml\" at <include \"h\" .>:\n    error calling include:\napp/templates/a.yaml:1:26\n  executing \"h\" at <.Values.x.y>:\n    nil pointer evaluating interface {}.y",
        ),
        (
            "a: {{ nope }}",
            "parse error at (app/templates/a.yaml:1): function \"nope\" not defined",
        ),
    ] {
        assert_eq!(text(template, "", "").unwrap_err(), wanted, "{template}");
    }
}

const PARENT: &str = "apiVersion: v2\nname: app\nversion: 1.2.3\ndependencies:\n- {name: sub, version: 1.x.x, alias: one, condition: one.on}\n- {name: sub, version: 1.x.x, alias: two, tags: [t]}\n";
const SUB: &str = "apiVersion: v2\nname: sub\nversion: 1.0.0\n";

#[test]
fn charts_below_have_aliases_conditions_tags_and_their_own_values() {
    let files = [
        ("Chart.yaml", PARENT),
        ("values.yaml", "global: {g: 1}\none: {v: parent, gone: null}\n"),
        ("charts/sub/Chart.yaml", SUB),
        ("charts/sub/values.yaml", "v: own\ngone: x\nglobal: {h: 2}\n"),
        (
            "charts/sub/templates/a.yaml",
            "v: {{ .Values.v }} {{ .Values.gone }} {{ .Values.global }} {{ .Chart.Name }}",
        ),
    ];
    let chart = Chart::from_tree(&MemoryTree::new(files), "", &Limits::default()).unwrap();
    let shown_by = |version: HelmVersion, sets: &str| {
        let mut request = request(chart.clone(), sets);
        request.capabilities = Capabilities::default_of(version);
        let rendered = make(request).unwrap();
        let texts: Vec<(String, String)> = rendered
            .manifests
            .into_iter()
            .map(|manifest| (manifest.path, manifest.content))
            .collect();
        texts
    };
    let shown = |sets: &str| shown_by(HelmVersion::V4, sets);
    let one = (
        "app/charts/one/templates/a.yaml".to_owned(),
        "v: parent x map[g:1 h:2] one".to_owned(),
    );
    let two = (
        "app/charts/two/templates/a.yaml".to_owned(),
        "v: own x map[g:1 h:2] two".to_owned(),
    );
    assert_eq!(shown(""), [one.clone(), two.clone()]);
    assert_eq!(shown("one.on=false"), [two]);
    assert_eq!(shown("tags.t=false"), [one]);
    // A null in the values of a parent takes the default of a chart below away in Helm 3, and does not in Helm 4.
    assert_eq!(shown_by(HelmVersion::V3, "")[0].1, "v: parent  map[g:1 h:2] one");
}

#[test]
fn values_are_imported_from_charts_below() {
    let parent = "apiVersion: v2\nname: app\nversion: 1.2.3\ndependencies:\n- name: sub\n  version: 1.0.0\n  import-values:\n  - data\n  - {child: deep.er, parent: here}\n";
    let files = [
        ("Chart.yaml", parent),
        ("values.yaml", "a: parent\n"),
        (
            "templates/a.yaml",
            "v: {{ .Values.a }} {{ .Values.b }} {{ .Values.here.c }}",
        ),
        ("charts/sub/Chart.yaml", SUB),
        (
            "charts/sub/values.yaml",
            "exports: {data: {a: child, b: child}}\ndeep: {er: {c: 3}}\n",
        ),
    ];
    let chart = Chart::from_tree(&MemoryTree::new(files), "", &Limits::default()).unwrap();
    let rendered = make(request(chart, "")).unwrap();
    assert_eq!(rendered.manifests[0].content, "v: parent child 3");
}

struct Upper;

impl PostRenderer for Upper {
    fn run(&mut self, manifests: &str) -> Result<String, String> {
        Ok(manifests.replace("kind: X", "kind: Z") + "---\nkind: New\n")
    }
}

#[test]
fn post_renderers_change_what_was_rendered() {
    let chart = load(&[("templates/a.yaml", "kind: X\nb: 1\na: yes\n")]);
    let rendered = make(Request {
        post_renderer: Some(&mut Upper),
        ..request(chart, "")
    })
    .unwrap();
    let found: Vec<(&str, &str)> = rendered
        .manifests
        .iter()
        .map(|manifest| (manifest.path.as_str(), manifest.content.as_str()))
        .collect();
    assert_eq!(
        found,
        [
            ("generated-by-postrender-1.yaml", "kind: New\n"),
            ("app/templates/a.yaml", "kind: Z\nb: 1\na: \"yes\"\n"),
        ]
    );
}
