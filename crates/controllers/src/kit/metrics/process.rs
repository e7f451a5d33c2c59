//! The process itself, as Linux tells it. Elsewhere nothing is told.

use std::fs;
use std::time::SystemTime;

use super::text::Text;

/// Ticks of a second and bytes of a page in `/proc`. Both are fixed on all platforms that containers run on.
const TICKS: f64 = 100.0;
const PAGE: u64 = 4096;

pub(super) fn render(text: &mut Text) {
    let Some(found) = Process::read() else { return };
    const NONE: [(&str, &str); 0] = [];
    let all: [(&str, &str, &str, f64); 4] = [
        (
            "process_cpu_seconds_total",
            "counter",
            "Processor time of the process.",
            found.processor_seconds,
        ),
        ("process_open_fds", "gauge", "Open files.", found.open_files),
        (
            "process_resident_memory_bytes",
            "gauge",
            "Memory of the process.",
            found.resident_bytes,
        ),
        (
            "process_start_time_seconds",
            "gauge",
            "When the process began, in seconds since 1970.",
            found.started,
        ),
    ];
    for (name, kind, help, value) in all {
        text.family(name, kind, help);
        text.sample(name, &NONE, value);
    }
}

struct Process {
    processor_seconds: f64,
    resident_bytes: f64,
    open_files: f64,
    started: f64,
}

impl Process {
    fn read() -> Option<Self> {
        let stat = fs::read_to_string("/proc/self/stat").ok()?;
        let uptime = fs::read_to_string("/proc/uptime").ok()?;
        let uptime: f64 = uptime.split(' ').next()?.parse().ok()?;
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).ok()?;
        let files = fs::read_dir("/proc/self/fd").ok()?.count();
        Process::parse(&stat, now.as_secs_f64() - uptime, files)
    }

    /// `stat` is a line of `/proc/<pid>/stat`. The name in it may hold anything, so fields are counted from its end.
    fn parse(stat: &str, booted: f64, files: usize) -> Option<Self> {
        let (_, rest) = stat.rsplit_once(") ")?;
        let fields: Vec<&str> = rest.split(' ').collect();
        let number = |index: usize| fields.get(index)?.parse::<f64>().ok();
        #[allow(clippy::cast_precision_loss, reason = "these numbers are small")]
        Some(Process {
            processor_seconds: (number(11)? + number(12)?) / TICKS,
            resident_bytes: number(21)? * PAGE as f64,
            open_files: files as f64,
            started: booted + number(19)? / TICKS,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_fields_of_a_process_are_found_behind_any_name() {
        let stat =
            "7 (a) b ) S 1 7 7 0 -1 4194560 100 0 0 0 250 50 0 0 20 0 4 0 1000 9000 25 18446744073709551615";
        let process = Process::parse(stat, 500.0, 3).unwrap();
        assert_eq!(process.processor_seconds, 3.0);
        assert_eq!(process.resident_bytes, 25.0 * 4096.0);
        assert_eq!(process.started, 510.0);
    }
}
