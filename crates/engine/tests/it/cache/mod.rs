//! What is known of a cluster without asking it, on the embedded and on a real one.

mod clusters;
mod definitions;
mod faults;
mod follow;
mod noise;
mod rights;
mod settings;
mod standards;
mod subscribe;
mod tree;

use std::sync::Arc;
use std::time::Duration;

use engine::cache::{Cache, Change, Entry, Follow, Interest, Settings, State, Subscription};
use engine::cluster::{Apply, Cluster, Delete, Resource};
use model::{ObjectKey, Value, value};
use tokio::time::Instant;

/// Everything has to be there by then, also on a busy machine.
const LIMIT: Duration = Duration::from_secs(60);

/// A cache of a test's cluster, in a namespace of its own.
struct Fixture {
    test: testkit::Cluster,
    cluster: Cluster,
    cache: Cache,
    space: String,
}

impl Fixture {
    async fn start() -> Fixture {
        Fixture::with(Settings::default()).await
    }

    async fn with(settings: Settings) -> Fixture {
        Fixture::on(testkit::Cluster::start().await, settings).await
    }

    /// On the embedded server, which can be told to have faults.
    async fn embedded() -> Fixture {
        Fixture::on(
            testkit::Cluster::embedded(apiserver::Server::builder()),
            Settings::default(),
        )
        .await
    }

    async fn on(test: testkit::Cluster, settings: Settings) -> Fixture {
        let space = test.namespace("cache").await;
        // The cache has a connection of its own, so that its requests are told from the test's.
        let cache = Cache::new(Cluster::with_agent(test.client(), "cache"), settings);
        let cluster = Cluster::with_agent(test.client(), "tests");
        Fixture {
            test,
            cluster,
            cache,
            space,
        }
    }

    fn faults(&self) -> &apiserver::fault::Faults {
        self.test.server().unwrap().faults()
    }

    async fn kind(&self, group: &str, kind: &str) -> Resource {
        self.cluster.preferred(group, kind).await.unwrap()
    }

    /// Applies a config map with this text.
    async fn apply(&self, name: &str, text: &str) -> Value {
        self.apply_object(&config_map(&self.space, name, text)).await
    }

    async fn apply_object(&self, object: &Value) -> Value {
        let key = ObjectKey::of(object);
        let resource = self.kind(&key.group, &key.kind).await;
        self.cluster
            .apply(&resource, object, &Apply::by("tests"))
            .await
            .unwrap()
    }

    async fn delete(&self, name: &str) {
        let maps = self.kind("", "ConfigMap").await;
        self.cluster
            .delete(&maps, &self.space, name, &Delete::default())
            .await
            .unwrap();
    }

    /// The config maps of the namespace.
    fn maps(&self) -> Interest {
        self.interest("", "ConfigMap")
    }

    fn interest(&self, group: &str, kind: &str) -> Interest {
        Interest {
            namespace: Some(self.space.as_str().into()),
            ..Interest::in_all(group, kind)
        }
    }

    async fn follow(&self, interest: Interest) -> Follow {
        let follow = self.cache.follow(interest);
        follow.synced(Instant::now() + LIMIT).await.unwrap();
        follow
    }

    fn key(&self, name: &str) -> ObjectKey {
        ObjectKey::of(&config_map(&self.space, name, ""))
    }

    fn get(&self, name: &str) -> Option<Arc<Entry>> {
        self.cache.get(&self.key(name))
    }

    /// Changes to objects of the namespace, without the certificates that a real cluster puts there.
    fn subscribe(&self) -> Subscription {
        let space = self.space.clone();
        self.cache.subscribe(Box::new(move |entry| {
            entry.namespace() == space && entry.name() != "kube-root-ca.crt"
        }))
    }
}

fn config_map(namespace: &str, name: &str, text: &str) -> Value {
    value!({
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": { "name": name, "namespace": namespace },
        "data": { "text": text },
    })
}

/// The next change.
async fn next(changes: &mut Subscription) -> Change {
    let change = tokio::time::timeout(LIMIT, changes.next()).await;
    change.expect("nothing was told").expect("the cache is there")
}

/// The next change, as a word and a name.
async fn told(changes: &mut Subscription) -> String {
    match next(changes).await {
        Change::Updated(entry) => format!("updated {}", entry.name()),
        Change::Removed(entry) => format!("removed {}", entry.name()),
        Change::Lost => "lost".into(),
    }
}

/// Waits until a watch is in a state.
async fn reaches(follow: &Follow, wanted: fn(&State) -> bool) {
    let every = testkit::settled::Every(Duration::from_millis(20));
    let reached = testkit::settled(LIMIT, every, async || match follow.state() {
        state if wanted(&state) => Ok(()),
        state => Err(state.to_string()),
    });
    reached.await.unwrap();
}
