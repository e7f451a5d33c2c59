//! `sluice kustomize build`: what `kustomize build` prints.

mod helm;
pub(super) mod remote;

use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::Context as _;
use builder::Directory;
use kustomize::{LoadRestrictor, Options, Output, Reorder};

/// Build kustomizations
#[derive(clap::Subcommand)]
pub(crate) enum Kustomize {
    Build(Args),
}

/// Print what a kustomization makes
#[derive(clap::Args)]
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
    /// The order of the objects, where the kustomization does not say
    #[arg(long, value_enum, default_value_t = Order::Legacy)]
    reorder: Order,
    /// Label everything with app.kubernetes.io/managed-by
    #[arg(long)]
    enable_managedby_label: bool,
    /// Render charts with the helm program
    #[arg(long)]
    enable_helm: bool,
    /// The helm program
    #[arg(long, default_value = "helm")]
    helm_command: String,
    #[command(flatten)]
    _without_effect: WithoutEffect,
}

/// Flags of kustomize that only plugins heed. Scripts pass them; programs and containers are refused where a kustomization
/// asks for them.
#[derive(clap::Args)]
struct WithoutEffect {
    #[arg(long, hide = true)]
    enable_alpha_plugins: bool,
    #[arg(long, hide = true)]
    enable_exec: bool,
    #[arg(long, hide = true)]
    enable_star: bool,
    #[arg(long, hide = true)]
    as_current_user: bool,
    #[arg(long, hide = true)]
    network: bool,
    #[arg(long, hide = true)]
    network_name: Option<String>,
    #[arg(long, hide = true)]
    mount: Vec<String>,
    #[arg(short, long, hide = true)]
    env: Vec<String>,
    #[arg(long, hide = true)]
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

fn build(args: &Args, runtime: tokio::runtime::Handle) -> anyhow::Result<ExitCode> {
    let fetcher = remote::Elsewhere::new(runtime)?;
    let renderer = helm::Program::new(&args.helm_command);
    let mut options = Options {
        load_restrictor: match args.load_restrictor {
            Restrictor::RootOnly => LoadRestrictor::RootOnly,
            Restrictor::None => LoadRestrictor::None,
        },
        reorder: match args.reorder {
            Order::Legacy => Reorder::Legacy,
            Order::None => Reorder::None,
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
            kustomize::build(&tree, root, &options)?
        }
    };
    for warning in &output.warnings {
        eprintln!("{warning}");
    }
    match &args.output {
        Some(folder) if folder.is_dir() => write_each(&output, folder)?,
        Some(file) => std::fs::File::create(file)
            .map_err(anyhow::Error::from)
            .and_then(|out| print(output, out))
            .with_context(|| format!("failed to write {}", file.display()))?,
        None => print(output, std::io::stdout().lock())?,
    }
    Ok(ExitCode::SUCCESS)
}

fn print(output: Output<'_>, out: impl Write) -> anyhow::Result<()> {
    let mut out = BufWriter::new(out);
    output.write_yaml(&mut out)?;
    out.flush().context("failed to write the output")
}

/// Writes one file for each object, named by its kind, its name and, if there are several, its namespace.
fn write_each(output: &Output<'_>, folder: &Path) -> anyhow::Result<()> {
    let documents = output.documents().collect::<Result<Vec<_>, _>>()?;
    let mut namespaces: Vec<&str> = documents
        .iter()
        .filter_map(|document| document.namespace.as_deref())
        .collect();
    namespaces.sort_unstable();
    namespaces.dedup();
    for document in &documents {
        let mut name = String::new();
        if let Some(namespace) = document.namespace.as_deref().filter(|_| namespaces.len() > 1) {
            name.push_str(namespace);
            name.push('_');
        }
        for part in [&document.group, &document.version, &document.kind] {
            if !part.is_empty() {
                name.push_str(part);
                name.push('_');
            }
        }
        name.push_str(&document.name);
        // A name may hold a slash only in a manifest that no server would take.
        let file = folder.join(format!("{}.yaml", name.to_lowercase().replace('/', "_")));
        std::fs::write(&file, &document.yaml)
            .with_context(|| format!("failed to write {}", file.display()))?;
    }
    Ok(())
}
