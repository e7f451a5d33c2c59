//! Values and templates, rendered with missing values allowed.

use std::path::Path;

use anyhow::Context as _;
use helm::HelmVersion;
use helm::capabilities::{Capabilities, KubeVersion};
use helm::chart::Chart;
use helm::render::{self, Engine, Input, Release};
use helm::values::coalesce::{Coalesce, Mode};
use helm::{dependencies, schema};
use model::Map;

use super::{Args, Message, Severity, objects};
use crate::commands::helm::whole;
use crate::commands::helm::world::Machine;

const FOLDER: &str = "templates/";

/// Looks at the values of a chart, and at what its templates make of them.
pub(super) fn check(args: &Args, chart: &Chart, given: Map, found: &mut Vec<Message>) -> anyhow::Result<()> {
    values(args, chart, &given, found);
    let mut chart = chart.clone();
    let mut capabilities = Capabilities::default_of(HelmVersion::V4);
    if let Some(version) = &args.kube_version {
        let parsed = KubeVersion::parse(version);
        capabilities.kube_version = parsed.with_context(|| format!("invalid kube version '{version}'"))?;
    }
    let mut warnings = Vec::new();
    let version = HelmVersion::V4;
    // What is wrong with charts below is for rendering to tell.
    if dependencies::process(&mut chart, &given, version, &mut warnings).is_err() {
        return Ok(());
    }
    let mut coalesce = Coalesce {
        version,
        warnings: &mut warnings,
    };
    let Ok(values) = coalesce.values(&chart, given, Mode::Coalesce) else {
        return Ok(());
    };
    let valid = match args.skip_schema_validation {
        true => Ok(()),
        false => schema::validate(&chart, &values, &mut warnings, None),
    };
    if chart.templates().next().is_none() {
        found.push(Message::new(
            Severity::Warning,
            FOLDER,
            "directory does not exist",
        ));
        return Ok(());
    }
    if let Err(error) = valid {
        found.push(Message::new(Severity::Error, FOLDER, whole(&error).to_string()));
        return Ok(());
    }
    let options = render::Options {
        lint: true,
        ..render::Options::of_own_charts()
    };
    let input = Input {
        chart: &chart,
        values: &values,
        release: &Release {
            name: "test-release".to_owned(),
            namespace: args.namespace.clone(),
            is_upgrade: false,
            revision: 0,
        },
        capabilities: &capabilities,
        options: &options,
    };
    let rendered = match Engine::new().render(&input, &mut Machine, &mut warnings) {
        Ok(rendered) => rendered,
        Err(error) => {
            found.push(Message::new(Severity::Error, FOLDER, error.to_string()));
            return Ok(());
        }
    };
    for file in chart.templates() {
        let path = &file.path;
        let extension = Path::new(path).extension().unwrap_or_default().to_string_lossy();
        if !matches!(&*extension, "yaml" | "yml" | "tpl" | "txt") {
            let dot = if extension.is_empty() { "" } else { "." };
            let text = format!(
                "file extension '{dot}{extension}' not valid. Valid extensions are .yaml, .yml, .tpl, or .txt"
            );
            found.push(Message::new(Severity::Error, path, text));
        }
        if !matches!(extension.to_lowercase().as_str(), "yaml" | "yml") {
            continue;
        }
        let rendered = rendered.get(&format!("{}/{path}", chart.metadata.name));
        let rendered = rendered.map(String::as_str).unwrap_or_default();
        if !objects::check(path, rendered, &capabilities.kube_version, found) {
            return Ok(());
        }
    }
    Ok(())
}

/// Looks at the values of the chart itself: what is given for charts below is not looked at.
fn values(args: &Args, chart: &Chart, given: &Map, found: &mut Vec<Message>) {
    if chart.file("values.yaml").is_none() {
        found.push(Message::new(Severity::Info, "values.yaml", "file does not exist"));
        return;
    }
    if args.skip_schema_validation {
        return;
    }
    let mut warnings = Vec::new();
    let mut coalesce = Coalesce {
        version: HelmVersion::V4,
        warnings: &mut warnings,
    };
    let mut values = given.clone();
    coalesce.tables(&mut values, chart.defaults.clone(), "", Mode::Coalesce);
    if let Err(problem) = schema::validate_own(chart, &values, &mut warnings) {
        found.push(Message::new(Severity::Error, "values.yaml", problem));
    }
}
