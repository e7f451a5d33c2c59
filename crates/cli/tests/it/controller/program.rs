//! A running `sluice controller source`, or `sluice controller`, and what it said so far.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::Arc;

use parking_lot::Mutex;
use rustix::process::{Pid, Signal, kill_process};

use super::bed::{eventually, fetch};

/// What is to be started.
#[derive(Clone)]
pub(crate) struct Options {
    arguments: Vec<String>,
    namespace: String,
    port: u16,
    program: PathBuf,
    words: &'static [&'static str],
    variables: Vec<(String, String)>,
}

impl Options {
    pub(super) fn new(kubeconfig: &Path, namespace: &str, storage: &Path, port: u16) -> Self {
        let address = format!("127.0.0.1:{port}");
        let arguments = vec![
            format!("--kubeconfig={}", kubeconfig.display()),
            format!("--storage-path={}", storage.display()),
            format!("--storage-addr={address}"),
            format!("--storage-adv-addr={address}"),
            "--watch-all-namespaces=false".to_owned(),
            "--metrics-addr=0".to_owned(),
            "--health-addr=0".to_owned(),
        ];
        Options {
            arguments,
            namespace: namespace.to_owned(),
            port,
            program: env!("CARGO_BIN_EXE_sluice").into(),
            words: &["controller", "source"],
            variables: Vec::new(),
        }
    }

    /// Adds arguments; a later one wins over an earlier one.
    pub(crate) fn with(mut self, arguments: &[&str]) -> Self {
        self.arguments
            .extend(arguments.iter().map(|one| (*one).to_owned()));
        self
    }

    /// Leaves out the arguments of these flags.
    pub(crate) fn without(mut self, flags: &[&str]) -> Self {
        let flag = |argument: &str| argument.split('=').next().unwrap_or_default().to_owned();
        self.arguments
            .retain(|argument| !flags.contains(&flag(argument).as_str()));
        self
    }

    /// With variables of the environment.
    pub(crate) fn with_variables(mut self, variables: &[(&str, &str)]) -> Self {
        let variables = variables.iter();
        self.variables
            .extend(variables.map(|(name, value)| ((*name).to_owned(), (*value).to_owned())));
        self
    }

    /// By a link of the controller's name.
    pub(crate) fn by_name(mut self, link: &Path) -> Self {
        self.program = link.to_owned();
        self.words = &[];
        self
    }

    /// With all controllers.
    pub(crate) fn with_all(mut self) -> Self {
        self.words = &["controller"];
        self
    }

    fn command(&self) -> Command {
        let mut command = Command::new(&self.program);
        command
            .args(self.words)
            .args(&self.arguments)
            .env("RUNTIME_NAMESPACE", &self.namespace)
            .envs(self.variables.iter().cloned())
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped());
        command
    }

    pub(crate) fn start(&self) -> Program {
        let mut child = self.command().spawn().unwrap();
        let said = Arc::new(Mutex::new(String::new()));
        let (err, sink) = (child.stderr.take().unwrap(), Arc::clone(&said));
        std::thread::spawn(move || {
            for line in BufReader::new(err).lines().map_while(Result::ok) {
                let mut said = sink.lock();
                said.push_str(&line);
                said.push('\n');
            }
        });
        Program {
            url: format!("http://127.0.0.1:{}", self.port),
            child: Mutex::new(child),
            said,
        }
    }
}

/// It runs; it is killed when this is dropped.
pub(crate) struct Program {
    pub(crate) url: String,
    child: Mutex<Child>,
    said: Arc<Mutex<String>>,
}

impl Program {
    /// All it has said.
    pub(crate) fn said(&self) -> String {
        self.said.lock().clone()
    }

    /// Waits until it serves artifacts, which only the one that may work does.
    pub(crate) async fn serves(&self) {
        let url = format!("{}/", self.url);
        eventually("the artifact server", self, async || {
            assert!(self.ended_already().is_none(), "it ended:\n{}", self.said());
            fetch(&url).await.is_some()
        })
        .await;
    }

    pub(crate) async fn says(&self, text: &str) {
        eventually(text, self, async || self.said.lock().contains(text)).await;
    }

    pub(crate) fn signal(&self, signal: Signal) {
        let pid = i32::try_from(self.child.lock().id()).unwrap();
        kill_process(Pid::from_raw(pid).unwrap(), signal).unwrap();
    }

    pub(crate) fn ended_already(&self) -> Option<ExitStatus> {
        self.child.lock().try_wait().unwrap()
    }

    /// How it ended, once it has.
    pub(crate) async fn ended(&self) -> ExitStatus {
        eventually("its end", self, async || self.ended_already().is_some()).await;
        self.ended_already().unwrap()
    }

    /// Kills it, as a machine that fails does. It must have been alive.
    pub(crate) fn kill(&self) {
        let ended = self.ended_already();
        assert!(ended.is_none(), "it ended by itself: {ended:?}\n{}", self.said());
        let mut child = self.child.lock();
        child.kill().unwrap();
        child.wait().unwrap();
    }

    /// Ends it as a cluster does. It must end well.
    pub(crate) async fn stop(&self) {
        self.signal(Signal::TERM);
        let status = self.ended().await;
        assert!(status.success(), "{status}\n{}", self.said());
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        let child = self.child.get_mut();
        let _ = child.kill();
        let _ = child.wait();
    }
}
