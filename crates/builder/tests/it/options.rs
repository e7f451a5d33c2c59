//! What a request adds to a kustomization (§2.1), and what a build may do: K4, K5.

use builder::{Image, Patch, Request, Selector};

use super::{at, config, names, problems, text};

const DEPLOYMENT: &str = "apiVersion: apps/v1
kind: Deployment
metadata:
  name: web
spec:
  template:
    spec:
      containers:
      - name: web
        image: nginx:1.0
";

#[test]
fn prefix_suffix_and_namespace_replace_those_of_the_file() {
    let files = [
        (
            "kustomization.yaml",
            "resources: [a.yaml]\nnamePrefix: old-\nnameSuffix: -old\nnamespace: old\n",
        ),
        ("a.yaml", &config("a")),
    ];
    let request = Request {
        name_prefix: Some("new-".to_owned()),
        name_suffix: Some("-new".to_owned()),
        target_namespace: Some("target".to_owned()),
        ..Request::default()
    };
    let text = text(&files, &request);
    assert!(text.contains("name: new-a-new\n  namespace: target\n"), "{text}");
    assert!(!text.contains("old"), "{text}");
}

/// Images are merged by name, field by field; a tag or a digest replaces both.
#[test]
fn images_are_merged_with_those_of_the_file() {
    let digest = "sha256:24a0c4b4a4c0eb97a1aabb8e29f18e917d05abfe1b7a7c07857230879ce7d3d3";
    for (file, image, expected) in [
        (
            "{name: nginx, newTag: '2.0'}",
            ("other", "", ""),
            "other:2.0".to_owned(),
        ),
        (
            "{name: nginx, newName: mine, newTag: '2.0'}",
            ("", "3.0", ""),
            "mine:3.0".to_owned(),
        ),
        (
            "{name: nginx, newTag: '2.0'}",
            ("", "", digest),
            format!("nginx@{digest}"),
        ),
        (
            "{name: nginx, digest: 'sha256:00'}",
            ("", "3.0", ""),
            "nginx:3.0".to_owned(),
        ),
        (
            "{name: busybox, newTag: '2.0'}",
            ("", "4.0", ""),
            "nginx:4.0".to_owned(),
        ),
    ] {
        let kustomization = format!("resources: [a.yaml]\nimages: [{file}]\n");
        let files = [
            ("kustomization.yaml", kustomization.as_str()),
            ("a.yaml", DEPLOYMENT),
        ];
        let (new_name, new_tag, digest) = image;
        let image = Image {
            name: "nginx".to_owned(),
            new_name: new_name.to_owned(),
            new_tag: new_tag.to_owned(),
            digest: digest.to_owned(),
        };
        let request = Request {
            images: vec![image],
            ..Request::default()
        };
        let text = text(&files, &request);
        assert!(text.contains(&format!("image: {expected}\n")), "{file}: {text}");
    }
}

/// K5: patches are kustomize's: merged or by operations, with targets by whole expressions, and `$patch: delete`.
#[test]
fn k5_patches_come_after_those_of_the_file() {
    let files = [
        (
            "kustomization.yaml",
            "resources: [a.yaml, b.yaml, c.yaml]\npatches:\n- patch: '- {op: add, path: /data, value: {a: file}}'\n  target: {kind: ConfigMap}\n",
        ),
        ("a.yaml", &config("first")),
        ("b.yaml", &config("first-more")),
        ("c.yaml", &config("gone")),
    ];
    let operation = Patch {
        patch: "- op: replace\n  path: /data/a\n  value: request\n".to_owned(),
        target: Some(Selector {
            name: "fir.t".to_owned(),
            ..Selector::default()
        }),
    };
    let deletion = Patch {
        patch: "$patch: delete\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: gone}\n".to_owned(),
        target: None,
    };
    let request = Request {
        patches: vec![operation, deletion],
        ..Request::default()
    };
    assert_eq!(names(&files, &request), ["first", "first-more"]);
    let text = text(&files, &request);
    assert_eq!(text.matches("a: request").count(), 1, "{text}");
    assert_eq!(text.matches("a: file").count(), 1, "{text}");
}

