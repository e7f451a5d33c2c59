//! `helmCharts`: charts whose output becomes resources. Rendering is the business of whoever builds: see [`Renderer`].

use yaml::node::Node;

use crate::config::{HelmChart, HelmGlobals};
use crate::generator::FileLoader;
use crate::schema::Schema;
use crate::tree::Tree;
use crate::{convert, merge};

/// Renders charts.
pub trait Renderer {
    /// What `helm template` prints for the chart.
    fn template(&self, request: &Request<'_>) -> Result<String, String>;
}

/// A chart to be rendered.
pub struct Request<'r> {
    /// What the kustomization says about it. `values_merge` is never empty.
    pub chart: &'r HelmChart,
    /// What it says about all charts. `chart_home` is never empty.
    pub globals: &'r HelmGlobals,
    /// The files of the build.
    pub tree: &'r dyn Tree,
    /// The directory of the kustomization in the tree.
    pub root: &'r str,
    pub(crate) files: &'r dyn FileLoader,
}

impl Request<'_> {
    /// The content of a file that the chart names, whose path is relative to the kustomization: what a kustomization may not read
    /// itself, its charts may not read either.
    ///
    /// # Errors
    /// Says why there is none.
    pub fn load(&self, path: &str) -> Result<Vec<u8>, String> {
        self.files.load(path)
    }

    /// The values for the chart: those of its values file and those in the kustomization, merged as it says.
    pub fn values(&self, values_file: &str) -> Result<String, String> {
        let Some(inline) = self
            .chart
            .values_inline
            .as_ref()
            .filter(|values| !is_empty(values))
        else {
            return Ok(values_file.to_owned());
        };
        let inline = convert::from_value(inline);
        let file = yaml::node::read(values_file)
            .map_err(|error| format!("line {}: {}", error.line(), error.without_values()))?;
        let file = file.map_or_else(Node::map, |read| read.node);
        let schema = Schema::default();
        let merged = match self.chart.values_merge.as_str() {
            "override" => merge::merge(file, inline, &schema)?,
            "merge" => merge::merge(inline, file, &schema)?,
            _ => Some(inline),
        };
        let mut text = String::new();
        yaml::go::write(&merged.unwrap_or_else(Node::map), &mut text)?;
        Ok(text)
    }
}

fn is_empty(value: &model::Value) -> bool {
    value.is_null() || value.as_object().is_some_and(model::Map::is_empty)
}

/// Checks what a kustomization says about a chart and fills in what it leaves out.
pub(crate) fn complete(chart: &HelmChart, globals: &HelmGlobals) -> Result<(HelmChart, HelmGlobals), String> {
    if chart.name.is_empty() {
        return Err("chart name cannot be empty".to_owned());
    }
    let (mut chart, mut globals) = (chart.clone(), globals.clone());
    if globals.chart_home.is_empty() {
        globals.chart_home = "charts".to_owned();
    }
    match chart.values_merge.as_str() {
        "" => chart.values_merge = "override".to_owned(),
        "merge" | "override" | "replace" => {}
        _ => return Err("valuesMerge must be one of [merge override replace]".to_owned()),
    }
    Ok((chart, globals))
}
