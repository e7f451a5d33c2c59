//! `images`: new names, tags and digests for images.

mod name;
mod pattern;

use yaml::node::{Node, Texts};

use crate::config::Image;
use crate::field::{Create, FieldPath, FieldSpec, set_text};
use crate::schema::Schema;
use crate::transform::{Each, Transform};
use name::split;
use pattern::Pattern;

/// Changes one image wherever it is used.
pub(crate) struct Images {
    image: Image,
    pattern: Pattern,
    paths: Vec<FieldPath>,
}

impl Images {
    pub(crate) fn new(image: &Image, specs: &[FieldSpec]) -> Result<Images, String> {
        Ok(Images {
            image: image.clone(),
            pattern: Pattern::new(&image.name)?,
            paths: FieldPath::all(specs),
        })
    }

    fn set(&self, node: &mut Node, texts: &mut Texts) -> Result<(), String> {
        if node.is_null() {
            return Ok(());
        }
        let Node::Scalar(scalar) = node else {
            return Err(crate::field::wrong_kind("ScalarNode", node));
        };
        let text = scalar.text.clone();
        if !self.pattern.fits(&text) {
            return Ok(());
        }
        set_text(node, texts.get(&self.changed(&text)))
    }

    fn changed(&self, text: &str) -> String {
        let Image {
            new_name,
            tag_suffix,
            new_tag,
            digest: new_digest,
            ..
        } = &self.image;
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

    /// Changes the images of all containers, wherever in the object they are.
    fn containers(&self, node: &mut Node, texts: &mut Texts) -> Result<(), String> {
        match node {
            Node::Scalar(_) => Ok(()),
            Node::List(items) => items.iter_mut().try_for_each(|item| self.containers(item, texts)),
            Node::Map(map) => {
                for (key, value) in map.iter_mut() {
                    self.containers(value, texts)?;
                    if let ("containers" | "initContainers", Node::List(items)) = (key, value) {
                        for container in items {
                            if container.is_null() {
                                continue;
                            }
                            let Node::Map(container) = container else {
                                return Err(crate::field::wrong_kind("MappingNode", container));
                            };
                            if let Some(image) = container.get_mut("image") {
                                self.set(image, texts)?;
                            }
                        }
                    }
                }
                Ok(())
            }
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
            self.containers(&mut resource.node, &mut texts)?;
            self.paths.iter().try_for_each(|path| {
                path.apply(resource, Create::Nothing, &mut |node| self.set(node, &mut texts))
            })
        }))
    }

    fn keeps_ids(&self) -> bool {
        true
    }
}
