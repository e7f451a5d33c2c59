//! Arbitrary trees: no panic, no hang, nothing read from outside.

use std::borrow::Cow;
use std::cell::RefCell;

use kustomize::{LoadRestrictor, Memory, Options, Tree, build};
use proptest::prelude::*;

/// A tree that notes what it is asked for.
struct Watched {
    files: Memory,
    asked: RefCell<Vec<String>>,
}

impl Tree for Watched {
    fn read(&self, path: &str) -> Result<Option<Cow<'_, [u8]>>, String> {
        self.asked.borrow_mut().push(path.to_owned());
        self.files.read(path)
    }

    fn is_dir(&self, path: &str) -> bool {
        self.asked.borrow_mut().push(path.to_owned());
        self.files.is_dir(path)
    }

    fn resolve(&self, path: &str) -> Option<String> {
        self.asked.borrow_mut().push(path.to_owned());
        self.files.resolve(path)
    }
}

fn run(files: Memory, root: &str, restrictor: LoadRestrictor) {
    let tree = Watched {
        files,
        asked: RefCell::default(),
    };
    let options = Options {
        load_restrictor: restrictor,
        ..Options::default()
    };
    if let Ok(output) = build(&tree, root, &options) {
        let _ = output.to_yaml();
    }
    for path in tree.asked.borrow().iter() {
        let clean = path.split('/').all(|part| !matches!(part, "." | "..")) && !path.starts_with('/');
        assert!(clean, "the tree was asked for {path:?}");
    }
}

/// Words that kustomizations are made of, so that random files get somewhere.
fn word() -> impl Strategy<Value = String> {
    prop_oneof![
        prop::sample::select(vec![
            "resources",
            "a.yaml",
            "b",
            "../b",
            "../../../etc/passwd",
            "/a.yaml",
            "namePrefix",
            "p-",
            "patches",
            "path",
            "target",
            "kind",
            "ConfigMap",
            "Deployment",
            "name",
            "a",
            "metadata",
            "v1",
            "apiVersion",
            "namespace",
            "$patch",
            "delete",
            "replace",
            "spec",
            "template",
            "containers",
            "image",
            "nginx:1",
            "images",
            "newTag",
            "vars",
            "objref",
            "replacements",
            "source",
            "targets",
            "select",
            "fieldPaths",
            "data.x",
            "configMapGenerator",
            "literals",
            "a=b",
            "files",
            "components",
            "null",
            "1.0",
            "[]",
            "{}",
            "commonLabels",
            "labels",
            "pairs",
            "openapi",
            "configurations",
            "crds",
            "op: add",
            "value",
            "*",
            "&a",
            "*a",
            "<<",
            "---",
            "finalizers",
            "ports",
            "containerPort",
            "protocol",
        ])
        .prop_map(str::to_owned),
        "[ -~]{0,8}",
    ]
}

fn yaml_text() -> impl Strategy<Value = String> {
    let leaf = word();
    let line = (0usize..5, prop::bool::ANY, word(), leaf).prop_map(|(indent, item, key, value)| {
        let lead = "  ".repeat(indent);
        let dash = if item { "- " } else { "" };
        format!("{lead}{dash}{key}: {value}\n")
    });
    prop::collection::vec(line, 0..12).prop_map(|lines| lines.concat())
}

