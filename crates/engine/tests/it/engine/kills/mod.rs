//! A process with an engine that is killed at any moment, over connections that lose and refuse requests: whoever starts it again
//! finds what it left, gets there, deletes nothing else and leaves no operation and no request behind.
//!
//! On the embedded and on a real cluster. `SLUICE_FAULT_ROUNDS` sets the number of rounds, `SLUICE_FAULT_SEED` what they are like.

mod cluster;
mod faulty;
mod process;
mod program;
mod wishes;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use engine::unit::{Operation, Phase, Status, SyncState};
use fastrand::Rng;

use super::{LIMIT, by};
use cluster::{Live, Place};
use process::Program;
use program::{replace, stored};
use wishes::{BRIEF, HOOK, UNITS, Wish};

/// Few, as each takes a second or two.
const ROUNDS: usize = 4;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn killed_at_any_moment_the_engine_gets_there_and_deletes_nothing_else() {
    let number = |name: &str| std::env::var(name).ok().and_then(|text| text.parse::<u64>().ok());
    let seed = number("SLUICE_FAULT_SEED").unwrap_or_else(|| fastrand::u64(..1_000_000));
    let rounds = number("SLUICE_FAULT_ROUNDS").map_or(ROUNDS, |rounds| usize::try_from(rounds).unwrap());
    eprintln!("SLUICE_FAULT_SEED={seed} repeats the choices of this run");
    let mut scene = Scene::start(Rng::with_seed(seed)).await;
    for round in 0..rounds {
        scene.round(round).await;
    }
    let Counts {
        kills,
        mid_operation,
        requests,
        deletions,
    } = scene.counts;
    eprintln!(
        "{rounds} rounds, {kills} kills, {mid_operation} of them in the middle of an operation, {requests} requests, {deletions} units deleted"
    );
    scene.end().await;
}

/// What has happened.
#[derive(Clone, Copy, Default)]
struct Counts {
    kills: usize,
    mid_operation: usize,
    requests: usize,
    deletions: usize,
}

/// A cluster, a folder with what the program goes by, and the program.
struct Scene {
    place: Place,
    folder: tempfile::TempDir,
    program: Program,
    random: Rng,
    wish: Wish,
    /// The identities of objects that nobody has a reason to delete.
    uids: BTreeMap<String, String>,
    /// Whether the unit that is deleted now and then is to be there.
    has_brief: bool,
    counts: Counts,
}

impl Scene {
    async fn start(random: Rng) -> Scene {
        let place = Place::start().await;
        let folder = tempfile::tempdir().unwrap();
        std::fs::copy(place.test.kubeconfig().await, folder.path().join("kubeconfig")).unwrap();
        std::fs::write(folder.path().join("namespace"), &place.namespace).unwrap();
        let mut scene = Scene {
            program: Program::start(folder.path(), 0),
            place,
            folder,
            random,
            wish: Wish::default(),
            uids: BTreeMap::new(),
            has_brief: true,
            counts: Counts::default(),
        };
        scene.wish("v-first");
        scene.arrived("the first").await;
        scene
    }

    async fn round(&mut self, round: usize) {
        if !self.has_brief {
            // It is gone since the last round, and comes back as another.
            self.forget_brief();
        } else if self.random.u8(..4) == 0 {
            self.delete_brief();
        }
        self.wish(&format!("v{round}"));
        if self.random.u8(..3) == 0 {
            self.ask(round);
        }
        if self.random.u8(..3) == 0 {
            self.meddle().await;
        }
        if self.random.u8(..4) == 0 {
            self.place.compact();
        }
        for _ in 0..self.random.u8(1..=2) {
            // A short life ends before the first list, a long one after all is done.
            let (least, most) = (self.random.u64(..20), self.random.u64(..400));
            if self.random.bool() {
                self.begun(Duration::from_millis(most)).await;
                tokio::time::sleep(Duration::from_millis(least)).await;
            } else {
                tokio::time::sleep(Duration::from_millis(most)).await;
            }
            self.kill();
        }
        self.arrived(&format!("round {round}")).await;
    }

    /// Kills the program and starts it again. It may find a newer revision then, which need not have what was made so far.
    fn kill(&mut self) {
        self.program.kill();
        self.counts.kills += 1;
        self.counts.mid_operation += usize::from(self.is_under_way());
        if self.random.bool() {
            self.wish(&format!("{}-newer", self.wish.revision));
        }
        self.program = Program::start(self.folder.path(), self.random.u64(1..));
    }

    /// Whether an operation is under way, or was when the program was killed.
    fn is_under_way(&self) -> bool {
        let mut last = UNITS.into_iter().filter_map(|unit| self.status(unit)?.operation);
        last.any(|operation| !operation.phase.is_final())
    }

    /// Waits until an operation is under way, but no longer than this.
    async fn begun(&self, limit: Duration) {
        let every = testkit::settled::Every(Duration::from_millis(1));
        let begun = testkit::settled(limit, every, async || match self.is_under_way() {
            true => Ok(()),
            false => Err("none is"),
        });
        // One that is too quick to be seen is not hit; others are.
        drop(begun.await);
    }

