//! `crates/smd/data/kubernetes.json`: the types of Kubernetes' own groups in the notation that `smd` reads, taken from
//! the OpenAPI documents of a running API server.
//!
//! Whatever OpenAPI says that the notation cannot hold is an error here, so that nothing is lost without being seen.

use std::collections::BTreeMap;

use anyhow::{Context, Result, bail, ensure};
use model::{Map, Value, json};

use super::committed::Check;
use super::server::Server;

/// The groups whose types are kept; custom resources of the server that is asked are not.
const GROUPS: &[&str] = &[
    "",
    "admissionregistration.k8s.io",
    "apiextensions.k8s.io",
    "apiregistration.k8s.io",
    "apps",
    "authentication.k8s.io",
    "authorization.k8s.io",
    "autoscaling",
    "batch",
    "certificates.k8s.io",
    "coordination.k8s.io",
    "discovery.k8s.io",
    "events.k8s.io",
    "flowcontrol.apiserver.k8s.io",
    "networking.k8s.io",
    "node.k8s.io",
    "policy",
    "rbac.authorization.k8s.io",
    "resource.k8s.io",
    "scheduling.k8s.io",
    "storage.k8s.io",
];

/// Where the server is and what to do with what it says.
#[derive(clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    server: Server,
    #[command(flatten)]
    check: Check,
}

/// Writes the table, or compares it.
pub(crate) fn run(args: &Args) -> Result<()> {
    let types = read_types(args)?;
    let text = table(&types)?;
    args.check
        .settle("crates/smd/data/kubernetes.json", &text, "schema")
}

/// All schemas of all documents by name. One that stands in several documents must be the same in each.
fn read_types(args: &Args) -> Result<BTreeMap<String, Value>> {
    let index = args.server.get("/openapi/v3")?;
    let paths = index
        .get("paths")
        .and_then(Value::as_object)
        .context("the index of OpenAPI lists no paths")?;
    let mut types = BTreeMap::new();
    for (path, document) in paths.iter() {
        let group = match path.split('/').collect::<Vec<_>>()[..] {
            ["api", _version] => "",
            ["apis", group, _version] => group,
            _ => continue,
        };
        if !GROUPS.contains(&group) {
            continue;
        }
        let document = args.server.get(document.str_at(&["serverRelativeURL"]))?;
        let schemas = document.at(&["components", "schemas"]).and_then(Value::as_object);
        for (name, schema) in schemas.with_context(|| format!("{path} has no schemas"))?.iter() {
            let known = types.entry(name.to_owned()).or_insert_with(|| schema.clone());
            ensure!(known == schema, "{name} differs between documents");
        }
    }
    Ok(types)
}

/// The whole file: a JSON map with one type to a line.
fn table(types: &BTreeMap<String, Value>) -> Result<String> {
    let mut text = String::from("{");
    for (at, (name, schema)) in types.iter().enumerate() {
        let line = named(name, schema).with_context(|| format!("type {name}"))?;
        text.push_str(if at == 0 { "\n" } else { ",\n" });
        text.push_str(&json::to_string(&Value::str(name)));
        text.push(':');
        text.push_str(&json::to_string(&line));
    }
    text.push_str("\n}\n");
    Ok(text)
}

fn named(name: &str, schema: &Value) -> Result<Value> {
    // OpenAPI cannot say what these are; the API server knows them by name, and so do we.
    match name {
        "io.k8s.apimachinery.pkg.api.resource.Quantity" => return Ok("quantity".into()),
        "io.k8s.apimachinery.pkg.runtime.RawExtension" => return Ok("atomic".into()),
        "io.k8s.apimachinery.pkg.util.intstr.IntOrString" => return Ok("int-or-string".into()),
        _ => {}
    }
    let mut ty = notation(schema)?;
    let kinds = schema.list_at(&["x-kubernetes-group-version-kind"]);
    if !kinds.is_empty() {
        let kinds: Value = kinds.iter().map(kind_path).collect();
        ty.as_object_mut()
            .context("a kind is no struct")?
            .insert("kinds", kinds);
    }
    Ok(ty)
}

fn kind_path(gvk: &Value) -> String {
    let path = [
        gvk.str_at(&["group"]),
        gvk.str_at(&["version"]),
        gvk.str_at(&["kind"]),
    ]
    .join("/");
    path.trim_start_matches('/').to_owned()
}

