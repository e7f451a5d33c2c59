//! What all transformers have in common.

use crate::problem::Problem;
use crate::resmap::ResMap;
use crate::resource::Resource;
use crate::schema::Schema;

/// A change to the resources of a kustomization. A transformer implements one of the two: either it looks at all
/// resources, or it changes each by itself.
pub(crate) trait Transform {
    /// Changes the resources.
    fn transform(&self, resources: &mut ResMap, schema: &Schema) -> Result<(), String> {
        let Some(mut each) = self.each(schema) else {
            return Ok(());
        };
        let resources = if self.keeps_ids() {
            resources.contents_mut()
        } else {
            resources.as_mut_slice()
        };
        resources.iter_mut().try_for_each(&mut *each)
    }

    /// What is done to one resource after the other, if others do not matter. Several such transformers run together:
    /// a resource is then in the processor's cache, and one uses the memory that another one has given back.
    fn each<'t>(&'t self, _: &'t Schema) -> Option<Each<'t>> {
        None
    }

    /// Whether the identities of resources stay as they are.
    fn keeps_ids(&self) -> bool {
        false
    }

    /// Whether it merges objects as their schema says.
    fn merges(&self) -> bool {
        false
    }

    /// Changes the resources and goes on after what fails, where one thing has nothing to do with another: all that is
    /// wrong.
    fn transform_all(&self, resources: &mut ResMap, schema: &Schema) -> Vec<Problem> {
        let was_unsure = resources.is_unsure();
        let Err(problem) = self.transform(resources, schema) else {
            return Vec::new();
        };
        resources.lose_change();
        if was_unsure {
            Vec::new()
        } else {
            vec![problem.into()]
        }
    }
}

/// In the place of a transformer that could not be read: what it may have done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Lost {
    /// Changed objects, but neither their names nor how many there are.
    Changes,
    /// Changed objects or deleted some.
    Deletions,
    /// Given objects other names.
    Names,
    /// Given objects other namespaces.
    Namespaces,
    /// Any of this.
    Anything,
}

impl Lost {
    /// What a field of a kustomization may do.
    pub(crate) fn through(field: &str) -> Lost {
        match field {
            "namespace" => Lost::Namespaces,
            "namePrefix" | "nameSuffix" => Lost::Names,
            "patchesStrategicMerge" => Lost::Deletions,
            "patches" | "patchesJson6902" | "transformers" => Lost::Anything,
            _ => Lost::Changes,
        }
    }

    /// Notes on a resource what it may lack.
    pub(crate) fn note(self, resource: &mut Resource) {
        if !matches!(self, Lost::Names | Lost::Namespaces) {
            resource.lose_change();
        }
        match self {
            Lost::Changes => {}
            Lost::Deletions => resource.lose_deletion(),
            Lost::Names | Lost::Anything => resource.lose_name(),
            Lost::Namespaces => resource.lose_namespace(),
        }
    }
}

impl Transform for Lost {
    fn transform_all(&self, resources: &mut ResMap, _: &Schema) -> Vec<Problem> {
        for resource in resources.contents_mut() {
            self.note(resource);
        }
        Vec::new()
    }
}

/// A change to one resource.
pub(crate) type Each<'t> = Box<dyn FnMut(&mut Resource) -> Result<(), String> + 't>;

/// The first problem as the error.
pub(crate) fn first(problems: Vec<Problem>) -> Result<(), String> {
    match problems.into_iter().next() {
        Some(problem) => Err(problem.message),
        None => Ok(()),
    }
}
