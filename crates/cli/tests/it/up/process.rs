//! A running `sluice up`, its directory, and what it said so far.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use kube::config::{Config, KubeConfigOptions, Kubeconfig};
use parking_lot::Mutex;
use tempfile::TempDir;

/// Far more than anything takes, so that only what hangs fails.
const LIMIT: Duration = testkit::DEADLINE;

/// What is to be started.
pub(crate) struct Up {
    folder: PathBuf,
    scratch: TempDir,
    arguments: Vec<String>,
    own_temporary_directory: bool,
}

impl Up {
    /// On a new, empty directory.
    pub(crate) fn new() -> Self {
        let scratch = tempfile::tempdir().unwrap();
        let folder = scratch.path().join("files");
        std::fs::create_dir(&folder).unwrap();
        Up {
            folder,
            scratch,
            arguments: Vec::new(),
            own_temporary_directory: false,
        }
    }

    /// On a directory that is there.
    pub(crate) fn at(folder: &str) -> Self {
        Up {
            folder: folder.into(),
            ..Up::new()
        }
    }

    /// On what is at an address.
    pub(crate) fn of(address: &str) -> Self {
        Up::at(address)
    }

    pub(crate) fn file(self, name: &str, text: &str) -> Self {
        let path = self.folder.join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
        self
    }

    /// A file that is too large to be read.
    pub(crate) fn large_file(self, name: &str) -> Self {
        let file = std::fs::File::create(self.folder.join(name)).unwrap();
        file.set_len(17 << 20).unwrap();
        self
    }

    pub(crate) fn argument(mut self, argument: &str) -> Self {
        self.arguments.push(argument.to_owned());
        self
    }

    pub(crate) fn own_temporary_directory(mut self) -> Self {
        std::fs::create_dir(self.scratch.path().join("tmp")).unwrap();
        self.own_temporary_directory = true;
        self
    }

    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    fn command(&self) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_sluice"));
        command.arg("up").arg(&self.folder).args(&self.arguments);
        command.args(["--start-delay", "10"]).stdin(Stdio::null());
        if self.own_temporary_directory {
            command.env("TMPDIR", self.scratch.path().join("tmp"));
        }
        command
    }

    /// Runs it with `--once` beside what else this runtime does: the exit code and all it said.
    pub(crate) async fn once_beside(self) -> (Option<i32>, String) {
        tokio::task::spawn_blocking(|| self.once()).await.unwrap()
    }

    /// Runs it with `--once`: the exit code and all it said.
    pub(crate) fn once(self) -> (Option<i32>, String) {
        let output = self.command().arg("--once").output().unwrap();
        let text = [output.stdout, output.stderr].concat();
        (output.status.code(), String::from_utf8_lossy(&text).into_owned())
    }

    /// Starts it and has it write a kubeconfig.
    pub(crate) fn start(self) -> Running {
        let kubeconfig = self.scratch.path().join("kubeconfig").display().to_string();
        self.argument("--write-kubeconfig")
            .argument(&kubeconfig)
            .start_without_kubeconfig()
    }

    pub(crate) fn start_without_kubeconfig(self) -> Running {
        let mut child = self.command().stdout(Stdio::piped()).spawn().unwrap();
        let said = Arc::new(Mutex::new(String::new()));
        let (out, sink) = (child.stdout.take().unwrap(), Arc::clone(&said));
        std::thread::spawn(move || {
            for line in BufReader::new(out).lines().map_while(Result::ok) {
                let mut said = sink.lock();
                said.push_str(&line);
                said.push('\n');
            }
        });
        Running {
            up: self,
            child: Mutex::new(child),
            said,
        }
    }
}

/// It runs; it is killed when this is dropped.
pub(crate) struct Running {
    up: Up,
    child: Mutex<Child>,
    said: Arc<Mutex<String>>,
}

impl Running {
    pub(crate) fn write(&self, name: &str, text: &str) {
        std::fs::write(self.up.folder.join(name), text).unwrap();
    }

    pub(crate) fn folder(&self) -> &Path {
        self.up.folder()
    }

    /// How often it has said something.
    pub(crate) fn count(&self, text: &str) -> usize {
        self.said.lock().matches(text).count()
    }

    pub(crate) fn remove(&self, name: &str) {
        std::fs::remove_file(self.up.folder.join(name)).unwrap();
    }

    /// All it has said, once `text` is part of it.
    pub(crate) async fn said(&self, text: &str) -> String {
        self.until(text, async || self.said.lock().contains(text)).await;
        self.said.lock().clone()
    }

    pub(crate) async fn until(&self, what: &str, mut holds: impl AsyncFnMut() -> bool) {
        let start = Instant::now();
        while !holds().await {
            assert!(
                start.elapsed() < LIMIT,
                "not seen: {what}\nit said:\n{}",
                self.said.lock()
            );
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }

    /// A client of its cluster.
    pub(crate) async fn client(&self) -> kube::Client {
        let path = self.up.scratch.path().join("kubeconfig");
        let kubeconfig = Kubeconfig::read_from(path).unwrap();
        let options = KubeConfigOptions::default();
        let config = Config::from_custom_kubeconfig(kubeconfig, &options).await;
        kube::Client::try_from(config.unwrap()).unwrap()
    }

    #[cfg(unix)]
    pub(crate) fn signal(&self, signal: rustix::process::Signal) {
        let pid = i32::try_from(self.child.lock().id()).unwrap();
        rustix::process::kill_process(rustix::process::Pid::from_raw(pid).unwrap(), signal).unwrap();
    }

    /// The exit code, once it has ended.
    pub(crate) async fn ended(&self) -> Option<i32> {
        let mut code = None;
        self.until("its end", async || {
            code = self.child.lock().try_wait().unwrap();
            code.is_some()
        })
        .await;
        code.and_then(|status| status.code())
    }

    pub(crate) fn temporary_files(&self) -> usize {
        std::fs::read_dir(self.up.scratch.path().join("tmp"))
            .unwrap()
            .count()
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let child = self.child.get_mut();
        let _ = child.kill();
        let _ = child.wait();
    }
}
