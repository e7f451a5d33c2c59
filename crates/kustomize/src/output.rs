//! What a build makes.

use yaml::node::Node;

use crate::error::{Error, Errors};
use crate::resource::Resource;

/// The objects in order, and what to tell people.
#[derive(Debug)]
pub struct Output {
    objects: Vec<Resource>,
    /// What is deprecated or looks like a mistake.
    pub warnings: Vec<String>,
    file: String,
}

impl Output {
    pub(crate) fn new(objects: Vec<Resource>, warnings: Vec<String>, file: String) -> Output {
        Output {
            objects,
            warnings,
            file,
        }
    }

    /// The number of objects.
    pub fn len(&self) -> usize {
        self.objects.len()
    }

    /// Whether there are no objects.
    pub fn is_empty(&self) -> bool {
        self.objects.is_empty()
    }

    /// The objects.
    pub fn objects(&self) -> impl ExactSizeIterator<Item = &Node> {
        self.objects.iter().map(|resource| &resource.node)
    }

    /// What `kustomize build` prints.
    pub fn to_yaml(&self) -> Result<String, Errors> {
        let mut out = String::new();
        for (index, resource) in self.objects.iter().enumerate() {
            self.document(index, resource, &mut out)?;
        }
        Ok(out)
    }

    /// Hands out what `kustomize build` prints, object by object, and gives the memory of each back.
    pub fn write(mut self, mut sink: impl FnMut(&str) -> Result<(), String>) -> Result<(), Errors> {
        let mut text = String::new();
        for (index, resource) in std::mem::take(&mut self.objects).into_iter().enumerate() {
            text.clear();
            self.document(index, &resource, &mut text)?;
            sink(&text).map_err(|message| self.error(message))?;
        }
        Ok(())
    }

    fn document(&self, index: usize, resource: &Resource, out: &mut String) -> Result<(), Errors> {
        if index > 0 {
            out.push_str("---\n");
        }
        yaml::go::write(&resource.node, out)
            .map_err(|problem| self.error(format!("{}: {problem}", resource.plain_id())))
    }

    fn error(&self, message: String) -> Errors {
        Errors::from(Error {
            file: self.file.clone(),
            line: None,
            chain: Vec::new(),
            message,
        })
    }
}
