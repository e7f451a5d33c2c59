//! A server in trouble: the embedded one, told to be.

use std::time::Duration;

use apiserver::fault::{Fault, Rule, WatchFault};
use engine::cache::{Cache, Interest, Settings, State};
use engine::cluster::{Cluster, Selection, Verb};
use tokio::time::Instant;

use super::{Fixture, LIMIT, reaches, told};

#[tokio::test(start_paused = true)]
async fn a_watch_that_breaks_goes_on_where_it_was() {
    let fixture = Fixture::embedded().await;
    fixture.apply("a", "one").await;
    // The first watch tells of everything and two changes, and then breaks.
    fixture.faults().add(
        Rule::new(Fault::Watch(WatchFault::Drop { after: 4 }))
            .resource("", "configmaps")
            .once(),
    );
    let mut changes = fixture.subscribe();
    let maps = fixture.follow(fixture.maps()).await;
    for name in ["b", "c", "d", "e"] {
        fixture.apply(name, "one").await;
    }
    let mut seen = Vec::new();
    for _ in 0..5 {
        seen.push(told(&mut changes).await);
    }
    seen.sort();
    assert_eq!(
        seen,
        ["updated a", "updated b", "updated c", "updated d", "updated e"]
    );
    assert!(maps.state().is_synced());
    let counts = fixture.cache.cluster().counts();
    assert_eq!((counts.of(Verb::Watch), counts.of(Verb::List)), (2, 0));
}

/// What happens while the watch is away, whichever way it broke, is told when it is back.
async fn nothing_is_missed_after(fault: fn(usize) -> WatchFault) {
    let fixture = Fixture::embedded().await;
    for name in ["stays", "changes", "goes"] {
        fixture.apply(name, "one").await;
    }
    let mut changes = fixture.subscribe();
    // The watch breaks with the first event after everything was told, also what the server itself put there.
    fixture.test.server().unwrap().settled().await;
    let (maps, selection) = (
        fixture.kind("", "ConfigMap").await,
        Selection {
            namespace: fixture.space.as_str().into(),
            ..Selection::default()
        },
    );
    let all = fixture
        .cluster
        .list(&maps, &selection, 500, None)
        .await
        .unwrap()
        .items
        .len();
    let breaks = Rule::new(Fault::Watch(fault(all + 1))).resource("", "configmaps");
    fixture.faults().add(breaks.once());
    let maps = fixture.follow(fixture.maps()).await;
    for _ in 0..3 {
        told(&mut changes).await;
    }
    // There will be no other watch for a while.
    let broken = Rule::new(Fault::Internal)
        .verb("watch")
        .resource("", "configmaps");
    let broken = fixture.faults().add(broken);
    fixture.apply("changes", "two").await;
    reaches(&maps, |state| matches!(state, State::Retrying { .. })).await;
    assert_eq!(told(&mut changes).await, "updated changes");
    fixture.apply("changes", "three").await;
    fixture.delete("goes").await;
    fixture.apply("comes", "one").await;
    assert!(fixture.get("goes").is_some(), "what was known is kept");
    // The server forgets what happened.
    fixture.test.server().unwrap().compact();
    fixture.faults().remove(broken);
    let mut seen = Vec::new();
    for _ in 0..3 {
        seen.push(told(&mut changes).await);
    }
    seen.sort();
    assert_eq!(seen, ["removed goes", "updated changes", "updated comes"]);
    assert!(fixture.get("goes").is_none() && fixture.get("stays").is_some());
    assert!(maps.state().is_synced());
    assert!(changes.try_next().is_none());
}

#[tokio::test(start_paused = true)]
async fn a_watch_that_expires_begins_anew_and_what_is_gone_is_told() {
    nothing_is_missed_after(|after| WatchFault::Expire { after }).await;
}

#[tokio::test(start_paused = true)]
async fn a_version_that_is_too_old_to_go_on_from_leads_to_a_new_list() {
    nothing_is_missed_after(|after| WatchFault::Drop { after }).await;
}

