//! `configMapGenerator` and `secretGenerator`: ConfigMaps and Secrets made of files, environment files and literals.

mod options;
mod sources;

pub(crate) use options::with_globals;
pub(crate) use sources::{FileLoader, pairs};

use base64::Engine;
use yaml::node::{self, Map, Node, Scalar};

use crate::config::{GeneratorArgs, GeneratorOptions};
use crate::problem::Problem;
use crate::resource::{Behavior, Resource};

/// What is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    ConfigMap,
    Secret,
}

impl Kind {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Kind::ConfigMap => "ConfigMap",
            Kind::Secret => "Secret",
        }
    }
}

/// Makes a ConfigMap or Secret.
pub(crate) fn generate(
    kind: Kind,
    args: &GeneratorArgs,
    files: &dyn FileLoader,
) -> Result<Resource, Vec<Problem>> {
    let (pairs, mut problems) = pairs(args, files);
    if args.name.is_empty() {
        problems.insert(0, "a configmap must have a name".to_owned().into());
    }
    if !problems.is_empty() {
        return Err(problems);
    }
    let mut metadata = Map::default();
    metadata.push("name", Node::set_lines(&args.name));
    if !args.namespace.is_empty() {
        metadata.push("namespace", Node::set_lines(&args.namespace));
    }
    let mut object = Map::default();
    object.push("apiVersion", Node::set("v1"));
    object.push("kind", Node::set(kind.name()));
    let options = args.options.clone().unwrap_or_default();
    add_metadata(&mut metadata, &options);
    object.push("metadata", Node::Map(metadata));
    match kind {
        Kind::ConfigMap => {
            let (mut data, mut binary) = (Map::default(), Map::default());
            for (key, content) in pairs {
                match String::from_utf8(content) {
                    Ok(text) => data.push(key, Node::set_lines(text)),
                    Err(bytes) => binary.push(key, Node::set_lines(encoded(bytes.as_bytes()))),
                }
            }
            for (field, map) in [("data", data), ("binaryData", binary)] {
                if !map.is_empty() {
                    object.push(field, Node::Map(map));
                }
            }
        }
        Kind::Secret => {
            let kind = if args.secret_type.is_empty() {
                "Opaque"
            } else {
                &args.secret_type
            };
            object.push("type", Node::set_lines(kind));
            let data = pairs
                .into_iter()
                .map(|(key, content)| (key.into(), Node::set_lines(encoded(&content))));
            object.push("data", Node::Map(Map::from_entries(data)));
        }
    }
    if options.immutable {
        object.push("immutable", Node::Scalar(Scalar::new("true", node::Kind::Bool)));
    }
    let mut resource = Resource::new(Node::Map(object));
    resource.needs_hash = !options.disable_name_suffix_hash;
    resource.behavior = Behavior::new(&args.behavior);
    Ok(resource)
}

fn add_metadata(metadata: &mut Map, options: &GeneratorOptions) {
    for (field, texts) in [("labels", &options.labels), ("annotations", &options.annotations)] {
        if !texts.is_empty() {
            let entries = texts
                .iter()
                .map(|(key, text)| (key.as_str().into(), Node::str(text)));
            metadata.push(field, Node::Map(Map::from_entries(entries)));
        }
    }
}

/// Base64 in lines of 70 characters, if there is more than one.
fn encoded(content: &[u8]) -> String {
    const LINE: usize = 70;
    let text = base64::engine::general_purpose::STANDARD.encode(content);
    if text.len() < LINE {
        return text;
    }
    let mut out = String::with_capacity(text.len() + text.len() / LINE + 1);
    let mut rest = text.as_str();
    while !rest.is_empty() {
        let (line, after) = rest.split_at(rest.len().min(LINE));
        out.push_str(line);
        out.push('\n');
        rest = after;
    }
    out
}
