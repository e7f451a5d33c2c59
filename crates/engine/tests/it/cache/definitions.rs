//! Kinds that come and go.

use engine::cache::State;
use engine::cluster::{Delete, Error, Resource};
use model::{ObjectKey, Value, value};
use tokio::time::Instant;

use super::{Fixture, LIMIT, reaches, told};

struct Kind {
    group: String,
    plural: String,
}

impl Kind {
    fn of(fixture: &Fixture) -> Kind {
        let plural = format!("{}widgets", fixture.test.prefix());
        Kind {
            group: format!("{plural}.engine.sluice.dev"),
            plural,
        }
    }

    fn definition(&self) -> serde_json::Value {
        serde_json::json!({
            "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
            "metadata": { "name": format!("{}.{}", self.plural, self.group) },
            "spec": {
                "group": self.group, "scope": "Namespaced",
                "names": { "plural": self.plural, "singular": "widget", "kind": "Widget" },
                "versions": [{
                    "name": "v1", "served": true, "storage": true,
                    "schema": { "openAPIV3Schema": { "type": "object", "x-kubernetes-preserve-unknown-fields": true } },
                }],
            },
        })
    }

    fn object(&self, fixture: &Fixture, name: &str) -> Value {
        value!({
            "apiVersion": (format!("{}/v1", self.group)), "kind": "Widget",
            "metadata": { "name": name, "namespace": (fixture.space.as_str()) },
        })
    }

    /// Creates an object, whatever discovery knows.
    async fn create(&self, fixture: &Fixture, name: &str) {
        let resource = Resource {
            group: self.group.as_str().into(),
            version: "v1".into(),
            kind: "Widget".into(),
            plural: self.plural.as_str().into(),
            namespaced: true,
            watchable: true,
        };
        let apply = engine::cluster::Apply::by("tests");
        fixture
            .cluster
            .apply(&resource, &self.object(fixture, name), &apply)
            .await
            .unwrap();
    }
}

#[tokio::test]
async fn a_kind_that_does_not_exist_is_a_state_and_comes_when_it_does() {
    let fixture = Fixture::start().await;
    let kind = Kind::of(&fixture);
    let widgets = fixture.cache.follow(fixture.interest(&kind.group, "Widget"));
    let error = widgets.synced(Instant::now() + LIMIT).await.unwrap_err();
    assert!(matches!(error.state, State::NoSuchKind), "{error}");
    let mut changes = fixture.subscribe();

    fixture.test.establish(&kind.definition()).await;
    kind.create(&fixture, "a").await;
    reaches(&widgets, State::is_synced).await;
    assert_eq!(told(&mut changes).await, "updated a");
    let key = ObjectKey::of(&kind.object(&fixture, "a"));
    assert_eq!(
        fixture.cache.get(&key).unwrap().api_version(),
        format!("{}/v1", kind.group)
    );
    fixture.test.finish().await;
}

/// argo-cd#15464, #18467: definitions that go lock the cache.
#[tokio::test]
async fn a_kind_that_goes_takes_its_objects_along_and_may_come_back() {
    let fixture = Fixture::start().await;
    let kind = Kind::of(&fixture);
    fixture.test.establish(&kind.definition()).await;
    kind.create(&fixture, "a").await;
    let mut changes = fixture.subscribe();
    let widgets = fixture.cache.follow(fixture.interest(&kind.group, "Widget"));
    reaches(&widgets, State::is_synced).await;
    assert_eq!(told(&mut changes).await, "updated a");

    let definitions = fixture
        .kind("apiextensions.k8s.io", "CustomResourceDefinition")
        .await;
    let name = format!("{}.{}", kind.plural, kind.group);
    fixture
        .cluster
        .delete(&definitions, "", &name, &Delete::default())
        .await
        .unwrap();
    assert_eq!(told(&mut changes).await, "removed a");
    reaches(&widgets, |state| matches!(state, State::NoSuchKind)).await;

    // The name is free again when the old definition is gone.
    let every = testkit::settled::Every(std::time::Duration::from_millis(50));
    let gone = testkit::settled(LIMIT, every, async || {
        match fixture.cluster.get(&definitions, "", &name).await {
            Ok(None) => Ok(()),
            Ok(Some(_)) => Err("it is still there".to_owned()),
            Err(error @ Error::NoSuchKind { .. }) => Err(error.to_string()),
            Err(error) => Err(error.to_string()),
        }
    });
    gone.await.unwrap();
    fixture.test.establish(&kind.definition()).await;
    kind.create(&fixture, "b").await;
    reaches(&widgets, State::is_synced).await;
    assert_eq!(told(&mut changes).await, "updated b");
    fixture.test.finish().await;
}
