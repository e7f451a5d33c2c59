//! Definitions of kinds that nobody uses, as large as those of real operators: a cluster has hundreds of them.

use serde_json::{Value, json};

/// How many fields each describes; with them it has about 130 KB.
const FIELDS: usize = 600;

pub(crate) fn definition(number: usize) -> Value {
    let about = "Says something about this field that is as long as such texts tend to be, with all that is to be known of it, \
                 its default and what it is compared with.";
    let fields: serde_json::Map<String, Value> = (0..FIELDS)
        .map(|field| {
            (
                format!("field{field}"),
                json!({"type": "string", "description": about}),
            )
        })
        .collect();
    let group = format!("group{number}.example.com");
    json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": format!("things.{group}")},
        "spec": {
            "group": group, "scope": "Namespaced",
            "names": {"kind": "Thing", "listKind": "ThingList", "plural": "things", "singular": "thing"},
            "versions": [{
                "name": "v1", "served": true, "storage": true,
                "schema": {"openAPIV3Schema": {
                    "type": "object",
                    "properties": {"spec": {"type": "object", "properties": fields}},
                }},
            }],
        },
    })
}
