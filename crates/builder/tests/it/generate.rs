//! The kustomization that is found or generated: K1, K2, K3.

use builder::{Image, Patch, Request, Selector};

use super::{at, build, config, names, problems, text};

/// K1: without a kustomization file, all YAML files are built; a directory with one is a resource that is not walked.
#[test]
fn k1_a_directory_without_a_kustomization_is_walked_in_order() {
    let files = [
        ("apps/b.yaml", config("b")),
        ("apps/a.yml", config("a")),
        ("apps/a/deep/z.yaml", config("z")),
        (
            "apps/own/Kustomization",
            "resources: [one.yaml]\nnamePrefix: own-\n".to_owned(),
        ),
        ("apps/own/one.yaml", config("one")),
        ("apps/own/two.yaml", "no manifest: [".to_owned()),
        ("apps/notes.txt", "none".to_owned()),
        ("elsewhere/c.yaml", config("c")),
    ];
    let files = files.each_ref().map(|(name, text)| (*name, text.as_str()));
    assert_eq!(names(&files, &at("apps")), ["z", "a", "b", "own-one"]);
    assert_eq!(names(&files, &at("/apps/./own/")), ["own-one"]);
}

/// K1: what is no Kubernetes YAML fails the build, and all such files are named.
#[test]
fn k1_every_yaml_file_must_be_a_manifest() {
    let files = [
        ("bad.yaml", "a: [\n"),
        ("good.yaml", &config("good")),
        ("values.yaml", "replicas: 3\n"),
    ];
    let problems = problems(&files, &at("")).join("\n");
    assert!(problems.contains("bad.yaml"), "{problems}");
    assert!(problems.contains("values.yaml"), "{problems}");
    assert!(!problems.contains("good.yaml"), "{problems}");
}

/// K1: there is no file that could be looked at, and so it is told what is meant.
#[test]
fn k1_mistakes_of_a_generated_kustomization_name_the_directory_it_is_for() {
    let files = [
        ("apps/a.yaml", config("a")),
        ("apps/own/kustomization.yaml", "resources: []\n".to_owned()),
        ("apps/own/Kustomization", "resources: []\n".to_owned()),
        ("apps/one/kustomization.yaml", "resources: [a.yaml]\n".to_owned()),
        ("apps/one/a.yaml", config("a")),
    ];
    let files = files.each_ref().map(|(name, text)| (*name, text.as_str()));
    assert_eq!(
        problems(&files, &at("apps")),
        [
            "apps/one/a.yaml:1: may not add resource with an already registered id: ConfigMap.v1.[noGrp]/a.[noNs]; also in \
             apps/a.yaml:1 (through the kustomization that is generated for the directory 'apps', which has none) (through \
             apps/one/kustomization.yaml)",
            "the kustomization that is generated for the directory 'apps', which has none: accumulating resources from \
             './own': Found multiple kustomization files under: apps/own",
        ]
    );
    let root = problems(
        &[("own/kustomization.yaml", "a: b"), ("own/Kustomization", "a: b")],
        &at(""),
    );
    assert!(
        root[0].starts_with("the kustomization that is generated for the directory '.', which has none: "),
        "{root:?}"
    );
}

/// K1: nothing to build makes nothing, and no error.
#[test]
fn k1_an_empty_directory_yields_nothing() {
    let built = build(&[("empty/.keep", "")], &at("empty")).unwrap();
    assert!(built.is_empty());
    assert_eq!(built.to_yaml().unwrap(), "");
}

/// K1: where all of it is ignored, too.
#[test]
fn k1_a_directory_of_which_all_is_ignored_yields_nothing() {
    let mut request = at("");
    request.ignore = Some(source::archive::ignore::Rules::only([&b"*.yaml"[..]]).unwrap());
    let built = build(&[("a.yaml", &config("a"))], &request).unwrap();
    assert!(built.is_empty());
}

#[test]
fn a_directory_that_is_not_there_is_named() {
    for path in ["gone", "../x", "a.yaml"] {
        let problems = problems(&[("a.yaml", &config("a"))], &at(path));
        assert_eq!(
            problems,
            [format!(
                "the directory '{path}' is not there: correct the path, or add the directory to the source"
            )]
        );
    }
}

/// K2: a kustomization file without resources is no error.
#[test]
fn k2_a_kustomization_without_resources_is_not_called_empty() {
    for file in ["", "# nothing\n", "resources: []\n", "kind: Kustomization\n"] {
        assert!(
            build(&[("kustomization.yaml", file)], &at(""))
                .unwrap()
                .is_empty(),
            "{file:?}"
        );
    }
    let generated =
        "configMapGenerator: [{name: made, literals: [a=b], options: {disableNameSuffixHash: true}}]";
    let text = text(&[("kustomization.yaml", generated)], &at(""));
    assert!(text.contains("config.kubernetes.io/origin"), "{text}");
}

/// K3: everything that is an object is built, whatever its kind; kustomizations of kustomize itself are not applied.
#[test]
fn k3_no_kind_is_left_out_but_kustomizations() {
    let release = "apiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\nmetadata: {name: hr}\n";
    let own = "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\nmetadata: {name: ks}\n";
    let flux = "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {name: flux}\n";
    let files = [("a.yaml", release), ("b.yaml", own), ("c.yaml", flux)];
    assert_eq!(names(&files, &at("")), ["hr", "flux"]);
}

/// K8 aside, an object must have an `apiVersion`, a `kind` and a name.
#[test]
fn an_object_without_a_version_is_refused() {
    let file = "kind: ConfigMap\nmetadata: {name: a}\n";
    let problems = problems(&[("a.yaml", file)], &at("")).join("\n");
    assert!(
        problems.contains("failed to decode Kubernetes apiVersion, kind and name from: ConfigMap/a"),
        "{problems}"
    );
}

