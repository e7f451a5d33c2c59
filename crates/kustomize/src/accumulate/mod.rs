//! Accumulating a kustomization: its resources and bases, what it generates, its components, and then its transformers,
//! in kustomize's order.

mod build;
mod encoding;
mod finish;
mod generators;
mod here;
mod loader;
mod lost;
mod resources;
mod spots;
mod target;
mod transformers;

pub(crate) use build::Build;
pub(crate) use loader::Loader;
pub(crate) use spots::{Spot, Spots};

use std::rc::Rc;
use std::sync::Arc;

use crate::config::{HelmChart, HelmGlobals};
use crate::error::{Error, Errors};
use crate::generator::FileLoader;
use crate::options::Release;
use crate::origin::Origin;
use crate::problem::Problem;
use crate::resmap::ResMap;
use crate::resource::Resource;
use crate::specs::Specs;
use crate::tree::Tree;
use crate::vars::Vars;
use lost::Lost;
use target::Target;

/// What plugins may use.
pub(crate) trait PluginContext {
    /// The content of a file.
    fn load(&self, path: &str) -> Result<Vec<u8>, String>;

    /// The text of a file.
    fn load_text(&self, path: &str) -> Result<String, String>;

    /// The name of the directory of the kustomization.
    fn directory(&self) -> &str;

    /// The release whose output is made.
    fn release(&self) -> Release;

    /// Renders a chart.
    fn render(&self, chart: &HelmChart, globals: &HelmGlobals) -> Result<Vec<Resource>, String>;
}

impl PluginContext for Target<'_, '_> {
    fn load(&self, path: &str) -> Result<Vec<u8>, String> {
        self.here.loader.load(path)
    }

    fn load_text(&self, path: &str) -> Result<String, String> {
        self.here.loader.load_text(path)
    }

    fn directory(&self) -> &str {
        crate::tree::path::base(&self.here.loader.root)
    }

    fn release(&self) -> Release {
        self.build.options.release
    }

    fn render(&self, chart: &HelmChart, globals: &HelmGlobals) -> Result<Vec<Resource>, String> {
        Target::render(self, chart, globals)
    }
}

impl FileLoader for &dyn PluginContext {
    fn load(&self, path: &str) -> Result<Vec<u8>, String> {
        PluginContext::load(*self, path)
    }
}

/// What was accumulated so far.
pub(crate) struct Accumulator {
    pub(crate) resources: ResMap,
    /// Where transformers look for fields; `None` before the first kustomization has said so.
    specs: Option<Arc<Specs>>,
    vars: Vars,
    /// All that is wrong so far. What can be done without it is done nevertheless, to find what else is wrong.
    errors: Errors,
    lost: Lost,
}

impl Accumulator {
    fn new() -> Accumulator {
        Accumulator {
            resources: ResMap::new(),
            specs: None,
            vars: Vars::default(),
            errors: Errors::default(),
            lost: Lost::default(),
        }
    }

    /// Takes note of what is wrong with a result, and of what is missing then.
    fn keep<T>(&mut self, result: Result<T, Errors>, lost: Lost) -> Option<T> {
        if result.is_err() {
            self.lost.add(lost);
        }
        self.errors.keep(result)
    }

    /// Takes note of what is wrong.
    fn note(&mut self, errors: Errors) {
        self.errors.0.extend(errors.0);
    }

    /// Problems without those that may only follow from what is missing.
    fn certain(&mut self, mut problems: Vec<Problem>) -> Vec<Problem> {
        problems.retain(|problem| {
            let is_certain = !self.lost.may_explain(&problem.needs, &self.resources);
            if !problem.objects.is_empty() {
                // They have the same identity now, and one of them stays.
                self.lost.add(Lost::OBJECTS);
            }
            is_certain
        });
        problems
    }

    /// Takes note that a change was lost of which nobody knows what it is, and what it is for.
    fn lose_anything(&mut self) {
        self.lost.add(Lost::OBJECTS);
        self.resources.lose_names();
    }

    fn specs(&self, build: &Build<'_>) -> Arc<Specs> {
        Arc::clone(self.specs.as_ref().unwrap_or(&build.options.specs))
    }

    /// Adds field specs. All of them contain the built-in ones, so that those alone add nothing to others.
    fn merge_specs(&mut self, other: &Arc<Specs>, build: &Build<'_>) -> Result<(), String> {
        let builtin = &build.options.specs;
        match &mut self.specs {
            None => self.specs = Some(Arc::clone(other)),
            Some(own) if Arc::ptr_eq(other, builtin) || Arc::ptr_eq(own, other) => {}
            Some(own) => Arc::make_mut(own)
                .merge(other)
                .map_err(|conflict| conflict.to_string())?,
        }
        Ok(())
    }
}

/// A build whose resources are complete, but whose names and references are not.
pub(crate) struct Accumulated<'b, 't> {
    accumulator: Accumulator,
    target: Target<'b, 't>,
    warnings: Vec<String>,
}

/// What a build has made.
pub(crate) struct Parts {
    pub(crate) resources: Vec<Resource>,
    pub(crate) warnings: Vec<String>,
    /// The file of the kustomization.
    pub(crate) file: String,
}

/// Accumulates the kustomization that is to be built.
pub(crate) fn root<'b, 't>(
    build: &'b Build<'t>,
    tree: &'t dyn Tree,
    root: &str,
) -> Result<Accumulated<'b, 't>, Errors> {
    let loader = Loader::new(tree, root, build.options)
        .map_err(|message| Error::of_file(tree.show(root), Vec::new(), message))?;
    let found =
        Target::find(&loader).map_err(|message| Error::of_file(loader.show(""), Vec::new(), message))?;
    let mut target = Target::load(build, Rc::new(loader), found, None)?;
    if !target.kustomization.build_metadata.is_empty() {
        target.origin = Some(Rc::new(Origin::default()));
    }
    let accumulator = target.accumulate(Accumulator::new());
    target.forget();
    build.forget_texts();
    Ok(Accumulated {
        accumulator,
        target,
        warnings: build.take_warnings(),
    })
}
