//! A schema document: which parts of it have names, and what version they are written in.

use std::collections::HashMap;

use model::regexp::Regexp;
use model::{Map, Value};
use url::Url;

use super::draft::Draft;

/// How large a compiled expression of a schema may get, in bytes: names of many letters of Unicode need much.
const LARGEST_EXPRESSION: usize = 10 << 20;

/// The address of the document, as Helm has it.
const ADDRESS: &str = "file:///values.schema.json";
/// How deep schemas may be nested.
const MAX_DEPTH: usize = 512;

/// A document with everything that can be pointed to.
pub(super) struct Document<'d> {
    pub(super) resources: Vec<Resource<'d>>,
    /// What each `$ref` and its relatives point to, by the address of the schema they stand in and the keyword.
    references: HashMap<(*const Value, &'static str), Target<'d>>,
    expressions: HashMap<&'d str, Regexp>,
    warnings: Vec<String>,
}

/// A part of the document with an address of its own.
pub(super) struct Resource<'d> {
    address: Option<Url>,
    pub(super) draft: Draft,
    root: &'d Value,
    anchors: HashMap<&'d str, &'d Value>,
    pub(super) dynamic_anchors: HashMap<&'d str, &'d Value>,
    pub(super) is_recursive_anchor: bool,
}

/// A schema and the part it is in.
#[derive(Clone, Copy)]
pub(super) struct Schema<'d> {
    pub(super) node: &'d Value,
    pub(super) resource: usize,
}

/// Where a reference leads.
#[derive(Clone, Copy)]
pub(super) enum Target<'d> {
    Schema(Schema<'d>),
    /// Something that allows everything: an unresolved URN, as in Helm.
    Anything,
}

const REFERENCES: [&str; 3] = ["$ref", "$recursiveRef", "$dynamicRef"];
/// Keywords whose values are no schemas, whatever is in them.
const PLAIN: [&str; 4] = ["enum", "const", "default", "examples"];
/// Keywords with a map of schemas.
const MAPS: [&str; 6] = [
    "properties",
    "patternProperties",
    "definitions",
    "$defs",
    "dependentSchemas",
    "dependencies",
];

impl<'d> Document<'d> {
    pub(super) fn new(root: &'d Value, warnings: &mut Vec<String>) -> Result<Self, String> {
        let draft = draft_of(root, Draft::Draft2020)?;
        let mut document = Document {
            resources: vec![Resource {
                address: Url::parse(ADDRESS).ok(),
                draft,
                root,
                anchors: HashMap::new(),
                dynamic_anchors: HashMap::new(),
                is_recursive_anchor: false,
            }],
            references: HashMap::new(),
            expressions: HashMap::new(),
            warnings: Vec::new(),
        };
        let mut schemas = Vec::new();
        document.walk(root, 0, true, 0, &mut schemas)?;
        for schema in schemas {
            document.link(schema)?;
        }
        warnings.append(&mut document.warnings);
        Ok(document)
    }

