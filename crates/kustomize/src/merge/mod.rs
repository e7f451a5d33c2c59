//! Merging a patch into an object as kyaml does it.
//!
//! This is not the strategic merge of the API server. Maps are merged field by field, and `null` removes a field. Lists
//! that the schema says are merged get the patch's elements in front; all others are replaced. `$patch` with `delete`,
//! `replace` or `merge` says what to do with a map or list. What a patch touches is tidied on the way, with all
//! the corners that kyaml has: fields left empty (`key:`) vanish, and elements with the same keys become one.

mod directive;
mod element;
mod list;
mod spread;

use std::cell::Cell;
use std::collections::HashMap;

use yaml::node::{Kind, Map, Node, Scalar, Text};

use crate::field::WRITTEN;
use crate::id::Gvk;
use crate::schema::{Place, Schema};
use directive::Directive;
use spread::spread_written;

/// Merges `patch` into `object`; `None` when the patch deletes it.
pub(crate) fn merge(object: Node, patch: Node, schema: &Schema) -> Result<Option<Node>, String> {
    let merger = Merger {
        schema,
        wrote_shared: Cell::new(false),
    };
    let merged = merger.walk(Sources::Two(Some(object), Some(patch)), None)?;
    let mut merged = match merged {
        Outcome::Dest(node) => Some(node),
        // kyaml makes the patch the result, but kustomize goes on with the object it has.
        Outcome::Origin { dest, .. } => dest,
        Outcome::Gone { .. } => None,
    };
    if let Some(object) = merged.as_mut().filter(|_| merger.wrote_shared.get()) {
        spread_written(object);
    }
    Ok(merged)
}

struct Merger<'s> {
    schema: &'s Schema,
    /// Whether something was written over a scalar that stands elsewhere too.
    wrote_shared: Cell<bool>,
}

/// What is walked together.
enum Sources {
    /// The object's node and the patch's, either of which may be missing.
    Two(Option<Node>, Option<Node>),
    /// A node of the patch that has become part of the object: it is walked as if it were both.
    Same(Node),
}

/// What becomes of a node.
enum Outcome {
    /// The object's node, changed.
    Dest(Node),
    /// The patch's node; the object's is as it was.
    Origin { node: Node, dest: Option<Node> },
    /// Nothing; the object's node is as it was.
    Gone { dest: Option<Node> },
}

impl Outcome {
    fn into_node(self) -> Option<Node> {
        match self {
            Outcome::Dest(node) | Outcome::Origin { node, .. } => Some(node),
            Outcome::Gone { .. } => None,
        }
    }
}

fn is_missing(node: Option<&Node>) -> bool {
    node.is_none_or(Node::is_null)
}

