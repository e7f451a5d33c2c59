//! Followers that tell how objects are doing by standards of their own.

use engine::cache::{Assess, Follow, Interest, OwnRules, Standard};
use engine::cluster::Verb;
use engine::health::Rules;
use jiff::Timestamp;
use model::{Health, Value, health};
use tokio::time::Instant;

use super::{Fixture, LIMIT, told};

/// Objects are degraded if their text says so; of others it says nothing.
struct Told;

impl Assess for Told {
    fn assess(&self, object: &Value, _: Timestamp) -> Option<Health> {
        (object.str_at(&["data", "text"]) == "bad").then(|| Health::new(health::State::Degraded))
    }
}

/// As it is read each time somebody needs it.
fn own() -> Standard {
    Standard {
        own: Some(OwnRules::new("told", Told)),
        rules: None,
    }
}

fn argo() -> Standard {
    Standard {
        own: None,
        rules: Some(Rules::Argo),
    }
}

async fn follow(fixture: &Fixture, interest: Interest, standard: &Standard) -> Follow {
    let follow = fixture.cache.follow_by(interest, standard);
    follow.synced(Instant::now() + LIMIT).await.unwrap();
    follow
}

/// How the object is doing, by the settings and by both standards.
fn states(fixture: &Fixture, name: &str) -> [Option<Option<health::State>>; 3] {
    let entry = fixture.get(name).unwrap();
    [Standard::default(), own(), argo()].map(|standard| {
        let health = entry.health_by(&standard);
        health.map(|health| health.map(|health| health.state))
    })
}

#[tokio::test]
async fn each_follower_has_its_own_standard_and_equal_ones_are_assessed_once() {
    use health::State::{Degraded, Healthy};
    let fixture = Fixture::start().await;
    fixture.apply("a", "bad").await;
    fixture.apply("b", "good").await;
    let _plain = fixture.follow(fixture.maps()).await;
    assert_eq!(states(&fixture, "a"), [Some(Some(Healthy)), None, None]);
    let watches = || fixture.cache.cluster().counts().of(Verb::Watch);
    let before = watches();

    let one = follow(&fixture, fixture.maps(), &own()).await;
    assert_eq!(watches(), before + 1);
    assert_eq!(
        states(&fixture, "a"),
        [Some(Some(Healthy)), Some(Some(Degraded)), None]
    );
    // What they say nothing of is what it is without them.
    assert_eq!(
        states(&fixture, "b"),
        [Some(Some(Healthy)), Some(Some(Healthy)), None]
    );
    let same = follow(&fixture, fixture.maps(), &own()).await;
    assert_eq!(watches(), before + 1, "rules of the same name are the same");
    let _argo = follow(&fixture, fixture.maps(), &argo()).await;
    assert_eq!(watches(), before + 2);
    assert_eq!(
        states(&fixture, "a"),
        [Some(Some(Healthy)), Some(Some(Degraded)), Some(None)]
    );

    // A change that only one of them sees is told; what nobody goes by any more is not assessed.
    let mut changes = fixture.subscribe();
    fixture.apply("b", "bad").await;
    assert_eq!(told(&mut changes).await, "updated b");
    assert_eq!(states(&fixture, "b")[1], Some(Some(Degraded)));
    drop(one);
    fixture.apply("b", "worse").await;
    assert_eq!(told(&mut changes).await, "updated b");
    assert_eq!(
        states(&fixture, "b")[1],
        Some(Some(Healthy)),
        "another one still has it"
    );
    drop(same);
    fixture.apply("b", "bad").await;
    assert_eq!(told(&mut changes).await, "updated b");
    assert_eq!(states(&fixture, "b")[1], None);
    assert_eq!(watches(), before + 2);
    fixture.test.finish().await;
}
