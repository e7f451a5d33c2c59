//! `sluice up`: everything on this machine.
//!
//! ```text
//!    directory ─snapshot─▶ gitserver ─▶ GitRepository ─▶ Kustomization ─▶ objects        (by the controllers, in this process)
//!        └ index: file and line                 └──────── watches ────────┘
//!                └───────────────────────────▶ board ─▶ view, verdict
//! ```
//!
//! The controllers are those that run in clusters; nothing is applied here. What is here is the ground that they stand on, the files
//! that they are given, and eyes.

mod board;
mod directory;
mod follow;
mod ground;
mod index;
mod pods;
mod problem;
mod root;
mod tree;
mod unit;
mod view;
mod watches;

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context as _, bail};
use model::Value;
use tokio::sync::mpsc;

use super::cluster::Cluster;
use super::controller::{Within, Working};
use directory::{BRANCH, Directory};
use follow::{Files, Follower};
use ground::Ground;
use root::{NAMESPACE, Origin, Root};
use view::View;

/// How long what was made in a cluster may take to go.
const LAST_CLEARING: Duration = Duration::from_secs(120);

/// Run everything on this machine and keep it in sync with a directory or a Git repository
///
/// Starts an embedded Kubernetes API and all controllers, and has them apply what DIR or the repository at GIT-URL holds: plain
/// YAML, overlays of kustomize, or objects of Flux. The files of a directory are followed, committed or not: what is saved is
/// applied, what is removed is pruned, what others change in the cluster is put right. What Git ignores is left out, and so are
/// symbolic links. Workloads of the embedded API come up as if there were nodes; no container runs.
///
/// With --kubeconfig or --context, all of it happens in a cluster that is there, and what was made in it is deleted at the end,
/// unless --keep is given.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// The directory, or the address of a Git repository: https://… or ssh://…
    #[arg(default_value = ".", value_name = "DIR|GIT-URL")]
    what: String,

    /// The path in the directory or repository that is applied, such as clusters/dev
    #[arg(long)]
    path: Option<String>,

    /// The branch of the repository; its default one where neither this nor --tag is given
    #[arg(long, conflicts_with = "tag")]
    branch: Option<String>,

    /// The tag of the repository
    #[arg(long)]
    tag: Option<String>,

    /// The Secret in flux-system with the credentials for the repository
    #[arg(long, value_name = "NAME")]
    secret_ref: Option<String>,

    /// Exit when everything is ready (0) or something has failed (1)
    #[arg(long)]
    once: bool,

    /// How long everything may take with --once, in seconds
    #[arg(long, default_value_t = 60, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(1..))]
    timeout: u64,

    /// Leave everything in the cluster at the end; the next `sluice up` goes on with it
    #[arg(long)]
    keep: bool,

    /// Write a kubeconfig for the embedded API to this file
    #[arg(long, value_name = "FILE")]
    write_kubeconfig: Option<PathBuf>,

    /// How long a simulated pod takes to start, in milliseconds
    #[arg(long, default_value_t = 500, value_name = "MS")]
    start_delay: u64,

    #[command(flatten)]
    cluster: Cluster,
}

/// Why it ended.
enum End {
    Decided(anyhow::Result<ExitCode>),
    Late,
    Stopped,
}

/// What is synced: the objects that have it done, and where the files are.
struct Synced {
    root: Root,
    objects: Vec<Value>,
    directory: Option<Directory>,
    folder: Option<PathBuf>,
}

pub(crate) async fn run(args: Args) -> anyhow::Result<ExitCode> {
    // Set up first, so that no signal that comes from now on is lost.
    let mut stop = Stop::new()?;
    let synced = synced(&args).await?;
    let scratch = tempfile::tempdir().context("failed to make a temporary directory")?;
    let kubeconfig = args.write_kubeconfig.clone();
    let kubeconfig = kubeconfig.unwrap_or_else(|| scratch.path().join("kubeconfig"));
    let mut ground = match args.cluster.is_named() {
        true => Ground::given(args.cluster.client().await?.0),
        false => Ground::embedded(Duration::from_millis(args.start_delay), &kubeconfig).await?,
    };
    let mut view = View::new();
    view.say(&greeting(&args, &ground, &kubeconfig));
    let prepared = tokio::select! {
        biased;
        () = stop.next() => None,
        prepared = prepare(&mut ground, &synced.objects) => Some(prepared),
    };
    let done = match prepared {
        None => Ok(ExitCode::SUCCESS),
        Some(Err(error)) => Err(error),
        Some(Ok(())) => work(&args, synced, &ground, view, scratch.path(), &mut stop).await,
    };
    if !ground.is_embedded() && !args.keep {
        ground.clear().await?;
    }
    ground.stop();
    done
}

