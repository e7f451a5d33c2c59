//! Units that share objects and pass them on to each other, wait for health and mark nothing, on a server that refuses, forgets and breaks
//! connections, in a process that is killed at any moment: they get there every time, and at no time is anything deleted that one of
//! them wants.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use engine::cluster::{Delete, Selection, Write};
use engine::plan::{Ownership, Strategy};
use engine::unit::SyncState;
use model::{Value, value};

use super::faults::{Chance, rounds};
use super::{Bed, LIMIT, argo, config_map, outcomes, slow, waiting};

/// The first one marks its objects, the others have only their inventories. The last one goes by waves.
const UNITS: [&str; 3] = ["marked", "bare", "waves"];
const NAMES: [&str; 6] = ["a", "b", "c", "d", "e", "f"];
const BYSTANDER: &str = "bystander";

/// An object with its value, and whether it takes its time.
type Wanted = (String, bool);

/// What is wanted: each object, and by which units.
type Wish = BTreeMap<&'static str, (Wanted, BTreeSet<&'static str>)>;

/// Most objects are wanted by one unit, some by the two that have no marks, and some by nobody.
fn wish(chance: &mut Chance) -> Wish {
    let mut wish = Wish::new();
    for name in NAMES {
        let units: &[&'static str] = match chance.below(8) {
            0..=1 => &UNITS[..1],
            2..=3 => &UNITS[1..2],
            4..=5 => &UNITS[2..],
            6 => &UNITS[1..],
            _ => continue,
        };
        let wanted = (chance.below(3).to_string(), chance.below(4) == 0);
        wish.insert(name, (wanted, units.iter().copied().collect()));
    }
    wish
}

/// All sources change at once: there is no moment at which an object that moves is wanted by nobody.
fn publish(bed: &Bed, revision: &str, wish: &Wish) {
    let mut sources = bed.sources.0.lock();
    for unit in UNITS {
        let wanted = wish.iter().filter(|(_, (_, units))| units.contains(unit));
        let objects = wanted.map(|(name, ((key, is_slow), _))| {
            let mut object = if *is_slow {
                slow(name)
            } else {
                config_map(name, "")
            };
            object.set_at(&["data", "key"], key.as_str());
            object
        });
        // An empty build would prune nothing.
        let own = argo(config_map(unit, "own"), "sync-wave", "-1");
        let objects = objects.chain([own]).collect();
        sources.insert(unit.to_owned(), (revision.to_owned(), objects));
    }
}

struct Scene {
    bed: Bed,
    /// The identities of objects that somebody wants ever since.
    uids: BTreeMap<String, String>,
}

impl Scene {
    async fn start() -> Scene {
        let server = testkit::Cluster::embedded(apiserver::Server::builder());
        let bed = Bed::with(server, outcomes()).await;
        for id in UNITS {
            let mut unit = bed.unit(id);
            unit.policy.options = waiting(3600);
            if id != UNITS[0] {
                unit.policy.strategy = match id {
                    "waves" => Strategy::argo(id),
                    _ => Strategy::helm(),
                };
                unit.policy.strategy.ownership = Ownership::Inventory;
            }
            unit.policy.options.argo.prune_last = true;
            bed.units.put(unit);
        }
        bed.by_hand("", config_map(BYSTANDER, "mine")).await;
        Scene {
            bed,
            uids: BTreeMap::new(),
        }
    }

    /// Something else is wanted from now on.
    fn wish(&mut self, revision: &str, wish: &Wish) {
        publish(&self.bed, revision, wish);
        let stays = |name: &str| wish.contains_key(name) || name == BYSTANDER || UNITS.contains(&name);
        self.uids.retain(|name, _| stays(name));
    }

    /// Somebody changes or deletes an object of a unit.
    async fn meddle(&mut self, chance: &mut Chance) {
        let name = NAMES[usize::try_from(chance.below(6)).unwrap()];
        let bed = &self.bed;
        let config_maps = bed.resource("", "ConfigMap").await;
        if chance.below(2) == 0 {
            let (patch, by) = (value!({ "data": { "key": "by hand" } }), Write::by("hand"));
            let changed = bed
                .cluster
                .merge_patch(&config_maps, &bed.space, name, &patch, &by);
            drop(changed.await);
            return;
        }
        self.uids.remove(name);
        let options = Delete::default();
        drop(bed.cluster.delete(&config_maps, &bed.space, name, &options).await);
    }

    /// All config maps that are there, but that of the cluster itself.
    async fn there(&self) -> Vec<Value> {
        let config_maps = self.bed.resource("", "ConfigMap").await;
        let selection = Selection {
            namespace: self.bed.space.as_str().into(),
            ..Selection::default()
        };
        let listed = self.bed.cluster.list(&config_maps, &selection, 500, None);
        let page = listed.await.unwrap();
        let ours = |object: &Value| object.str_at(&["metadata", "name"]) != "kube-root-ca.crt";
        page.items.into_iter().filter(ours).collect()
    }

