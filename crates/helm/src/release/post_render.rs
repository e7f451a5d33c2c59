//! Programs that change manifests after they were rendered.

use std::collections::BTreeMap;

use yaml::node::Node;

use super::Error;
use crate::HelmVersion;
use crate::manifest;

/// Changes manifests.
pub trait PostRenderer {
    /// A stream of documents in, another one out.
    ///
    /// # Errors
    /// Why there is none.
    fn run(&mut self, manifests: &str) -> Result<String, String>;
}

/// What is given to the one who changes manifests.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Strategy {
    /// Everything at once, as Helm 4 does.
    #[default]
    Combined,
    /// Hooks first, and then the rest.
    Separate,
    /// Everything but hooks, as Helm 3 does.
    NoHooks,
}

/// Tells where a document came from, while others have it.
const ANNOTATION: &str = "postrenderer.helm.sh/postrender-filename";

type Files = BTreeMap<String, String>;

/// Has rendered files changed.
pub(super) fn run(
    files: Files,
    renderer: &mut dyn PostRenderer,
    strategy: Strategy,
    version: HelmVersion,
) -> Result<Files, Error> {
    if strategy == Strategy::Combined {
        return change(&files, renderer, "", version);
    }
    let sorted = manifest::sort(&files, version).map_err(|source| Error::Manifest { source, files })?;
    let mut hooks = Files::new();
    for hook in &sorted.hooks {
        append(&mut hooks, &hook.path, &hook.manifest);
    }
    let mut others = Files::new();
    for manifest in &sorted.manifests {
        append(&mut others, &manifest.path, &manifest.content);
    }
    if strategy == Strategy::Separate && !hooks.is_empty() {
        hooks = change(&hooks, renderer, "hooks", version)?;
    }
    if !others.is_empty() {
        others = change(&others, renderer, "manifests", version)?;
    }
    for (path, text) in others {
        append(&mut hooks, &path, &text);
    }
    Ok(hooks)
}

fn append(files: &mut Files, path: &str, text: &str) {
    match files.get_mut(path) {
        None => {
            files.insert(path.to_owned(), text.to_owned());
        }
        Some(known) => {
            known.push_str("\n---\n");
            known.push_str(text);
        }
    }
}

/// One stream of all files, with the file of each document noted in it; and back.
fn change(
    files: &Files,
    renderer: &mut dyn PostRenderer,
    group: &str,
    version: HelmVersion,
) -> Result<Files, Error> {
    let failed = |text: String| Error::PostRender(text);
    let what = if group.is_empty() { "manifests" } else { group };
    let stream =
        merge(files, version).map_err(|problem| failed(format!("error merging {what}: {problem}")))?;
    let on = if group.is_empty() { "files" } else { group };
    let changed = renderer
        .run(&stream)
        .map_err(|problem| failed(format!("error while running post render on {on}: {problem}")))?;
    let of = if group.is_empty() {
        String::new()
    } else {
        format!(" for {group}")
    };
    take_apart(&changed, group)
        .map_err(|problem| failed(format!("error while parsing post rendered output{of}: {problem}")))
}

fn merge(files: &Files, version: HelmVersion) -> Result<String, String> {
    let mut documents = Vec::new();
    for (path, text) in files {
        let name = path.rsplit('/').next().unwrap_or_default();
        if name.starts_with('_') || text.trim().is_empty() {
            continue;
        }
        for document in manifest::split(text, version) {
            let Some(mut node) = read(document).map_err(|problem| format!("parsing {path}: {problem}"))?
            else {
                continue;
            };
            let annotations =
                below(&mut node, "metadata").and_then(|metadata| below(metadata, "annotations"));
            let Some(Node::Map(annotations)) = annotations else {
                return Err(format!(
                    "annotating {path}: wrong node kind: expected MappingNode"
                ));
            };
            annotations.insert(ANNOTATION, Node::str(path.as_str()));
            documents.push(written(&node)?);
        }
    }
    Ok(documents.join("---\n"))
}

/// A document, if there is one.
fn read(document: &str) -> Result<Option<Node>, String> {
    let read = yaml::node::read(document).map_err(|error| error.to_string())?;
    Ok(read.map(|read| read.node).filter(|node| !node.is_null()))
}

fn written(node: &Node) -> Result<String, String> {
    let mut text = String::new();
    yaml::go::write_in_order(node, &mut text)?;
    Ok(text)
}

/// The map below a key, which is made where it is missing.
fn below<'n>(node: &'n mut Node, key: &str) -> Option<&'n mut Node> {
    let below = node.as_map_mut()?.entry(key, Node::map);
    if below.is_null() {
        *below = Node::map();
    }
    Some(below)
}

fn take_apart(stream: &str, group: &str) -> Result<Files, String> {
    let mut files = Files::new();
    let mut at = 0;
    for document in manifest::split(stream, HelmVersion::V4) {
        let Some(mut node) = read(document).map_err(|problem| format!("error parsing YAML: {problem}"))?
        else {
            continue;
        };
        let path = take_path(&mut node).unwrap_or_else(|| match group {
            "" => format!("generated-by-postrender-{at}.yaml"),
            group => format!("generated-by-postrender-{group}-{at}.yaml"),
        });
        at += 1;
        let text = written(&node)?;
        match files.get_mut(&path) {
            None => {
                files.insert(path, text);
            }
            Some(known) => {
                known.push_str("---\n");
                known.push_str(&text);
            }
        }
    }
    Ok(files)
}

/// Takes the note out of a document, and the maps that are empty then.
fn take_path(node: &mut Node) -> Option<String> {
    let metadata = node.get_mut("metadata")?.as_map_mut()?;
    let annotations = metadata.get_mut("annotations")?.as_map_mut()?;
    let path = annotations.remove(ANNOTATION)?.text().to_owned();
    if annotations.is_empty() {
        metadata.remove("annotations");
    }
    if metadata.is_empty() {
        node.as_map_mut()?.remove("metadata");
    }
    Some(path)
}
