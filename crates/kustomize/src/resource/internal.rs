//! Annotations in which kustomize remembers things about resources, where they stand in the input.

use yaml::node::{Map, Node, Text};

use super::{Affixes, Behavior, MayChange, Previous, Resource};

/// What all of them begin with.
const DOMAIN: &str = "internal.config.kubernetes.io/";

impl Resource {
    /// Takes over what such annotations say. They stay where they are until all of them are removed at the end.
    pub(super) fn remember_annotations(&mut self) -> Result<(), String> {
        let annotations = self.node.get("metadata").and_then(|meta| meta.get("annotations"));
        let Some(annotations) = annotations.and_then(Node::as_map) else {
            return Ok(());
        };
        if !annotations.keys().any(|key| key.starts_with(DOMAIN)) {
            return Ok(());
        }
        let is_enabled = |key| text(annotations, key) == Some("enabled");
        let needs_hash = is_enabled("needsHashSuffix");
        let may_change = MayChange::new(is_enabled("allowNameChange"), is_enabled("allowKindChange"));
        let behavior = Behavior::new(text(annotations, "generatorBehavior").unwrap_or_default());
        let affixes = Affixes::of(list(annotations, "prefixes"), list(annotations, "suffixes"));
        let previous = previous(annotations)?;
        self.needs_hash = needs_hash;
        self.may_change = may_change;
        self.behavior = behavior;
        self.affixes = affixes;
        self.previous = previous.into_iter().collect();
        Ok(())
    }
}

fn text<'a>(annotations: &'a Map, key: &str) -> Option<&'a str> {
    let key = format!("{DOMAIN}{key}");
    annotations.get(&key).map(Node::raw_text)
}

/// The texts of an annotation, which are separated by commas.
fn list(annotations: &Map, key: &str) -> Vec<Text> {
    let texts = text(annotations, key).map(|text| text.split(',').map(Text::from));
    texts.into_iter().flatten().collect()
}

/// What the resource was called before.
fn previous(annotations: &Map) -> Result<Vec<Previous>, String> {
    let names = list(annotations, "previousNames");
    if names.is_empty() {
        return Ok(Vec::new());
    }
    let or_empty = |texts: Vec<Text>| {
        if texts.is_empty() {
            vec![Text::default()]
        } else {
            texts
        }
    };
    let namespaces = or_empty(list(annotations, "previousNamespaces"));
    let kinds = or_empty(list(annotations, "previousKinds"));
    if names.len() != namespaces.len() || names.len() != kinds.len() {
        return Err(
            "number of previous names, number of previous namespaces, number of previous kinds not equal"
                .to_owned(),
        );
    }
    let previous = names.into_iter().zip(namespaces).zip(kinds);
    let previous = previous.map(|((name, namespace), kind)| Previous {
        name,
        namespace: Some(namespace),
        kind,
    });
    Ok(previous.collect())
}