/// Brings into the cluster what is needed, where nobody else has what is to be made there.
async fn prepare(ground: &mut Ground, objects: &[Value]) -> anyhow::Result<()> {
    ground.prepare().await?;
    ground.refuse_others(objects).await
}

/// Has controllers work until it is decided, late, or told to stop.
async fn work(
    args: &Args,
    synced: Synced,
    ground: &Ground,
    mut view: View,
    scratch: &Path,
    stop: &mut Stop,
) -> anyhow::Result<ExitCode> {
    if let Some(others) = ground.others().await {
        view.say(&format!(
            "Other controllers work in this cluster: {others}. These begin when they have stopped."
        ));
    }
    let within = Within {
        client: ground.client.clone(),
        scratch: scratch.to_owned(),
        namespace: NAMESPACE.to_owned(),
        takes_turns: !ground.is_embedded(),
        default_namespace: match synced.root.is_cluster {
            true => String::new(),
            false => ground.client.default_namespace().to_owned(),
        },
    };
    let (sender, changes) = mpsc::channel(16);
    let following = synced
        .directory
        .map(|directory| tokio::spawn(directory.follow(sender)));
    let files = Files {
        changes,
        folder: synced.folder,
    };
    let mut follower = Follower::new(
        ground,
        synced.root,
        synced.objects.clone(),
        files,
        args.once,
        view,
    );
    let mut working = None;
    let end = tokio::select! {
        biased;
        () = stop.next() => End::Stopped,
        () = tokio::time::sleep(Duration::from_secs(args.timeout)), if args.once => End::Late,
        decided = follow(&mut follower, &within, &mut working) => End::Decided(decided),
    };
    if let Some(following) = following {
        following.abort();
    }
    let code = match end {
        End::Decided(decided) => decided,
        End::Stopped => Ok(ExitCode::SUCCESS),
        End::Late => {
            follower.report_late(args.timeout);
            Ok(ExitCode::FAILURE)
        }
    };
    if !ground.is_embedded() && !args.keep {
        // What an earlier run has left there needs them to go.
        if working.is_none() {
            working = Some(within.start()?);
        }
        clear(ground, &synced.objects, &mut follower, stop).await;
    }
    drop(follower);
    // What failed before is more than what fails now.
    let stopped = match working {
        Some(working) => working.stop().await,
        None => Ok(()),
    };
    let code = code?;
    stopped.map(|()| code)
}

/// Follows files and cluster. Controllers start once the objects are there: those of an earlier run may point to files that are no
/// longer served.
async fn follow(
    follower: &mut Follower<'_>,
    within: &Within,
    working: &mut Option<Working>,
) -> anyhow::Result<ExitCode> {
    if let Some(code) = follower.begin().await? {
        return Ok(code);
    }
    follower.follow(working.insert(within.clone().start()?)).await
}

/// Deletes what was made in a cluster that stays: what was applied goes with the Kustomization.
async fn clear(ground: &Ground, objects: &[Value], follower: &mut Follower<'_>, stop: &mut Stop) {
    follower.view.end();
    follower
        .view
        .say("deleting what was applied; Ctrl-C leaves the rest (--keep leaves all of it)");
    let units = follower.made_units();
    let clearing = async {
        for object in objects.iter().rev() {
            ground.remove(object).await?;
            ground.until_gone(&units).await?;
        }
        anyhow::Ok(())
    };
    let done = tokio::select! {
        done = tokio::time::timeout(LAST_CLEARING, clearing) => done.context("it takes too long").and_then(|done| done),
        () = stop.next() => Err(anyhow::anyhow!("stopped")),
    };
    if let Err(error) = done {
        follower.view.say(&format!(
            "not all of it was deleted: {error:#}. `kubectl get kustomizations,gitrepositories -n {NAMESPACE}` shows what is left"
        ));
    }
}

