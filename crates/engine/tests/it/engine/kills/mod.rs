//! A process with an engine that is killed at any moment, over connections that lose and refuse requests: whoever starts it again
//! finds what it left, gets there, deletes nothing else and leaves no operation behind.
//!
//! On the embedded and on a real cluster. `SLUICE_FAULT_ROUNDS` sets the number of rounds, `SLUICE_FAULT_SEED` what they are like.

mod faulty;
mod program;

use std::collections::BTreeMap;
use std::io::Write as _;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use engine::cluster::{Apply, Cluster, Delete, Resource, Selection, Write};
use engine::unit::{Status, SyncState};
use fastrand::Rng;
use model::{Value, value};

use super::LIMIT;
use program::{FOLDER, UNITS};

/// Few, as each takes a good part of a second.
const ROUNDS: usize = 6;
const NAMES: [&str; 5] = ["a", "b", "c", "d", "e"];
/// An object that belongs to nobody.
const BYSTANDER: &str = "bystander";

/// The objects of all units, with their keys.
type Objects = BTreeMap<String, String>;

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
    let (kills, mid_operation) = (scene.kills, scene.mid_operation);
    eprintln!("{rounds} rounds, {kills} kills, {mid_operation} of them in the middle of an operation");
    scene.end().await;
}

/// A cluster, a folder with what the program goes by, and the program.
struct Scene {
    test: testkit::Cluster,
    cluster: Cluster,
    config_maps: Resource,
    namespace: String,
    folder: tempfile::TempDir,
    program: Program,
    random: Rng,
    /// What each unit should have.
    desired: BTreeMap<&'static str, Objects>,
    /// The identities of objects that nobody has a reason to delete.
    uids: BTreeMap<String, String>,
    /// The revision of it.
    revision: String,
    kills: usize,
    mid_operation: usize,
}

impl Scene {
    async fn start(random: Rng) -> Scene {
        let test = testkit::Cluster::start().await;
        let namespace = test.namespace("kills").await;
        let cluster = Cluster::with_agent(test.client(), "tests");
        let config_maps = cluster.preferred("", "ConfigMap").await.unwrap();
        let folder = tempfile::tempdir().unwrap();
        std::fs::copy(test.kubeconfig().await, folder.path().join("kubeconfig")).unwrap();
        std::fs::write(folder.path().join("namespace"), &namespace).unwrap();
        let mut scene = Scene {
            program: Program::start(folder.path(), 0),
            test,
            cluster,
            config_maps,
            namespace,
            folder,
            random,
            desired: UNITS.map(|unit| (unit, Objects::new())).into(),
            uids: BTreeMap::new(),
            revision: String::new(),
            kills: 0,
            mid_operation: 0,
        };
        scene.add_bystander().await;
        scene.wish("v-first");
        scene.arrived("the first").await;
        scene
    }