impl Merger<'_> {
    fn walk(&self, sources: Sources, place: Option<Place<'_>>) -> Result<Outcome, String> {
        match sources {
            Sources::Same(node) => self.settle(node, place),
            Sources::Two(dest, origin) => {
                let place = place
                    .or_else(|| dest.as_ref().and_then(|node| self.place_of(node)))
                    .or_else(|| origin.as_ref().and_then(|node| self.place_of(node)));
                self.walk_two(dest, origin, place)
            }
        }
    }

    /// The schema of an object that says itself what it is.
    fn place_of(&self, node: &Node) -> Option<Place<'_>> {
        let kind = node.get("kind")?.text();
        let api_version = node.get("apiVersion")?.text();
        if kind.is_empty() || api_version.is_empty() {
            return None;
        }
        self.schema.of_kind(&Gvk::new(api_version, kind))
    }

    fn walk_two(
        &self,
        dest: Option<Node>,
        origin: Option<Node>,
        place: Option<Place<'_>>,
    ) -> Result<Outcome, String> {
        let leading = [&dest, &origin]
            .into_iter()
            .flatten()
            .find(|node| !node.is_null());
        let kind = leading.map(Node::kind_name);
        if let (Some(kind), Some(other)) = (kind, &origin)
            && !other.is_null()
            && other.kind_name() != kind
        {
            return Err(crate::field::wrong_kind(kind, other));
        }
        match kind {
            Some("SequenceNode") => match place.and_then(Place::merge_keys) {
                Some(keys) => self.merged_list(dest, origin, keys, place.and_then(Place::elements)),
                None => Ok(overriding(dest, origin)),
            },
            Some("ScalarNode") => Ok(overriding(dest, origin)),
            _ => self.map(dest, origin, place),
        }
    }

    fn map(
        &self,
        dest: Option<Node>,
        mut origin: Option<Node>,
        place: Option<Place<'_>>,
    ) -> Result<Outcome, String> {
        if is_missing(dest.as_ref()) {
            if matches!(directive::of_map(origin.as_mut()), Ok(Directive::Delete)) {
                return Ok(Outcome::Gone { dest });
            }
            return match (dest, origin) {
                // A `null` that is written out stays, and a text without a type; one that is only left empty goes.
                (Some(Node::Scalar(null)), None) if !null.text.is_empty() || null.untyped => {
                    Ok(Outcome::Dest(Node::Scalar(null)))
                }
                (dest, None) => Ok(Outcome::Gone { dest }),
                (dest, Some(origin)) if origin.is_null() => Ok(Outcome::Gone { dest }),
                (dest, Some(origin)) => match self.settle_fields(origin, place)? {
                    Some(node) => Ok(Outcome::Origin { node, dest }),
                    None => Ok(Outcome::Gone { dest }),
                },
            };
        }
        if origin.as_ref().is_some_and(Node::is_null) {
            return Ok(Outcome::Gone { dest });
        }
        match directive::of_map(origin.as_mut())? {
            Directive::Delete => Ok(Outcome::Gone { dest }),
            Directive::Replace => match origin {
                Some(origin) => match self.settle_fields(origin, place)? {
                    Some(node) => Ok(Outcome::Origin { node, dest }),
                    None => Ok(Outcome::Gone { dest }),
                },
                None => Ok(Outcome::Gone { dest }),
            },
            Directive::Merge => {
                let (Some(Node::Map(dest)), origin) = (dest, origin) else {
                    return Err("a map was expected".to_owned());
                };
                let origin = match origin {
                    Some(Node::Map(origin)) => origin,
                    _ => Map::default(),
                };
                self.fields(dest, origin, place)
                    .map(|map| Outcome::Dest(Node::Map(map)))
            }
        }
    }

    /// Merges the fields of two maps.
    fn fields(&self, dest: Map, origin: Map, place: Option<Place<'_>>) -> Result<Map, String> {
        // A patch has mostly fields that are there already.
        let mut result = Map::with_capacity(dest.len());
        let mut origin = Lookup::new(origin);
        for (key, value) in dest {
            let other = origin.take(&key);
            let inner = place.and_then(|place| place.field(&key));
            let sources = Sources::Two(Some(value), other);
            let merged = match self.walk(sources, inner)? {
                Outcome::Origin {
                    node,
                    dest: Some(dest),
                } => Some(self.written_over(&dest, node)),
                Outcome::Dest(mut node) => {
                    if let Node::Scalar(scalar) = &mut node {
                        set_anew(scalar);
                    }
                    Some(node)
                }
                outcome => outcome.into_node(),
            };
            if let Some(node) = merged {
                result.push(key, node);
            }
        }
        for (key, value) in origin.rest() {
            let inner = place.and_then(|place| place.field(&key));
            let sources = Sources::Two(None, Some(value));
            if let Some(node) = self.walk(sources, inner)?.into_node()
                && !node.is_null()
            {
                result.push(key, node);
            }
        }
        Ok(result)
    }

    /// Walks a node of the patch that stands for both.
    fn settle(&self, mut node: Node, place: Option<Place<'_>>) -> Result<Outcome, String> {
        let place = place.or_else(|| self.place_of(&node));
        match &node {
            Node::Map(_) => {
                if directive::of_map(Some(&mut node))? == Directive::Delete {
                    return Ok(Outcome::Gone { dest: Some(node) });
                }
                Ok(match self.settle_fields(node, place)? {
                    Some(node) => Outcome::Dest(node),
                    None => Outcome::Gone { dest: None },
                })
            }
            Node::List(_) => match place.and_then(Place::merge_keys) {
                Some(keys) => {
                    if directive::of_list(&mut node)? == Directive::Delete {
                        return Ok(Outcome::Gone { dest: Some(node) });
                    }
                    self.settle_list(node, keys, place.and_then(Place::elements))
                        .map(Outcome::Dest)
                }
                None => Ok(Outcome::Dest(node)),
            },
            Node::Scalar(_) if node.is_null() => Ok(Outcome::Gone { dest: None }),
            Node::Scalar(_) => Ok(Outcome::Dest(node)),
        }
    }

    /// Settles what is in a map; anything else stays as it is.
    fn settle_fields(&self, node: Node, place: Option<Place<'_>>) -> Result<Option<Node>, String> {
        let place = place.or_else(|| self.place_of(&node));
        let Node::Map(map) = node else {
            return Ok(Some(node));
        };
        let mut result = Map::with_capacity(map.len());
        for (key, value) in map {
            let inner = place.and_then(|place| place.field(&key));
            if let Some(node) = self.walk(Sources::Same(value), inner)?.into_node() {
                result.push(key, node);
            }
        }
        Ok(Some(Node::Map(result)))
    }
}