#[test]
fn components_are_local_and_may_be_missing_if_told_so() {
    let files = [
        ("app/a.yaml", config("a")),
        (
            "part/kustomization.yaml",
            "kind: Component\nnamePrefix: part-\n".to_owned(),
        ),
    ];
    let files = files.each_ref().map(|(name, text)| (*name, text.as_str()));
    let mut request = Request {
        components: vec!["../part".to_owned()],
        ..at("app")
    };
    assert_eq!(names(&files, &request), ["part-a"]);
    request.components.push("../gone".to_owned());
    assert!(problems(&files, &request).join("\n").contains("gone"));
    request.ignore_missing_components = true;
    assert_eq!(names(&files, &request), ["part-a"]);
    request.components = ["https://example.com/x", "/abs", "github.com/a/b", "file:///x"]
        .map(str::to_owned)
        .into();
    let expected = request.components.iter();
    let expected = expected.map(|path| format!("component path '{path}' must be local and relative"));
    assert_eq!(problems(&files, &request), expected.collect::<Vec<_>>());
}

#[test]
fn build_metadata_replaces_that_of_the_file() {
    let files = [
        (
            "kustomization.yaml",
            "resources: [a.yaml]\nnamePrefix: x-\nbuildMetadata: [originAnnotations]\n",
        ),
        ("a.yaml", &config("a")),
    ];
    let request = Request {
        build_metadata: vec!["transformerAnnotations".to_owned()],
        ..Request::default()
    };
    let text = text(&files, &request);
    assert!(
        text.contains("alpha.config.kubernetes.io/transformations"),
        "{text}"
    );
    assert!(!text.contains("config.kubernetes.io/origin"), "{text}");
}

/// K4: files of the whole artifact may be read, but nothing outside of it; no charts, no programs, no remote bases unless
/// somebody fetches them.
#[test]
fn k4_a_build_reads_the_artifact_and_nothing_else() {
    let files = [
        ("app/kustomization.yaml", "resources: [../shared/a.yaml]\n"),
        ("shared/a.yaml", &config("a")),
        ("out/kustomization.yaml", "resources: [../../etc/passwd]\n"),
        (
            "remote/kustomization.yaml",
            "resources: ['https://example.com/org/repo//base?ref=v1']\n",
        ),
        (
            "chart/kustomization.yaml",
            "helmCharts: [{name: web, repo: 'https://example.com'}]\n",
        ),
        ("exec/kustomization.yaml", "transformers: [exec.yaml]\n"),
        (
            "exec/exec.yaml",
            "apiVersion: v1\nkind: X\nmetadata: {name: x, annotations: {config.kubernetes.io/function: 'exec: {path: ./run}'}}\n",
        ),
    ];
    assert_eq!(names(&files, &at("app")), ["a"]);
    for (path, word) in [
        ("out", "passwd"),
        ("remote", "not allowed"),
        ("chart", "helm"),
        ("exec", "exec"),
    ] {
        let problems = problems(&files, &at(path)).join("\n");
        assert!(problems.contains(word), "{path}: {problems}");
    }
}

/// K4: built-in generators, transformers, components, replacements, openapi and configurations all work.
#[test]
fn k4_what_is_built_in_works() {
    let files = [
        (
            "kustomization.yaml",
            "resources: [a.yaml]\ntransformers: [prefix.yaml]\nreplacements:\n- source: {kind: ConfigMap, fieldPath: metadata.name}\n  targets: [{select: {kind: ConfigMap}, fieldPaths: [data.name], options: {create: true}}]\n",
        ),
        ("a.yaml", &config("a")),
        (
            "prefix.yaml",
            "apiVersion: builtin\nkind: PrefixTransformer\nmetadata: {name: p}\nprefix: built-\nfieldSpecs: [{path: metadata/name}]\n",
        ),
    ];
    let text = text(&files, &Request::default());
    assert!(text.contains("data:\n  name: built-a\n"), "{text}");
}

/// With the rules of `flux build`, which looks for them so, absolute paths must be there below the directory.
#[test]
fn absolute_paths_are_refused_where_files_are_left_out_by_rules() {
    let (a, b) = (config("a"), config("b"));
    let files = [
        (
            "tree/kustomization.yaml",
            "resources:\n- /b.yaml\n- a.yaml\n- /gone.yaml\n",
        ),
        ("tree/a.yaml", a.as_str()),
        ("b.yaml", b.as_str()),
    ];
    let mut request = at("tree");
    request.ignore = Some(source::archive::ignore::Rules::none());
    let told = problems(&files, &request);
    assert_eq!(told.len(), 2, "{told:?}");
    for (told, line, name) in [(&told[0], 2, "b.yaml"), (&told[1], 4, "gone.yaml")] {
        let start = format!("tree/kustomization.yaml:{line}: '/{name}' is absolute");
        let end = format!("there is no 'tree/{name}'");
        assert!(told.starts_with(&start) && told.ends_with(&end), "{told}");
    }
}