    /// Something else is desired from now on.
    fn wish(&mut self, revision: &str) {
        let group = &self.place.group;
        self.wish = Wish::random(&mut self.random, revision, group, self.has_brief);
        for (unit, manifests) in &self.wish.manifests {
            replace(&self.file(unit, "source"), &(revision, manifests));
        }
        let wanted = &self.wish.objects;
        self.uids
            .retain(|name, _| wanted.contains_key(name) && name != HOOK);
        self.program.tell();
    }

    /// Somebody asks for an operation, or for what it would do.
    fn ask(&mut self, round: usize) {
        let unit = UNITS[self.random.usize(..UNITS.len())];
        if unit == BRIEF {
            return;
        }
        let asked = Operation {
            number: round.to_string(),
            dry_run: self.random.u8(..4) == 0,
            ..by("ada")
        };
        self.counts.requests += 1;
        replace(&self.file(unit, "operation"), &asked);
        self.program.tell();
    }

    /// The unit is to be deleted with all that it has.
    fn delete_brief(&mut self) {
        let deletion = Operation {
            delete: true,
            ..by("ada")
        };
        replace(&self.file(BRIEF, "operation"), &deletion);
        self.has_brief = false;
        self.counts.deletions += 1;
    }

    /// The unit is deleted, and nothing is left that tells of it.
    fn forget_brief(&mut self) {
        // The program must not write what has become of it any more.
        self.program.kill();
        for what in ["source", "status", "operation"] {
            std::fs::remove_file(self.file(BRIEF, what)).unwrap();
        }
        self.has_brief = true;
        self.program = Program::start(self.folder.path(), self.random.u64(1..));
    }

    /// Somebody changes or deletes what is ours.
    async fn meddle(&mut self) {
        let ours = self.wish.objects.keys();
        let ours: Vec<_> = ours.filter(|name| !name.starts_with(wishes::BYSTANDER)).collect();
        let name = ours[self.random.usize(..ours.len())].clone();
        if self.random.bool() {
            self.place.change(&name).await;
        } else {
            self.uids.remove(&name);
            self.place.delete(&name).await;
        }
    }

    /// Waits until the cluster has what is desired, what is not ours, and nothing else, and no operation and no request is left.
    async fn arrived(&mut self, when: &str) {
        let every = testkit::settled::Every(Duration::from_millis(20));
        let settled = testkit::settled(LIMIT * 2, every, async || {
            for unit in UNITS {
                self.has_arrived(unit)?;
            }
            let (there, wanted) = (self.place.objects().await, &self.wish.objects);
            let keys = |there: &Live| {
                there
                    .iter()
                    .map(|(name, (key, _))| (name.clone(), key.clone()))
                    .collect()
            };
            if *wanted != keys(&there) {
                return Err(format!("there are {there:?}, wanted are {wanted:?}"));
            }
            match self.place.is_defined().await == self.wish.is_defined {
                true => Ok(there),
                false => Err(format!(
                    "the definition is not as wanted: {}",
                    self.wish.is_defined
                )),
            }
        });
        let there = match settled.await {
            Ok(there) => there,
            Err(error) => panic!("{when}: {error}\nthe program said:\n{}", self.said()),
        };
        for (name, uid) in &self.uids {
            let now = &there[name].1;
            assert_eq!(
                now,
                uid,
                "{when}: {name} was deleted and made anew\n{}",
                self.said()
            );
        }
        self.uids = there.into_iter().map(|(name, (_, uid))| (name, uid)).collect();
    }

    /// Whether a unit is as it should be, and nothing is left to do for it.
    fn has_arrived(&self, unit: &str) -> Result<(), String> {
        let status = self.status(unit).unwrap_or_default();
        let last = status.operation.as_ref();
        let is_over = last.is_none_or(|last| last.phase.is_final());
        let is_right = match unit == BRIEF && !self.has_brief {
            true => {
                let succeeded = last.is_some_and(|last| last.phase == Phase::Succeeded);
                succeeded && status.inventory.entries.is_empty()
            }
            // Of two that have the same object one has to leave it to the other.
            false => {
                let shares = !status.wanted.is_empty() && status.sync == SyncState::OutOfSync;
                (status.sync == SyncState::Synced || shares) && status.revision == self.wish.revision
            }
        };
        let is_asked = (unit != BRIEF) && self.file(unit, "operation").exists();
        match is_over && is_right && !is_asked {
            true => Ok(()),
            false => Err(format!("{unit}, asked: {is_asked}: {status:#?}")),
        }
    }

    fn file(&self, unit: &str, what: &str) -> PathBuf {
        self.folder.path().join(format!("{unit}.{what}"))
    }

    /// What the program has stored of a unit.
    fn status(&self, unit: &str) -> Option<Status> {
        stored(&self.file(unit, "status"))
    }

    fn said(&self) -> String {
        std::fs::read_to_string(self.folder.path().join("said")).unwrap_or_default()
    }

    async fn end(mut self) {
        self.program.kill();
        self.place.end().await;
    }
}