    /// What takes its time has had it.
    async fn let_them_be_done(&self, there: &[Value]) {
        let bed = &self.bed;
        let config_maps = bed.resource("", "ConfigMap").await;
        for object in there {
            let data = |key: &str| object.str_at(&["data", key]);
            if data("slow") == "yes" && data("outcome") != "done" {
                let name = object.str_at(&["metadata", "name"]);
                let (patch, by) = (value!({ "data": { "outcome": "done" } }), Write::by("hand"));
                let changed = bed
                    .cluster
                    .merge_patch(&config_maps, &bed.space, name, &patch, &by);
                drop(changed.await);
            }
        }
    }

    /// Waits until all that is wanted is there and nothing else, and no operation is left.
    async fn arrived(&mut self, revision: &str, wish: &Wish, when: &str) {
        let mut wanted: BTreeMap<&str, &str> = wish
            .iter()
            .map(|(name, ((key, _), _))| (*name, key.as_str()))
            .collect();
        wanted.insert(BYSTANDER, "mine");
        wanted.extend(UNITS.map(|unit| (unit, "own")));
        let every = testkit::settled::Every(Duration::from_millis(100));
        let settled = testkit::settled(LIMIT * 3, every, async || {
            let there = self.there().await;
            self.let_them_be_done(&there).await;
            let pair = |object: &'_ Value| {
                let text = |path: &[&str]| object.str_at(path).to_owned();
                (text(&["metadata", "name"]), text(&["data", "key"]))
            };
            let keys: BTreeMap<String, String> = there.iter().map(pair).collect();
            let as_wanted = keys
                .iter()
                .map(|(name, key)| (name.as_str(), key.as_str()))
                .eq(wanted.iter().map(|(name, key)| (*name, *key)));
            if !as_wanted {
                return Err(format!("there are {keys:?}, wanted are {wanted:?}"));
            }
            for unit in UNITS {
                let status = self.bed.units.unit(unit).unwrap().status;
                let operation = status.operation.as_ref();
                let ended = operation.is_none_or(|operation| operation.phase.is_final());
                if status.sync != SyncState::Synced || status.revision != revision || !ended {
                    return Err(format!("{unit}: {status:#?}"));
                }
            }
            Ok(there)
        });
        let there = settled.await.unwrap_or_else(|error| panic!("{when}: {error}"));
        let text = |object: &Value, field: &str| object.str_at(&["metadata", field]).to_owned();
        let uids: BTreeMap<_, _> = there
            .iter()
            .map(|object| (text(object, "name"), text(object, "uid")))
            .collect();
        for (name, uid) in &self.uids {
            let now = &uids[name];
            assert_eq!(now, uid, "{when}: {name} was deleted though a unit wanted it");
        }
        self.uids = uids;
    }
}

#[tokio::test(start_paused = true)]
async fn whatever_goes_wrong_nothing_is_deleted_that_a_unit_wants() {
    let mut scene = Scene::start().await;
    let mut chance = Chance(0x0b_1e_c7);
    let (rounds, mut moves, mut kills) = (rounds(40), 0, 0);
    let mut before = Wish::new();
    for round in 0..rounds {
        let faults: Vec<_> = (0..chance.below(4)).map(|_| chance.fault()).collect();
        let add = |rule| scene.bed.server().faults().add(rule);
        let faults: Vec<_> = faults.into_iter().map(add).collect();
        let mut wanted = wish(&mut chance);
        let mut revision = format!("v{round}");
        scene.wish(&revision, &wanted);
        UNITS.iter().for_each(|unit| scene.bed.engine.refresh(unit));
        if chance.below(3) == 0 {
            scene.meddle(&mut chance).await;
        }
        if chance.below(4) == 0 {
            scene.bed.server().compact();
        }
        for _ in 0..chance.below(3) {
            // The process is killed somewhere on its way, and whoever starts again may find something newer.
            tokio::time::sleep(Duration::from_millis(chance.below(120))).await;
            if chance.below(2) == 0 {
                wanted = wish(&mut chance);
                revision.push_str("-newer");
                scene.wish(&revision, &wanted);
            }
            if chance.below(4) == 0 {
                UNITS.iter().for_each(|unit| scene.bed.engine.refresh(unit));
            } else {
                scene.bed.restart().await;
                kills += 1;
            }
        }
        tokio::time::sleep(Duration::from_millis(chance.below(2000))).await;
        for fault in faults {
            scene.bed.server().faults().remove(fault);
        }
        UNITS.iter().for_each(|unit| scene.bed.engine.refresh(unit));
        scene.arrived(&revision, &wanted, &format!("round {round}")).await;
        let moved = |(name, (_, units)): (&&str, &(Wanted, BTreeSet<_>))| {
            before.get(name).is_some_and(|(_, were)| were.is_disjoint(units))
        };
        moves += wanted.iter().map(moved).map(u64::from).sum::<u64>();
        before = wanted;
    }
    eprintln!("{rounds} rounds, {kills} kills, {moves} moves");
    assert!(
        moves >= rounds && kills >= rounds / 4,
        "{moves} moves, {kills} kills"
    );
    scene.bed.finish().await;
}
