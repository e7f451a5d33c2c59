//! What was measured, for people to read.

use std::time::Duration;

use super::audit::WRITES;
use super::measure::{Figures, Phase};
use super::options::Who;
use super::published::{self, Published};
use super::shape::Shape;

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
    let shape = all.first().map_or(Shape::Kustomizations, |first| first.shape);
    let what = match shape {
        Shape::Kustomizations => "`wait: true`, each with an OCIRepository of one artifact",
        Shape::Releases => "all of one chart of a registry, drift detected",
    };
    println!(
        "\n{}s of {OBJECTS} objects, {what}; {cores} cores for all of it",
        shape.kind()
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
        if let Some(found) = published::of(figures.shape, figures.count).filter(|_| is_last) {
            published_row(found);
        }
    }
    println!("\nrequests for each {}", shape.kind());
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
    println!("\nthe API server alone, memory at rest, and a chain of dependencies");
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

/// What a target is, what was reached, and whether that is enough.
type Judged = (String, String, bool);

/// Prints whether the targets are met, and says how many are not.
pub(crate) fn targets(all: &[Figures]) -> usize {
    println!("\ntargets of Sluice");
    let mut missed = 0;
    for figures in all.iter().filter(|figures| figures.who == Who::Sluice) {
        let flux = all
            .iter()
            .find(|other| other.who == Who::Flux && other.count == figures.count);
        let mut judged = memory_and_writes(figures);
        match figures.shape {
            Shape::Kustomizations => judged.extend(rates(figures)),
            Shape::Releases => judged.extend(flux.into_iter().flat_map(|flux| beside(figures, flux))),
        }
        for (what, value, is_met) in judged {
            missed += usize::from(!is_met);
            let sign = if is_met { "met   " } else { "MISSED" };
            println!("  {sign} {:>5}  {what}: {value}", figures.count);
        }
    }
    missed
}

fn memory_and_writes(figures: &Figures) -> Vec<Judged> {
    let mut judged = Vec::new();
    let most = figures.phases.iter().map(|phase| sum(&phase.memory)).max();
    if let Some(most) = most {
        let limit = figures.shape.most_memory();
        judged.push((
            format!("memory below {limit} MiB"),
            format!("{most} MiB"),
            most < limit,
        ));
    }
    if let Some(force) = figures.phase("forced no-op") {
        let writes: u64 = WRITES
            .iter()
            .map(|sort| force.requests.get(*sort).copied().unwrap_or_default())
            .sum();
        let each = |count: u64| count as f64 / figures.count as f64;
        judged.push((
            "at most one write for each".to_owned(),
            format!("{:.2}", each(writes)),
            each(writes) <= 1.0,
        ));
        let others = force.requests.values().sum::<u64>() - writes;
        judged.push((
            "no other request".to_owned(),
            format!("{:.2} for each", each(others)),
            each(others) < 0.01,
        ));
    }
    judged
}

/// How much less is needed than by Flux in the same run.
fn beside(figures: &Figures, flux: &Figures) -> Vec<Judged> {
    let pairs = figures
        .phases
        .iter()
        .filter_map(|phase| Some((phase, flux.phase(&phase.name)?)));
    let judged = pairs.map(|(ours, theirs)| {
        let times = theirs.cpu.as_secs_f64() / ours.cpu.as_secs_f64();
        (
            format!("{}: a fifth of the CPU seconds of Flux", ours.name),
            format!("{times:.1} times fewer"),
            times >= 5.0,
        )
    });
    judged.collect()
}

/// How quick it is beside the API server alone.
fn rates(figures: &Figures) -> Vec<Judged> {
    let mut judged = Vec::new();
    if let Some(install) = figures.phase("install") {
        let rate = (figures.count * OBJECTS) as f64 / install.took.as_secs_f64();
        let share = |what: &str, of: f64| {
            let value = format!("{:.0} /s, {:.0} %", rate, 100.0 * rate / of);
            (what.to_owned(), value, rate >= 0.8 * of)
        };
        judged.push(share(
            "install at 80 % of the rate of bare dry runs and applies",
            figures.bare.both,
        ));
        // The benchmark makes some objects itself.
        let made = figures.shape.made_for_each() * figures.count as u64;
        let sent = install.requests.values().sum::<u64>() + made;
        let sent = sent as f64 / install.took.as_secs_f64();
        let most = 2.0 * figures.bare.both;
        judged.push((
            "requests of the install at 80 % of the rate of bare dry runs and applies".to_owned(),
            format!("{sent:.0} /s, {:.0} %", 100.0 * sent / most),
            sent >= 0.8 * most,
        ));
        judged.push(share(
            "install at 80 % of the rate of bare applies alone",
            figures.bare.apply,
        ));
    }
    if let (Some(install), Some(upgrade)) = (figures.phase("install"), figures.phase("upgrade")) {
        judged.push((
            "upgrade in no more than the time of the install".to_owned(),
            format!("{:.2} s", upgrade.took.as_secs_f64()),
            upgrade.took <= install.took,
        ));
    }
    if let Some(force) = figures.phase("forced no-op") {
        judged.push((
            "forced runs of all in under 5 s".to_owned(),
            format!("{:.2} s", force.took.as_secs_f64()),
            force.took < Duration::from_secs(5),
        ));
        let rate = figures.count as f64 / force.took.as_secs_f64();
        let share = rate / figures.bare.asked;
        judged.push((
            "forced runs at 80 % of the rate of the bare writes".to_owned(),
            format!("{rate:.0} /s, {:.0} %", 100.0 * share),
            share >= 0.8,
        ));
    }
    if let Some(hops) = &figures.hops {
        let added = (hops.hop - hops.alone).max(0.0);
        judged.push((
            "a hop adds less than 0.2 s".to_owned(),
            format!("{added:.2} s"),
            added < 0.2,
        ));
    }
    judged
}

fn sum(memory: &[u64]) -> u64 {
    memory.iter().sum()
}