/// A map of which fields are taken by name.
enum Lookup {
    Small(Map),
    Large(HashMap<Text, Node>),
}

/// Up to this many fields are searched one by one.
const SCAN_LIMIT: usize = 16;

impl Lookup {
    fn new(map: Map) -> Lookup {
        if map.len() > SCAN_LIMIT {
            Lookup::Large(map.into_iter().collect())
        } else {
            Lookup::Small(map)
        }
    }

    fn take(&mut self, key: &str) -> Option<Node> {
        match self {
            Lookup::Small(map) => map.remove(key),
            Lookup::Large(map) => map.remove(key),
        }
    }

    fn rest(self) -> Vec<(Text, Node)> {
        match self {
            Lookup::Small(map) => map.into_iter().collect(),
            Lookup::Large(map) => map.into_iter().collect(),
        }
    }
}

impl Merger<'_> {
    /// The patch's node as it is written over the object's.
    fn written_over(&self, dest: &Node, mut node: Node) -> Node {
        if let (Node::Scalar(old), Node::Scalar(new)) = (dest, &mut node) {
            new.take_style(old);
            if old.group != 0 {
                new.group = old.group | WRITTEN;
                self.wrote_shared.set(true);
            }
        }
        node
    }
}

/// Sets a scalar anew that the patch says nothing about, as kyaml does it: what has no type, or is a string without quotes,
/// gets quotes if it looks like something else than a string.
fn set_anew(scalar: &mut Scalar) {
    if !scalar.tagged
        && (scalar.untyped || scalar.kind == Kind::Plain)
        && let Node::Scalar(set) = Node::set(&scalar.text)
        && set.kind == Kind::Quoted
    {
        scalar.kind = Kind::Quoted;
        scalar.untyped = false;
    }
}

/// The patch's node if there is one.
fn overriding(dest: Option<Node>, origin: Option<Node>) -> Outcome {
    match (dest, origin) {
        (dest, Some(origin)) if origin.is_null() => Outcome::Gone { dest },
        (dest, Some(node)) => Outcome::Origin { node, dest },
        (Some(dest), None) => Outcome::Dest(dest),
        (None, None) => Outcome::Gone { dest: None },
    }
}
