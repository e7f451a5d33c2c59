//! Mistakes that everybody makes come with what is to be done about them.

use kustomize::remote::{Fetcher, RepoSpec};
use kustomize::{Memory, Options, Tree, build};

use super::check_all;

#[test]
fn tabs_booleans_and_misspelt_fields_are_told_with_what_is_meant() {
    check_all(
        "=== kustomization.yaml\nresources: [a.yaml, base]\n=== a.yaml\nkind: X\nmetadata:\n\tname: a\n=== base/kustomization.yaml\nresources:\n\t- a.yaml\n",
        &[
            "a.yaml:3: MalformedYAMLError: yaml: found character that cannot start any token: indent with spaces instead of tabs",
            "base/kustomization.yaml:2: invalid Kustomization: error converting YAML to JSON: yaml: found character that cannot start \
             any token: indent with spaces instead of tabs",
        ],
    );
    check_all(
        r"
=== kustomization.yaml
resource: [a.yaml]
commonAnnotations:
  works: yes
  age: 5
labels:
- pairs: {on: off}
  includeSelector: true
patches:
- patchh: x
",
        &[
            "kustomization.yaml:1: invalid Kustomization: json: unknown field \"resource\"; did you mean \"resources\"?",
            "kustomization.yaml:3: invalid Kustomization: json: cannot unmarshal bool into Go struct field \
             Kustomization.commonAnnotations of type string: put quotes around it",
            "kustomization.yaml:4: invalid Kustomization: json: cannot unmarshal number into Go struct field \
             Kustomization.commonAnnotations of type string: put quotes around it",
            "kustomization.yaml:6: invalid Kustomization: json: cannot unmarshal bool into Go struct field Label.labels.pairs of type \
             string: put quotes around it",
            "kustomization.yaml:6: invalid Kustomization: the key on is a boolean to YAML: put quotes around it",
            "kustomization.yaml:7: invalid Kustomization: json: unknown field \"includeSelector\"; did you mean \"includeSelectors\"?",
            "kustomization.yaml:9: invalid Kustomization: json: unknown field \"patchh\"; did you mean \"patch\"?",
        ],
    );
}

/// A repository whose base is wrong.
struct Elsewhere;

impl Fetcher for Elsewhere {
    fn file(&self, url: &str) -> Result<Vec<u8>, String> {
        Err(format!("no {url}"))
    }

    fn repository(&self, _: &RepoSpec) -> Result<Box<dyn Tree>, String> {
        let mut tree = Memory::new();
        tree.insert("base/kustomization.yaml", "resources: [gone.yaml, a.yaml]\n");
        tree.insert("base/a.yaml", "kind: X\n");
        Ok(Box::new(tree))
    }
}

#[test]
fn files_of_another_repository_are_told_with_its_url() {
    let tree =
        crate::tree("=== kustomization.yaml\nresources: ['https://example.com/org/repo.git//base?ref=v1']\n");
    let options = Options {
        fetcher: Some(&Elsewhere),
        ..Options::default()
    };
    let told = build(&tree, "", &options)
        .expect_err("the base is wrong")
        .to_string();
    let lines: Vec<&str> = told.lines().collect();
    let base = "https://example.com/org/repo.git//base";
    let through = format!("(through kustomization.yaml, {base}/kustomization.yaml)");
    assert_eq!(lines.len(), 2, "{told}");
    assert!(
        lines[0].starts_with(&format!(
            "{base}/kustomization.yaml:1: accumulating resources from 'gone.yaml': open {base}/gone.yaml: "
        )) && lines[0].ends_with(&through),
        "{told}"
    );
    assert!(
        lines[1].starts_with(&format!("{base}/a.yaml:1: missing metadata.name"))
            && lines[1].ends_with(&through),
        "{told}"
    );
}

/// Files in memory that are a whole file system.
struct Whole(Memory);

impl Tree for Whole {
    fn read(&self, path: &str) -> Result<Option<std::borrow::Cow<'_, [u8]>>, String> {
        self.0.read(path)
    }

    fn is_dir(&self, path: &str) -> bool {
        self.0.is_dir(path)
    }

    fn resolve(&self, path: &str) -> Option<String> {
        self.0.resolve(path)
    }

    fn is_file_system(&self) -> bool {
        true
    }
}

#[test]
fn nothing_is_above_the_root_of_a_file_system() {
    let files = "=== app/kustomization.yaml\nresources: [../../../x/a.yaml, ../../../../x/base]\n=== x/a.yaml\nkind: X\nmetadata: {name: a}\n=== x/base/kustomization.yaml\nresources: [../../../x/base/b.yaml]\n=== x/base/b.yaml\nkind: X\nmetadata: {name: b}\n";
    let options = Options {
        load_restrictor: kustomize::LoadRestrictor::None,
        ..Options::default()
    };
    let whole = Whole(crate::tree(files));
    let output = build(&whole, "app", &options).unwrap_or_else(|errors| panic!("{errors}"));
    let text = output.to_yaml().expect("it can be printed");
    assert!(text.contains("name: a") && text.contains("name: b"), "{text}");
    // Any other tree has something above it, which may not be seen.
    let told = build(&whole.0, "app", &options)
        .expect_err("it leads out")
        .to_string();
    assert_eq!(told.lines().count(), 2, "{told}");
}
