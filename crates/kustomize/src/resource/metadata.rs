//! Reading and setting the metadata of a resource.

use std::collections::BTreeMap;

use yaml::node::{Map, Node, Scalar, Text};

use super::Resource;

impl Resource {
    /// Sets the kind, as a text without quotes.
    pub(crate) fn set_kind(&mut self, kind: impl Into<Text>) {
        self.set_root("kind", kind);
    }

    pub(crate) fn set_api_version(&mut self, api_version: impl Into<Text>) {
        self.set_root("apiVersion", api_version);
    }

    fn set_root(&mut self, field: &str, text: impl Into<Text>) {
        if let Node::Map(map) = &mut self.node {
            overwrite(map, field, text);
        }
    }

    pub(crate) fn set_name(&mut self, name: impl Into<Text>) {
        if let Some(meta) = self.metadata_mut() {
            overwrite(meta, "name", name);
        }
    }

    /// Sets the namespace, or removes it where `namespace` is empty.
    pub(crate) fn set_namespace(&mut self, namespace: impl Into<Text>) {
        let namespace = namespace.into();
        let Some(meta) = self.metadata_mut() else {
            return;
        };
        if namespace.is_empty() {
            meta.remove("namespace");
        } else {
            overwrite(meta, "namespace", namespace);
        }
    }

    /// The metadata, which is made where it is missing.
    fn metadata_mut(&mut self) -> Option<&mut Map> {
        let meta = self.node.as_map_mut()?.entry("metadata", Node::map);
        if meta.is_null() {
            *meta = Node::map();
        }
        meta.as_map_mut()
    }

    fn meta_map(&self, field: &str) -> Option<&Map> {
        self.node.get("metadata")?.get(field)?.as_map()
    }

    pub(crate) fn label(&self, key: &str) -> Option<&str> {
        self.meta_map("labels")?.get(key).map(Node::raw_text)
    }

    pub(crate) fn annotation(&self, key: &str) -> Option<&str> {
        self.meta_map("annotations")?.get(key).map(Node::raw_text)
    }

    /// The texts of a map in the metadata: `labels` or `annotations`.
    pub(crate) fn texts(&self, field: &str) -> BTreeMap<Text, Text> {
        let map = self.meta_map(field);
        map.into_iter()
            .flat_map(Map::iter)
            .map(|(key, value)| (key.into(), value.raw_text().into()))
            .collect()
    }

    /// Sets a map in the metadata to strings; where there are none, it is removed.
    pub(crate) fn set_texts(&mut self, field: &str, texts: &BTreeMap<Text, Text>) {
        let Some(meta) = self.metadata_mut() else {
            return;
        };
        meta.remove(field);
        if texts.is_empty() {
            return;
        }
        let entries = texts
            .iter()
            .map(|(key, text)| (key.clone(), Node::set_lines(text)));
        meta.push(field, Node::Map(Map::from_entries(entries)));
    }

    /// Sets one annotation to a string.
    pub(crate) fn set_annotation(&mut self, key: &str, text: &str) {
        let Some(meta) = self.metadata_mut() else {
            return;
        };
        let annotations = meta.entry("annotations", Node::map);
        if annotations.is_null() {
            *annotations = Node::map();
        }
        if let Node::Map(map) = annotations {
            map.insert(key, Node::str(text));
        }
    }

    /// Makes strings of all annotations and drops those of `dropped`; a map that gets empty is removed, whatever it was.
    pub(crate) fn tidy_annotations(&mut self, dropped: impl Fn(&str) -> bool) {
        let Some(meta) = self.metadata_mut() else {
            return;
        };
        let Some(annotations) = meta.get_mut("annotations") else {
            return;
        };
        let keep = match annotations {
            Node::Map(map) => {
                map.retain(|key, value| {
                    // They are set as texts, which also ends their being folded.
                    let is_text = |scalar: &Scalar| scalar.kind.is_str() && !scalar.folded;
                    if !value.as_scalar().is_some_and(is_text) {
                        *value = Node::str(value.raw_text());
                    }
                    !dropped(key)
                });
                !map.is_empty()
            }
            _ => false,
        };
        if !keep {
            meta.remove("annotations");
        }
    }

    /// The texts of a map at the top: `data` or `binaryData`.
    pub(crate) fn data_texts(&self, field: &str) -> BTreeMap<Text, Text> {
        let map = self.node.get(field).and_then(Node::as_map);
        map.into_iter()
            .flat_map(Map::iter)
            .map(|(key, value)| (key.into(), value.text().into()))
            .collect()
    }

    /// Sets a map at the top to strings; where there are none, it is removed.
    pub(crate) fn set_data_texts(&mut self, field: &str, texts: BTreeMap<Text, Text>) {
        let Node::Map(map) = &mut self.node else {
            return;
        };
        map.remove(field);
        if !texts.is_empty() {
            let entries = texts.into_iter().map(|(key, text)| (key, Node::set_lines(text)));
            map.push(field, Node::Map(Map::from_entries(entries)));
        }
    }
}

fn overwrite(map: &mut Map, field: &str, text: impl Into<Text>) {
    match map.get_mut(field) {
        Some(node) => node.rewrite(text),
        None => map.push(field, Node::set_untyped(text)),
    }
}
