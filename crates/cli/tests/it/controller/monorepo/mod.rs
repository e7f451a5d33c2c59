//! A monorepo of 200 Kustomizations in layers: it converges, also when the program is killed at any moment on the way while revisions
//! change, and nothing is lost or deleted that was wanted all the time.
//!
//! `SLUICE_KILL_SEED` and `SLUICE_KILLS` are as for sources.

mod repository;

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use fastrand::Rng;
use k8s_openapi::api::core::v1::ConfigMap;
use kube::api::{Api, ListParams, PostParams};
use kube::{ResourceExt, api::DynamicObject};
use serde_json::json;
use testkit::git;

use super::bed::{Bed, is_ready};
use super::kill::choices;
use super::kustomize::{create_kustomization_of, kustomizations, serve_kustomizations};
use super::program::Program;
use repository::{Data, Monorepo};

const KILLS: usize = 10;

/// How long all of it may take to converge: two hundred Kustomizations on a busy machine, built without optimisation.
const LIMIT: Duration = Duration::from_secs(300);

/// How long it may run before it is killed, in milliseconds: mostly not long enough for all, once in a while for some layers.
const SHORT_RUN: u64 = 500;
const LONG_RUN: u64 = 4000;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn killed_at_any_moment_a_monorepo_of_two_hundred_converges_and_nothing_is_lost() {
    let (mut random, kills) = choices(KILLS);
    let mut team = Team::start(&mut random).await;
    for kill in 0..kills {
        for _ in 0..random.usize(0..3) {
            team.commit(&mut random);
        }
        let program = team.program();
        let longest = if random.u8(..5) == 0 { LONG_RUN } else { SHORT_RUN };
        tokio::time::sleep(Duration::from_millis(random.u64(..longest))).await;
        if random.bool() {
            team.commit(&mut random);
            tokio::time::sleep(Duration::from_millis(random.u64(..longest))).await;
        }
        program.kill();
        team.check_nothing_is_lost(kill).await;
    }
    team.mend();
    let program = team.program();
    team.converges(&program).await;
    team.check_nothing_is_lost(kills).await;
    program.stop().await;
}

/// A repository, the cluster that follows it, and what was seen there.
struct Team {
    bed: Bed,
    _server: git::Server,
    repository: git::Repository,
    monorepo: Monorepo,
    files: BTreeMap<String, String>,
    head: String,
    /// The objects that are wanted and were seen, with their identities: each of them stays what it is.
    seen: BTreeMap<String, String>,
}

impl Team {
    async fn start(random: &mut Rng) -> Self {
        let bed = Bed::simulated().await;
        serve_kustomizations(&bed).await;
        let server = git::Server::start();
        let repository = server.repository("monorepo");
        let mut team = Team {
            monorepo: Monorepo::new(random),
            files: BTreeMap::new(),
            head: String::new(),
            seen: BTreeMap::new(),
            repository,
            bed,
            _server: server,
        };
        team.push();
        team.make("variables", json!({"REGION": "north"})).await;
        // Nobody's: it is never touched.
        team.make("bystander", json!({"whose": "nobody"})).await;
        let url = team._server.clone_url("monorepo");
        let spec = json!({"url": url, "interval": "200ms", "ref": {"branch": "main"}});
        team.bed
            .create("GitRepository", "monorepo", json!({}), spec)
            .await;
        let spec = json!({"path": "./clusters/one", "retryInterval": "1s"});
        create_kustomization_of(&team.bed, "all", "monorepo", spec).await;
        team
    }

    fn program(&self) -> Program {
        let options = self.bed.program().with_all();
        options
            .with(&["--concurrent=8", "--requeue-dependency=5s"])
            .start()
    }

    async fn make(&self, name: &str, data: serde_json::Value) {
        let object = serde_json::from_value(json!({"metadata": {"name": name}, "data": data})).unwrap();
        self.config_maps()
            .create(&PostParams::default(), &object)
            .await
            .unwrap();
    }

    fn config_maps(&self) -> Api<ConfigMap> {
        Api::namespaced(self.bed.cluster.client(), &self.bed.namespace)
    }

    fn commit(&mut self, random: &mut Rng) {
        self.monorepo.change(random);
        self.push();
    }

    /// Whatever is broken is put right, so that all can converge.
    fn mend(&mut self) {
        self.monorepo.mend();
        self.push();
    }

