//! `sluice helm show`: what is in a chart.

use std::process::ExitCode;

use anyhow::Context as _;
use apiserver::jsonpath::Template;
use helm::chart::Chart;
use model::Value;

use super::fetch::Wanted;
use super::{chart, template};

/// Show what is in a chart
#[derive(clap::Subcommand)]
pub(crate) enum Show {
    /// Everything: metadata, values, README and CRDs
    All(Args),
    /// What Chart.yaml says
    Chart(Args),
    /// values.yaml
    Values(ValuesArgs),
    /// The README
    Readme(Args),
    /// What lies in crds/
    Crds(Args),
}

#[derive(clap::Args)]
pub(crate) struct Args {
    /// The chart: a directory, an archive, a URL, or a name in the repository --repo
    chart: String,
    #[command(flatten)]
    wanted: Wanted,
}

#[derive(clap::Args)]
pub(crate) struct ValuesArgs {
    #[command(flatten)]
    args: Args,
    /// Print what this text with paths makes of the values, such as '{.image.tag}'
    #[arg(long, value_name = "TEMPLATE")]
    jsonpath: Option<String>,
}

/// Names of the file with the explanations, in any case.
const READMES: [&str; 3] = ["readme.md", "readme.txt", "readme"];

pub(super) fn run(what: &Show) -> anyhow::Result<ExitCode> {
    let (Show::All(args)
    | Show::Chart(args)
    | Show::Values(ValuesArgs { args, .. })
    | Show::Readme(args)
    | Show::Crds(args)) = what;
    let loaded = chart::locate(&args.chart, &args.wanted)?;
    let all = matches!(what, Show::All(_));
    let mut out = String::new();
    if let Show::Values(ValuesArgs {
        jsonpath: Some(template),
        ..
    }) = what
        && !template.is_empty()
    {
        template::write(&chosen(&loaded, template)?)?;
        return Ok(ExitCode::SUCCESS);
    }
    if all || matches!(what, Show::Chart(_)) {
        out += &loaded.metadata_yaml();
        out.push('\n');
    }
    if (all || matches!(what, Show::Values(_)))
        && let Some(values) = loaded.file("values.yaml")
    {
        add(&mut out, all, values);
    }
    if (all || matches!(what, Show::Readme(_)))
        && let Some(readme) = readme(&loaded)
    {
        add(&mut out, all, readme);
    }
    if all || matches!(what, Show::Crds(_)) {
        for (_, content) in loaded.crds() {
            add(&mut out, !content.starts_with(b"---"), &content);
        }
    }
    template::write(&out)?;
    Ok(ExitCode::SUCCESS)
}

fn add(out: &mut String, separated: bool, content: &[u8]) {
    if separated {
        out.push_str("---\n");
    }
    out.push_str(&String::from_utf8_lossy(content));
    out.push('\n');
}

/// What a text with paths makes of the values. Where a path leads nowhere nothing is printed, and that is no failure: so it is in Helm.
fn chosen(chart: &Chart, template: &str) -> anyhow::Result<String> {
    let parsed = Template::parse(template).with_context(|| format!("error parsing jsonpath {template}"))?;
    let values = Value::Object(chart.defaults.clone());
    Ok(parsed.print(&values).unwrap_or_else(|problem| {
        eprintln!("nothing is printed: {problem}");
        String::new()
    }))
}

fn readme(chart: &Chart) -> Option<&[u8]> {
    let is_readme = |path: &str| READMES.contains(&path.to_lowercase().as_str());
    let mut files = chart.plain_files();
    let found = files.find(|file| is_readme(&file.path))?;
    Some(&found.content)
}
