//! A program at work, and what it takes of the machine.

// Each benchmark is a program of its own and uses a part of this.
#![allow(dead_code)]

use std::process::{Child, Command, Stdio};
use std::time::Duration;

/// A program at work; killed when this is dropped.
pub(crate) struct Running(Child);

impl Running {
    /// Starts it. Nobody hears what it says, unless the command says otherwise.
    pub(crate) fn start(command: &mut Command) -> Self {
        Running::start_with(command.stdin(Stdio::null()).stdout(Stdio::null()))
    }

    /// Starts it with everything as the command says.
    pub(crate) fn start_with(command: &mut Command) -> Self {
        Running(command.spawn().expect("the program can be run"))
    }

    pub(crate) fn id(&self) -> u32 {
        self.0.id()
    }

    /// Whether it has not ended.
    pub(crate) fn is_alive(&mut self) -> bool {
        matches!(self.0.try_wait(), Ok(None))
    }

    /// The time that it was at work so far.
    pub(crate) fn cpu(&self) -> Duration {
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", self.0.id())).unwrap_or_default();
        // The name in brackets may have spaces; user and system time are the 14th and 15th field, in hundredths of a second.
        let rest = stat.rsplit_once(')').map_or("", |(_, rest)| rest);
        let ticks = rest.split_whitespace().skip(11).take(2);
        let ticks: u64 = ticks.filter_map(|field| field.parse::<u64>().ok()).sum();
        Duration::from_millis(ticks * 10)
    }

    /// The most memory that it had since the start, or since it was last asked to begin anew, in KiB.
    pub(crate) fn memory(&self) -> u64 {
        self.status("VmHWM:")
    }

    /// The memory that it has now, in KiB.
    pub(crate) fn memory_now(&self) -> u64 {
        self.status("VmRSS:")
    }

    /// Has the most memory counted anew.
    pub(crate) fn count_memory_anew(&self) {
        // Linux takes this from whoever runs the program; elsewhere the peak stays that of all phases.
        let _ = std::fs::write(format!("/proc/{}/clear_refs", self.0.id()), "5");
    }

    fn status(&self, name: &str) -> u64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.0.id())).unwrap_or_default();
        let line = status.lines().find_map(|line| line.strip_prefix(name));
        let number = line.and_then(|line| line.split_whitespace().next());
        number.and_then(|number| number.parse().ok()).unwrap_or_default()
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}
