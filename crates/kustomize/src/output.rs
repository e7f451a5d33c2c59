//! What a build makes.

use std::io;
use std::sync::Arc;

use yaml::node::Node;

use crate::error::{Error, Errors};
use crate::resource::Resource;
use crate::schema::Schema;

/// The objects in order, and what to tell people.
#[derive(Debug)]
pub struct Output {
    objects: Vec<Resource>,
    /// What is deprecated or looks like a mistake.
    pub warnings: Vec<String>,
    file: String,
    schema: Arc<Schema>,
}

/// One object, printed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Document {
    /// The group of its kind; empty for the core group.
    pub group: String,
    /// The version of its kind.
    pub version: String,
    /// Its kind.
    pub kind: String,
    /// Its name.
    pub name: String,
    /// The namespace it is in; `None` if its kind belongs to none.
    pub namespace: Option<String>,
    /// What is printed.
    pub yaml: String,
}

impl Output {
    pub(crate) fn new(
        objects: Vec<Resource>,
        warnings: Vec<String>,
        file: String,
        schema: Arc<Schema>,
    ) -> Output {
        Output {
            objects,
            warnings,
            file,
            schema,
        }
    }

    /// The objects, each printed by itself.
    pub fn documents(&self) -> impl Iterator<Item = Result<Document, Errors>> {
        self.objects.iter().map(|resource| {
            let mut yaml = String::new();
            self.document(0, resource, &mut yaml)?;
            let id = resource.id(&self.schema);
            Ok(Document {
                namespace: (!id.cluster_scoped).then(|| id.effective_namespace().to_owned()),
                group: id.gvk.group.to_string(),
                version: id.gvk.version.to_string(),
                kind: id.gvk.kind.to_string(),
                name: id.name.to_string(),
                yaml,
            })
        })
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

    /// The objects, to be changed further.
    pub fn into_objects(self) -> impl ExactSizeIterator<Item = Node> {
        self.objects.into_iter().map(|resource| resource.node)
    }

    /// What `kustomize build` prints.
    pub fn to_yaml(&self) -> Result<String, Errors> {
        let mut out = String::new();
        for (index, resource) in self.objects.iter().enumerate() {
            self.document(index, resource, &mut out)?;
        }
        Ok(out)
    }

    /// Writes what `kustomize build` prints, object by object, and gives the memory of each back: the text is never held
    /// as a whole.
    pub fn write_yaml(mut self, out: &mut impl io::Write) -> Result<(), Errors> {
        let mut text = String::new();
        for (index, resource) in std::mem::take(&mut self.objects).into_iter().enumerate() {
            text.clear();
            self.document(index, &resource, &mut text)?;
            out.write_all(text.as_bytes())
                .map_err(|error| self.error(format!("failed to write the output: {error}")))?;
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
