//! Queues of evaluations: whose rules they are decides who waits, not what the objects say that they are about.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use engine::cache::{Assess, Cache, Follow, Interest, OwnRules, Settings, Standard};
use engine::cluster::{Apply, Cluster};
use engine::health::Evaluations;
use engine::health::cel::Check;
use jiff::Timestamp;
use model::health::State;
use model::{Health, ObjectKey, Value, value};
use tokio::time::{Instant, timeout};

use crate::engine::LIMIT;

const PLATFORM: &str = "flux-system";

/// The API server of a tenant, which has an object in a namespace of the platform's name.
struct Remote {
    server: testkit::Cluster,
    key: ObjectKey,
}

impl Remote {
    async fn start() -> Remote {
        let server = testkit::Cluster::embedded(apiserver::Server::builder());
        let cluster = Cluster::with_agent(server.client(), "tests");
        let namespace = value!({ "apiVersion": "v1", "kind": "Namespace", "metadata": { "name": PLATFORM } });
        let data: Value = value!({});
        let mut object = value!({
            "apiVersion": "v1", "kind": "ConfigMap", "metadata": { "name": "x", "namespace": PLATFORM }, "data": data,
        });
        for at in 0..250 {
            object.set_at(&["data", &format!("key-{at}")], "value");
        }
        let by = Apply::by("tests");
        for object in [&namespace, &object] {
            let kind = object.str_at(&["kind"]);
            let resource = cluster.resource("", "v1", kind).await.unwrap();
            cluster.apply(&resource, object, &by).await.unwrap();
        }
        Remote {
            server,
            key: ObjectKey::of(&object),
        }
    }

    fn cache(&self, evaluations: &Evaluations) -> Cache {
        let settings = Settings {
            evaluations: evaluations.clone(),
            realm: "https://tenant.example".into(),
            ..Settings::default()
        };
        Cache::new(Cluster::with_agent(self.server.client(), "tests"), settings)
    }

    fn state(&self, cache: &Cache, standard: &Standard) -> State {
        let entry = cache.get_by(&self.key, standard).unwrap();
        entry.health_by(standard).unwrap().unwrap().state
    }
}

fn by(own: OwnRules) -> Standard {
    Standard {
        own: Some(own),
        rules: None,
    }
}

async fn follow(cache: &Cache, standard: &Standard) -> Follow {
    let follow = cache.follow_by(Interest::in_all("", "ConfigMap"), standard);
    follow.synced(Instant::now() + LIMIT).await.unwrap();
    follow
}

/// Rules that take as long as the test likes.
#[derive(Clone, Default)]
struct Slow {
    begun: Arc<AtomicUsize>,
    is_over: Arc<AtomicBool>,
}

impl Assess for Slow {
    fn assess(&self, _: &Value, _: Timestamp) -> Option<Health> {
        self.begun.fetch_add(1, Ordering::SeqCst);
        while !self.is_over.load(Ordering::SeqCst) {
            std::thread::yield_now();
        }
        Some(Health::new(State::Healthy))
    }
}

impl Slow {
    async fn begins(&self) {
        while self.begun.load(Ordering::SeqCst) == 0 {
            tokio::task::yield_now().await;
        }
    }

    fn end(&self) {
        self.is_over.store(true, Ordering::SeqCst);
    }
}

/// A server names any namespace it likes in its answers.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn objects_of_a_remote_cluster_wait_in_the_queue_of_the_unit_that_follows_them() {
    let (remote, evaluations, slow) = (Remote::start().await, Evaluations::new(4), Slow::default());
    let cache = remote.cache(&evaluations);
    let rules = OwnRules::new("slow", slow.clone()).of_tenant("tenant");
    let _follow = cache.follow_by(Interest::in_all("", "ConfigMap"), &by(rules));
    slow.begins().await;
    let own = timeout(LIMIT, evaluations.run(PLATFORM, || ())).await;
    slow.end();
    own.expect("the platform waits for the tenant");
}

/// Nor does a platform that applies to many clusters wait for one of them.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_remote_cluster_takes_one_place_in_the_queue_of_its_tenant() {
    let (evaluations, slow) = (Evaluations::new(4), Slow::default());
    let mut waiting = Vec::new();
    for _ in 0..20 {
        let (evaluations, slow) = (evaluations.clone(), slow.clone());
        let work = move || slow.assess(&value!({}), Timestamp::UNIX_EPOCH);
        waiting.push(tokio::spawn(async move {
            evaluations.run_in(PLATFORM, "https://tenant.example", work).await;
        }));
    }
    slow.begins().await;
    let begun = {
        let (evaluations, begun) = (evaluations.clone(), Arc::clone(&slow.begun));
        tokio::spawn(async move { evaluations.run(PLATFORM, || begun.load(Ordering::SeqCst)).await })
    };
    for _ in 0..1000 {
        tokio::task::yield_now().await;
    }
    slow.end();
    let begun = begun.await.unwrap();
    assert!(begun <= 3, "{begun} evaluations of the cluster ran first");
    for one in waiting {
        one.await.unwrap();
    }
}

/// What nobody but the process has written is assessed at once, however busy the queue is.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn rules_of_the_process_wait_for_nobody() {
    let (remote, evaluations, slow) = (Remote::start().await, Evaluations::new(1), Slow::default());
    let busy = {
        let (evaluations, slow) = (evaluations.clone(), slow.clone());
        let work = move || slow.assess(&value!({}), Timestamp::UNIX_EPOCH);
        tokio::spawn(async move { evaluations.run("tenant", work).await })
    };
    slow.begins().await;
    let cache = remote.cache(&evaluations);
    let quick = Slow::default();
    quick.end();
    let standard = by(OwnRules::new("quick", quick).built_in());
    let followed = timeout(LIMIT, follow(&cache, &standard)).await;
    slow.end();
    followed.expect("it waits");
    assert_eq!(remote.state(&cache, &standard), State::Healthy);
    busy.await.unwrap();
}

fn costly(at: usize, tenant: &str) -> Standard {
    let check = Check {
        api_version: "v1".to_owned(),
        kind: "ConfigMap".to_owned(),
        current: format!("data.all(a, data.all(b, size(a) + size(b) > 0)) && {at} >= 0"),
        ..Check::default()
    };
    by(OwnRules::expressions(&[check]).unwrap().of_tenant(tenant))
}

/// One tenant with many units has no more time for an object than one with a single unit.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn all_expressions_of_a_tenant_about_an_object_pay_from_one_budget() {
    let remote = Remote::start().await;
    let cache = remote.cache(&Evaluations::new(2));
    let tenants = ["greedy"; 12].into_iter().chain(["modest"]);
    let standards: Vec<_> = tenants.enumerate().map(|(at, of)| costly(at, of)).collect();
    let mut follows = Vec::new();
    for standard in &standards {
        follows.push(follow(&cache, standard).await);
    }
    let states: Vec<_> = standards
        .iter()
        .map(|standard| remote.state(&cache, standard))
        .collect();
    let healthy = states.iter().filter(|state| **state == State::Healthy);
    assert!(healthy.count() < 10, "{states:?}");
    assert_eq!(
        states[0],
        State::Healthy,
        "the first one was paid for: {states:?}"
    );
    assert_eq!(
        states[12],
        State::Healthy,
        "another tenant has its own: {states:?}"
    );
}
