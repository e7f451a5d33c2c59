//! `sluice helm template`: what `helm template` prints.

use std::collections::BTreeMap;
use std::fs;
use std::io::{BufWriter, Write as _};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::Context as _;
use helm::HelmVersion;
use helm::capabilities::{Capabilities, KubeVersion};
use helm::print;
use helm::release::{self, PostRenderer, Rendered, Request, Strategy};
use helm::render::{self, Engine, Release};

use super::check::offline::{self, Question};
use super::check::server::Server;
use super::cluster;
use super::fetch::Wanted;
use super::post_renderer::Program;
use super::values::Values;
use super::world::Machine;
use super::{chart, whole};
use crate::commands::pflag;

/// Print the manifests that a chart makes, without a cluster
#[derive(clap::Args)]
pub(crate) struct Args {
    /// The name of the release, and the chart: a directory, an archive, a URL, a name in the repository --repo, or REPOSITORY/NAME as helm knows it
    #[arg(value_name = "[NAME] CHART", required = true, num_args = 1..=2)]
    name_and_chart: Vec<String>,
    #[command(flatten)]
    wanted: Wanted,
    #[command(flatten)]
    values: Values,
    /// The namespace of the release [default: that of the kubeconfig's context, or default]
    #[arg(short, long, env = "HELM_NAMESPACE")]
    namespace: Option<String>,
    /// Print only what comes from these templates; may be repeated
    #[arg(short, long, value_name = "TEMPLATE")]
    show_only: Vec<String>,
    /// Write files into this directory instead of printing
    #[arg(long, value_name = "DIR")]
    output_dir: Option<PathBuf>,
    /// Put the name of the release into the paths of those files
    #[arg(long)]
    release_name: bool,
    /// Print what lies in crds/ too
    #[arg(long)]
    include_crds: bool,
    /// Leave out what lies in crds/, even if it is asked for
    #[arg(long)]
    skip_crds: bool,
    /// Leave out hooks
    #[arg(long)]
    no_hooks: bool,
    /// Leave out tests
    #[arg(long)]
    skip_tests: bool,
    /// Render as for an upgrade
    #[arg(long)]
    is_upgrade: bool,
    /// The version of Kubernetes that templates see
    #[arg(long, value_name = "VERSION")]
    kube_version: Option<String>,
    /// A version of an API that templates see too; may be repeated
    #[arg(short, long, value_name = "VERSION", value_delimiter = ',')]
    api_versions: Vec<String>,
    /// A template for the name of the release
    #[arg(long, value_name = "TEMPLATE")]
    name_template: Option<String>,
    /// Make up a name for the release
    #[arg(short, long)]
    generate_name: bool,
    /// Fail if Kubernetes would not take what is made; no cluster is asked
    #[arg(long, conflicts_with = "dry_run")]
    validate: bool,
    /// What to ask: nobody (client), or the cluster of the kubeconfig (server), for what templates see, kinds and objects that are in the way
    #[arg(long, value_name = "WHOM", num_args = 0..=1, require_equals = true, default_missing_value = "client")]
    dry_run: Option<String>,
    /// Do not check values against values.schema.json
    #[arg(long)]
    skip_schema_validation: bool,
    /// A program that changes the manifests
    #[arg(long, value_name = "PROGRAM")]
    post_renderer: Option<String>,
    /// An argument of that program; may be repeated
    #[arg(long, value_name = "ARG", allow_hyphen_values = true)]
    post_renderer_args: Vec<String>,
    /// What that program gets: everything at once, hooks on their own, or no hooks
    #[arg(long, value_enum, default_value_t = What::Combined)]
    post_renderer_strategy: What,
    /// The Helm whose rules apply: 3 or 4
    #[arg(long, value_name = "MAJOR", default_value = "4", value_parser = ["3", "4"])]
    helm_version: String,
    /// Print what was rendered even if it is no YAML
    #[arg(long, env = "HELM_DEBUG")]
    debug: bool,
    #[command(flatten)]
    cluster: cluster::Flags,
    #[command(flatten)]
    _without_effect: WithoutEffect,
}

