//! `sluice plan kustomization|helmrelease`: the plan that the controller would carry out.

use std::io::Write as _;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context as _, ensure};
use api::kustomize::Kustomization;
use controllers::helm_releases::Look;
use controllers::kustomizations::{Files, Settings, Shared, preview};
use engine::plan::{self, Action};
use kube::Client;
use source::git::Cache;
use source::http;
use source::identity::{self, Environment, Identities};

use super::build::{At, from_cluster, from_file};
use super::failure::WithCode;
use super::release;

/// Show what would be done, and why
#[derive(clap::Subcommand)]
pub(crate) enum Plan {
    #[command(visible_alias = "hr")]
    Helmrelease(Box<ReleaseArgs>),
    #[command(visible_alias = "ks")]
    Kustomization(Box<Args>),
}

/// Show the plan that the controller would carry out for a Kustomization
///
/// Builds, looks and plans as the controller does, with its rights as far as yours let you act as it, and changes nothing. No
/// values of objects are shown, only what is done to them and which fields differ. Ends with 0 if there is nothing to do, with
/// 1 if there is, and with 2 if that cannot be told or would fail.
///
///   sluice plan kustomization my-app
///   sluice plan kustomization my-app --path ./apps --output json
#[derive(clap::Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct Args {
    /// The name of the Kustomization
    name: String,

    /// A directory that stands for the Kustomization's path; without it, the artifact of its source is taken
    #[arg(long, value_name = "DIR")]
    path: Option<PathBuf>,

    /// A file with the Kustomization; without it, it is read from the cluster
    #[arg(long, value_name = "FILE")]
    kustomization_file: Option<PathBuf>,

    /// Files of the directory to leave out, as in .gitignore
    #[arg(long, value_name = "PATTERNS", value_delimiter = ',')]
    ignore_paths: Vec<String>,

    /// The form of the plan
    #[arg(long, short, value_name = "FORM", default_value = "text")]
    output: Form,

    #[command(flatten)]
    at: At,
}

/// Show the plan that the controller would carry out for a HelmRelease
///
/// The chart is rendered with its values and planned as the controller does it, with its hooks and definitions, and nothing is changed. No values of
/// objects are shown, only what is done to them and which fields differ. Ends with 0 if there is nothing to do, with 1 if there is, and with 2 if that
/// cannot be told or would fail.
///
///   sluice plan helmrelease podinfo
///   sluice plan helmrelease podinfo --helmrelease-file ./podinfo.yaml --output json
#[derive(clap::Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct ReleaseArgs {
    #[command(flatten)]
    which: release::Which,

    /// The form of the plan
    #[arg(long, short, value_name = "FORM", default_value = "text")]
    output: Form,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Form {
    Text,
    Json,
    Yaml,
}

pub(crate) async fn run(plan: Plan) -> anyhow::Result<ExitCode> {
    let (form, plan) = match plan {
        Plan::Kustomization(args) => (args.output, planned(*args).await),
        Plan::Helmrelease(args) => (args.output, of_release(*args).await),
    };
    let plan = plan.map_err(WithCode::wrong)?;
    print(&plan, form).map_err(WithCode::wrong)?;
    let failing = plan
        .steps()
        .filter(|step| matches!(step.action, Action::Fail { .. }));
    let failing: Vec<String> = failing.map(|step| step.key.to_string()).collect();
    if !failing.is_empty() {
        let error = anyhow::anyhow!("this would fail for {}", failing.join(", "));
        return Err(WithCode::wrong(error).into());
    }
    Ok(match plan.changes_anything() {
        true => ExitCode::FAILURE,
        false => ExitCode::SUCCESS,
    })
}

/// All plans of a release as one, in the order in which they would be carried out.
async fn of_release(mut args: ReleaseArgs) -> anyhow::Result<plan::Plan> {
    let preview = args.which.preview(Look::Run).await?;
    release::announce(&preview);
    let mut whole = plan::Plan::default();
    for (plan, _) in preview.plans {
        whole.stages.extend(plan.stages);
        whole.notes.extend(plan.notes);
    }
    Ok(whole)
}

async fn planned(mut args: Args) -> anyhow::Result<plan::Plan> {
    if let Some(path) = &args.path {
        ensure!(path.is_dir(), "invalid resource path {path:?}");
    }
    let client = args.at.reach().await?;
    let work = async {
        let definition = definition(&args, &client).await?;
        let (_kept, shared) = shared(client.clone())?;
        let ignore = args.ignore_paths.join("\n");
        let files = match &args.path {
            Some(path) => Files::Directory {
                path,
                ignore: &ignore,
            },
            None => Files::Artifact,
        };
        Ok(preview(shared, &definition, files).await?)
    };
    args.at.limited(work).await
}

/// The Kustomization; of a file, with what the cluster says that it has applied.
async fn definition(args: &Args, client: &Client) -> anyhow::Result<Kustomization> {
    let (name, namespace) = (&args.name, &args.at.namespace);
    let live = from_cluster(client, name, namespace).await?;
    let Some(file) = &args.kustomization_file else {
        return live.with_context(|| {
            format!("there is no Kustomization {namespace}/{name}; name a file that has it with --kustomization-file")
        });
    };
    let mut definition = from_file(file, name, namespace)?;
    definition
        .metadata
        .namespace
        .get_or_insert_with(|| namespace.clone());
    if let Some(live) = live {
        // What is applied is a new state of the object that is there.
        definition.metadata.uid = live.metadata.uid;
        definition.metadata.generation = live.metadata.generation.map(|generation| generation + 1);
        definition.status = live.status;
    }
    Ok(definition)
}

/// What the controller has for its Kustomizations, with a directory that goes with the program.
fn shared(client: Client) -> anyhow::Result<(tempfile::TempDir, Shared)> {
    let kept = tempfile::tempdir().context("unable to unpack artifacts; set TMPDIR")?;
    let shared = Shared {
        client,
        store: None,
        scratch: kept.path().to_owned(),
        repositories: Cache::open(kept.path().join("bases")).context("unable to keep Git repositories")?,
        identities: Identities::new(identity::Settings::new(Environment::of_process())),
        http: http::Options::default(),
        settings: Settings {
            external_artifact: true,
            source_host: std::env::var("SOURCE_CONTROLLER_LOCALHOST")
                .ok()
                .filter(|host| !host.is_empty()),
            // Nobody waits for a server that is not there.
            http_retry: 2,
            ..Settings::default()
        },
    };
    Ok((kept, shared))
}

fn print(plan: &plan::Plan, form: Form) -> anyhow::Result<()> {
    let text = match form {
        Form::Text => format!("{plan}\n"),
        Form::Json => format!("{}\n", serde_json::to_string_pretty(plan)?),
        Form::Yaml => yaml::write(&model::convert::from_serde(plan)?),
    };
    let mut out = crate::commands::printed::stdout();
    let written = out.write_all(text.as_bytes()).and_then(|()| out.flush());
    written.context("failed to write the output")
}
