//! Tests of the `kustomize` crate from outside. What is expected is what kustomize 5.8.1 prints for the same files.

mod annotations;
mod bases;
mod components;
mod configurations;
mod corpus;
mod errors;
mod fuzz;
mod generators;
mod hostile;
mod images;
mod labels;
mod names;
mod namespace;
mod openapi;
mod patch_memory;
mod patch_targets;
mod patches;
mod plugins;
mod program;
mod replacement_texts;
mod replacements;
mod replicas;
mod repositories;
mod scalars;
mod sorting;
mod substitute;
mod vars;

use kustomize::{Memory, Options, build};

/// Prints why a test is skipped.
///
/// # Panics
/// In CI, where no test may be skipped.
fn skip(reason: &str) {
    assert!(
        std::env::var("CI").as_deref() != Ok("true"),
        "{reason}: a test must not be skipped in CI"
    );
    eprintln!("skipped: {reason}");
}

/// The files of a text: each begins with a line `=== path`.
fn tree(text: &str) -> Memory {
    let mut memory = Memory::new();
    for part in text.split("=== ").skip(1) {
        let (name, content) = part.split_once('\n').unwrap_or((part, ""));
        memory.insert(name.trim(), content);
    }
    memory
}

/// A Deployment.
const WEB: &str = "\
apiVersion: apps/v1
kind: Deployment
metadata:
  name: web
spec:
  selector:
    matchLabels:
      app: web
  template:
    metadata:
      labels:
        app: web
    spec:
      containers:
      - name: web
        image: nginx:1.0
";

/// The text of a tree, with a file `a.yaml` of this content.
fn with_a(tree: &str, content: &str) -> String {
    format!("{tree}=== a.yaml\n{content}")
}

/// What a tree builds to.
fn built(text: &str, root: &str) -> String {
    let (tree, options) = (tree(text), Options::default());
    let output = build(&tree, root, &options).unwrap_or_else(|errors| panic!("{errors}"));
    output.to_yaml().expect("what was built can be printed")
}

/// Checks what the kustomization at the root of a tree builds to.
fn check(text: &str, want: &str) {
    let got = built(text, "");
    assert_eq!(got.trim(), want.trim(), "got:\n{got}");
}

/// Checks what another kustomization of a tree builds to.
fn check_at(root: &str, text: &str, want: &str) {
    let got = built(text, root);
    assert_eq!(got.trim(), want.trim(), "got:\n{got}");
}

/// What is wrong with a tree.
fn errors(text: &str) -> String {
    match build(&tree(text), "", &Options::default()) {
        Ok(output) => panic!("it builds: {}", output.to_yaml().unwrap_or_default()),
        Err(errors) => errors.to_string(),
    }
}
