//! The engine on a server that refuses, forgets and breaks connections, and in a process that is killed at any moment: it gets
//! there every time, and deletes nothing that it should not.

use std::collections::BTreeMap;
use std::time::Duration;

use apiserver::fault::{Fault, Rule, WatchFault};
use engine::cluster::{Delete, Selection, Write};
use engine::unit::SyncState;
use model::{Value, value};

use super::{Bed, LIMIT, config_map};

/// Numbers that are the same in each run: a failure can be looked into.
pub(super) struct Chance(pub(super) u64);

impl Chance {
    pub(super) fn below(&mut self, limit: u64) -> u64 {
        // Xorshift is good enough to choose among a few things.
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % limit
    }

    pub(super) fn fault(&mut self) -> Rule {
        let after = usize::try_from(self.below(4)).unwrap();
        let fault = match self.below(8) {
            0 => Fault::TooManyRequests(1),
            1 => Fault::Internal,
            2 => Fault::Unavailable,
            3 => Fault::Conflict,
            4 => Fault::Disconnect,
            5 => Fault::Delay(Duration::from_millis(50)),
            6 => Fault::Watch(WatchFault::Drop { after }),
            _ => Fault::Watch(WatchFault::Expire { after }),
        };
        let rule = Rule::new(fault).client("sluice-engine");
        match self.below(3) {
            0 => rule.nth(1 + self.below(6)),
            1 => rule.times(1 + self.below(4)),
            _ => rule.with_probability(0.3),
        }
    }

    /// What is desired: some of a few objects, and at least one.
    fn desired(&mut self) -> BTreeMap<String, String> {
        let mut desired = BTreeMap::new();
        while desired.is_empty() {
            for name in ["a", "b", "c", "d", "e"] {
                if self.below(2) == 0 {
                    desired.insert(name.to_owned(), self.below(3).to_string());
                }
            }
        }
        desired
    }
}

/// The rounds of a run, few enough to take some seconds: `SLUICE_FAULT_ROUNDS` has another number.
pub(super) fn rounds(few: u64) -> u64 {
    let rounds = std::env::var("SLUICE_FAULT_ROUNDS").ok();
    rounds.and_then(|rounds| rounds.parse().ok()).unwrap_or(few)
}

/// The seed of all choices: `SLUICE_FAULT_SEED`, or else a fixed one.
fn seed() -> u64 {
    let seed = std::env::var("SLUICE_FAULT_SEED").ok();
    seed.and_then(|seed| seed.parse().ok())
        .unwrap_or(0x51_0c_e0)
        .max(1)
}

#[tokio::test(start_paused = true)]
async fn whatever_goes_wrong_the_engine_gets_there_and_deletes_nothing_else() {
    let mut bed = Bed::on(testkit::Cluster::embedded(apiserver::Server::builder())).await;
    bed.by_hand("", config_map("bystander", "mine")).await;
    let seed = seed();
    eprintln!("SLUICE_FAULT_SEED={seed} repeats the choices of this run");
    let mut chance = Chance(seed);
    let (rounds, mut struck) = (rounds(200), 0);
    for round in 0..rounds {
        let faults: Vec<_> = (0..chance.below(4)).map(|_| chance.fault()).collect();
        let faults: Vec<_> = faults
            .into_iter()
            .map(|rule| bed.server().faults().add(rule))
            .collect();
        let mut desired = chance.desired();
        let mut revision = format!("v{round}");
        let objects = desired.iter().map(|(name, key)| config_map(name, key));
        bed.sync("shop", &revision, objects);
        if chance.below(3) == 0 {
            meddle(&bed, &mut chance).await;
        }
        if chance.below(4) == 0 {
            bed.server().compact();
        }
        if chance.below(2) == 0 {
            // The process is killed somewhere on its way.
            tokio::time::sleep(Duration::from_millis(chance.below(60))).await;
            if chance.below(2) == 0 {
                // Whoever starts again finds something newer, which need not have what was made so far.
                desired = chance.desired();
                revision.push_str("-newer");
                let objects = desired.iter().map(|(name, key)| config_map(name, key));
                bed.sources.set("shop", &revision, objects);
            }
            bed.restart().await;
        }
        // Faults that never end would keep it from its end: those that are left go.
        tokio::time::sleep(Duration::from_millis(chance.below(2000))).await;
        for fault in faults {
            struck += u64::from(bed.server().faults().fired(fault) > 0);
            bed.server().faults().remove(fault);
        }
        arrived(&bed, &revision, &desired, round).await;
    }
    assert!(
        struck >= rounds / 2,
        "only {struck} faults struck in {rounds} rounds"
    );
    bed.finish().await;
}

/// Somebody changes or deletes what is ours.
async fn meddle(bed: &Bed, chance: &mut Chance) {
    let names = ["a", "b", "c", "d", "e"];
    let name = names[usize::try_from(chance.below(5)).unwrap()];
    let config_maps = bed.resource("", "ConfigMap").await;
    if chance.below(2) == 0 {
        // It need not be there, and must not come to be: nobody would look after it.
        let (patch, by) = (value!({ "data": { "key": "by hand" } }), Write::by("hand"));
        let changed = bed
            .cluster
            .merge_patch(&config_maps, &bed.space, name, &patch, &by);
        drop(changed.await);
        return;
    }
    let options = Delete::default();
    // It need not be there.
    drop(bed.cluster.delete(&config_maps, &bed.space, name, &options).await);
}

/// Waits until the cluster has what is desired, what is not ours, and nothing else, and no operation is left.
async fn arrived(bed: &Bed, revision: &str, desired: &BTreeMap<String, String>, round: u64) {
    let mut wanted = desired.clone();
    wanted.insert("bystander".to_owned(), "mine".to_owned());
    let every = testkit::settled::Every(Duration::from_millis(100));
    let settled = testkit::settled(LIMIT * 20, every, async || {
        let there = there(bed).await;
        if there != wanted {
            return Err(format!("there are {there:?}, wanted are {wanted:?}"));
        }
        let status = bed.units.unit("shop").unwrap().status;
        let ended = status
            .operation
            .as_ref()
            .is_none_or(|operation| operation.phase.is_final());
        let is = status.sync == SyncState::Synced && status.revision == revision && ended;
        if is { Ok(()) } else { Err(format!("{status:#?}")) }
    });
    if let Err(error) = settled.await {
        panic!("round {round}: {error}");
    }
}

async fn there(bed: &Bed) -> BTreeMap<String, String> {
    let config_maps = bed.resource("", "ConfigMap").await;
    let selection = Selection {
        namespace: bed.space.as_str().into(),
        ..Selection::default()
    };
    let page = bed
        .cluster
        .list(&config_maps, &selection, 500, None)
        .await
        .unwrap();
    let pair = |object: &Value| {
        let text = |path: &[&str]| object.str_at(path).to_owned();
        (text(&["metadata", "name"]), text(&["data", "key"]))
    };
    let ours = page.items.iter().map(pair);
    ours.filter(|(name, _)| name != "kube-root-ca.crt").collect()
}