/// What the arguments say.
async fn synced(args: &Args) -> anyhow::Result<Synced> {
    let path = args.path.as_deref();
    if let Some(url) = address(&args.what) {
        let root = Root::of_url(&url, path)?;
        let reference = match (&args.branch, &args.tag) {
            (Some(branch), _) => ("branch", branch.as_str()),
            (_, Some(tag)) => ("tag", tag.as_str()),
            (None, None) => ("name", "HEAD"),
        };
        let origin = Origin {
            url: &url,
            reference,
            interval: "1m",
            secret: args.secret_ref.as_deref(),
        };
        return Ok(Synced {
            objects: vec![root.source(&origin), root.kustomization()],
            root,
            directory: None,
            folder: None,
        });
    }
    if args.branch.is_some() || args.tag.is_some() || args.secret_ref.is_some() {
        bail!(
            "--branch, --tag and --secret-ref are for a GIT-URL: of a directory, the working tree is followed"
        );
    }
    let folder = Path::new(&args.what);
    if !folder.is_dir() {
        bail!(
            "{} is not a directory\nhint: name the directory that holds your YAML files, for example `sluice up examples/hello`, or the \
             address of a Git repository, https://… or ssh://…",
            folder.display()
        );
    }
    let mut directory = Directory::serve(folder).await?;
    directory.read().await.map_err(anyhow::Error::msg)?;
    let root = Root::of_directory(folder, path, directory.index())?;
    let inside = folder.join(&root.path);
    if !inside.is_dir() {
        bail!("{} is not a directory: correct --path", inside.display());
    }
    directory.apply_below(&root.path);
    let origin = Origin {
        url: directory.url(),
        reference: ("branch", BRANCH),
        interval: "10m",
        secret: None,
    };
    Ok(Synced {
        objects: vec![root.source(&origin), root.kustomization()],
        root,
        folder: Some(folder.to_owned()),
        directory: Some(directory),
    })
}

/// The address of a repository, if a text is one. What `git clone` takes over SSH has a form of its own.
fn address(text: &str) -> Option<String> {
    if ["https://", "http://", "ssh://"]
        .iter()
        .any(|scheme| text.starts_with(scheme))
    {
        return Some(text.to_owned());
    }
    let (host, path) = text.split_once(':')?;
    let is_host = host.contains('@') && !host.contains('/');
    is_host.then(|| format!("ssh://{host}/{}", path.trim_start_matches('/')))
}

/// Where the cluster is and how to reach it.
fn greeting(args: &Args, ground: &Ground, kubeconfig: &Path) -> String {
    let what = &args.what;
    let Some(address) = ground.address() else {
        let end = match args.keep {
            true => "What it makes there stays.",
            false => "What it makes there is deleted when you press Ctrl-C.",
        };
        return format!("Keeping {what} in sync with the cluster of your kubeconfig.\n{end}\n");
    };
    format!(
        "Keeping {what} in sync with an embedded Kubernetes API on https://{address}.\n\
         It is for development: it runs no containers and is gone when you press Ctrl-C.\n\
         Look inside with: kubectl --kubeconfig {} get all -A\n",
        kubeconfig.display()
    )
}

/// What the user and the system tell a program to end by.
#[cfg(unix)]
struct Stop([tokio::signal::unix::Signal; 3]);

#[cfg(unix)]
impl Stop {
    fn new() -> anyhow::Result<Self> {
        use tokio::signal::unix::{SignalKind, signal};
        let watch = |kind| signal(kind).context("failed to watch for signals");
        Ok(Stop([
            watch(SignalKind::interrupt())?,
            watch(SignalKind::terminate())?,
            watch(SignalKind::hangup())?,
        ]))
    }

    /// Ends with the next of them.
    async fn next(&mut self) {
        let [interrupt, terminate, hang_up] = &mut self.0;
        tokio::select! {
            _ = interrupt.recv() => {}
            _ = terminate.recv() => {}
            _ = hang_up.recv() => {}
        }
    }
}

#[cfg(not(unix))]
struct Stop;

#[cfg(not(unix))]
impl Stop {
    fn new() -> anyhow::Result<Self> {
        Ok(Stop)
    }

    /// Ends with the next Ctrl-C.
    async fn next(&mut self) {
        let _ = tokio::signal::ctrl_c().await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_told_from_directories() {
        for (text, expected) in [
            ("https://github.com/a/b", Some("https://github.com/a/b")),
            ("git@github.com:a/b.git", Some("ssh://git@github.com/a/b.git")),
            ("examples/hello", None),
            ("./a:b", None),
            ("C:\\files", None),
        ] {
            assert_eq!(address(text).as_deref(), expected, "{text}");
        }
    }
}
