//! A program that renders a chart: how long it takes, how much memory it needs, what it prints.

use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::process::Running;

/// How often the memory of a process is looked at.
const GLANCE: Duration = Duration::from_micros(200);

pub(crate) struct Program {
    path: PathBuf,
    arguments: Vec<String>,
}

impl Program {
    pub(crate) fn new(path: &Path, arguments: &[&str]) -> Self {
        Program {
            path: path.to_owned(),
            arguments: arguments.iter().map(|&argument| argument.to_owned()).collect(),
        }
    }

    fn command(&self, chart: &Path) -> Command {
        let mut command = Command::new(&self.path);
        command
            .args(&self.arguments)
            .arg(chart)
            .stdin(Stdio::null())
            .stderr(Stdio::null());
        command
    }

    /// The time from its start to its end, with all that it prints read.
    pub(crate) fn time(&self, chart: &Path) -> Duration {
        let begun = Instant::now();
        let output = self.command(chart).stdout(Stdio::piped()).output();
        let output = output.expect("the program can be run");
        assert!(
            output.status.success(),
            "{} fails on {}",
            self.path.display(),
            chart.display()
        );
        begun.elapsed()
    }

    pub(crate) fn output(&self, chart: &Path) -> String {
        let output = self.command(chart).stdout(Stdio::piped()).output();
        String::from_utf8_lossy(&output.expect("the program can be run").stdout).into_owned()
    }

    /// The most memory that it has, in KiB; the highest of some runs, as a look may come too late.
    pub(crate) fn memory(&self, chart: &Path) -> u64 {
        (0..5).map(|_| self.memory_once(chart)).max().unwrap_or_default()
    }

    /// Nobody reads what it prints until it has waited for that: then everything is rendered, and it has all that it will ever have. What
    /// prints less than a pipe holds ends before, and is looked at all the time.
    fn memory_once(&self, chart: &Path) -> u64 {
        let (mut reader, writer) = std::io::pipe().expect("a pipe can be made");
        let mut command = self.command(chart);
        let mut running = Running::start_with(command.stdout(writer));
        drop(command);
        let begun = Instant::now();
        let (mut most, mut last_work) = (0, (Duration::ZERO, Instant::now()));
        while running.is_alive() && begun.elapsed() < Duration::from_secs(60) {
            most = most.max(running.memory());
            let work = running.cpu();
            if work != last_work.0 {
                last_work = (work, Instant::now());
            }
            if last_work.1.elapsed() > Duration::from_millis(500) {
                break;
            }
            std::thread::sleep(GLANCE);
        }
        most = most.max(running.memory());
        let mut rest = Vec::new();
        let _ = reader.read_to_end(&mut rest);
        most
    }
}

pub(crate) fn median(mut times: Vec<Duration>) -> Duration {
    times.sort();
    times[times.len() / 2]
}

/// Whether ours is what helm prints, in lines that helm prints the same twice.
pub(crate) fn compare(helm: &str, again: &str, ours: &str) -> String {
    if helm == ours {
        return "the same".to_owned();
    }
    let lines = helm.lines().zip(again.lines()).zip(ours.lines());
    let different = lines
        .filter(|((helm, again), ours)| helm == again && helm != ours)
        .count();
    let random = helm
        .lines()
        .zip(again.lines())
        .filter(|(helm, again)| helm != again)
        .count();
    let is_as_long = helm.lines().count() == ours.lines().count();
    match (different, is_as_long) {
        (0, true) => format!("the same but for {random} random lines"),
        (0, false) => "another length".to_owned(),
        (different, _) => format!("{different} lines differ"),
    }
}
