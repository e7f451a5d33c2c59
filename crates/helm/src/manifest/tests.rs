use std::collections::BTreeMap;

use super::*;

fn sorted(files: &[(&str, &str)]) -> Sorted {
    let files: BTreeMap<String, String> = files
        .iter()
        .map(|(path, content)| ((*path).to_owned(), (*content).to_owned()))
        .collect();
    sort(&files, HelmVersion::V4).unwrap()
}

#[test]
fn documents_are_ordered_by_kind_then_path_then_place() {
    let found = sorted(&[
        (
            "c/templates/b.yaml",
            "kind: Service\n---\nkind: Zebra\n---\nkind: Secret\n",
        ),
        (
            "c/templates/a.yaml",
            "kind: Zebra\nn: 1\n---\nkind: Ape\n---\nkind: Service\nn: 1\n",
        ),
        ("c/templates/_h.tpl", "kind: Namespace"),
        ("c/templates/e.yaml", " \n"),
    ]);
    let order: Vec<&str> = found
        .manifests
        .iter()
        .map(|manifest| manifest.content.as_str())
        .collect();
    assert_eq!(
        order,
        [
            "kind: Secret\n",
            "kind: Service\nn: 1\n",
            "kind: Service\n",
            "kind: Ape\n",
            "kind: Zebra\nn: 1\n",
            "kind: Zebra\n",
        ]
    );
}

#[test]
fn annotations_make_hooks() {
    let found = sorted(&[(
        "c/templates/a.yaml",
        "kind: Job\nmetadata:\n  name: j\n  annotations:\n    helm.sh/hook: Pre-Install, post-upgrade\n    \
         helm.sh/hook-weight: -5\n    helm.sh/hook-delete-policy: before-hook-creation,hook-succeeded\n    \
         helm.sh/hook-output-log-policy: hook-failed\n---\nkind: Pod\nmetadata:\n  annotations: {helm.sh/hook: test-success}\n\
         ---\nkind: Pod\nmetadata:\n  annotations: {helm.sh/hook: 'test, sometimes'}\n",
    )]);
    assert!(found.manifests.is_empty());
    assert_eq!(found.unknown, ["test, sometimes"]);
    let [test, job] = found.hooks.as_slice() else {
        panic!("{found:?}");
    };
    assert!(test.is_test());
    assert_eq!((job.name.as_str(), job.weight), ("j", -5));
    assert_eq!(job.events, [Event::PreInstall, Event::PostUpgrade]);
    assert_eq!(job.delete_policies, ["before-hook-creation", "hook-succeeded"]);
    assert_eq!(job.output_log_policies, ["hook-failed"]);
}

#[test]
fn what_is_no_manifest_is_refused_with_its_path() {
    let refused = |text: &str| {
        let files = BTreeMap::from([("c/templates/a.yaml".to_owned(), text.to_owned())]);
        sort(&files, HelmVersion::V4).unwrap_err().to_string()
    };
    assert_eq!(
        refused("a: b: c"),
        "YAML parse error on c/templates/a.yaml: error converting YAML to JSON: yaml: mapping values are not allowed in this context"
    );
    assert_eq!(
        refused("just text"),
        "YAML parse error on c/templates/a.yaml: error unmarshaling JSON: while decoding JSON: json: cannot unmarshal string into Go value of type util.SimpleHead"
    );
    assert_eq!(
        refused("kind: [a]"),
        "YAML parse error on c/templates/a.yaml: error unmarshaling JSON: while decoding JSON: json: cannot unmarshal array into Go struct field SimpleHead.kind of type string"
    );
}
