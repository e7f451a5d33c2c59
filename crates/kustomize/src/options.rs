//! How to build.

use std::sync::Arc;

use crate::guard::Guard;
use crate::helm::Renderer;
use crate::remote::Fetcher;
use crate::schema::Schema;
use crate::specs::Specs;

/// How to build. Keep it: making one reads the tables that are built in.
#[derive(Clone)]
pub struct Options<'o> {
    /// Which files may be read.
    pub load_restrictor: LoadRestrictor,
    /// The order of the output, where the kustomization does not say.
    pub reorder: Reorder,
    /// The schema that is used unless a kustomization names another one.
    pub schema: Arc<Schema>,
    /// The release whose output is made.
    pub release: Release,
    /// The version that the label `app.kubernetes.io/managed-by` names.
    pub version: String,
    /// Whether everything gets that label.
    pub managed_by_label: bool,
    /// Gets remote files and bases; without it they are refused.
    pub fetcher: Option<&'o dyn Fetcher>,
    /// Renders charts; without it they are refused.
    pub helm: Option<&'o dyn Renderer>,
    /// What is said where charts are refused.
    pub without_helm: &'static str,
    /// Whether the kustomization that is asked for, but none that it refers to, may have fields that nobody knows, and numbers
    /// and booleans without quotes where texts are wanted. Flux reads that one so.
    pub lenient_root: bool,
    /// Where transformers look for the fields they change.
    pub specs: Arc<Specs>,
    /// Bounds what `patches` do.
    pub guard: Option<Arc<dyn Guard>>,
}

/// The release of kustomize whose output is made, where releases differ.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Release {
    /// 5.5: targets of replacements are named literally.
    V5_5,
    /// 5.8: targets of replacements are named by expressions, and replacements reach into texts that are YAML or JSON.
    #[default]
    V5_8,
}

/// Which files a kustomization may read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LoadRestrictor {
    /// Those in or below its own directory. Other directories are reached as bases.
    #[default]
    RootOnly,
    /// All of the tree.
    None,
}

/// The order of the output.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Reorder {
    /// The legacy order.
    #[default]
    Legacy,
    /// As resources were found.
    None,
}

impl Default for Options<'_> {
    fn default() -> Self {
        Options {
            load_restrictor: LoadRestrictor::default(),
            reorder: Reorder::default(),
            schema: Arc::new(Schema::kubernetes()),
            release: Release::default(),
            version: "v5.8.1".to_owned(),
            managed_by_label: false,
            fetcher: None,
            helm: None,
            without_helm: "must specify --enable-helm",
            lenient_root: false,
            specs: Arc::new(Specs::builtin()),
            guard: None,
        }
    }
}
