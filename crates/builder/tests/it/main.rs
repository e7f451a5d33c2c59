//! Builds of files in memory.
#![allow(clippy::unwrap_used, reason = "a test says what is wrong by panicking")]

mod decrypt;
mod generate;
mod hostile;
mod links;
mod options;
mod services;
mod sops;
mod substitute;
mod tenancy;

use builder::{Errors, Manifests, Request, Tools};
use kustomize::Memory;

/// A ConfigMap.
fn config(name: &str) -> String {
    format!("apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: {name}\n")
}

fn build(files: &[(&str, &str)], request: &Request) -> Result<Manifests, Errors> {
    let files: Memory = files
        .iter()
        .map(|(name, text)| (*name, text.as_bytes()))
        .collect();
    builder::build(&files, request, &Tools::default())
}

/// The text of a build that succeeds.
fn text(files: &[(&str, &str)], request: &Request) -> String {
    build(files, request).unwrap().to_yaml().unwrap()
}

/// The messages of a build that fails.
fn problems(files: &[(&str, &str)], request: &Request) -> Vec<String> {
    let errors = build(files, request).unwrap_err();
    errors.0.iter().map(ToString::to_string).collect()
}

/// The names of what is built, in order.
fn names(files: &[(&str, &str)], request: &Request) -> Vec<String> {
    let objects = build(files, request).unwrap().into_objects().unwrap();
    objects
        .iter()
        .map(|object| object.str_at(&["metadata", "name"]).to_owned())
        .collect()
}

fn at(path: &str) -> Request {
    Request {
        path: path.to_owned(),
        ..Request::default()
    }
}
