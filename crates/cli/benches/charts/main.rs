//! Charts rendered by the real helm and by ours: time of the whole process, time in a process that has the chart, and the most memory.
//!
//! `SLUICE_CHARTS=DIR cargo xtask real-programs exec -- cargo bench -p cli --bench charts [-- NAME...]` takes the charts below a directory,
//! unpacked or packed, whose directories or files begin with one of the names; without names those that the goals speak of. Outputs are compared too.

#[path = "../process/mod.rs"]
mod process;
mod program;
mod warm;

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use program::{Program, median};

/// The charts that the goals are about; the last one is small.
const NAMES: [&str; 4] = [
    "kube-prometheus-stack",
    "ingress-nginx",
    "cert-manager",
    "podinfo",
];
/// How often each is rendered by a process of its own.
const RUNS: usize = 9;
/// How much faster ours shall be: the whole process, and one that has the chart already; and how much less memory it shall need.
const GOALS: (f64, f64, f64) = (10.0, 20.0, 4.0);

fn main() {
    let Some(root) = std::env::var_os("SLUICE_CHARTS").map(PathBuf::from) else {
        println!("SLUICE_CHARTS names no directory with charts: nothing to measure");
        return;
    };
    let Some(helm) = testkit::program::find("helm") else {
        return;
    };
    let named: Vec<String> = std::env::args()
        .skip(1)
        .filter(|name| !name.starts_with('-'))
        .collect();
    let named = match named.is_empty() {
        true => NAMES.map(str::to_owned).to_vec(),
        false => named,
    };
    let helm = Program::new(&helm, &["template", "release", "--include-crds"]);
    let ours = Path::new(env!("CARGO_BIN_EXE_sluice"));
    let ours = Program::new(ours, &["helm", "template", "release", "--include-crds"]);
    println!(
        "times are medians of {RUNS}; goals: {}x, {}x in a warm process, memory a {}th",
        GOALS.0, GOALS.1, GOALS.2
    );
    println!(
        "{:<24}{:>10}{:>10}{:>8}{:>12}{:>8}{:>11}{:>11}{:>8}  output",
        "chart", "helm", "sluice", "", "warm", "", "helm MiB", "sluice MiB", ""
    );
    for name in named {
        match find(&root, &name) {
            Some(chart) => measure(&name, &chart, &helm, &ours),
            None => println!("{name:<24}is not below {}", root.display()),
        }
    }
}

fn measure(name: &str, chart: &Path, helm: &Program, ours: &Program) {
    // In turn, so that what else the machine does falls on both.
    let (mut theirs, mut own) = (Vec::new(), Vec::new());
    for _ in 0..RUNS {
        theirs.push(helm.time(chart));
        own.push(ours.time(chart));
    }
    let (theirs, own) = (median(theirs), median(own));
    let warm = warm::time(chart);
    let memory = [helm, ours].map(|program| program.memory(chart) as f64 / 1024.0);
    let same = program::compare(&helm.output(chart), &helm.output(chart), &ours.output(chart));
    let times = |other: Duration| theirs.as_secs_f64() / other.as_secs_f64();
    println!(
        "{name:<24}{:>8.1}ms{:>8.1}ms{:>7.1}x{:>10.2}ms{:>7.1}x{:>11.1}{:>11.1}{:>7.1}x  {same}",
        theirs.as_secs_f64() * 1e3,
        own.as_secs_f64() * 1e3,
        times(own),
        warm.as_secs_f64() * 1e3,
        times(warm),
        memory[0],
        memory[1],
        memory[0] / memory[1],
    );
}

/// The first chart whose directory or archive has a name, the ones nearer to the root first.
fn find(root: &Path, name: &str) -> Option<PathBuf> {
    let mut level = vec![root.to_owned()];
    while !level.is_empty() {
        let mut below = Vec::new();
        for folder in level {
            let entries = fs::read_dir(folder).into_iter().flatten().flatten();
            let mut paths: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
            paths.sort();
            for path in paths {
                let file = path
                    .file_name()
                    .unwrap_or_default()
                    .to_string_lossy()
                    .into_owned();
                let is_archive = file.ends_with(".tgz") && file.starts_with(&format!("{name}-"));
                if is_archive || file == name && path.join("Chart.yaml").is_file() {
                    return Some(path);
                }
                // Charts that others bring along are not meant.
                if path.is_dir() && !path.join("Chart.yaml").is_file() {
                    below.push(path);
                }
            }
        }
        level = below;
    }
    None
}
