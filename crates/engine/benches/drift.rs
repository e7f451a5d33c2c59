//! How soon a change by hand is put right: from the moment the change is sent until a watch of our own shows that it is undone.
//!
//! Each change is to another object: one that is changed again as soon as it was put right is left alone for a while (2 s at first), since
//! somebody seems to fight for it.
//!
//! `cargo bench -p engine --bench drift [-- UNITS [AT_ONCE]]`, and the same behind `cargo xtask real-cluster exec --`.

mod bed;
mod podinfo;

use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use engine::cache::{Cache, Change, Interest, Settings, Subscription};
use engine::cluster::{Cluster, Resource, Write};
use model::{Value, value};

use bed::{Sources, head, percentile, row};

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

const UNITS: usize = 200;
const AT_ONCE: usize = 50;
/// The pause after the first correction of an object.
const PAUSE: Duration = Duration::from_secs(2);
/// The label that is changed.
const LABEL: &str = "app.kubernetes.io/name";
/// What it is changed to.
const BY_HAND: &str = "by-hand";

fn main() {
    bed::main(measure);
}

async fn measure(numbers: Vec<usize>) {
    let units = numbers.first().copied().unwrap_or(UNITS);
    let at_once = numbers.get(1).copied().unwrap_or(AT_ONCE).min(units);
    let test = testkit::Cluster::start().await;
    let namespace = test.namespace("drift").await;
    let id = |number: usize| format!("app-{number}");
    let sources: HashMap<String, Vec<Value>> = (0..units)
        .map(|number| (id(number), podinfo::objects(&id(number), &namespace)))
        .collect();
    let running = bed::start(bed::client(&test).await, &namespace, Sources(Arc::new(sources)));
    running.completed(units).await;
    running.settle(&(0..units).map(id).collect::<Vec<_>>()).await;

    let mut hand = Hand::new(&test, namespace).await;
    let mut quiet = Vec::new();
    for number in 0..units {
        quiet.push(hand.change(&id(number)).await);
    }
    tokio::time::sleep(PAUSE).await;
    // Many at once: the time of each counts from the first change.
    let mut busy = hand.change_all((0..at_once).map(id).collect()).await;
    quiet.sort();
    busy.sort();
    head(&test, "Flux: next interval");
    let rows = [
        (format!("{units} changes by hand, one at a time"), &quiet),
        (format!("{at_once} changes at once"), &busy),
    ];
    for (what, times) in rows {
        row(
            &format!("{what}: median"),
            &percentile(times, 50),
            "",
            "< 1000 ms",
        );
        row("    99 of 100", &percentile(times, 99), "", "");
    }
    drop(running);
    test.finish().await;
}

/// Somebody who changes things, and sees what becomes of it.
struct Hand {
    cluster: Cluster,
    services: Resource,
    namespace: String,
    changes: Subscription,
    _cache: Cache,
    _follow: engine::cache::Follow,
}

impl Hand {
    async fn new(test: &testkit::Cluster, namespace: String) -> Hand {
        let cluster = Cluster::with_agent(bed::client(test).await, "hand");
        let services = cluster.preferred("", "Service").await.expect("they are served");
        let settings = Settings {
            labels: Arc::new([LABEL.into()].into()),
            ..Settings::default()
        };
        let cache = Cache::new(cluster.clone(), settings);
        let follow = cache.follow(Interest::in_all("", "Service"));
        let deadline = tokio::time::Instant::now() + Duration::from_secs(60);
        follow.synced(deadline).await.expect("the server works");
        let changes = cache.subscribe(Box::new(|entry| entry.label(LABEL).is_some()));
        Hand {
            cluster,
            services,
            namespace,
            changes,
            _cache: cache,
            _follow: follow,
        }
    }

    async fn write(&self, name: &str) {
        let patch = value!({ "metadata": { "labels": { LABEL: BY_HAND } } });
        let by = Write::by("hand");
        let written = self
            .cluster
            .merge_patch(&self.services, &self.namespace, name, &patch, &by)
            .await;
        written.expect("it is valid");
    }

    /// How long it took until a change was put right.
    async fn change(&mut self, name: &str) -> Duration {
        let times = self.change_all(vec![name.to_owned()]).await;
        times[0]
    }

    /// The same for many at once.
    async fn change_all(&mut self, mut names: Vec<String>) -> Vec<Duration> {
        while self.changes.try_next().is_some() {}
        let began = Instant::now();
        let writes = names.iter().map(|name| self.write(name));
        futures::future::join_all(writes).await;
        let mut times = Vec::new();
        while !names.is_empty() {
            // What is put right before we see that it was changed is told once, as it is then.
            if let Some(Change::Updated(entry)) = self.changes.next().await
                && entry.label(LABEL) != Some(BY_HAND)
                && let Some(at) = names.iter().position(|name| name == entry.name())
            {
                names.swap_remove(at);
                times.push(began.elapsed());
            }
        }
        times
    }
}
