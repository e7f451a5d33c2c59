//! A file tree to manifests, as `kustomize build` makes them: the same objects, in the same order, with the same bytes.
//!
//! Pure: the files are a [`Tree`] that is handed in and cannot be left; remote files and charts come through traits. What
//! is in the tree decides the output, nothing else does.
//!
//! ```text
//!   tree ─▶ config ─▶ accumulate ─▶ resmap ─▶ hash ─▶ name_reference ─▶ vars ─▶ sort ─▶ output
//!                      │  resources, generator, components
//!                      └─ patch, namespace, affix, labels, annotations, replicas, image, replacement, plugin
//! ```
//!
//! A kustomization is accumulated from the bases up; each transformer is a folder of its own. What kustomize finds by
//! comparing all resources with all others is found by indexes here, so that the time grows with the size of the output.
//! Start reading at [`build`] and `accumulate`.

mod accumulate;
mod affix;
mod annotations;
mod config;
mod convert;
mod error;
mod field;
mod generator;
mod guard;
mod hash;
pub mod helm;
mod hint;
mod iam_policy;
mod id;
mod image;
mod labels;
mod merge;
mod name_reference;
mod namespace;
mod next_line;
mod options;
mod origin;
mod output;
mod patch;
mod plugin;
mod problem;
pub mod remote;
mod replacement;
mod replicas;
mod resmap;
mod resource;
mod schema;
mod sort;
mod specs;
pub mod substitute;
mod transform;
mod tree;
mod unwritable;
mod value_add;
mod vars;

pub use config::{FILE_NAMES, HelmChart, HelmGlobals};
pub use convert::{from_value, to_value};
pub use error::{Error, Errors, Within};
pub use guard::Guard;
pub use options::{LoadRestrictor, Options, Release, Reorder};
pub use output::{Document, Origins, Output, Place};
pub use schema::Schema;
pub use specs::Specs;
pub use tree::{Memory, Tree};

/// Builds the kustomization in the directory `root` of the tree.
///
/// # Errors
/// With all that is wrong, as far as it can be told in one run.
pub fn build<'t>(tree: &'t dyn Tree, root: &str, options: &'t Options<'t>) -> Result<Output<'t>, Errors> {
    let build = accumulate::Build::new(options);
    let finished = accumulate::root(&build, tree, root).and_then(|mut accumulated| {
        accumulated.finish(&build)?;
        Ok(accumulated.into_parts())
    });
    let parts = finished.map_err(|errors| errors.distinct().without_credentials())?;
    Ok(Output::new(parts, build))
}
