//! Kinds that may not be read.

use std::time::Duration;

use engine::cache::{Cache, Settings, State};
use engine::cluster::Cluster;
use model::value;
use tokio::time::Instant;

use super::{Fixture, LIMIT, reaches};

/// A cache of somebody who may read config maps of one namespace and nothing else.
async fn limited(fixture: &Fixture) -> Cache {
    let name = fixture.test.name("reader");
    let space = fixture.space.as_str();
    fixture
        .apply_object(&value!({
            "apiVersion": "rbac.authorization.k8s.io/v1", "kind": "Role",
            "metadata": { "name": (name.as_str()), "namespace": space },
            "rules": [{ "apiGroups": [""], "resources": ["configmaps"], "verbs": ["get", "list", "watch"] }],
        }))
        .await;
    bind(fixture, "Role", &name, "reader").await;
    let client = fixture.test.client_as(&name, &["system:authenticated"]);
    let settings = Settings {
        slow_pause: Duration::from_millis(50),
        ..Settings::default()
    };
    Cache::new(Cluster::new(client), settings)
}

async fn bind(fixture: &Fixture, kind: &str, role: &str, binding: &str) {
    fixture
        .apply_object(&value!({
            "apiVersion": "rbac.authorization.k8s.io/v1", "kind": "RoleBinding",
            "metadata": { "name": binding, "namespace": (fixture.space.as_str()) },
            "roleRef": { "apiGroup": "rbac.authorization.k8s.io", "kind": kind, "name": role },
            "subjects": [{
                "apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": (fixture.test.name("reader")),
            }],
        }))
        .await;
}

#[tokio::test]
async fn a_kind_that_may_not_be_read_is_a_state_and_comes_when_it_may() {
    let fixture = Fixture::start().await;
    fixture.apply("a", "one").await;
    let cache = limited(&fixture).await;
    let secrets = cache.follow(fixture.interest("", "Secret"));
    // A real server takes a moment until it knows the role.
    let maps = cache.follow(fixture.maps());
    reaches(&maps, State::is_synced).await;
    assert!(cache.get(&fixture.key("a")).is_some());

    let denied = secrets.synced(Instant::now() + LIMIT).await.unwrap_err();
    assert!(matches!(denied.state, State::Forbidden { .. }), "{denied}");
    assert!(
        denied
            .to_string()
            .starts_with("Secret is forbidden: failed to watch Secret/"),
        "{denied}"
    );
    assert!(matches!(cache.state("", "Secret"), State::Forbidden { .. }));
    assert!(cache.state("", "ConfigMap").is_synced());

    bind(&fixture, "ClusterRole", "admin", "admin").await;
    reaches(&secrets, State::is_synced).await;
    fixture.test.finish().await;
}

#[tokio::test]
async fn somebody_whom_the_server_does_not_know_may_read_nothing() {
    let fixture = Fixture::embedded().await;
    let client = fixture.test.client_with_token("no-such-token");
    // What is served is known from before.
    let cache = Cache::new(Cluster::new(client), Settings::default());
    let maps = cache.follow(fixture.maps());
    let denied = maps.synced(Instant::now() + LIMIT).await.unwrap_err();
    assert!(matches!(denied.state, State::Forbidden { .. }), "{denied}");
}

#[tokio::test(start_paused = true)]
async fn a_kind_that_may_not_be_read_is_asked_for_rarely() {
    let test = testkit::Cluster::embedded(apiserver::Server::builder());
    let client = test.client_as("nobody", &["system:authenticated"]);
    let cache = Cache::new(Cluster::new(client), Settings::default());
    let maps = cache.follow(engine::cache::Interest::in_all("", "ConfigMap"));
    maps.synced(Instant::now() + LIMIT).await.unwrap_err();
    let before = cache.cluster().counts();
    tokio::time::sleep(Duration::from_secs(600)).await;
    let asked = cache.cluster().counts().since(&before).total();
    assert!((4..=7).contains(&asked), "{asked}");
}
