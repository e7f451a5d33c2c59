//! A Helm index of 100 MB: finding one chart in it, and writing it as it is stored.
//!
//! `cargo bench -p source --bench helm_index`. Prints the time and by how much the process has grown at its peak; fails where
//! finding a chart takes more than 2 s or 64 MiB.
#![allow(clippy::unwrap_used, reason = "a benchmark may panic")]

use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::Path;
use std::time::{Duration, Instant};

use source::helm::Index;

/// What the index is made of: 2,000 charts in 125 versions of about 400 bytes.
const CHARTS: usize = 2_000;
const VERSIONS: usize = 125;

fn main() {
    let directory = tempfile::tempdir().unwrap();
    let raw = directory.path().join("index.yaml");
    write_index(&raw);
    let size = fs::metadata(&raw).unwrap().len();
    println!("index of {} MB", size / 1_000_000);

    let (time, growth) = measure("find one chart in YAML", || find(&raw));
    assert!(time < Duration::from_secs(2), "too slow");
    assert!(growth < 64 << 10, "too much memory");

    let stored = directory.path().join("index.json");
    measure("write the stored form", || {
        let out = &mut BufWriter::new(File::create(&stored).unwrap());
        Index::open(&raw).unwrap().write_json(out).unwrap();
    });
    let (time, growth) = measure("find one chart in the stored form", || find(&stored));
    assert!(time < Duration::from_secs(2), "too slow");
    assert!(growth < 64 << 10, "too much memory");
}

fn find(path: &Path) {
    let index = Index::open(path).unwrap();
    let found = index.find("chart-1999", ">=1.0.100 <1.0.120").unwrap().unwrap();
    assert_eq!(found.metadata.version, "1.0.119");
}

fn write_index(path: &Path) {
    let mut out = BufWriter::new(File::create(path).unwrap());
    writeln!(out, "apiVersion: v1\nentries:").unwrap();
    for chart in 0..CHARTS {
        writeln!(out, "  chart-{chart}:").unwrap();
        for version in 0..VERSIONS {
            write!(
                out,
                "  - apiVersion: v2\n    appVersion: 1.{version}.0\n    created: \"2026-01-01T00:00:00.000000000Z\"\n    \
                 description: A chart of a large repository, number {chart}, with a\n      description that takes two lines\n    \
                 digest: 3b9a7c1f0e5d4b6a8c2e1f0d9b8a7c6e5d4f3b2a1c0e9d8f7b6a5c4d3e2f1a0b\n    \
                 home: https://charts.example.com/\n    keywords:\n    - web\n    - database\n    name: chart-{chart}\n    urls:\n    \
                 - https://charts.example.com/charts/chart-{chart}-1.0.{version}.tgz\n    version: 1.0.{version}\n"
            )
            .unwrap();
        }
    }
    writeln!(out, "generated: \"2026-01-01T00:00:00Z\"").unwrap();
}

/// Runs something; gives the time it took and how many KiB the process has grown at its peak.
fn measure(what: &str, run: impl FnOnce()) -> (Duration, u64) {
    let before = kilobytes("VmRSS:");
    // Starts the count of the peak anew.
    let _ = fs::write("/proc/self/clear_refs", "5");
    let begin = Instant::now();
    run();
    let time = begin.elapsed();
    let growth = kilobytes("VmHWM:").saturating_sub(before);
    println!("{what}: {time:.2?}, {:.1} MiB", growth as f64 / 1024.0);
    (time, growth)
}

/// A figure of this process; 0 where the system does not tell.
fn kilobytes(name: &str) -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix(name));
    line.and_then(|line| line.split_whitespace().next()?.parse().ok())
        .unwrap_or_default()
}
