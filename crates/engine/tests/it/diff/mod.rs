//! Diffs, compared with what Flux does.
//!
//! `data/flux-ssa.json` was recorded by a Go program that runs github.com/fluxcd/pkg/ssa v0.76.1 (client-go v0.36.2) on cases of
//! our own making. Cases of `normalise` hold an object and what `normalize.UnstructuredList` makes of it. Cases of `apply` hold
//! a live object, the server's answer to a dry run and the desired object; a client that answers with these was handed to
//! `ResourceManager.Apply` and `.Diff`, with the clean-up options of kustomize-controller where `takeover` is set and two more
//! managers called `other`. What is recorded are the action, the JSON patch it sent, the object it applied, and the objects it
//! showed.

mod expression;
mod flux;
mod ignore;
mod offline;
mod properties;

use model::Value;

/// The recorded cases of one test.
fn recorded(test: &str) -> Vec<Value> {
    let cases = model::json::parse(include_bytes!("../../data/flux-ssa.json")).expect("the file is JSON");
    let cases: Vec<Value> = cases
        .list_at(&[])
        .iter()
        .filter(|case| case.str_at(&["test"]) == test)
        .cloned()
        .collect();
    assert!(!cases.is_empty());
    cases
}
