//! `sluice helm lint`: what is wrong with a chart, or could be better.

mod crds;
mod deprecated;
mod fields;
mod metadata;
mod names;
mod objects;
mod subcharts;
mod templates;

use std::path::{Component, Path, PathBuf};
use std::process::ExitCode;

use helm::chart::Chart;

use super::values::Values;
use super::{chart, template};

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
    /// Look at the charts in charts/ too
    #[arg(long)]
    with_subcharts: bool,
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

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Severity {
    Info,
    Warning,
    Error,
}

/// Something to be said of a chart.
#[derive(Debug)]
struct Message {
    severity: Severity,
    path: String,
    text: String,
}

impl Message {
    fn new(severity: Severity, path: impl Into<String>, text: impl Into<String>) -> Self {
        Message {
            severity,
            path: path.into(),
            text: text.into(),
        }
    }
}

pub(super) fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let mut out = String::new();
    let (mut failed, mut told) = (0, 0);
    let limit = if args.strict {
        Severity::Warning
    } else {
        Severity::Error
    };
    let mut charts = args.charts.clone();
    if args.with_subcharts {
        for path in &args.charts {
            // Helm cleans the paths that it makes, and begins none with a dot.
            let path: PathBuf = path
                .components()
                .filter(|part| *part != Component::CurDir)
                .collect();
            subcharts::find(&path.join("charts"), &mut charts);
        }
    }
    for path in &charts {
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
        told += 1;
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
    let summary = format!("{} chart(s) linted, {failed} chart(s) failed", charts.len());
    if failed > 0 {
        anyhow::bail!(summary);
    }
    if !args.quiet || told > 0 {
        template::write(&format!("{summary}\n"))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Looks at a chart in the order in which Helm does.
fn lint(args: &Args, path: &Path) -> anyhow::Result<Vec<Message>> {
    let mut found = Vec::new();
    let loaded = match chart::load(path) {
        Ok(loaded) => loaded,
        Err(error) => {
            let text = format!("unable to load chart\n\t{error:#}");
            return Ok(vec![Message::new(Severity::Error, "Chart.yaml", text)]);
        }
    };
    let given = args.values.merge()?;
    let written = chart::chart_yaml(path)?;
    if let Some(problem) = written.as_ref().and_then(|text| fields::problem(text)) {
        let text = format!("failed to strictly parse chart metadata file\n\t{problem}");
        found.push(Message::new(Severity::Warning, "Chart.yaml", text));
    }
    let mistyped = written.map(|text| fields::mistyped(&text)).unwrap_or_default();
    found.extend(
        mistyped
            .into_iter()
            .map(|text| Message::new(Severity::Error, "Chart.yaml", text)),
    );
    metadata::check(&loaded, &mut found);
    templates::check(args, &loaded, given, &mut found)?;
    dependencies(&loaded, path, &mut found);
    crds::check(&loaded, &mut found);
    Ok(found)
}

/// Whether the charts below are those that the chart declares.
fn dependencies(chart: &Chart, path: &Path, found: &mut Vec<Message>) {
    let place = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    let place = place.display().to_string();
    let declared: Vec<_> = chart.metadata.dependencies.iter().flatten().collect();
    let below = chart
        .dependencies
        .iter()
        .map(|chart| chart.metadata.name.as_str());
    let mut add = |severity, what: &str, names: Vec<&str>| {
        if !names.is_empty() {
            let text = format!("{what}: {}", names.join(","));
            found.push(Message::new(severity, place.clone(), text));
        }
    };
    let unknown = below.filter(|name| !declared.iter().any(|dependency| dependency.name == *name));
    add(
        Severity::Error,
        "chart metadata is missing these dependencies",
        unknown.collect(),
    );
    let names: Vec<&str> = declared
        .iter()
        .map(|dependency| dependency.local_name())
        .collect();
    let repeated = names
        .iter()
        .enumerate()
        .filter(|(at, name)| names[..*at].contains(name));
    add(
        Severity::Error,
        "multiple dependencies with name or alias",
        repeated.map(|(_, name)| *name).collect(),
    );
    add(
        Severity::Warning,
        "chart directory is missing these dependencies",
        helm::dependencies::missing(chart),
    );
}