#[test]
fn lists_are_taken_apart() {
    let file = "apiVersion: v1\nkind: ConfigMapList\nitems:\n- {apiVersion: v1, kind: ConfigMap, metadata: {name: a}}\n";
    let thing = "apiVersion: example.com/v1\nkind: Things\nmetadata: {name: t}\nitems: [{kind: Thing, metadata: {name: u}}]\n";
    assert_eq!(names(&[("a.yaml", file), ("b.yaml", thing)], &at("")), ["a", "u"]);
}

#[test]
fn the_kustomization_is_read_leniently_but_its_bases_are_not() {
    let lenient = "resources: [a.yaml]\nunknown: 1\ncommonAnnotations: {port: 8080}\nlabels: [{pairs: {a: true}, more: 2}]\n";
    let text = text(
        &[("kustomization.yaml", lenient), ("a.yaml", &config("a"))],
        &at(""),
    );
    assert!(
        text.contains("port: \"8080\"") && text.contains("a: \"true\""),
        "{text}"
    );
    let files = [
        ("kustomization.yaml", "resources: [base]\n"),
        ("base/kustomization.yaml", "unknown: 1\n"),
    ];
    let problems = problems(&files, &at("")).join("\n");
    assert!(problems.contains("unknown field \"unknown\""), "{problems}");
}

/// The digest of a build is that of its text.
#[test]
fn the_digest_is_that_of_the_text() {
    use sha2::Digest as _;
    let files = [("a.yaml", config("a")), ("b.yaml", config("b"))];
    let files = files.each_ref().map(|(name, text)| (*name, text.as_str()));
    let built = build(&files, &at("")).unwrap();
    let expected: [u8; 32] = sha2::Sha256::digest(built.to_yaml().unwrap()).into();
    assert_eq!(built.digest().unwrap(), model::Digest::sha256(expected));
}

#[test]
fn mistakes_are_told_by_the_lines_of_the_file_that_people_have() {
    let file = "# What runs where.\nnamePrefix: a-\n\nresources:\n  - a.yaml\n  # soon\n  - gone.yaml\nkind: Kustomization\n";
    let request = Request {
        target_namespace: Some("apps".to_owned()),
        components: vec!["nowhere".to_owned()],
        ..Request::default()
    };
    let problems = problems(
        &[("kustomization.yaml", file), ("a.yaml", &config("a"))],
        &request,
    );
    assert!(
        problems
            .iter()
            .any(|one| one.starts_with("kustomization.yaml:7: ")),
        "{problems:?}"
    );
    // What the request adds stands in no line.
    assert!(
        problems.iter().any(|one| one.starts_with("spec.components[0]: ")),
        "{problems:?}"
    );
}

#[test]
fn mistakes_of_the_request_are_told_as_those_of_a_kustomization() {
    let file = "resources: [a.yaml]\npatches:\n- path: none.yaml\nimages:\n- name: '('\n  newTag: v1\n";
    let patch = |patch: &str, name: &str| Patch {
        patch: patch.to_owned(),
        target: Some(Selector {
            name: name.to_owned(),
            ..Selector::default()
        }),
    };
    let request = Request {
        patches: vec![
            patch("- op: remove\n  path: /data\n", "a"),
            patch("a: b\nc: [\n", "a"),
        ],
        images: vec![
            Image {
                name: "ok".to_owned(),
                new_tag: "1".to_owned(),
                ..Image::default()
            },
            Image {
                name: "[".to_owned(),
                ..Image::default()
            },
        ],
        components: vec!["/outside".to_owned(), "nowhere".to_owned()],
        ..Request::default()
    };
    let found = problems(
        &[("kustomization.yaml", file), ("a.yaml", &config("a"))],
        &request,
    );
    let beginnings = [
        "component path '/outside' must be local and relative",
        "spec.components[1]: accumulating components: ",
        "kustomization.yaml:3: failed to get the patch file from path(none.yaml): ",
        "spec.patches[1].patch, line 3: unable to parse SM or JSON patch from [patch]: ",
        "kustomization.yaml:5: ",
        "spec.images[1].name: ",
    ];
    assert_eq!(found.len(), beginnings.len(), "{found:#?}");
    for (found, wanted) in found.iter().zip(beginnings) {
        assert!(found.starts_with(wanted), "{wanted}\n{found}");
    }
    let request = Request {
        patches: vec![patch(
            "- op: test\n  path: /kind\n  value: ConfigMap\n- op: remove\n  path: /x\n",
            "a(",
        )],
        ..Request::default()
    };
    let found = problems(&[("a.yaml", &config("a"))], &request);
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(found[0].starts_with("spec.patches[0].target.name: "), "{found:?}");
    let request = Request {
        patches: vec![patch(
            "- op: test\n  path: /kind\n  value: ConfigMap\n- op: remove\n  path: /x\n",
            "a",
        )],
        ..Request::default()
    };
    let found = problems(&[("a.yaml", &config("a"))], &request);
    assert!(
        found[0].starts_with("spec.patches[0].patch, line 4: "),
        "{found:?}"
    );
}

#[test]
fn numbers_that_cannot_be_written_are_told_with_field_and_line() {
    let file = format!(
        "{}data:\n  a: 1.5\n  b: [.inf]\n---\n{}x: .nan\n",
        config("a"),
        config("b")
    );
    assert_eq!(
        problems(&[("a.yaml", &file)], &at("")),
        [
            "a.yaml:7: ConfigMap.v1.[noGrp]/a.[noNs]: data.b[0]: json: unsupported value: +Inf",
            "a.yaml:13: ConfigMap.v1.[noGrp]/b.[noNs]: x: json: unsupported value: NaN"
        ]
    );
}