    pub(super) fn root(&self) -> Schema<'d> {
        Schema {
            node: self.resources[0].root,
            resource: 0,
        }
    }

    /// Where a reference in a schema leads.
    pub(super) fn target(&self, schema: Schema<'d>, keyword: &'static str) -> Option<Target<'d>> {
        self.references
            .get(&(std::ptr::from_ref(schema.node), keyword))
            .copied()
    }

    pub(super) fn expression(&self, text: &str) -> Option<&Regexp> {
        self.expressions.get(text)
    }

    /// A schema below another: it may begin a part of its own.
    pub(super) fn child(&self, parent: Schema<'d>, node: &'d Value) -> Schema<'d> {
        let own = self
            .resources
            .iter()
            .position(|resource| std::ptr::eq(resource.root, node));
        Schema {
            node,
            resource: own.unwrap_or(parent.resource),
        }
    }

    /// Finds names and expressions in a schema and everything below it.
    fn walk(
        &mut self,
        node: &'d Value,
        mut resource: usize,
        is_schema: bool,
        depth: usize,
        schemas: &mut Vec<Schema<'d>>,
    ) -> Result<(), String> {
        if depth > MAX_DEPTH {
            return Err(format!("schemas are nested deeper than {MAX_DEPTH} levels"));
        }
        match node {
            Value::Object(map) => {
                if is_schema {
                    resource = self.enter(node, map, resource)?;
                    self.check(map)?;
                    schemas.push(Schema { node, resource });
                }
                for (key, value) in map.iter() {
                    if is_schema && PLAIN.contains(&key) {
                        continue;
                    }
                    let is_map = is_schema && MAPS.contains(&key);
                    self.walk(value, resource, !is_map, depth + 1, schemas)?;
                }
            }
            Value::Array(items) => {
                for item in items {
                    self.walk(item, resource, true, depth + 1, schemas)?;
                }
            }
            _ => {}
        }
        Ok(())
    }

    /// Notes the names of a schema, and gives the part it is in.
    fn enter(&mut self, node: &'d Value, map: &'d Map, mut resource: usize) -> Result<usize, String> {
        let text = |key: &str| map.get(key).and_then(Value::as_str);
        let draft = self.resources[resource].draft;
        if draft.has_lone_refs() && map.contains_key("$ref") {
            return Ok(resource);
        }
        let id = text(draft.id()).unwrap_or_default();
        let (address, fragment) = id.split_once('#').unwrap_or((id, ""));
        if !address.is_empty() {
            let base = &self.resources[resource].address;
            let address = match base {
                Some(base) => base.join(address).ok(),
                None => Url::parse(address).ok(),
            };
            if std::ptr::eq(self.resources[0].root, node) {
                self.resources[0].address = address;
            } else {
                self.resources.push(Resource {
                    address,
                    draft: draft_of(node, draft)?,
                    root: node,
                    anchors: HashMap::new(),
                    dynamic_anchors: HashMap::new(),
                    is_recursive_anchor: false,
                });
                resource = self.resources.len() - 1;
            }
        }
        let here = &mut self.resources[resource];
        if draft.has_lone_refs() {
            if !fragment.is_empty() && !fragment.starts_with('/') {
                here.anchors.insert(fragment, node);
            }
            return Ok(resource);
        }
        if std::ptr::eq(here.root, node) {
            here.is_recursive_anchor = map.get("$recursiveAnchor") == Some(&Value::Bool(true));
        }
        if let Some(anchor) = text("$anchor") {
            here.anchors.insert(anchor, node);
        }
        if draft >= Draft::Draft2020
            && let Some(anchor) = text("$dynamicAnchor")
        {
            here.anchors.insert(anchor, node);
            here.dynamic_anchors.insert(anchor, node);
        }
        Ok(resource)
    }

    /// Refuses what no version allows, and compiles expressions.
    fn check(&mut self, map: &'d Map) -> Result<(), String> {
        if let Some(pattern) = map.get("pattern").and_then(Value::as_str) {
            self.compile(pattern)?;
        }
        for (pattern, _) in map
            .get("patternProperties")
            .and_then(Value::as_object)
            .into_iter()
            .flat_map(Map::iter)
        {
            self.compile(pattern)?;
        }
        const TYPES: [&str; 7] = [
            "null", "boolean", "number", "integer", "string", "array", "object",
        ];
        let types: Vec<&Value> = match map.get("type") {
            None => Vec::new(),
            Some(Value::Array(types)) => types.iter().collect(),
            Some(one) => vec![one],
        };
        for kind in types {
            if !kind.as_str().is_some_and(|kind| TYPES.contains(&kind)) {
                return Err(format!(
                    "\"{ADDRESS}#\" is not valid against metaschema: the type {} is none of '{}'",
                    model::json::to_string(kind),
                    TYPES.join("', '")
                ));
            }
        }
        Ok(())
    }

    fn compile(&mut self, text: &'d str) -> Result<(), String> {
        if !self.expressions.contains_key(text) {
            let compiled = Regexp::with_size(text, LARGEST_EXPRESSION).map_err(|error| {
                format!(
                    "\"{ADDRESS}#\" is not valid against metaschema: {} is not valid regex: {error}",
                    super::failure::quote(text)
                )
            })?;
            self.expressions.insert(text, compiled);
        }
        Ok(())
    }

    /// Finds what the references of a schema point to.
    fn link(&mut self, schema: Schema<'d>) -> Result<(), String> {
        for keyword in REFERENCES {
            let Some(reference) = schema.node.get(keyword).and_then(Value::as_str) else {
                continue;
            };
            let target = self.resolve(schema.resource, reference)?;
            self.references
                .insert((std::ptr::from_ref(schema.node), keyword), target);
        }
        Ok(())
    }

    fn resolve(&mut self, from: usize, reference: &str) -> Result<Target<'d>, String> {
        let (address, fragment) = reference.split_once('#').unwrap_or((reference, ""));
        let resource = if address.is_empty() {
            from
        } else {
            let joined = match &self.resources[from].address {
                Some(base) => base.join(address),
                None => Url::parse(address),
            };
            let joined = joined.map_err(|error| format!("invalid reference {reference:?}: {error}"))?;
            let known = self
                .resources
                .iter()
                .position(|resource| resource.address.as_ref() == Some(&joined));
            match known {
                Some(resource) => resource,
                None if joined.scheme() == "urn" => {
                    self.warnings.push(format!(
                        "unresolved URN reference ignored; using permissive schema urn={joined}"
                    ));
                    return Ok(Target::Anything);
                }
                None => {
                    return Err(format!(
                        "failing loading \"{joined}\": schemas that lie elsewhere are not fetched: copy it into the schema of the chart"
                    ));
                }
            }
        };
        let fragment = percent_decoded(fragment);
        let start = Schema {
            node: self.resources[resource].root,
            resource,
        };
        if fragment.is_empty() {
            return Ok(Target::Schema(start));
        }
        if fragment.starts_with('/') {
            return self
                .point(start, &fragment)
                .map(Target::Schema)
                .ok_or_else(|| format!("json-pointer in \"{ADDRESS}#{fragment}\" not found"));
        }
        match self.resources[resource].anchors.get(fragment.as_str()) {
            Some(node) => Ok(Target::Schema(self.child(start, node))),
            None => Err(format!("anchor in \"{ADDRESS}#{fragment}\" not found")),
        }
    }

    /// The schema at a JSON pointer.
    fn point(&self, start: Schema<'d>, pointer: &str) -> Option<Schema<'d>> {
        let mut at = start;
        for part in pointer.split('/').skip(1) {
            let part = part.replace("~1", "/").replace("~0", "~");
            let next = match at.node {
                Value::Object(map) => map.get(&part)?,
                Value::Array(items) => items.get(part.parse::<usize>().ok()?)?,
                _ => return None,
            };
            at = self.child(at, next);
        }
        Some(at)
    }
}

/// The version that a schema says it is written in.
fn draft_of(schema: &Value, otherwise: Draft) -> Result<Draft, String> {
    match schema.get("$schema").and_then(Value::as_str) {
        None => Ok(otherwise),
        Some(url) => Draft::of(url).ok_or_else(|| {
            format!("failing loading {url:?}: only drafts 4, 6, 7, 2019-09 and 2020-12 are known: name one of them in $schema")
        }),
    }
}

fn percent_decoded(text: &str) -> String {
    percent_encoding::percent_decode_str(text)
        .decode_utf8_lossy()
        .into_owned()
}
