//! All controllers within another command: no flags, no logs, no signals of their own.

use std::path::PathBuf;

use anyhow::{Context as _, bail};
use clap::Parser as _;
use kube::Client;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

use super::all::Flags;
use super::listing::Problems;
use super::process::Process;
use super::settings::{Surroundings, resolve};
use super::start::Program;

/// What the controllers work on.
#[derive(Clone)]
pub(crate) struct Within {
    /// The cluster.
    pub(crate) client: Client,
    /// Where artifacts are kept and unpacked.
    pub(crate) scratch: PathBuf,
    /// The namespace of the controllers.
    pub(crate) namespace: String,
    /// Whether other controllers may be at work in the cluster: then these begin once they hold the leases.
    pub(crate) takes_turns: bool,
    /// Where objects go that name no namespace; they are refused where this is empty.
    pub(crate) default_namespace: String,
    /// The labels of the objects that are worked on; all are where there are none.
    pub(crate) selector: Option<String>,
}

/// Controllers at work.
pub(crate) struct Working {
    stop: oneshot::Sender<()>,
    /// Nothing once they have ended.
    task: Option<JoinHandle<anyhow::Result<()>>>,
}

/// The flags, to be read without a command around them.
#[derive(clap::Parser)]
struct Typed {
    #[command(flatten)]
    flags: Flags,
}

impl Within {
    /// Has all controllers work.
    pub(crate) fn start(self) -> anyhow::Result<Working> {
        let Typed { flags } = Typed::try_parse_from(self.flags())?;
        let around = Surroundings {
            namespace: Some(self.namespace),
            ..Surroundings::read()
        };
        let mut problems = Problems::default();
        let mut settings = resolve(Flags::PARTS, flags.common(), &around, &mut problems);
        // Not by the flag: that makes shards with leases of their own, and these take turns with whoever works on all objects.
        settings.label_selector = self.selector;
        let work = flags.work(&settings, &around, &mut problems);
        let work = work.with_default_namespace(&self.default_namespace);
        if !problems.is_empty() {
            bail!("the controllers cannot start: {}", problems.texts().join("; "));
        }
        let (stop, told) = oneshot::channel();
        let process = Process::within(self.client, settings, self.scratch, told);
        let task = tokio::spawn(process.run(work));
        Ok(Working {
            stop,
            task: Some(task),
        })
    }

    /// What differs from a process of its own. Variables that are meant for such a one do not count.
    fn flags(&self) -> Vec<String> {
        vec![
            "controller".to_owned(),
            format!("--storage-path={}", self.scratch.join("artifacts").display()),
            "--storage-addr=127.0.0.1:0".to_owned(),
            "--storage-adv-addr=".to_owned(),
            "--events-addr=".to_owned(),
            "--metrics-addr=0".to_owned(),
            "--health-addr=0".to_owned(),
            format!("--enable-leader-election={}", self.takes_turns),
            // What is not in the store here was in one that is gone, and is about to be fetched anew.
            "--http-retry=0".to_owned(),
        ]
    }
}

impl Working {
    /// Why they have ended, which only [`Working::stop`] is to bring about.
    pub(crate) async fn ended(&mut self) -> anyhow::Error {
        let Some(task) = &mut self.task else {
            return std::future::pending().await;
        };
        let ended = task.await;
        self.task = None;
        match ended {
            Ok(Err(error)) => error.context("the controllers have ended"),
            Ok(Ok(())) => anyhow::anyhow!("the controllers have ended"),
            Err(error) => anyhow::Error::from(error).context("the controllers have ended"),
        }
    }

    /// Lets what is under way come to its end.
    pub(crate) async fn stop(self) -> anyhow::Result<()> {
        // They may have ended already.
        let _ = self.stop.send(());
        match self.task {
            Some(task) => task.await.context("the controllers have ended badly")?,
            None => Ok(()),
        }
    }
}
