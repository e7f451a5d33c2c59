//! `sluice helm lint`: what is wrong with a chart, or could be better.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use helm::HelmVersion;
use helm::capabilities::{Capabilities, KubeVersion};
use helm::chart::Chart;
use helm::release::{self, Request, Strategy};
use helm::render::{self, Engine, Release};

use super::values::Values;
use super::world::Machine;
use super::{chart, template, whole};

/// Look for mistakes in charts
#[derive(clap::Args)]
pub(crate) struct Args {
    /// The charts: directories or archives
    #[arg(default_value = ".", value_name = "CHART")]
    charts: Vec<PathBuf>,
    #[command(flatten)]
    values: Values,
    /// The namespace that templates see
    #[arg(short, long, default_value = "default")]
    namespace: String,
    /// Fail on warnings too
    #[arg(long)]
    strict: bool,
    /// Print only warnings and errors
    #[arg(long)]
    quiet: bool,
    /// Do not check values against values.schema.json
    #[arg(long)]
    skip_schema_validation: bool,
    /// The version of Kubernetes that templates see
    #[arg(long, value_name = "VERSION")]
    kube_version: Option<String>,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Severity {
    Info,
    Warning,
    Error,
}

struct Message {
    severity: Severity,
    path: &'static str,
    text: String,
}

pub(super) fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let mut out = String::new();
    let mut failed = 0;
    let limit = if args.strict {
        Severity::Warning
    } else {
        Severity::Error
    };
    for path in &args.charts {
        let found = lint(args, path)?;
        let has_failed = found.iter().any(|message| message.severity >= limit);
        failed += usize::from(has_failed);
        let shown: Vec<&Message> = found
            .iter()
            .filter(|message| !args.quiet || message.severity > Severity::Info)
            .collect();
        if args.quiet && shown.is_empty() {
            continue;
        }
        out += &format!("==> Linting {}\n", path.display());
        for message in shown {
            let severity = match message.severity {
                Severity::Info => "INFO",
                Severity::Warning => "WARNING",
                Severity::Error => "ERROR",
            };
            out += &format!("[{severity}] {}: {}\n", message.path, message.text);
        }
        out.push('\n');
    }
    template::write(&out)?;
    let summary = format!("{} chart(s) linted, {failed} chart(s) failed", args.charts.len());
    if failed > 0 {
        anyhow::bail!(summary);
    }
    if !args.quiet {
        template::write(&format!("{summary}\n"))?;
    }
    Ok(ExitCode::SUCCESS)
}

fn lint(args: &Args, path: &Path) -> anyhow::Result<Vec<Message>> {
    let mut found = Vec::new();
    let loaded = match chart::load(path) {
        Ok(loaded) => loaded,
        Err(error) => {
            found.push(Message {
                severity: Severity::Error,
                path: "Chart.yaml",
                text: format!("unable to load chart\n\t{error:#}"),
            });
            return Ok(found);
        }
    };
    metadata(&loaded, path, &mut found);
    let missing = helm::dependencies::missing(&loaded);
    if !missing.is_empty() {
        found.push(Message {
            severity: Severity::Warning,
            path: "Chart.yaml",
            text: format!(
                "chart directory is missing these dependencies: {}",
                missing.join(",")
            ),
        });
    }
    if loaded.file("values.yaml").is_none() {
        found.push(Message {
            severity: Severity::Info,
            path: "values.yaml",
            text: "file does not exist".to_owned(),
        });
    }
    if loaded.templates().next().is_none() {
        found.push(Message {
            severity: Severity::Warning,
            path: "templates/",
            text: "directory does not exist".to_owned(),
        });
    }
    if loaded.metadata.kind != "library" {
        templates(args, loaded, &mut found)?;
    }
    Ok(found)
}

/// What Chart.yaml lacks that charts load without.
fn metadata(chart: &Chart, path: &Path, found: &mut Vec<Message>) {
    let mut add = |severity, text: String| {
        found.push(Message {
            severity,
            path: "Chart.yaml",
            text,
        });
    };
    let metadata = &chart.metadata;
    let directory = path.canonicalize().ok();
    let directory = directory
        .as_deref()
        .filter(|path| path.is_dir())
        .and_then(Path::file_name);
    if let Some(directory) = directory.and_then(|name| name.to_str())
        && directory != metadata.name
    {
        add(
            Severity::Error,
            format!(
                "directory name ({directory}) and chart name ({}) must be the same",
                metadata.name
            ),
        );
    }
    if metadata.api_version == "v1" && !metadata.kind.is_empty() {
        add(
            Severity::Error,
            "chart type is not valid in apiVersion 'v1'. It is valid in apiVersion 'v2'".to_owned(),
        );
    }
    if metadata.icon.is_empty() {
        add(Severity::Info, "icon is recommended".to_owned());
    }
}

/// Renders with missing values allowed.
fn templates(args: &Args, chart: Chart, found: &mut Vec<Message>) -> anyhow::Result<()> {
    let mut capabilities = Capabilities::default_of(HelmVersion::V4);
    if let Some(version) = &args.kube_version {
        capabilities.kube_version = KubeVersion::parse(version)?;
    }
    let request = Request {
        chart,
        given: args.values.merge()?,
        release: Release {
            name: "test-release".to_owned(),
            namespace: args.namespace.clone(),
            is_upgrade: false,
            revision: 1,
        },
        capabilities,
        options: render::Options {
            lint: true,
            ..render::Options::default()
        },
        skip_schema: args.skip_schema_validation,
        sub_notes: false,
        post_renderer: None,
        strategy: Strategy::default(),
    };
    if let Err(error) = release::render(&Engine::new(), request, &mut Machine, &mut Vec::new()) {
        found.push(Message {
            severity: Severity::Error,
            path: match error {
                release::Error::Schema(_) => "values.yaml",
                _ => "templates/",
            },
            text: format!("{:#}", whole(&error)),
        });
    }
    Ok(())
}
