//! `sluice kustomize build`: what `kustomize build` prints.

mod helm;
pub(super) mod remote;
mod write;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::Context as _;
use builder::Directory;
use kustomize::{LoadRestrictor, Options, Reorder};

use super::pflag;

/// Build kustomizations
#[derive(clap::Subcommand)]
pub(crate) enum Kustomize {
    Build(Args),
}

/// Print what a kustomization makes
#[derive(clap::Args)]
// As with kustomize, the last of equal flags counts.
pub(crate) struct Args {
    /// The directory with the kustomization, or the URL of one in a Git repository
    #[arg(default_value = ".")]
    directory: String,
    /// Write to this file, or into this directory one file for each object
    #[arg(short, long)]
    output: Option<PathBuf>,
    /// Which files kustomizations may read
    #[arg(long, value_enum, default_value_t = Restrictor::RootOnly)]
    load_restrictor: Restrictor,
    #[arg(
        long,
        value_enum,
        help = "The order of the objects, where the kustomization does not say [default: legacy]"
    )]
    reorder: Option<Order>,
    /// Label everything with app.kubernetes.io/managed-by
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true, default_missing_value = "true", default_value = "false", hide_default_value = true, action = clap::ArgAction::Set, value_parser = pflag::boolean)]
    enable_managedby_label: bool,
    /// Render charts
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true, default_missing_value = "true", default_value = "false", hide_default_value = true, action = clap::ArgAction::Set, value_parser = pflag::boolean)]
    enable_helm: bool,
    /// Have this helm program render charts [default: they are rendered without one]
    #[arg(long, value_name = "PROGRAM")]
    helm_command: Option<String>,
    /// The version of Kubernetes that charts see, instead of what the kustomization says
    #[arg(long, default_value = "", hide_default_value = true, value_name = "VERSION")]
    helm_kube_version: String,
    /// A version of an API that charts see, instead of what the kustomization says; may be repeated
    #[arg(long, value_name = "VERSION")]
    helm_api_versions: Vec<String>,
    /// Show what a chart rendered where that is no YAML
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true, default_missing_value = "true", default_value = "false", hide_default_value = true, action = clap::ArgAction::Set, value_parser = pflag::boolean)]
    helm_debug: bool,
    #[command(flatten)]
    _without_effect: WithoutEffect,
}

/// Flags of kustomize that only plugins heed. Scripts pass them; programs and containers are refused where a kustomization
/// asks for them.
#[derive(clap::Args)]
struct WithoutEffect {
    #[arg(long, hide = true, value_name = "BOOL", num_args = 0..=1, require_equals = true, default_missing_value = "true", default_value = "false", hide_default_value = true, action = clap::ArgAction::Set, value_parser = pflag::boolean)]
    enable_alpha_plugins: bool,
    #[arg(long, hide = true, value_name = "BOOL", num_args = 0..=1, require_equals = true, default_missing_value = "true", default_value = "false", hide_default_value = true, action = clap::ArgAction::Set, value_parser = pflag::boolean)]
    enable_exec: bool,
    #[arg(long, hide = true, value_name = "BOOL", num_args = 0..=1, require_equals = true, default_missing_value = "true", default_value = "false", hide_default_value = true, action = clap::ArgAction::Set, value_parser = pflag::boolean)]
    as_current_user: bool,
    #[arg(long, hide = true, value_name = "BOOL", num_args = 0..=1, require_equals = true, default_missing_value = "true", default_value = "false", hide_default_value = true, action = clap::ArgAction::Set, value_parser = pflag::boolean)]
    network: bool,
    #[arg(long, hide = true)]
    network_name: Option<String>,
    #[arg(long, hide = true)]
    mount: Vec<String>,
    #[arg(short, long, hide = true)]
    env: Vec<String>,
    #[arg(long, hide = true, value_name = "BOOL", num_args = 0..=1, require_equals = true, default_missing_value = "true", default_value = "false", hide_default_value = true, action = clap::ArgAction::Set, value_parser = pflag::boolean)]
    stack_trace: bool,
}

#[derive(Clone, Copy, clap::ValueEnum)]
enum Restrictor {
    #[value(name = "LoadRestrictionsRootOnly")]
    RootOnly,
    #[value(name = "LoadRestrictionsNone")]
    None,
}

#[derive(Clone, Copy, clap::ValueEnum)]
enum Order {
    Legacy,
    None,
}

pub(crate) async fn run(Kustomize::Build(args): Kustomize) -> anyhow::Result<ExitCode> {
    // Building waits for remote files, which it gets through this runtime.
    let runtime = tokio::runtime::Handle::current();
    tokio::task::spawn_blocking(move || build(&args, runtime)).await?
}

/// What is wrong, with the flag that would allow it.
fn explained(errors: kustomize::Errors, restrictor: Restrictor) -> anyhow::Error {
    let is_outside = |error: &kustomize::Error| error.message.contains("security; file '");
    let hint = match restrictor {
        Restrictor::RootOnly if errors.0.iter().any(is_outside) => {
            "\nhint: --load-restrictor LoadRestrictionsNone lets a kustomization read files that are not below its directory"
        }
        _ => "",
    };
    anyhow::anyhow!("{errors}{hint}")
}

fn build(args: &Args, runtime: tokio::runtime::Handle) -> anyhow::Result<ExitCode> {
    let fetcher = remote::Elsewhere::new(runtime)?;
    let renderer = helm::Charts {
        command: args.helm_command.clone(),
        kube_version: args.helm_kube_version.clone(),
        api_versions: args.helm_api_versions.clone(),
        debug: args.helm_debug,
    };
    if args.reorder.is_some() {
        eprintln!(
            "Flag --reorder has been deprecated, use the new 'sortOptions' field in kustomization.yaml instead."
        );
    }
    let mut options = Options {
        load_restrictor: match args.load_restrictor {
            Restrictor::RootOnly => LoadRestrictor::RootOnly,
            Restrictor::None => LoadRestrictor::None,
        },
        reorder: match args.reorder {
            None | Some(Order::Legacy) => Reorder::Legacy,
            Some(Order::None) => Reorder::None,
        },
        managed_by_label: args.enable_managedby_label,
        fetcher: Some(&fetcher),
        ..Options::default()
    };
    if args.enable_helm {
        options.helm = Some(&renderer);
    }
    // What was built can say where it comes from, and so needs the files for longer.
    let (fetched, tree);
    let output = match kustomize::remote::RepoSpec::parse(&args.directory) {
        Some(spec) => {
            fetched = kustomize::remote::Fetcher::repository(&fetcher, &spec).map_err(anyhow::Error::msg)?;
            kustomize::build(fetched.as_ref(), &spec.path, &options)?
        }
        None => {
            // Bases may be anywhere, as with kustomize: the tree is the whole file system.
            tree = Directory::new(Path::new("/"))?;
            let root = std::fs::canonicalize(&args.directory)
                .with_context(|| format!("failed to find the directory {}", args.directory))?;
            let root = root
                .to_str()
                .with_context(|| format!("{} is not UTF-8", root.display()))?;
            kustomize::build(&tree, root, &options)
                .map_err(|errors| explained(errors, args.load_restrictor))?
        }
    };
    for warning in &output.warnings {
        eprintln!("{warning}");
    }
    match &args.output {
        Some(folder) if folder.is_dir() => write::to_folder(&output, folder)?,
        Some(file) => write::to_file(output, file)?,
        None => write::print(output, crate::commands::printed::stdout())?,
    }
    Ok(ExitCode::SUCCESS)
}
