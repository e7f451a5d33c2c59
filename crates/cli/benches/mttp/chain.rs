//! How long it takes from one Kustomization to the next that depends on it.

use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use super::watched::{Seen, Watched};
use super::workload::{Workload, name};

const LIMIT: Duration = Duration::from_secs(300);
/// How many Kustomizations without a dependency are looked at.
const ALONE: usize = 5;

/// Seconds.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct Hops {
    /// From one that is ready to the next, all that the next does included.
    pub(crate) hop: f64,
    /// From the object to a ready one without dependencies, the median of some.
    pub(crate) alone: f64,
}

/// Makes a chain at once, after some that are alone.
pub(crate) async fn measure(work: &Workload, watched: &Watched, length: usize) -> anyhow::Result<Hops> {
    let source = name(0);
    let is_ready = |seen: &Seen| seen.is_ready;
    let mut alone = Vec::new();
    for number in 0..ALONE {
        let one = format!("alone-{number}");
        let begun = Instant::now();
        work.kustomization(&one, &source, None).await?;
        let end = watched.until(&[one], LIMIT, is_ready).await?;
        alone.push(end.saturating_duration_since(begun).as_secs_f64());
    }
    alone.sort_by(f64::total_cmp);
    let names: Vec<String> = (0..length).map(|number| format!("chain-{number}")).collect();
    // The last comes first, so that each has to wait for the one before.
    for (number, one) in names.iter().enumerate().rev() {
        let after = number.checked_sub(1).map(|before| names[before].as_str());
        work.kustomization(one, &source, after).await?;
    }
    watched.until(&names, LIMIT, is_ready).await?;
    let since = |name: &String| watched.get(name).map(|seen| seen.since);
    let ends: Vec<Instant> = names.iter().filter_map(since).collect();
    let (first, last) = (ends[0], ends[ends.len() - 1]);
    let hops = (ends.len() - 1).max(1);
    Ok(Hops {
        hop: last.saturating_duration_since(first).as_secs_f64() / hops as f64,
        alone: alone[ALONE / 2],
    })
}
