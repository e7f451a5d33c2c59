//! Killed at any moment, the program comes back, serves what it advertised and loses none of it.
//!
//! `SLUICE_KILL_SEED` repeats a run's choices and `SLUICE_KILLS` sets how often it is killed.

use std::collections::HashMap;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::time::Duration;

use serde_json::Value;
use testkit::digest::sha256;

use super::bed::{Bed, fetch, is_ready};
use super::program::Program;
use super::remotes::{OBJECTS, Remotes};

const KILLS: usize = 10;

/// How long it may run before it is killed, in milliseconds: long enough for a round of all objects.
const LONGEST_RUN: u64 = 250;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn killed_at_any_moment_it_comes_back_and_loses_no_artifact() {
    let (mut random, kills) = choices(KILLS);
    let bed = Bed::start().await;
    let mut remotes = Remotes::start(&bed, "100ms").await;
    let mut seen = Seen::default();
    for kill in 0..kills {
        for _ in 0..random.usize(0..3) {
            let (kind, name) = OBJECTS[random.usize(..OBJECTS.len())];
            remotes.change(kind, name);
        }
        let program = bed.program().start();
        // One of four is killed while it starts.
        if random.u8(..4) > 0 {
            program.serves().await;
            seen.check_served(&bed, &program, kill).await;
            for _ in 0..random.usize(0..3) {
                let (kind, name) = OBJECTS[random.usize(..OBJECTS.len())];
                remotes.change(kind, name);
                tokio::time::sleep(Duration::from_millis(random.u64(..LONGEST_RUN / 2))).await;
            }
        }
        tokio::time::sleep(Duration::from_millis(random.u64(..LONGEST_RUN))).await;
        program.kill();
        seen.check_stored(&bed, kill).await;
    }
    let program = bed.program().start();
    for (kind, name) in OBJECTS {
        let wanted = remotes.revision(kind, name);
        let is_there = |status: &Value| {
            let revision = status["artifact"]["revision"].as_str();
            is_ready(status) && (wanted.is_none() || wanted.as_deref() == revision)
        };
        bed.until(kind, name, is_there).await;
    }
    program.serves().await;
    seen.check_served(&bed, &program, kills).await;
    program.stop().await;
    check_no_leftovers(&bed).await;
}

/// The choices of a run, and how often the program is killed in it unless the environment says otherwise.
pub(super) fn choices(kills: usize) -> (fastrand::Rng, usize) {
    let number = |name: &str| std::env::var(name).ok().and_then(|text| text.parse().ok());
    let seed = number("SLUICE_KILL_SEED").unwrap_or_else(|| fastrand::u64(..1_000_000));
    let kills = number("SLUICE_KILLS").map_or(kills, |kills| usize::try_from(kills).unwrap());
    eprintln!("SLUICE_KILL_SEED={seed} repeats the choices of this run");
    (fastrand::Rng::with_seed(seed), kills)
}

/// What was advertised, by kind and name: an artifact that was there is there from then on, in this or a newer revision.
#[derive(Default)]
struct Seen {
    artifacts: HashMap<(&'static str, &'static str), Value>,
}

impl Seen {
    async fn note(
        &mut self,
        bed: &Bed,
        kind: &'static str,
        name: &'static str,
        when: usize,
    ) -> Option<Value> {
        let status = bed.status(kind, name).await;
        let artifact = status["artifact"].clone();
        let before = self.artifacts.get(&(kind, name));
        if artifact.is_null() {
            assert!(
                before.is_none(),
                "kill {when}: {kind}/{name} has lost {before:?}: {status}"
            );
            return None;
        }
        self.artifacts.insert((kind, name), artifact.clone());
        Some(artifact)
    }

    /// What is advertised is in the store, whole, though nobody has cleaned up yet.
    async fn check_stored(&mut self, bed: &Bed, when: usize) {
        for (kind, name) in OBJECTS {
            let Some(artifact) = self.note(bed, kind, name, when).await else {
                continue;
            };
            let path = bed.storage.join(artifact["path"].as_str().unwrap());
            let content =
                fs::read(&path).unwrap_or_else(|error| panic!("kill {when}: {error}: {}", path.display()));
            assert_eq!(artifact["digest"], sha256(&content), "kill {when}: {kind}/{name}");
            assert_eq!(artifact["size"], content.len(), "kill {when}: {kind}/{name}");
        }
    }

