//! Charts in this process.

use std::env;
use std::path::Path;

use helm::HelmVersion;
use helm::capabilities::{Capabilities, KubeVersion};
use helm::chart::Chart;
use helm::print;
use helm::release::{self, Request as Wanted, Strategy};
use helm::render::{self, Engine, Release};
use helm::values::Given;
use kustomize::HelmChart;
use kustomize::helm::Request;

use super::files::{Files, joined};
use crate::commands::helm::world::Machine;
use crate::commands::helm::{chart as charts, fetch, template, untar, whole};

/// What `helm template` prints of a chart, with the arguments that kustomize gives it.
pub(super) fn template(request: &Request<'_>, chart: &HelmChart) -> Result<String, String> {
    let told = |error: String| format!("chart '{}': {error}", chart.name);
    let (loaded, own_values) = load(request, chart)?;
    charts::check(&loaded).map_err(|error| told(error.to_string()))?;
    let values = match chart.values_file.as_str() {
        "" => own_values(request)?,
        file => request.load(file)?,
    };
    let values = String::from_utf8(values).map_err(|_| "the values are not UTF-8".to_owned())?;
    let mut given = Given::default();
    given
        .files
        .push(("values.yaml".to_owned(), request.values(&values)?.into_bytes()));
    for file in &chart.additional_values_files {
        given.files.push((file.clone(), request.load(file)?));
    }
    // Values come from files alone, so that none names another one.
    let given = given.merge(&mut |_| Err(String::new()));
    let name = name(chart)?;
    let wanted = Wanted {
        chart: loaded,
        given: given.map_err(|error| told(whole(&error).to_string()))?,
        release: Release {
            name,
            namespace: namespace(chart),
            is_upgrade: false,
            revision: 1,
        },
        capabilities: capabilities(chart).map_err(told)?,
        options: render::Options::of_own_charts(),
        skip_schema: false,
        sub_notes: false,
        post_renderer: None,
        strategy: Strategy::default(),
    };
    let rendered = release::render(&Engine::new(), wanted, &mut Machine, &mut Vec::new());
    let rendered = rendered.map_err(|error| {
        let mut text = told(whole(&error).to_string());
        if let (true, release::Error::Manifest { files, .. }) = (chart.debug, &error) {
            text += &format!("\nHelm template:\n{}", template::rendered_files(files));
        }
        text
    })?;
    let options = print::Options {
        include_crds: chart.include_crds,
        no_hooks: chart.skip_hooks,
        skip_tests: chart.skip_tests,
        show_only: Vec::new(),
    };
    print::template(&rendered, &options, HelmVersion::V4).map_err(|error| told(error.to_string()))
}

/// Where the values of a chart itself are had from.
type OwnValues = Box<dyn FnOnce(&Request<'_>) -> Result<Vec<u8>, String>>;

/// The chart: of the directory of charts, or pulled into it if it is not there.
fn load(request: &Request<'_>, chart: &HelmChart) -> Result<(Chart, OwnValues), String> {
    let tree = request.tree;
    let mut home = joined(request.root, &request.globals.chart_home);
    if !chart.version.is_empty() && !chart.repo.is_empty() {
        home = joined(&home, &format!("{}-{}", chart.name, chart.version));
    }
    let folder = joined(&home, &chart.name);
    if !tree.is_dir(&folder) {
        if chart.repo.is_empty() {
            let folder = tree.show(&folder);
            return Err(format!(
                "no repo specified for pull, no chart found at '{folder}'"
            ));
        }
        let fetched = pull(chart)?;
        if !tree.is_file_system() {
            // A base that was fetched has no place for it.
            let loaded = charts::unpack(&fetched.archive)
                .map_err(|error| format!("chart '{}': {error}", chart.name))?;
            let values = loaded.file("values.yaml").cloned();
            let values = values.map(|values| values.to_vec()).unwrap_or_default();
            return Ok((loaded, Box::new(|_| Ok(values))));
        }
        let home = format!("/{home}");
        untar::write(Path::new(&home), &fetched.archive)
            .map_err(|error| format!("chart '{}': {error:#}", chart.name))?;
        if !tree.is_dir(&folder) {
            let folder = tree.show(&folder);
            return Err(format!(
                "the chart that was pulled is not at '{folder}': it has another name"
            ));
        }
    }
    let files = Files::new(request, &folder);
    let loaded = Chart::from_tree(&files, "", &charts::limits());
    let loaded = loaded.map_err(|error| {
        let problem = files.refused().unwrap_or_else(|| whole(&error).to_string());
        format!("chart '{}': {problem}", chart.name)
    })?;
    let values = format!("/{folder}/values.yaml");
    Ok((loaded, Box::new(move |request| request.load(&values))))
}

fn pull(chart: &HelmChart) -> Result<fetch::Fetched, String> {
    let (name, repo) = match chart.repo.starts_with("oci://") {
        true => (
            format!("{}/{}", chart.repo.trim_end_matches('/'), chart.name),
            None,
        ),
        false => (chart.name.clone(), Some(chart.repo.clone())),
    };
    let wanted = fetch::Wanted::new(repo, &chart.version, chart.devel);
    let fetched = wanted.get(&name, false);
    fetched.map_err(|error| format!("failed to pull chart '{}': {error:#}", chart.name))
}

fn name(chart: &HelmChart) -> Result<String, String> {
    match (chart.release_name.as_str(), chart.name_template.as_str()) {
        ("", "") => Ok("release-name".to_owned()),
        ("", template) => release::from_template(template, &mut Machine).map_err(|error| error.to_string()),
        (name, "") => Ok(name.to_owned()),
        _ => Err("cannot set --name-template and also specify a name".to_owned()),
    }
}

fn namespace(chart: &HelmChart) -> String {
    if !chart.namespace.is_empty() {
        return chart.namespace.clone();
    }
    let given = env::var("HELM_NAMESPACE").ok().filter(|name| !name.is_empty());
    given.unwrap_or_else(|| "default".to_owned())
}

fn capabilities(chart: &HelmChart) -> Result<Capabilities, String> {
    let mut capabilities = Capabilities::default_of(HelmVersion::V4);
    if !chart.kube_version.is_empty() {
        let parsed = KubeVersion::parse(&chart.kube_version);
        capabilities.kube_version =
            parsed.map_err(|error| format!("invalid kube version '{}': {error}", chart.kube_version))?;
    }
    let more = chart.api_versions.iter().flat_map(|given| given.split(','));
    capabilities.api_versions.extend(more.map(str::to_owned));
    Ok(capabilities)
}
