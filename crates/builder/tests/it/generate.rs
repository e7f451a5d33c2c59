//! The kustomization that is found or generated: K1, K2, K3.

use builder::Request;

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

/// K1: nothing to build makes nothing, and no error.
#[test]
fn k1_an_empty_directory_yields_nothing() {
    let built = build(&[("empty/.keep", "")], &at("empty")).unwrap();
    assert!(built.is_empty());
    assert_eq!(built.to_yaml().unwrap(), "");
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
        problems.iter().any(|one| one.starts_with("kustomization.yaml: ")),
        "{problems:?}"
    );
}
