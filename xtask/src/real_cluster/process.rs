//! Processes that outlive the command which started them, known by process id and start time.
//!
//! A process id alone is not enough to stop a process by: after a restart of the machine, or a long time, it
//! belongs to somebody else. The start time in `/proc/PID/stat` tells them apart. A process that has ended but was
//! not waited for (a zombie) still has its id and is not alive.

use std::fs::{self, File};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::Context;
use rustix::process::{Pid, Signal, kill_process};

/// What is remembered of a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Record {
    /// The process id.
    pub(super) pid: i32,
    start_time: u64,
}

/// How to end a process.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum End {
    /// Ask, and insist after ten seconds.
    Ask,
    /// Insist.
    Kill,
}

/// Starts a command in a process group of its own, so that a Ctrl-C in the terminal does not reach it.
pub(super) fn spawn(command: &mut Command, log: &Path) -> anyhow::Result<Record> {
    let output = File::create(log).with_context(|| format!("failed to create {}", log.display()))?;
    let errors = output
        .try_clone()
        .with_context(|| format!("failed to open {} twice", log.display()))?;
    let child = command
        .stdin(Stdio::null())
        .stdout(output)
        .stderr(errors)
        .process_group(0)
        .spawn()
        .with_context(|| format!("failed to run {}", command.get_program().display()))?;
    let pid = i32::try_from(child.id()).context("a process id is a positive number")?;
    let (_, start_time) = stat(pid).context("failed to read the new process's entry in /proc")?;
    Ok(Record { pid, start_time })
}

impl Record {
    /// This very process.
    pub(super) fn own() -> anyhow::Result<Record> {
        let pid = i32::try_from(std::process::id()).context("a process id is a positive number")?;
        let (_, start_time) = stat(pid).context("failed to read this process's entry in /proc")?;
        Ok(Record { pid, start_time })
    }

    /// What was remembered in a file; nothing when there is no such file or it does not hold a record.
    pub(super) fn read(path: &Path) -> anyhow::Result<Option<Record>> {
        if !path.exists() {
            return Ok(None);
        }
        let text = fs::read_to_string(path).with_context(|| format!("failed to read {}", path.display()))?;
        Ok(Record::parse(&text))
    }

    fn parse(text: &str) -> Option<Record> {
        let (pid, start_time) = text.trim().split_once('-')?;
        Some(Record {
            pid: pid.parse().ok()?,
            start_time: start_time.parse().ok()?,
        })
    }

    /// Remembers the process in a file.
    pub(super) fn write(self, path: &Path) -> anyhow::Result<()> {
        fs::write(path, self.to_string()).with_context(|| format!("failed to write {}", path.display()))
    }

    /// The record of a process named `PID-START`.
    pub(super) fn from_name(name: &str) -> Option<Record> {
        Record::parse(name)
    }

    /// Whether it is still this process, and not ended.
    pub(super) fn is_alive(&self) -> bool {
        matches!(stat(self.pid), Some((state, start_time))
            if start_time == self.start_time && state != 'Z' && state != 'X')
    }

    /// How much memory it holds.
    pub(super) fn resident_mebibytes(&self) -> u64 {
        let status = fs::read_to_string(format!("/proc/{}/status", self.pid)).unwrap_or_default();
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
        line.and_then(|rest| rest.split_whitespace().next()?.parse::<u64>().ok())
            .unwrap_or(0)
            / 1024
    }

    /// Ends the process and waits until it is gone.
    pub(super) fn end(&self, how: End) -> anyhow::Result<()> {
        if how == End::Ask {
            self.signal(Signal::TERM)?;
            if self.wait_until_gone(Duration::from_secs(10)) {
                return Ok(());
            }
        }
        self.signal(Signal::KILL)?;
        anyhow::ensure!(
            self.wait_until_gone(Duration::from_secs(10)),
            "process {} does not end",
            self.pid
        );
        Ok(())
    }

    fn signal(&self, signal: Signal) -> anyhow::Result<()> {
        if !self.is_alive() {
            return Ok(());
        }
        let pid = Pid::from_raw(self.pid).context("a process id is a positive number")?;
        match kill_process(pid, signal) {
            Ok(()) | Err(rustix::io::Errno::SRCH) => Ok(()),
            Err(error) => Err(error).with_context(|| format!("failed to signal process {}", self.pid)),
        }
    }

    fn wait_until_gone(&self, limit: Duration) -> bool {
        let started = Instant::now();
        while self.is_alive() {
            if started.elapsed() > limit {
                return false;
            }
            thread::sleep(Duration::from_millis(20));
        }
        true
    }
}

impl std::fmt::Display for Record {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}-{}", self.pid, self.start_time)
    }
}

/// State letter and start time of a process.
fn stat(pid: i32) -> Option<(char, u64)> {
    parse_stat(&fs::read_to_string(format!("/proc/{pid}/stat")).ok()?)
}

/// The command's name, the second field, may hold blanks and parentheses: count from the last parenthesis.
fn parse_stat(text: &str) -> Option<(char, u64)> {
    let mut fields = text.rsplit_once(')')?.1.split_whitespace();
    let state = fields.next()?.chars().next()?;
    // The state is field 3 of the line, the start time field 22.
    let start_time = fields.nth(18)?.parse().ok()?;
    Some((state, start_time))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_name_with_parentheses_does_not_shift_the_fields() {
        let line = "7 (a) b) (c) S 1 7 7 0 -1 4194560 1 0 0 0 0 0 0 0 20 0 1 0 4711 1 1";
        assert_eq!(parse_stat(line), Some(('S', 4711)));
    }

    #[test]
    fn a_record_survives_its_file_and_another_start_time_is_another_process() {
        let own = Record::own().unwrap();
        assert!(own.is_alive());
        assert_eq!(Record::from_name(&own.to_string()), Some(own));
        assert!(
            !Record {
                start_time: own.start_time + 1,
                ..own
            }
            .is_alive()
        );
    }

    #[test]
    fn a_zombie_is_not_alive() {
        let mut child = Command::new("sleep").arg("60").spawn().unwrap();
        let pid = i32::try_from(child.id()).unwrap();
        let record = Record {
            pid,
            start_time: stat(pid).unwrap().1,
        };
        assert!(record.is_alive());
        record.end(End::Kill).unwrap();
        assert!(!record.is_alive());
        child.wait().unwrap();
    }
}