    async fn round(&mut self, round: usize) {
        self.wish(&format!("v{round}"));
        if self.random.u8(..3) == 0 {
            self.meddle().await;
        }
        if self.random.u8(..4) == 0
            && let Some(server) = self.test.server()
        {
            // Versions that watches go on from are too old from now on.
            server.compact();
        }
        for _ in 0..self.random.u8(1..=2) {
            // A short life ends before the first list, a long one after all is done.
            let (least, most) = (self.random.u64(..20), self.random.u64(..250));
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
        self.kills += 1;
        self.mid_operation += usize::from(self.is_under_way());
        if self.random.bool() {
            self.wish(&format!("{}-newer", self.revision));
        }
        self.program = Program::start(self.folder.path(), self.random.u64(1..));
    }

    /// Whether an operation is under way, or was when the program was killed.
    fn is_under_way(&self) -> bool {
        let mut stored = UNITS.into_iter().filter_map(|unit| self.status(unit)?.operation);
        stored.any(|operation| !operation.phase.is_final())
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

    /// Something else is desired from now on: some of a few objects of each unit, and at least one.
    fn wish(&mut self, revision: &str) {
        for unit in UNITS {
            let mut wanted = Objects::new();
            while wanted.is_empty() {
                for name in NAMES {
                    if self.random.bool() {
                        wanted.insert(format!("{unit}-{name}"), self.random.u8(..3).to_string());
                    }
                }
            }
            let objects: Vec<serde_json::Value> = wanted
                .iter()
                .map(|(name, key)| serde_json::json!({ "name": name, "key": key }))
                .collect();
            let source = serde_json::json!({ "revision": revision, "objects": objects });
            program::replace(&self.folder.path().join(format!("{unit}.source")), &source);
            self.desired.insert(unit, wanted);
        }
        revision.clone_into(&mut self.revision);
        let desired = &self.desired;
        self.uids.retain(|name, _| {
            let mut units = desired.values();
            name == BYSTANDER || units.any(|wanted| wanted.contains_key(name))
        });
        self.program.tell();
    }

    /// Somebody changes or deletes what is ours.
    async fn meddle(&mut self) {
        let name = format!(
            "{}-{}",
            UNITS[self.random.usize(..2)],
            NAMES[self.random.usize(..5)]
        );
        if self.random.bool() {
            // It need not be there, and must not come to be: nobody would look after it.
            let (patch, by) = (value!({ "data": { "key": "by hand" } }), Write::by("hand"));
            let changed = self
                .cluster
                .merge_patch(&self.config_maps, &self.namespace, &name, &patch, &by);
            drop(changed.await);
            return;
        }
        self.uids.remove(&name);
        let options = Delete::default();
        let deleted = self
            .cluster
            .delete(&self.config_maps, &self.namespace, &name, &options);
        drop(deleted.await);
    }

    async fn add_bystander(&self) {
        let object = value!({
            "apiVersion": "v1", "kind": "ConfigMap",
            "metadata": { "name": BYSTANDER, "namespace": (self.namespace.as_str()) },
            "data": { "key": "mine" },
        });
        let by = Apply::by("hand");
        self.cluster.apply(&self.config_maps, &object, &by).await.unwrap();
    }

    /// Waits until the cluster has what is desired, what is not ours, and nothing else, and no operation is left.
    async fn arrived(&mut self, when: &str) {
        let mut wanted: Objects = self.desired.values().flatten().map(owned).collect();
        wanted.insert(BYSTANDER.to_owned(), "mine".to_owned());
        let every = testkit::settled::Every(Duration::from_millis(20));
        let settled = testkit::settled(LIMIT * 2, every, async || {
            for unit in UNITS {
                let status = self.status(unit).unwrap_or_default();
                let operation = status.operation.as_ref();
                let ended = operation.is_none_or(|operation| operation.phase.is_final());
                if status.sync != SyncState::Synced || status.revision != self.revision || !ended {
                    return Err(format!("{unit}: {status:#?}"));
                }
            }
            let there = self.there().await;
            match there
                .iter()
                .map(|(name, (key, _))| owned((name, key)))
                .collect::<Objects>()
                == wanted
            {
                true => Ok(there),
                false => Err(format!("there are {there:?}, wanted are {wanted:?}")),
            }
        });
        let there = match settled.await {
            Ok(there) => there,
            Err(error) => panic!("{when}: {error}\nthe program said:\n{}", self.said()),
        };
        for (name, uid) in &self.uids {
            let now = &there[name].1;
            assert_eq!(now, uid, "{when}: {name} was deleted and made anew");
        }
        self.uids = there.into_iter().map(|(name, (_, uid))| (name, uid)).collect();
    }

    /// The objects that are there, with their keys and identities.
    async fn there(&self) -> BTreeMap<String, (String, String)> {
        let selection = Selection {
            namespace: self.namespace.as_str().into(),
            ..Selection::default()
        };
        let page = self
            .cluster
            .list(&self.config_maps, &selection, 500, None)
            .await
            .unwrap();
        let text = |object: &Value, path: &[&str]| object.str_at(path).to_owned();
        let all = page.items.iter().map(|object| {
            let key = text(object, &["data", "key"]);
            (
                text(object, &["metadata", "name"]),
                (key, text(object, &["metadata", "uid"])),
            )
        });
        // The cluster itself puts its certificate into each namespace.
        all.filter(|(name, _)| name != "kube-root-ca.crt").collect()
    }

    /// What the program has stored of a unit.
    fn status(&self, unit: &str) -> Option<Status> {
        program::stored(self.folder.path(), unit)
    }

    fn said(&self) -> String {
        std::fs::read_to_string(self.folder.path().join("said")).unwrap_or_default()
    }

    async fn end(mut self) {
        self.program.kill();
        self.test.finish().await;
    }
}

fn owned((name, key): (&String, &String)) -> (String, String) {
    (name.clone(), key.clone())
}

/// The program, which ends with this at the latest.
struct Program(Child);

impl Program {
    fn start(folder: &Path, seed: u64) -> Program {
        let said = std::fs::File::options()
            .create(true)
            .append(true)
            .open(folder.join("said"))
            .unwrap();
        let child = Command::new(std::env::current_exe().unwrap())
            .args([
                "--exact",
                "--nocapture",
                "engine::kills::program::an_engine_runs_until_it_is_killed",
            ])
            .env(FOLDER, folder)
            .env(faulty::SEED, seed.to_string())
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(said)
            .spawn()
            .unwrap();
        Program(child)
    }

    /// Says that the sources have changed.
    fn tell(&mut self) {
        // One that was killed sees it when it starts. One that has ended by itself is found out by what it leaves undone.
        if let Some(stdin) = &mut self.0.stdin {
            drop(stdin.write_all(b"changed\n"));
        }
    }

    /// With SIGKILL: nothing is tidied up.
    fn kill(&mut self) {
        self.0.kill().unwrap();
        self.0.wait().unwrap();
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        drop(self.0.kill());
        drop(self.0.wait());
    }
}