/// Flags of Helm that change nothing where there is no cluster. Scripts pass them.
#[derive(clap::Args)]
struct WithoutEffect {
    #[arg(long, hide = true)]
    disable_openapi_validation: bool,
    #[arg(long, hide = true)]
    create_namespace: bool,
    #[arg(long, hide = true)]
    dependency_update: bool,
    #[arg(long, hide = true)]
    enable_dns: bool,
    #[arg(long, hide = true)]
    hide_notes: bool,
    #[arg(long, hide = true)]
    render_subchart_notes: bool,
}

#[derive(Clone, Copy, clap::ValueEnum)]
enum What {
    Combined,
    Separate,
    #[value(name = "nohooks")]
    NoHooks,
}

pub(super) fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let version = match args.helm_version.as_str() {
        "3" => HelmVersion::V3,
        _ => HelmVersion::V4,
    };
    let (name, path) = name_and_chart(args)?;
    let server = match asks_server(args)? {
        true => Some(Server::connect(&args.cluster.cluster())?),
        false => None,
    };
    let given = args.values.merge()?;
    let loaded = chart::locate(&path, &args.wanted)?;
    chart::check(&loaded)?;
    let mut program = args.post_renderer.as_ref().map(|command| Program {
        command: command.clone(),
        arguments: args.post_renderer_args.clone(),
    });
    let release = Release {
        name,
        namespace: namespace(args),
        is_upgrade: args.is_upgrade,
        revision: 1,
    };
    if server.is_some() && !args.skip_crds && !loaded.crds().is_empty() {
        eprintln!(
            "This chart or one of its subcharts contains CRDs. Rendering may fail or contain inaccuracies."
        );
    }
    let request = Request {
        chart: loaded,
        given,
        release: release.clone(),
        capabilities: match &server {
            Some(server) => server.capabilities()?,
            None => capabilities(args, version)?,
        },
        options: render::Options {
            lookup: server.as_ref().map(Server::lookup),
            ..render::Options::of_own_charts()
        },
        skip_schema: args.skip_schema_validation,
        sub_notes: false,
        post_renderer: program.as_mut().map(|program| program as &mut dyn PostRenderer),
        strategy: match (args.post_renderer_strategy, version) {
            (_, HelmVersion::V3) | (What::NoHooks, _) => Strategy::NoHooks,
            (What::Separate, _) => Strategy::Separate,
            (What::Combined, _) => Strategy::Combined,
        },
    };
    let mut warnings = Vec::new();
    let rendered = release::render(&Engine::new(), request, &mut Machine, &mut warnings);
    for warning in &warnings {
        eprintln!("{warning}");
    }
    let rendered = rendered.map_err(|error| failed(&error, args.debug))?;
    let options = print::Options {
        include_crds: args.include_crds,
        no_hooks: args.no_hooks,
        skip_tests: args.skip_tests,
        show_only: args.show_only.clone(),
    };
    if let Some(server) = &server {
        server.check(&rendered, &options, &release)?;
    }
    if args.validate {
        offline::check(&Question {
            rendered: &rendered,
            options: &options,
            namespace: &release.namespace,
            api_versions: &args.api_versions,
        })?;
    }
    match &args.output_dir {
        None if options.show_only.is_empty() => write_all(&print::pieces(&rendered, &options))?,
        None => write(&print::template(&rendered, &options, version)?)?,
        Some(directory) => {
            let directory = match args.release_name {
                true => directory.join(&release.name),
                false => directory.clone(),
            };
            write_files(&rendered, &options, &directory)?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// What went wrong; with `--debug` what was rendered goes before it.
fn failed(error: &release::Error, debug: bool) -> anyhow::Error {
    if let (true, release::Error::Manifest { files, .. }) = (debug, error) {
        let _ = write(&rendered_files(files));
    }
    let text = whole(error);
    if error.is_of_rendering() && !debug {
        return anyhow::anyhow!("{text}\n\nUse --debug flag to render out invalid YAML");
    }
    text
}

/// Everything that was rendered, whatever it is.
pub(in crate::commands) fn rendered_files(files: &BTreeMap<String, String>) -> String {
    let mut text = String::new();
    for (path, content) in files.iter().filter(|(_, content)| !content.trim().is_empty()) {
        text += &format!("---\n# Source: {path}\n{content}\n");
    }
    text.trim().to_owned() + "\n"
}

/// Whether the cluster is asked. All other words of Helm are for nobody.
fn asks_server(args: &Args) -> anyhow::Result<bool> {
    let Some(whom) = &args.dry_run else {
        return Ok(false);
    };
    let shown = model::quote::quote(whom);
    match (whom.as_str(), pflag::boolean(whom)) {
        ("server", _) => Ok(true),
        ("client", _) | (_, Ok(true)) => Ok(false),
        ("none", _) | (_, Ok(false)) => {
            anyhow::bail!("invalid dry-run value ({shown}). Must be \"server\" or \"client\"")
        }
        _ => anyhow::bail!("invalid dry-run value ({shown}). Must be \"none\", \"server\", or \"client\""),
    }
}

fn namespace(args: &Args) -> String {
    let given = args.namespace.clone().filter(|namespace| !namespace.is_empty());
    let known = given.or_else(|| args.cluster.namespace());
    known.unwrap_or_else(|| "default".to_owned())
}

fn name_and_chart(args: &Args) -> anyhow::Result<(String, String)> {
    match args.name_and_chart.as_slice() {
        [name, chart] => {
            if args.generate_name {
                anyhow::bail!("cannot set --generate-name and also specify a name");
            }
            if args.name_template.is_some() {
                anyhow::bail!("cannot set --name-template and also specify a name");
            }
            Ok((name.clone(), chart.clone()))
        }
        [chart] => {
            let name = match &args.name_template {
                Some(template) => release::from_template(template, &mut Machine)?,
                None => "release-name".to_owned(),
            };
            Ok((name, chart.clone()))
        }
        _ => anyhow::bail!("name a chart"),
    }
}

fn capabilities(args: &Args, version: HelmVersion) -> anyhow::Result<Capabilities> {
    let mut capabilities = Capabilities::default_of(version);
    if let Some(wanted) = &args.kube_version {
        let parsed = KubeVersion::parse(wanted);
        capabilities.kube_version = parsed.with_context(|| format!("invalid kube version '{wanted}'"))?;
    }
    capabilities
        .api_versions
        .extend(args.api_versions.iter().cloned());
    Ok(capabilities)
}

/// Prints; whoever reads may stop reading.
pub(super) fn write(text: &str) -> anyhow::Result<()> {
    write_all(&[text])
}

/// Prints texts that follow one another, many small ones at once.
fn write_all<T: AsRef<str>>(pieces: &[T]) -> anyhow::Result<()> {
    let mut out = BufWriter::with_capacity(64 << 10, crate::commands::printed::stdout());
    let mut pieces = pieces.iter();
    let written = pieces.try_for_each(|piece| out.write_all(piece.as_ref().as_bytes()));
    written
        .and_then(|()| out.flush())
        .context("failed to write to standard output")
}

/// One file for each template.
fn write_files(rendered: &Rendered, options: &print::Options, directory: &Path) -> anyhow::Result<()> {
    let mut files: BTreeMap<String, String> = BTreeMap::new();
    let mut add = |path: &str, text: &str| {
        let file = files.entry(path.to_owned()).or_default();
        *file += &format!("---\n# Source: {path}\n{text}\n");
    };
    if options.include_crds {
        for (path, content) in &rendered.crds {
            add(path, &String::from_utf8_lossy(content));
        }
    }
    for manifest in &rendered.manifests {
        add(&manifest.path, &manifest.content);
    }
    for hook in rendered.hooks.iter().filter(|_| !options.no_hooks) {
        if !(options.skip_tests && hook.is_test()) {
            add(&hook.path, &hook.manifest);
        }
    }
    for (path, text) in files {
        let path = directory.join(path);
        let above = path.parent().unwrap_or(directory);
        fs::create_dir_all(above).with_context(|| format!("failed to make {}", above.display()))?;
        fs::write(&path, text).with_context(|| format!("failed to write {}", path.display()))?;
        write(&format!("wrote {}\n", path.display()))?;
    }
    Ok(())
}