/// gitops-engine#520: one kind that fails has all kinds listed again.
#[tokio::test(start_paused = true)]
async fn one_kind_that_fails_holds_up_no_other_and_is_back_when_it_can() {
    let fixture = Fixture::embedded().await;
    let broken = fixture
        .faults()
        .add(Rule::new(Fault::Internal).verb("watch").resource("", "secrets"));
    let secrets = fixture.cache.follow(fixture.interest("", "Secret"));
    reaches(&secrets, |state| matches!(state, State::Retrying { .. })).await;
    let before = fixture.cache.cluster().counts();
    let _maps = fixture.follow(fixture.maps()).await;
    let mut changes = fixture.subscribe();
    fixture.apply("a", "one").await;
    assert_eq!(told(&mut changes).await, "updated a");
    // Minutes of failures later the config maps were not listed again, and the secrets not in a hurry.
    tokio::time::sleep(Duration::from_secs(200)).await;
    assert!(
        matches!(secrets.state(), State::Retrying { since, .. } if since.elapsed() > Duration::from_secs(150))
    );
    let asked = fixture.cache.cluster().counts().since(&before).of(Verb::Watch);
    assert!((2..25).contains(&asked), "{asked}");
    fixture.faults().remove(broken);
    secrets
        .synced(Instant::now() + Duration::from_secs(120))
        .await
        .unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_busy_server_is_left_alone_for_as_long_as_it_says() {
    let fixture = Fixture::embedded().await;
    let busy = fixture
        .faults()
        .add(Rule::new(Fault::TooManyRequests(20)).verb("watch").times(2));
    let began = Instant::now();
    let maps = fixture.cache.follow(fixture.maps());
    maps.synced(Instant::now() + LIMIT).await.unwrap();
    assert_eq!(fixture.faults().fired(busy), 2);
    assert!(
        began.elapsed() >= Duration::from_secs(40),
        "{:?}",
        began.elapsed()
    );
}

#[tokio::test(start_paused = true)]
async fn a_watch_that_never_lives_is_not_begun_again_at_once() {
    let fixture = Fixture::embedded().await;
    fixture
        .faults()
        .add(Rule::new(Fault::Watch(WatchFault::Drop { after: 0 })).resource("", "configmaps"));
    let _maps = fixture.follow(fixture.maps()).await;
    tokio::time::sleep(Duration::from_secs(60)).await;
    let asked = fixture.cache.cluster().counts().of(Verb::Watch);
    assert!((3..20).contains(&asked), "{asked}");
}

/// argo-cd#11157: nothing can be read while everything is listed.
#[tokio::test(start_paused = true)]
async fn readers_do_not_wait_for_a_list() {
    let fixture = Fixture::embedded().await;
    fixture.apply("a", "one").await;
    let _maps = fixture.follow(fixture.maps()).await;
    fixture
        .faults()
        .add(Rule::new(Fault::Delay(Duration::from_secs(50))).verb("watch"));
    let began = Instant::now();
    fixture.cache.set_settings(Settings {
        labels: std::sync::Arc::new(["app".into()].into()),
        ..Settings::default()
    });
    let secrets = fixture.cache.follow(fixture.interest("", "Secret"));
    // Both lists are under way by then, and have not come.
    tokio::time::sleep(Duration::from_secs(10)).await;
    assert!(matches!(secrets.state(), State::Starting));
    assert!(fixture.get("a").is_some());
    assert!(fixture.cache.tree(&fixture.key("a")).is_some());
    assert!(began.elapsed() < Duration::from_secs(11));
    tokio::time::sleep(Duration::from_secs(60)).await;
    assert!(!matches!(secrets.state(), State::Starting));
}

/// A server that does not stream lists is asked for pages.
#[tokio::test]
async fn pages_are_read_where_lists_are_not_streamed() {
    let test = testkit::Cluster::embedded(apiserver::Server::builder());
    let client = without_streams(test.client());
    let space = test.namespace("pages").await;
    let settings = Settings {
        page: 2,
        ..Settings::default()
    };
    let cache = Cache::new(Cluster::new(client), settings);
    let fixture = Fixture {
        cluster: Cluster::new(test.client()),
        cache,
        space,
        test,
    };
    for name in ["a", "b", "c", "d", "e"] {
        fixture.apply(name, "one").await;
    }
    let mut changes = fixture.subscribe();
    let _maps = fixture.follow(fixture.maps()).await;
    for _ in 0..5 {
        told(&mut changes).await;
    }
    let counts = fixture.cache.cluster().counts();
    assert_eq!((counts.of(Verb::List), counts.of(Verb::Watch)), (3, 2));
    fixture.apply("f", "one").await;
    assert_eq!(told(&mut changes).await, "updated f");
    // It is known by now, of this kind.
    let _others = fixture
        .follow(Interest {
            namespace: Some("default".into()),
            ..fixture.maps()
        })
        .await;
}

/// Refuses `sendInitialEvents` as a server does whose feature gate is off.
fn without_streams(client: kube::Client) -> kube::Client {
    let service = tower::service_fn(move |request: http::Request<kube::client::Body>| {
        let client = client.clone();
        async move {
            let streams = request
                .uri()
                .query()
                .is_some_and(|query| query.contains("sendInitialEvents"));
            if !streams {
                return client.send(request).await;
            }
            let status = serde_json::json!({
                "kind": "Status", "apiVersion": "v1", "status": "Failure", "reason": "Invalid", "code": 422,
                "message": "sendInitialEvents: Forbidden: sendInitialEvents is forbidden for watch unless the WatchList feature gate is enabled",
            });
            let body = kube::client::Body::from(status.to_string().into_bytes());
            Ok(http::Response::builder().status(422).body(body).unwrap())
        }
    });
    kube::Client::new(service, "default")
}
