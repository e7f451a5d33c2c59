//! What was measured, for people to read.

use std::time::Duration;

use super::audit::WRITES;
use super::measure::{Figures, Phase};
use super::options::Who;
use super::published::{self, Published};

/// The sorts of requests, in the order of the columns.
const SORTS: [&str; 11] = [
    "get",
    "list",
    "watch",
    "dry run",
    "apply",
    "status",
    "event",
    "create",
    "patch",
    "delete",
    "discovery",
];
const OBJECTS: usize = 4;

pub(crate) fn print(all: &[Figures]) {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    println!(
        "\nKustomizations of {OBJECTS} objects, `wait: true`, each with an OCIRepository of one artifact; {cores} cores for all of it"
    );
    println!(
        "{:<7} {:>5}  {:<13} {:>9} {:>9} {:>8} {:>9} {:>12} {:>10}",
        "", "count", "phase", "wall s", "asked s", "CPU s", "server s", "RSS MiB", "requests"
    );
    for (number, figures) in all.iter().enumerate() {
        for phase in &figures.phases {
            row(&figures.who.to_string(), figures.count, phase);
        }
        let is_last = all[number + 1..].iter().all(|next| next.count != figures.count);
        if let Some(found) = published::of(figures.count).filter(|_| is_last) {
            published_row(found);
        }
    }
    println!("\nrequests for each Kustomization");
    print!("{:<7} {:>5}  {:<13}", "", "count", "phase");
    SORTS.iter().for_each(|sort| print!(" {sort:>9}"));
    println!();
    for figures in all {
        for phase in &figures.phases {
            print!(
                "{:<7} {:>5}  {:<13}",
                figures.who.to_string(),
                figures.count,
                phase.name
            );
            for sort in SORTS {
                let count = phase.requests.get(sort).copied().unwrap_or_default();
                print!(" {:>9.2}", count as f64 / figures.count as f64);
            }
            println!();
        }
    }
    println!("\nthe API server alone, and a chain of dependencies");
    for figures in all {
        let Figures { who, count, bare, .. } = figures;
        print!(
            "{:<7} {count:>5}  bare applies {:.0} /s, dry runs and applies {:.0} /s, requests for a run with their answers {:.0} /s",
            who.to_string(),
            bare.apply,
            bare.both,
            bare.asked
        );
        if let Some(hops) = &figures.hops {
            print!("; a hop {:.2} s, one alone {:.2} s", hops.hop, hops.alone);
        }
        println!("; memory at rest {} MiB", sum(&figures.at_rest));
    }
}

fn row(who: &str, count: usize, phase: &Phase) {
    let memory: Vec<String> = phase.memory.iter().map(u64::to_string).collect();
    println!(
        "{who:<7} {count:>5}  {:<13} {:>9.2} {:>9.2} {:>8.2} {:>9.2} {:>12} {:>10}",
        phase.name,
        phase.took.as_secs_f64(),
        phase.asked.as_secs_f64(),
        phase.cpu.as_secs_f64(),
        phase.server_cpu.as_secs_f64(),
        memory.join(" + "),
        phase.requests.values().sum::<u64>(),
    );
}

fn published_row(found: &Published) {
    let (source, kustomize) = found.memory;
    println!(
        "{:<7} {:>5}  {:<13} {:>9.2} {:>9} {:>8} {:>9} {:>12}",
        "Flux",
        found.count,
        "published",
        found.took.as_secs_f64(),
        "",
        "",
        "",
        format!("{source} + {kustomize}"),
    );
}

/// Prints whether the targets are met, and says how many are not.
pub(crate) fn targets(all: &[Figures]) -> usize {
    println!("\ntargets of Sluice");
    let mut missed = 0;
    for figures in all.iter().filter(|figures| figures.who == Who::Sluice) {
        for (what, value, is_met) in judged(figures) {
            missed += usize::from(!is_met);
            let sign = if is_met { "met   " } else { "MISSED" };
            println!("  {sign} {:>5}  {what}: {value}", figures.count);
        }
    }
    missed
}

fn judged(figures: &Figures) -> Vec<(&'static str, String, bool)> {
    let mut judged = Vec::new();
    let find = |name: &str| figures.phases.iter().find(|phase| phase.name == name);
    if let Some(install) = find("install") {
        let rate = (figures.count * OBJECTS) as f64 / install.took.as_secs_f64();
        let share = |of: f64| {
            (
                format!("{:.0} /s, {:.0} %", rate, 100.0 * rate / of),
                rate >= 0.8 * of,
            )
        };
        let (text, is_met) = share(figures.bare.both);
        judged.push((
            "install at 80 % of the rate of bare dry runs and applies",
            text,
            is_met,
        ));
        // The benchmark makes the two objects of each Kustomization itself.
        let sent = install.requests.values().sum::<u64>() + 2 * figures.count as u64;
        let sent = sent as f64 / install.took.as_secs_f64();
        let most = 2.0 * figures.bare.both;
        judged.push((
            "requests of the install at 80 % of the rate of bare dry runs and applies",
            format!("{sent:.0} /s, {:.0} %", 100.0 * sent / most),
            sent >= 0.8 * most,
        ));
        let (text, is_met) = share(figures.bare.apply);
        judged.push(("install at 80 % of the rate of bare applies alone", text, is_met));
    }
    if let (Some(install), Some(upgrade)) = (find("install"), find("upgrade")) {
        let is_met = upgrade.took <= install.took;
        let text = format!("{:.2} s", upgrade.took.as_secs_f64());
        judged.push(("upgrade in no more than the time of the install", text, is_met));
    }
    let most = figures.phases.iter().map(|phase| sum(&phase.memory)).max();
    if let Some(most) = most {
        judged.push(("memory below 64 MiB", format!("{most} MiB"), most < 64));
    }
    if let Some(force) = find("forced no-op") {
        let is_met = force.took < Duration::from_secs(5);
        let text = format!("{:.2} s", force.took.as_secs_f64());
        judged.push(("forced runs of all in under 5 s", text, is_met));
        let rate = figures.count as f64 / force.took.as_secs_f64();
        let share = rate / figures.bare.asked;
        judged.push((
            "forced runs at 80 % of the rate of the bare writes",
            format!("{rate:.0} /s, {:.0} %", 100.0 * share),
            share >= 0.8,
        ));
        let writes: u64 = WRITES
            .iter()
            .map(|sort| force.requests.get(*sort).copied().unwrap_or_default())
            .sum();
        let each = writes as f64 / figures.count as f64;
        judged.push(("at most one write for each", format!("{each:.2}"), each <= 1.0));
    }
    if let Some(hops) = &figures.hops {
        let added = (hops.hop - hops.alone).max(0.0);
        let text = format!("{added:.2} s");
        judged.push(("a hop adds less than 0.2 s", text, added < 0.2));
    }
    judged
}

fn sum(memory: &[u64]) -> u64 {
    memory.iter().sum()
}