/// Objects and kustomizations that are nearly right.
fn file() -> impl Strategy<Value = String> {
    prop_oneof![
        yaml_text(),
        (word(), yaml_text())
            .prop_map(|(name, rest)| format!("apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: '{name}'}}\n{rest}")),
        (word(), word(), word()).prop_map(|(a, b, c)| format!(
            "resources: [a.yaml, '{a}']\nnamePrefix: '{b}'\npatches:\n- patch: |-\n    apiVersion: v1\n    kind: \
             ConfigMap\n    metadata: {{name: a}}\n    {c}: {{x: [1]}}\n"
        )),
        ".{0,60}",
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

    #[test]
    fn arbitrary_trees_neither_panic_nor_are_left(
        root in file(), a in file(), base in file(), other in file(), unrestricted in prop::bool::ANY,
    ) {
        let files: Memory = [
            ("r/kustomization.yaml", root), ("r/a.yaml", a.clone()), ("r/b/kustomization.yaml", base),
            ("b/kustomization.yaml", other), ("b/a.yaml", a),
        ]
        .into_iter()
        .collect();
        let restrictor = if unrestricted { LoadRestrictor::None } else { LoadRestrictor::RootOnly };
        run(files, "r", restrictor);
    }
}

#[test]
fn nesting_without_end_is_refused() {
    let mut files = Memory::new();
    for level in 0..200 {
        files.insert(
            &format!("{level}/kustomization.yaml"),
            format!("resources: [../{}]\n", level + 1),
        );
    }
    run(files, "0", LoadRestrictor::None);
}

#[test]
fn kustomizations_that_multiply_come_to_an_end() {
    let mut files = Memory::new();
    for level in 0..40 {
        let next = level + 1;
        let text = format!("resources: [../{next}, ../{next}]\n");
        files.insert(&format!("{level}/kustomization.yaml"), text);
    }
    files.insert("40/kustomization.yaml", "resources: []\n");
    run(files, "0", LoadRestrictor::None);
}

#[test]
fn long_lists_are_merged_in_reasonable_time() {
    let items = |from: usize| -> String {
        (from..from + 20_000)
            .map(|at| format!("        - {{name: e{at}}}\n"))
            .collect()
    };
    let object = |items: String| {
        format!(
            "apiVersion: v1\nkind: Pod\nmetadata: {{name: p}}\nspec:\n  containers:\n  - name: c\n    env:\n{items}"
        )
    };
    let files: Memory = [
        (
            "kustomization.yaml",
            "resources: [a.yaml]\npatches: [{path: p.yaml}]\n".to_owned(),
        ),
        ("a.yaml", object(items(0))),
        ("p.yaml", object(items(10_000))),
    ]
    .into_iter()
    .collect();
    run(files, "", LoadRestrictor::RootOnly);
}

#[test]
fn definitions_that_all_refer_to_each_other_come_to_an_end() {
    let references: String = (0..30)
        .map(|to| format!(r#""p{to}": {{"$ref": "d{to}"}},"#))
        .collect();
    let properties = format!(r#"{{{references} "kind": {{}}, "apiVersion": {{}}, "metadata": {{}}}}"#);
    let definitions: Vec<String> = (0..30)
        .map(|number| format!(r#""d{number}": {{"Schema": {{"properties": {properties}}}}}"#))
        .collect();
    let files: Memory = [
        ("kustomization.yaml", "crds: [crds.json]\n".to_owned()),
        ("crds.json", format!("{{{}}}", definitions.join(","))),
    ]
    .into_iter()
    .collect();
    let errors = build(&files, "", &Options::default()).unwrap_err().to_string();
    assert!(
        errors.contains("definitions lead to more than 200000 properties"),
        "{errors}"
    );
}

#[test]
fn a_root_outside_of_the_tree_is_refused() {
    let files: Memory = [("a/kustomization.yaml", "resources: []\n")]
        .into_iter()
        .collect();
    for root in ["..", "../a", "a/../..", "a/../../a"] {
        let tree = Watched {
            files: files.clone(),
            asked: RefCell::default(),
        };
        assert!(build(&tree, root, &Options::default()).is_err(), "{root}");
        assert_eq!(*tree.asked.borrow(), Vec::<String>::new(), "{root}");
    }
}

/// A field that is copied into itself doubles each time.
#[test]
fn replacements_that_double_come_to_an_end() {
    let mut text = "resources: [a.yaml]\nreplacements:\n".to_owned();
    for number in 0..40 {
        text += &format!(
            "- source: {{kind: ConfigMap, name: c, fieldPath: data}}\n  targets:\n  - select: {{kind: ConfigMap}}\n    \
             fieldPaths: [data.x{number}, data.y{number}]\n    options: {{create: true}}\n"
        );
    }
    let mut files = Memory::default();
    files.insert(
        "a.yaml",
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\ndata: {a: b}\n",
    );
    files.insert("kustomization.yaml", text);
    let errors = build(&files, "", &Options::default()).map(drop).unwrap_err();
    assert!(
        errors
            .to_string()
            .contains("more than 4194304 bytes, which no object can hold"),
        "{errors}"
    );
}
