//! What a build makes.

use std::sync::Arc;
use std::{fmt, io};

use yaml::Step;
use yaml::node::Node;

use crate::accumulate::{Build, Parts, Spot, Spots};
use crate::error::{Error, Errors, Within};
use crate::next_line;
use crate::resource::Resource;
use crate::schema::Schema;

/// The objects in order, and what to tell people.
pub struct Output<'t> {
    objects: Vec<Resource>,
    /// What is deprecated or looks like a mistake.
    pub warnings: Vec<String>,
    file: String,
    schema: Arc<Schema>,
    spots: Spots<'t>,
}

impl fmt::Debug for Output<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Output")
            .field("objects", &self.objects)
            .field("warnings", &self.warnings)
            .finish_non_exhaustive()
    }
}

/// Where an object was read or generated.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// The file, as the tree shows it.
    pub file: String,
    /// The line in the file, where it is known.
    pub line: Option<usize>,
    /// For a kustomization file, where in it.
    pub within: Option<Within>,
}

/// Where the objects of a build come from.
pub struct Origins<'t> {
    objects: Vec<Spot>,
    spots: Spots<'t>,
}

impl Origins<'_> {
    /// The file and the line of the object of this number; that of the generator, if it was generated. The files are read
    /// once more.
    pub fn of(&self, object: usize) -> Option<Place> {
        let found = self.spots.error(*self.objects.get(object)?, "")?;
        Some(Place {
            file: found.file,
            line: found.line,
            within: found.within,
        })
    }

    /// The same for a field of the object, in whose text `part` stands. Where the file has no such field, it is the object
    /// that is meant: something has changed it.
    pub fn of_field(&self, object: usize, path: &[Step], part: &str) -> Option<Place> {
        let mut place = self.of(object)?;
        let found = self.spots.field(*self.objects.get(object)?, path, part);
        place.line = found.or(place.line);
        Some(place)
    }
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

impl<'t> Output<'t> {
    pub(crate) fn new(mut parts: Parts, build: Build<'t>) -> Output<'t> {
        for resource in &mut parts.resources {
            resource.quote_in_brackets();
            next_line::fold(&mut resource.node);
        }
        Output {
            objects: parts.resources,
            warnings: parts.warnings,
            file: parts.file,
            schema: build.schema(),
            spots: build.into_spots(),
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

    /// The objects, to be changed further, and where they come from.
    pub fn into_objects_and_origins(self) -> (Vec<Node>, Origins<'t>) {
        let (nodes, spots) = self
            .objects
            .into_iter()
            .map(|resource| (resource.node, resource.spot))
            .unzip();
        let origins = Origins {
            objects: spots,
            spots: self.spots,
        };
        (nodes, origins)
    }

    /// What `kustomize build` prints.
    pub fn to_yaml(&self) -> Result<String, Errors> {
        let mut out = String::new();
        let mut errors = Errors::default();
        for (index, resource) in self.objects.iter().enumerate() {
            errors.keep(self.document(index, resource, &mut out));
        }
        errors.or(out)
    }

    /// Writes what `kustomize build` prints, object by object, and gives the memory of each back: the text is never held
    /// as a whole.
    pub fn write_yaml(mut self, out: &mut impl io::Write) -> Result<(), Errors> {
        let mut text = String::new();
        let mut errors = Errors::default();
        for (index, resource) in std::mem::take(&mut self.objects).into_iter().enumerate() {
            text.clear();
            errors.keep(self.document(index, &resource, &mut text));
            if !errors.0.is_empty() {
                continue;
            }
            out.write_all(text.as_bytes()).map_err(|error| {
                let message = format!("failed to write the output: {error}");
                Error::of_file(self.file.clone(), Vec::new(), message)
            })?;
        }
        errors.or(())
    }

    fn document(&self, index: usize, resource: &Resource, out: &mut String) -> Result<(), Errors> {
        if index > 0 {
            out.push_str("---\n");
        }
        yaml::go::write(&resource.node, out).map_err(|problem| {
            let message = format!("{}: {problem}", resource.plain_id());
            let error = self.spots.error(resource.spot, &message);
            error
                .unwrap_or_else(|| Error::of_file(self.file.clone(), Vec::new(), message))
                .into()
        })
    }
}
