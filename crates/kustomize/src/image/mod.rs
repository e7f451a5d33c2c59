//! `images`: new names, tags and digests for images.

mod index;
mod name;
mod pattern;

use std::collections::HashMap;

use yaml::node::{Node, Texts};

use crate::config::Image;
use crate::field::{Create, FieldPath, FieldSpec, set_text};
use crate::resource::Resource;
use crate::schema::Schema;
use crate::transform::{Each, Transform};
use index::Index;
use name::split;
use pattern::Pattern;

/// An entry of `images`, whose name was read.
pub(crate) struct Entry {
    image: Image,
    pattern: Pattern,
}

impl Entry {
    pub(crate) fn new(image: &Image) -> Result<Entry, String> {
        Ok(Entry {
            image: image.clone(),
            pattern: Pattern::new(&image.name)?,
        })
    }
}

/// Changes images wherever they are used, by one entry after the other.
pub(crate) struct Images {
    images: Vec<Image>,
    index: Index,
    paths: Vec<FieldPath>,
}

type Visit<'v> = &'v mut dyn FnMut(&mut Node) -> Result<(), String>;

impl Images {
    pub(crate) fn new(entries: Vec<Entry>, specs: &[FieldSpec]) -> Images {
        let (images, patterns): (Vec<Image>, Vec<Pattern>) = entries
            .into_iter()
            .map(|entry| (entry.image, entry.pattern))
            .unzip();
        Images {
            images,
            index: Index::new(patterns),
            paths: FieldPath::all(specs),
        }
    }

    /// Changes an image that each entry comes to so many times.
    fn set(&self, node: &mut Node, times: usize, texts: &mut Texts) -> Result<(), String> {
        let mut from = 0;
        while let Some(entry) = self.index.next(node.raw_text(), from) {
            for _ in 0..times {
                if self.index.next(node.raw_text(), entry) == Some(entry) {
                    let new = changed(&self.images[entry], node.raw_text());
                    set_text(node, texts.get(&new))?;
                }
            }
            from = entry + 1;
        }
        Ok(())
    }

    /// Visits all images of an object: those of containers, wherever they are, and those at the paths. Most are both, and so are
    /// visited twice.
    fn visit(&self, resource: &mut Resource, visit: Visit<'_>) -> Result<(), String> {
        let mut image = |node: &mut Node| match node {
            _ if node.is_null() => Ok(()),
            Node::Scalar(_) => visit(node),
            _ => Err(crate::field::wrong_kind("ScalarNode", node)),
        };
        containers(&mut resource.node, &mut image)?;
        let mut paths = self.paths.iter();
        paths.try_for_each(|path| path.apply(resource, Create::Nothing, &mut image))
    }

    /// Does to each image what all entries do, one after the other: each comes to it as often as it is visited.
    fn change(&self, resource: &mut Resource, texts: &mut Texts) -> Result<(), String> {
        let mut times: HashMap<usize, usize> = HashMap::new();
        self.visit(resource, &mut |node| {
            *times.entry(place(node)).or_default() += 1;
            Ok(())
        })?;
        if times.is_empty() {
            return Ok(());
        }
        self.visit(resource, &mut |node| match times.remove(&place(node)) {
            Some(times) => self.set(node, times, texts),
            None => Ok(()),
        })
    }
}

/// Tells the nodes of one object apart, as long as none moves.
fn place(node: &Node) -> usize {
    std::ptr::from_ref(node).addr()
}

/// What an entry makes of an image.
fn changed(image: &Image, text: &str) -> String {
    let Image {
        new_name,
        tag_suffix,
        new_tag,
        digest: new_digest,
        ..
    } = image;
    let (name, tag, digest) = split(text);
    let name = if new_name.is_empty() { name } else { new_name };
    let (mut tag, mut digest) = (tag.to_owned(), digest);
    if !new_tag.is_empty() || !new_digest.is_empty() {
        tag.clone_from(new_tag);
        digest = new_digest;
    } else if !tag_suffix.is_empty() {
        tag.push_str(tag_suffix);
        digest = "";
    }
    let mut result = name.to_owned();
    for (mark, part) in [(':', tag.as_str()), ('@', digest)] {
        if !part.is_empty() {
            result.push(mark);
            result.push_str(part);
        }
    }
    result
}

/// Visits the images of all containers, wherever in the object they are.
fn containers(node: &mut Node, visit: Visit<'_>) -> Result<(), String> {
    match node {
        Node::Scalar(_) => Ok(()),
        Node::List(items) => items.iter_mut().try_for_each(|item| containers(item, visit)),
        Node::Map(map) => {
            for (key, value) in map.iter_mut() {
                containers(value, visit)?;
                if let ("containers" | "initContainers", Node::List(items)) = (key, value) {
                    for container in items {
                        if container.is_null() {
                            continue;
                        }
                        let Node::Map(container) = container else {
                            return Err(crate::field::wrong_kind("MappingNode", container));
                        };
                        if let Some(image) = container.get_mut("image") {
                            visit(image)?;
                        }
                    }
                }
            }
            Ok(())
        }
    }
}

impl Transform for Images {
    fn each<'t>(&'t self, _: &'t Schema) -> Option<Each<'t>> {
        // Most images are used more than once.
        let mut texts = Texts::default();
        Some(Box::new(move |resource| {
            if resource.kind() == "CustomResourceDefinition" {
                return Ok(());
            }
            self.change(resource, &mut texts)
        }))
    }

    fn keeps_ids(&self) -> bool {
        self.paths.iter().all(|path| path.spec.keeps_id())
    }
}
