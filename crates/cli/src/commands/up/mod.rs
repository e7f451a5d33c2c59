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

mod address;
mod board;
mod directory;
mod end;
mod follow;
mod ground;
mod index;
mod others;
mod pods;
mod problem;
mod root;
mod stop;
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
use address::{Secrets, address};
use directory::{BRANCH, Directory};
use follow::{Files, Follower, How};
use ground::{Ground, MADE_BY};
use root::{NAMESPACE, Origin, Root};
use stop::Stop;
use view::View;

/// How often a repository elsewhere is asked for something new.
const ASKED_EVERY: &str = "10s";
/// How long what was made in a cluster may take to go.
const LAST_CLEARING: Duration = Duration::from_secs(120);

/// Run everything on this machine and keep it in sync with a directory or a Git repository
///
/// Starts an embedded Kubernetes API and all controllers, and has them apply what DIR or the repository at GIT-URL holds: plain
/// YAML, overlays of kustomize, or objects of Flux. The files of a directory are followed, committed or not: what is saved is
/// applied, what is removed is pruned, what others change in the cluster is put right. What Git ignores is left out, and so are
/// symbolic links. Workloads of the embedded API come up as if there were nodes; no container runs.
///
/// A repository is asked for something new every 10 seconds.
///
/// With --kubeconfig or --context, all of it happens in a cluster that is there. What was made in it is deleted at the end, unless
/// --keep is given; what was there before stays, as the files have left it.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// The directory, or the address of a Git repository: https://… or ssh://…
    #[arg(default_value = ".", value_name = "DIR|GIT-URL")]
    what: String,

    /// The path in the directory or repository that is applied, such as clusters/dev
    #[arg(long)]
    path: Option<String>,

    /// What its GitRepository and Kustomization are called; as the directory or repository, if it is not said
    #[arg(long)]
    name: Option<String>,

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

    /// Leave everything in the cluster at the end; the next `sluice up` goes on with it. With --kubeconfig or --context
    #[arg(long)]
    keep: bool,

    /// Work on all objects of Flux in the cluster, also on those that do not come from these files
    #[arg(long)]
    with_others: bool,

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
    let secrets = Secrets::of(&args.what);
    let done = run_openly(args, &secrets).await;
    done.map_err(|error| anyhow::Error::msg(secrets.masked(&format!("{error:#}"))))
}

/// The same, with errors that may quote the address with its credentials.
async fn run_openly(args: Args, secrets: &Secrets) -> anyhow::Result<ExitCode> {
    // Set up first, so that no signal that comes from now on is lost.
    let mut stop = Stop::new()?;
    if !args.cluster.is_named() && (args.keep || args.with_others) {
        bail!(
            "--keep and --with-others are for a cluster that is there: name it with --kubeconfig or --context. The embedded one is gone \
             at the end"
        );
    }
    let synced = synced(&args).await?;
    let scratch = tempfile::tempdir().context("failed to make a temporary directory")?;
    let kubeconfig = args.write_kubeconfig.clone();
    let kubeconfig = kubeconfig.unwrap_or_else(|| scratch.path().join("kubeconfig"));
    let mut ground = match args.cluster.is_named() {
        true => Ground::given(args.cluster.client().await?.0),
        false => Ground::embedded(Duration::from_millis(args.start_delay), &kubeconfig).await?,
    };
    let mut view = View::new(secrets.clone());
    view.say(&greeting(&args, &ground, &kubeconfig));
    let prepared = tokio::select! {
        biased;
        () = stop.next() => None,
        prepared = prepare(&mut ground, &synced, args.with_others, &mut view) => Some(prepared),
    };
    let done = match prepared {
        None => Ok(ExitCode::SUCCESS),
        Some(Err(error)) => Err(error),
        Some(Ok(scope)) => work(&args, synced, &ground, scope, view, scratch.path(), &mut stop).await,
    };
    if !ground.is_embedded() && !args.keep {
        tokio::select! {
            biased;
            () = stop.next() => {}
            cleared = ground.clear() => cleared?,
        }
    }
    ground.stop();
    done
}

/// What controllers work on.
enum Scope {
    /// Everything there is.
    All,
    /// The two objects that are made here: there are others.
    Root,
}

