//! A chart with values to everything that a release consists of.

mod name;
mod post_render;

use std::collections::BTreeMap;

use bytes::Bytes;
use gotemplate::World;
use model::Map;
pub use name::{InvalidName, check_name, from_template, release_name, shorten};
pub use post_render::{PostRenderer, Strategy};

use crate::capabilities::Capabilities;
use crate::chart::Chart;
use crate::dependencies::{self, in_range};
use crate::manifest::{self, Hook, Manifest, Sorted};
use crate::render::{self, Engine, Input, Release};
use crate::schema::{self, SchemaError};
use crate::values::coalesce::{Coalesce, Mismatch, Mode};

/// What to make.
pub struct Request<'r> {
    /// The chart.
    pub chart: Chart,
    /// The values that were given.
    pub given: Map,
    /// What it shall be called.
    pub release: Release,
    /// The cluster.
    pub capabilities: Capabilities,
    /// How templates are rendered.
    pub options: render::Options,
    /// Whether `values.schema.json` is not looked at.
    pub skip_schema: bool,
    /// Whether the notes of charts below are kept too.
    pub sub_notes: bool,
    /// Who changes manifests before they are sorted.
    pub post_renderer: Option<&'r mut dyn PostRenderer>,
    /// What that one gets.
    pub strategy: Strategy,
}

/// What was made.
#[derive(Clone, Debug, Default)]
pub struct Rendered {
    /// Hooks, in the order of their kinds.
    pub hooks: Vec<Hook>,
    /// All other documents, in the order in which they are installed.
    pub manifests: Vec<Manifest>,
    /// What lies in `crds/`, with paths that begin with the chart.
    pub crds: Vec<(String, Bytes)>,
    /// What `NOTES.txt` says.
    pub notes: String,
    /// The values that templates saw.
    pub values: Map,
    /// The chart with the dependencies that took part, as a release keeps it.
    pub chart: Chart,
}

/// Why there is nothing.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The name is none.
    #[error("release name check failed: release name {}: {problem}", model::quote::quote(.name))]
    Name {
        /// What was given.
        name: String,
        /// What is wrong with it.
        problem: InvalidName,
    },
    /// Charts below cannot be sorted out.
    #[error("chart dependencies processing failed: {0}")]
    Dependencies(Mismatch),
    /// Values do not go together.
    #[error(transparent)]
    Values(Mismatch),
    /// Values are not what the chart wants.
    #[error(transparent)]
    Schema(#[from] SchemaError),
    /// The chart is for other versions of Kubernetes.
    #[error("chart requires kubeVersion: {wanted} which is incompatible with Kubernetes {found}")]
    KubeVersion {
        /// What the chart wants.
        wanted: String,
        /// What is there.
        found: String,
    },
    /// A template failed.
    #[error(transparent)]
    Render(#[from] render::Error),
    /// A rendered file is no YAML.
    #[error("{source}")]
    Manifest {
        /// What is wrong.
        #[source]
        source: manifest::Error,
        /// All rendered files.
        files: BTreeMap<String, String>,
    },
    /// Who changes manifests failed.
    #[error("{0}")]
    PostRender(String),
}

impl Error {
    /// Whether rendering had begun: Helm then says how more can be seen.
    pub fn is_of_rendering(&self) -> bool {
        matches!(
            self,
            Error::KubeVersion { .. } | Error::Render(_) | Error::Manifest { .. } | Error::PostRender(_)
        )
    }
}

/// Makes everything of a release. `warnings` are what Helm would log.
pub fn render(
    engine: &Engine,
    request: Request<'_>,
    world: &mut dyn World,
    warnings: &mut Vec<String>,
) -> Result<Rendered, Error> {
    let Request {
        mut chart,
        given,
        release,
        capabilities,
        options,
        ..
    } = request;
    let version = capabilities.helm_version;
    check_name(&release.name).map_err(|problem| Error::Name {
        name: release.name.clone(),
        problem,
    })?;
    dependencies::process(&mut chart, &given, version, warnings).map_err(Error::Dependencies)?;
    let mut coalesce = Coalesce { version, warnings };
    let values = coalesce
        .values(&chart, given, Mode::Coalesce)
        .map_err(Error::Values)?;
    if !request.skip_schema {
        schema::validate(&chart, &values, warnings, options.stop.as_deref())?;
    }
    let wanted = &chart.metadata.kube_version;
    let found = &capabilities.kube_version;
    if !wanted.is_empty() && !in_range(wanted, &found.normalized) {
        return Err(Error::KubeVersion {
            wanted: wanted.clone(),
            found: found.version.clone(),
        });
    }
    let input = Input {
        chart: &chart,
        values: &values,
        release: &release,
        capabilities: &capabilities,
        options: &options,
    };
    let files = engine.render(&input, world, warnings)?;
    let (files, notes) = split_notes(files, &chart, request.sub_notes);
    let files = match request.post_renderer {
        Some(renderer) => post_render::run(files, renderer, request.strategy, version)?,
        None => files,
    };
    let Sorted {
        hooks,
        manifests,
        unknown,
    } = match manifest::sort(&files, version) {
        Ok(sorted) => sorted,
        Err(source) => return Err(Error::Manifest { source, files }),
    };
    warnings.extend(
        unknown
            .iter()
            .map(|events| format!("skipping unknown hooks hookTypes={events}")),
    );
    Ok(Rendered {
        hooks,
        manifests,
        crds: chart.crds(),
        notes,
        values,
        chart,
    })
}

/// Takes the notes out of what was rendered.
fn split_notes(
    files: BTreeMap<String, String>,
    chart: &Chart,
    all: bool,
) -> (BTreeMap<String, String>, String) {
    let own = format!("{}/templates/NOTES.txt", chart.metadata.name);
    let mut notes = String::new();
    let mut others = BTreeMap::new();
    for (path, text) in files {
        if !path.ends_with("NOTES.txt") {
            others.insert(path, text);
        } else if all || path == own {
            if !notes.is_empty() {
                notes.push('\n');
            }
            notes.push_str(&text);
        }
    }
    (others, notes)
}
