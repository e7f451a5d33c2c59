//! Custom resources against what Kubernetes 1.35 does with them.

mod definition;
mod objects;
mod properties;
mod recorded;
mod rules;

use std::sync::{Arc, OnceLock};

use apiserver::crd::{Definition, Shared};
use apiserver::field;
use model::{Value, value};
use smd::Schema;
use smd::go::GoTypes;

/// What all definitions share.
fn shared() -> Shared {
    static SHARED: OnceLock<Shared> = OnceLock::new();
    let make = || {
        let schema = Schema::builtin();
        Shared::new(&schema, GoTypes::new(&schema)).unwrap()
    };
    SHARED.get_or_init(make).clone()
}

/// A definition with one version of this schema.
fn definition(schema: Value) -> Value {
    value!({
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": { "name": "ts.t.example.com" },
        "spec": {
            "group": "t.example.com",
            "scope": "Namespaced",
            "names": { "plural": "ts", "kind": "T", "singular": "t", "listKind": "TList" },
            "conversion": { "strategy": "None" },
            "versions": [
                { "name": "v1", "served": true, "storage": true, "schema": { "openAPIV3Schema": schema } }
            ],
        },
        "status": { "storedVersions": ["v1"] },
    })
}

fn compile(schema: Value) -> Result<Arc<Definition>, Vec<field::Error>> {
    Definition::compile(&definition(schema), &shared()).map(Arc::new)
}

fn texts(errors: &[field::Error]) -> Vec<String> {
    errors.iter().map(ToString::to_string).collect()
}

fn parse(text: &str) -> Value {
    model::json::parse(text.as_bytes()).unwrap()
}