/// Brings into the cluster what is needed, where nobody else has what is to be made there.
async fn prepare(
    ground: &mut Ground,
    synced: &Synced,
    with_others: bool,
    view: &mut View,
) -> anyhow::Result<Scope> {
    if !ground.is_embedded() {
        settle(ground, synced, view).await?;
    }
    ground.prepare().await?;
    ground.refuse_others(&synced.objects).await?;
    if ground.is_embedded() || with_others {
        return Ok(Scope::All);
    }
    let others = others::worked_on(ground, &synced.root).await?;
    match (others.is_empty(), synced.root.is_cluster) {
        (true, _) => Ok(Scope::All),
        (false, false) => Ok(Scope::Root),
        (false, true) => bail!(
            "objects of Flux are in the cluster that do not come from these files, and would be worked on as well: {}. Suspend them \
             or name another cluster; --with-others has all of them worked on",
            others::named(&others)
        ),
    }
}

/// Waits until what an earlier run has deleted is gone: nothing can be made in a namespace that is about to go.
async fn settle(ground: &Ground, synced: &Synced, view: &mut View) -> anyhow::Result<()> {
    let index = synced.directory.as_ref().map(Directory::index);
    let own = index.map(index::Index::namespaces).unwrap_or_default();
    for namespace in [NAMESPACE.to_owned()].into_iter().chain(own) {
        if ground.is_terminating(&namespace).await? {
            view.say(&format!(
                "waiting   Namespace/{namespace}: it is still being deleted"
            ));
            ground.until_gone(&namespace).await?;
        }
    }
    Ok(())
}

/// Has controllers work until it is decided, late, or told to stop.
async fn work(
    args: &Args,
    synced: Synced,
    ground: &Ground,
    scope: Scope,
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
        selector: match scope {
            Scope::All => None,
            Scope::Root => Some(format!("{}={}", MADE_BY.0, MADE_BY.1)),
        },
    };
    let root = synced.root.clone();
    let (sender, changes) = mpsc::channel(16);
    let following = synced
        .directory
        .map(|directory| tokio::spawn(directory.follow(sender)));
    let files = Files {
        changes,
        folder: synced.folder,
    };
    let how = How {
        once: args.once,
        is_narrow: matches!(scope, Scope::Root),
    };
    let mut follower = Follower::new(ground, synced.root, synced.objects.clone(), files, &how, view);
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
        clear(ground, &root, &synced.objects, &mut follower.view, stop).await;
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

/// Deletes what was made in a cluster that stays.
async fn clear(ground: &Ground, root: &Root, objects: &[Value], view: &mut View, stop: &mut Stop) {
    view.end();
    view.say("deleting what was made; Ctrl-C leaves the rest (--keep leaves all of it)");
    let clearing = end::clear(ground, root, objects);
    let done = tokio::select! {
        done = tokio::time::timeout(LAST_CLEARING, clearing) => done.context("it takes too long").and_then(|done| done),
        () = stop.next() => Err(anyhow::anyhow!("stopped")),
    };
    match done {
        Ok(left) => left.iter().for_each(|line| view.say(line)),
        Err(error) => view.say(&format!(
            "not all of it is gone: {error:#}. `kubectl get kustomizations,gitrepositories -n {NAMESPACE}` and `kubectl get namespaces` \
             show what is left"
        )),
    }
}

/// What the arguments say.
async fn synced(args: &Args) -> anyhow::Result<Synced> {
    let path = args.path.as_deref();
    if let Some(url) = address(&args.what) {
        let root = Root::of_url(&url, path, args.name.as_deref())?;
        let reference = match (&args.branch, &args.tag) {
            (Some(branch), _) => ("branch", branch.as_str()),
            (_, Some(tag)) => ("tag", tag.as_str()),
            (None, None) => ("name", "HEAD"),
        };
        let origin = Origin {
            url: &url,
            reference,
            interval: ASKED_EVERY,
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
    let root = Root::of_directory(folder, path, args.name.as_deref(), directory.index())?;
    let inside = folder.join(root.path.trim_start_matches("./"));
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

/// Where the cluster is and how to reach it.
fn greeting(args: &Args, ground: &Ground, kubeconfig: &Path) -> String {
    let what = address::public(&args.what);
    let asked = match address(&args.what) {
        Some(_) => format!(
            "It is asked for something new every {} s.\n",
            ASKED_EVERY.trim_end_matches('s')
        ),
        None => String::new(),
    };
    let Some(address) = ground.address() else {
        let end = match args.keep {
            true => "What it makes there stays.",
            false => "What it makes there is deleted when you press Ctrl-C; what was there before stays.",
        };
        return format!("Keeping {what} in sync with the cluster of your kubeconfig.\n{asked}{end}\n");
    };
    format!(
        "Keeping {what} in sync with an embedded Kubernetes API on https://{address}.\n{asked}\
         It is for development: it runs no containers and is gone when you press Ctrl-C.\n\
         Look inside with: kubectl --kubeconfig {} get all -A\n",
        kubeconfig.display()
    )
}