    fn push(&mut self) {
        let files = self.monorepo.files(&self.bed.namespace);
        let mut change = self.repository.change("main").message("Change");
        for path in self.files.keys().filter(|path| !files.contains_key(*path)) {
            change = change.delete(path);
        }
        for (path, text) in files
            .iter()
            .filter(|(path, text)| self.files.get(*path) != Some(*text))
        {
            change = change.file(path, text.as_str());
        }
        self.head = format!("main@sha1:{}", change.commit());
        self.files = files;
        let wanted = self.monorepo.expected();
        self.seen.retain(|name, _| wanted.contains_key(name));
    }

    /// What Kustomizations have made.
    async fn made(&self) -> BTreeMap<String, (String, Data)> {
        let ours = ListParams::default().labels("kustomize.toolkit.fluxcd.io/name");
        let found = self.config_maps().list(&ours).await.unwrap();
        let found = found.into_iter().map(|map| {
            let uid = map.uid().unwrap();
            (map.name_any(), (uid, map.data.unwrap_or_default()))
        });
        found.collect()
    }

    /// What was seen and is wanted all the time is still there, and is still the same.
    async fn check_nothing_is_lost(&mut self, when: usize) {
        let made = self.made().await;
        for (name, uid) in &self.seen {
            let (now, _) = made
                .get(name)
                .unwrap_or_else(|| panic!("kill {when}: {name} is lost"));
            assert_eq!(now, uid, "kill {when}: {name} was deleted and made anew");
        }
        let bystander = self.config_maps().get("bystander").await;
        assert!(bystander.is_ok(), "kill {when}: what is nobody's is gone");
        let wanted = self.monorepo.expected();
        let wanted = made.into_iter().filter(|(name, _)| wanted.contains_key(name));
        self.seen.extend(wanted.map(|(name, (uid, _))| (name, uid)));
    }

    /// All are ready with the newest revision, and the cluster has what the repository says, no more and no less.
    async fn converges(&self, program: &Program) {
        let start = Instant::now();
        while let Some(lacking) = self.lacking().await {
            assert!(
                start.elapsed() < LIMIT && program.ended_already().is_none(),
                "{lacking}\nit said:\n{}",
                end(&program.said())
            );
            tokio::time::sleep(Duration::from_millis(300)).await;
        }
        eprintln!("converged after {:.1} s", start.elapsed().as_secs_f64());
    }

    async fn lacking(&self) -> Option<String> {
        let found = kustomizations(&self.bed)
            .list(&ListParams::default())
            .await
            .unwrap();
        let mut wanted = self.monorepo.kustomizations();
        wanted.insert("all".to_owned());
        let is_well = |object: &DynamicObject| {
            let status = &object.data["status"];
            is_ready(status) && status["lastAppliedRevision"] == self.head.as_str()
        };
        for object in &found {
            if !wanted.remove(&object.name_any()) {
                return Some(format!("{} is not gone", object.name_any()));
            }
        }
        let unwell: Vec<&DynamicObject> = found.iter().filter(|object| !is_well(object)).collect();
        // What only waits for others says nothing.
        let waits = |object: &DynamicObject| object.data["status"].to_string().contains("DependencyNotReady");
        let cause = unwell.iter().find(|object| !waits(object)).or(unwell.first());
        if let Some(object) = cause {
            let (name, status) = (object.name_any(), &object.data["status"]);
            return Some(format!("{} are not ready; {name}: {status}", unwell.len()));
        }
        if !wanted.is_empty() {
            return Some(format!("{wanted:?} are not there"));
        }
        let made = self.made().await;
        let made: BTreeMap<String, Data> = made.into_iter().map(|(name, (_, data))| (name, data)).collect();
        let expected = self.monorepo.expected();
        let differs = |(name, data): &(&String, &Data)| expected.get(*name) != Some(*data);
        let wrong = made.iter().find(differs);
        let missing = expected.keys().find(|name| !made.contains_key(*name));
        match (wrong, missing) {
            (Some((name, data)), _) => Some(format!(
                "{name} says {data:?}, and should {:?}",
                expected.get(name)
            )),
            (None, Some(name)) => Some(format!("{name} is missing")),
            (None, None) => None,
        }
    }
}

fn end(said: &str) -> String {
    let lines: Vec<&str> = said.lines().collect();
    lines[lines.len().saturating_sub(30)..].join("\n")
}
