//! The controllers that are measured, as processes.

use std::fs::File;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use anyhow::{Context, ensure};

use super::options::{Options, Who};
use super::process::Running;

/// How long they may take to get ready.
const LIMIT: Duration = Duration::from_secs(60);

pub(crate) struct Controllers {
    running: Vec<(Running, PathBuf)>,
    /// Where they keep what they have.
    _folder: tempfile::TempDir,
}

impl Controllers {
    /// Starts them and waits until they say that they are ready.
    pub(crate) async fn start(
        options: &Options,
        who: Who,
        kubeconfig: &Path,
        folder: tempfile::TempDir,
    ) -> anyhow::Result<Self> {
        let logs = options.logs.clone().unwrap_or_else(|| folder.path().to_owned());
        std::fs::create_dir_all(&logs)?;
        let concurrent = format!("--concurrent={}", options.concurrent);
        let (store, data) = (format!("127.0.0.1:{}", free_port()?), folder.path().join("data"));
        std::fs::create_dir(&data)?;
        let stores = [
            format!("--storage-addr={store}"),
            format!("--storage-adv-addr={store}"),
            format!("--storage-path={}", data.display()),
        ];
        let parts: Vec<(PathBuf, Vec<String>)> = match (who, &options.flux) {
            (Who::Flux, Some(programs)) => vec![
                // Flux's benchmark has half as many at once for sources.
                (
                    programs.join("source-controller"),
                    [
                        &[format!("--concurrent={}", options.concurrent.div_ceil(2))],
                        &stores[..],
                    ]
                    .concat(),
                ),
                (programs.join(options.shape().controller()), vec![concurrent]),
            ],
            _ => {
                let words = ["controller".to_owned(), concurrent];
                vec![(options.sluice.clone(), [&words, &stores[..]].concat())]
            }
        };
        let mut running = Vec::new();
        for (number, (program, arguments)) in parts.into_iter().enumerate() {
            let health = format!("127.0.0.1:{}", free_port()?);
            let log = logs.join(format!("{who}-{number}.log").to_lowercase());
            let mut command = Command::new(&program);
            command
                .args(&arguments)
                .args(["--events-addr=", "--metrics-addr=127.0.0.1:0"])
                .arg(format!("--health-addr={health}"))
                .env("KUBECONFIG", kubeconfig)
                .env("RUNTIME_NAMESPACE", "default")
                .env("HOME", folder.path())
                .env("TMPDIR", folder.path())
                .stderr(File::create(&log).with_context(|| format!("{} cannot be made", log.display()))?);
            let mut started = Running::start(&mut command);
            ready(&health, &mut started, &log).await?;
            running.push((started, log));
        }
        Ok(Controllers {
            running,
            _folder: folder,
        })
    }

    /// Runs a command with the id of the first process.
    pub(crate) fn attach(&self, command: &str) -> anyhow::Result<()> {
        let id = self.running[0].0.id().to_string();
        // It ends when it has seen enough; nobody waits for it.
        Command::new("sh")
            .arg("-c")
            .arg(command)
            .arg("sh")
            .arg(id)
            .spawn()?;
        Ok(())
    }

    pub(crate) fn check(&mut self) -> anyhow::Result<()> {
        for (running, log) in &mut self.running {
            ensure!(running.is_alive(), "a controller ended: {}", end_of(log));
        }
        Ok(())
    }

    pub(crate) fn cpu(&self) -> Duration {
        self.running.iter().map(|(one, _)| one.cpu()).sum()
    }

    /// The most memory of each, in MiB.
    pub(crate) fn memory(&self) -> Vec<u64> {
        self.running.iter().map(|(one, _)| one.memory() / 1024).collect()
    }

    /// What each has now, in MiB.
    pub(crate) fn memory_now(&self) -> Vec<u64> {
        self.running
            .iter()
            .map(|(one, _)| one.memory_now() / 1024)
            .collect()
    }

    pub(crate) fn count_memory_anew(&self) {
        self.running.iter().for_each(|(one, _)| one.count_memory_anew());
    }

    /// What they have said last.
    pub(crate) fn said(&self) -> String {
        self.running.iter().map(|(_, log)| end_of(log)).collect()
    }
}

async fn ready(address: &str, running: &mut Running, log: &Path) -> anyhow::Result<()> {
    let (begun, url) = (Instant::now(), format!("http://{address}/readyz"));
    loop {
        ensure!(
            begun.elapsed() < LIMIT && running.is_alive(),
            "a controller does not get ready: {}",
            end_of(log)
        );
        let answer = testkit::http::Client::new().get(&url).await;
        if answer.is_ok_and(|answer| answer.status == 200) {
            return Ok(());
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

/// A port that was free a moment ago.
fn free_port() -> anyhow::Result<u16> {
    let listener = TcpListener::bind("127.0.0.1:0").context("there is no free port")?;
    Ok(listener.local_addr()?.port())
}

fn end_of(log: &Path) -> String {
    let text = std::fs::read_to_string(log).unwrap_or_default();
    let lines: Vec<&str> = text.lines().collect();
    lines[lines.len().saturating_sub(20)..].join("\n")
}