    /// What is advertised is served with the digest of the status. A status may move on while it is looked at.
    async fn check_served(&mut self, bed: &Bed, program: &Program, when: usize) {
        for (kind, name) in OBJECTS {
            let Some(mut artifact) = self.note(bed, kind, name, when).await else {
                continue;
            };
            loop {
                let url = artifact["url"].as_str().unwrap().to_owned();
                let content = fetch(&url).await;
                if content.is_some_and(|content| artifact["digest"] == sha256(&content)) {
                    break;
                }
                let now = self.note(bed, kind, name, when).await.unwrap();
                assert_ne!(
                    now,
                    artifact,
                    "kill {when}: {kind}/{name} is not served\nit said:\n{}",
                    program.said()
                );
                artifact = now;
            }
        }
    }
}

/// After a start that had time for one round there is what is current, at most one older artifact for each object, and
/// nothing of those that were killed.
async fn check_no_leftovers(bed: &Bed) {
    let program = bed.program().start();
    for (kind, name) in OBJECTS {
        bed.annotate(kind, name, "reconcile.fluxcd.io/requestedAt", "last")
            .await;
        bed.until(kind, name, |status| status["lastHandledReconcileAt"] == "last")
            .await;
    }
    program.stop().await;
    for (kind, name) in OBJECTS {
        let folder = format!("{}/{}/{name}", kind.to_lowercase(), bed.namespace);
        let names = entries(&bed.storage.join(folder));
        let links = ["latest.tar.gz", "index.yaml"];
        let files: Vec<&String> = names
            .iter()
            .filter(|name| !links.contains(&name.as_str()))
            .collect();
        assert!((1..=2).contains(&files.len()), "{kind}/{name}: {names:?}");
        assert!(names.iter().all(|name| !name.starts_with('.')), "{names:?}");
        assert!(names.iter().all(|name| !name.ends_with(".lock")), "{names:?}");
    }
    assert_eq!(
        entries(&bed.storage),
        [
            ".content",
            ".git-cache",
            "bucket",
            "gitrepository",
            "helmchart",
            "helmrepository",
            "ocirepository"
        ]
    );
    for name in entries(&bed.storage.join(".content")) {
        let links = fs::metadata(bed.storage.join(".content").join(&name))
            .unwrap()
            .nlink();
        assert!(links > 1, "content of no object: {name}");
    }
    let repositories = bed.storage.join(".git-cache/0");
    let directories = entries(&repositories);
    let own = ["key", "lock"];
    let kept = directories.iter().filter(|name| !own.contains(&name.as_str()));
    let kept: Vec<&String> = kept.collect();
    assert_eq!(kept.len(), 2, "one of each repository: {directories:?}");
    for name in kept {
        let count = count_files(&repositories.join(name));
        assert!(count < 200, "{count} files are kept of a repository");
    }
}

fn entries(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap_or_else(|error| panic!("{error}: {}", folder.display()));
    let mut names: Vec<String> = entries
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

fn count_files(folder: &Path) -> usize {
    let entries = fs::read_dir(folder).unwrap();
    entries
        .map(|entry| match entry.unwrap() {
            entry if entry.file_type().unwrap().is_dir() => count_files(&entry.path()),
            _ => 1,
        })
        .sum()
}

/// A machine that fails while nothing changes costs nothing: the artifact of before is served at once after the start, with
/// the same digest, and is not made anew.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_was_stored_before_is_served_as_soon_as_the_program_is_back() {
    let bed = Bed::start().await;
    let _remotes = Remotes::start(&bed, "1h").await;
    let program = bed.program().start();
    let mut before = Vec::new();
    for (kind, name) in OBJECTS {
        before.push(bed.ready(kind, name).await["artifact"].clone());
    }
    program.kill();
    let program = bed.program().start();
    program.serves().await;
    for ((kind, name), artifact) in OBJECTS.into_iter().zip(before) {
        let content = fetch(artifact["url"].as_str().unwrap()).await.unwrap();
        assert_eq!(artifact["digest"], sha256(&content));
        let last = "reconcile.fluxcd.io/requestedAt";
        bed.annotate(kind, name, last, "now").await;
        let status = bed
            .until(kind, name, |status| status["lastHandledReconcileAt"] == "now")
            .await;
        assert_eq!(status["artifact"], artifact, "{kind}/{name} was not made anew");
    }
    program.stop().await;
}