/// One schema in our notation.
fn notation(schema: &Value) -> Result<Value> {
    let schema = schema.as_object().context("a schema is no map")?;
    check_keys(schema)?;
    if let Some(target) = reference(schema) {
        return match schema.get("x-kubernetes-map-type").and_then(Value::as_str) {
            None => Ok(target.into()),
            Some("granular") => Ok(Map::from_iter([("granular", target)]).into()),
            Some(other) => bail!("map type {other:?} on a reference"),
        };
    }
    let format = schema.get("format").and_then(Value::as_str);
    match schema.get("type").and_then(Value::as_str) {
        None => Ok("any".into()),
        Some("array") => list(schema),
        Some("object") if schema.contains_key("properties") => fields(schema),
        Some("object") => map(schema),
        Some("string") if schema.contains_key("enum") => {
            Ok(Map::from_iter([("enum", schema.get("enum").cloned().unwrap_or_default())]).into())
        }
        Some(scalar) => Ok(format
            .map_or(scalar.to_owned(), |format| format!("{scalar}:{format}"))
            .into()),
    }
}

/// Fails on words of OpenAPI that would be lost.
fn check_keys(schema: &Map) -> Result<()> {
    for key in schema.keys() {
        match key {
            "$ref"
            | "allOf"
            | "type"
            | "format"
            | "enum"
            | "items"
            | "properties"
            | "additionalProperties" => {}
            "required" | "default" | "x-kubernetes-group-version-kind" => {}
            "x-kubernetes-list-type" | "x-kubernetes-list-map-keys" | "x-kubernetes-map-type" => {}
            "x-kubernetes-patch-strategy" | "x-kubernetes-patch-merge-key" => {}
            // Texts are left out to keep the table small, and nothing acts on unions.
            "description" | "x-kubernetes-unions" => {}
            other => bail!("the notation has no word for {other:?}"),
        }
    }
    Ok(())
}

fn reference(schema: &Map) -> Option<&str> {
    let target = match schema
        .get("allOf")
        .and_then(Value::as_array)
        .map(|all| all.as_slice())
    {
        Some([one]) => one.get("$ref"),
        _ => schema.get("$ref"),
    };
    target?.as_str()?.strip_prefix("#/components/schemas/")
}

fn list(schema: &Map) -> Result<Value> {
    let mut list = Map::new();
    list.insert(
        "list",
        notation(schema.get("items").context("a list without items")?)?,
    );
    match schema.get("x-kubernetes-list-type").and_then(Value::as_str) {
        None | Some("atomic") => {}
        Some("set") => drop(list.insert("set", true)),
        Some("map") => {
            let keys = schema
                .get("x-kubernetes-list-map-keys")
                .context("a map list without keys")?;
            list.insert("keys", keys.clone());
        }
        Some(other) => bail!("list type {other:?}"),
    }
    if let Some(key) = schema.get("x-kubernetes-patch-merge-key") {
        list.insert("mergeKey", key.clone());
    }
    Ok(list.into())
}

fn map(schema: &Map) -> Result<Value> {
    let Some(item) = schema.get("additionalProperties") else {
        return Ok("object".into());
    };
    let mut map = Map::new();
    map.insert("map", notation(item)?);
    if is_atomic(schema)? {
        map.insert("atomic", true);
    }
    Ok(map.into())
}

fn fields(schema: &Map) -> Result<Value> {
    let properties = schema
        .get("properties")
        .and_then(Value::as_object)
        .context("properties are no map")?;
    let required: Vec<_> = schema
        .get("required")
        .map(|list| list.list_at(&[]))
        .unwrap_or_default()
        .iter()
        .collect();
    let mut fields = Map::new();
    for (name, property) in properties.iter() {
        let field = field(property).with_context(|| format!("field {name}"))?;
        let mark = if required.iter().any(|other| other.as_str() == Some(name)) {
            "!"
        } else {
            ""
        };
        fields.insert(format!("{name}{mark}"), field);
    }
    let mut ty = Map::from_iter([("fields", fields)]);
    if is_atomic(schema)? {
        ty.insert("atomic", true);
    }
    Ok(ty.into())
}

fn field(property: &Value) -> Result<Value> {
    let ty = notation(property)?;
    let mut extra = Map::new();
    if let Some(default) = property.get("default") {
        extra.insert("default", default.clone());
    }
    if let Some(strategy) = property.get("x-kubernetes-patch-strategy") {
        extra.insert("patch", strategy.clone());
    }
    Ok(if extra.is_empty() {
        ty
    } else {
        Value::from(vec![ty, extra.into()])
    })
}

fn is_atomic(schema: &Map) -> Result<bool> {
    match schema.get("x-kubernetes-map-type").and_then(Value::as_str) {
        None | Some("granular") => Ok(false),
        Some("atomic") => Ok(true),
        Some(other) => bail!("map type {other:?}"),
    }
}
