//! Servers of tenants that serve without end: the cluster fails, and gives back all memory.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use bytes::Bytes;
use engine::cache::{Cache, Interest, Settings, State};
use engine::cluster::{Budget, Cluster, Verb};
use engine::unit::ReconciliationSettings;
use futures::{StreamExt, stream};
use http::{Request, Response};
use http_body::Frame;
use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt, Full, StreamBody};
use kube::client::Body;
use tower::service_fn;

use super::Tenants;
use crate::engine::LIMIT;
use crate::engine::fixtures::config_map;

/// There are far more than a budget allows, and yet an end: a test of an engine without budgets ends, too.
const MANY: usize = 5_000;

#[derive(Clone, Copy, Debug, PartialEq)]
enum Endless {
    /// Events of a watch.
    Events,
    /// An event.
    Line,
    /// Pages of a list.
    Pages,
    /// Owners of objects.
    Owners,
}

type Error = Box<dyn std::error::Error + Send + Sync>;
type Answer = Response<UnsyncBoxBody<Bytes, Error>>;

/// An answer that is never at an end.
fn streamed(lines: impl Iterator<Item = String> + Send + 'static) -> Answer {
    let frames = stream::iter(lines).map(|line| Ok::<_, Error>(Frame::data(Bytes::from(line))));
    Response::new(StreamBody::new(frames.chain(stream::pending())).boxed_unsync())
}

fn plain(text: String) -> Answer {
    let body = Full::new(Bytes::from(text));
    Response::new(body.map_err(|never| match never {}).boxed_unsync())
}

fn thing(number: usize, more: &str) -> String {
    format!(
        r#"{{"apiVersion":"example.com/v1","kind":"Thing","metadata":{{"name":"{number}","resourceVersion":"{number}"{more}}}}}"#
    )
}

fn added(object: &str) -> String {
    format!("{{\"type\":\"ADDED\",\"object\":{object}}}\n")
}

fn owned(number: usize) -> String {
    let owner = r#"{"apiVersion":"v1","kind":"Owner","name":"owner","uid":"no-uuid"}"#;
    thing(
        number,
        &format!(",\"ownerReferences\":[{}]", [owner; 500].join(",")),
    )
}

/// Answers everything but discovery.
fn answer(endless: Endless, request: &Request<Body>) -> Answer {
    let watches = request
        .uri()
        .query()
        .is_some_and(|query| query.contains("watch=true"));
    match endless {
        Endless::Events => streamed((0..MANY).map(|number| added(&thing(number, "")))),
        Endless::Owners => streamed((0..MANY / 10).map(|number| added(&owned(number)))),
        Endless::Line => streamed((0..15).map(|_| "a".repeat(1 << 20))),
        Endless::Pages if watches => {
            let mut refused = plain(r#"{"kind":"Status","code":422,"reason":"Invalid"}"#.to_owned());
            *refused.status_mut() = http::StatusCode::UNPROCESSABLE_ENTITY;
            refused
        }
        Endless::Pages => {
            let query = request.uri().query().unwrap_or_default();
            let at = query.split("continue=").nth(1).unwrap_or("0");
            let at: usize = at.parse().unwrap();
            let items: Vec<_> = (at..at + 100).map(|number| thing(number, "")).collect();
            let next = match at + 100 {
                next if next < MANY => next.to_string(),
                _ => String::new(),
            };
            plain(format!(
                r#"{{"kind":"ThingList","metadata":{{"continue":"{next}","resourceVersion":"1"}},"items":[{}]}}"#,
                items.join(",")
            ))
        }
    }
}

/// What discovery says: so many kinds.
fn served(path: &str, kinds: usize) -> Option<Answer> {
    let resource = |number: usize| {
        let kind = match number {
            0 => "Thing".to_owned(),
            number => format!("Thing{number}"),
        };
        format!(
            r#"{{"resource":"{}s","responseKind":{{"group":"example.com","version":"v1","kind":"{kind}"}},"scope":"Cluster","verbs":["get","list","watch"]}}"#,
            kind.to_lowercase()
        )
    };
    let resources: Vec<_> = (0..kinds).map(resource).collect();
    let group = format!(
        r#"{{"metadata":{{"name":"example.com"}},"versions":[{{"version":"v1","resources":[{}]}}]}}"#,
        resources.join(",")
    );
    let items = match path {
        "/api" => String::new(),
        "/apis" => group,
        _ => return None,
    };
    let list = format!(r#"{{"kind":"APIGroupDiscoveryList","items":[{items}]}}"#);
    Some(plain(list))
}

fn server(endless: Endless, kinds: usize, budget: Budget) -> Cluster {
    let service = service_fn(move |request: Request<Body>| async move {
        let answer = served(request.uri().path(), kinds).unwrap_or_else(|| answer(endless, &request));
        Ok::<_, std::convert::Infallible>(answer)
    });
    let client = kube::Client::new(service, "default");
    Cluster::with_agent(client, "tests").with_budget("https://endless.example", budget)
}

/// Waits until the watch of a cache has failed, and returns why.
async fn failure(cache: &Cache) -> String {
    let every = testkit::settled::Every(Duration::from_millis(100));
    let failed = testkit::settled(LIMIT, every, async || match cache.state("example.com", "Thing") {
        State::Retrying { error, .. } => Ok(error.to_string()),
        state => Err(format!("{state}, {} objects", cache.len())),
    });
    failed.await.unwrap()
}

#[tokio::test(start_paused = true)]
async fn a_cluster_that_serves_without_end_fails_gives_back_its_memory_and_is_tried_again() {
    let small = Budget {
        bytes: 4 << 20,
        objects: 1000,
        kinds: 10,
    };
    for (endless, limit) in [
        (Endless::Events, "1000 objects"),
        (Endless::Pages, "1000 objects"),
        (Endless::Owners, "4 MiB"),
        (Endless::Line, "4 MiB"),
    ] {
        let cache = Cache::new(server(endless, 1, small), Settings::default());
        let mut changes = cache.subscribe(Box::new(|_| true));
        let follow = cache.follow(Interest::in_all("example.com", "Thing"));
        let failure = failure(&cache).await;
        let wanted = format!("cluster https://endless.example needs more than the {limit} of memory");
        assert!(failure.contains(&wanted), "{endless:?}: {failure}");
        assert!(cache.is_empty(), "{endless:?}");
        assert!(matches!(changes.next().await, Some(engine::cache::Change::Lost)));
        assert!(changes.try_next().is_none(), "what waited there is freed, too");
        // It is left alone for a minute, and then for two.
        let asked = || {
            let counts = cache.cluster().counts();
            counts.of(Verb::Watch) + counts.of(Verb::List)
        };
        let first = asked();
        tokio::time::sleep(Duration::from_secs(55)).await;
        assert_eq!(asked(), first, "{endless:?}");
        tokio::time::sleep(Duration::from_secs(30)).await;
        let second = asked();
        assert!(second > first, "{endless:?}");
        tokio::time::sleep(Duration::from_secs(90)).await;
        assert_eq!(asked(), second, "{endless:?}");
        assert!(cache.is_empty(), "{endless:?}");
        drop(follow);
    }
}

#[tokio::test(start_paused = true)]
async fn a_cluster_does_not_serve_kinds_without_end() {
    let budget = Budget {
        kinds: 10,
        ..Budget::default()
    };
    let fine = server(Endless::Events, 10, budget);
    assert!(fine.resource("example.com", "v1", "Thing").await.is_ok());
    let cluster = server(Endless::Events, 11, budget);
    let refused = cluster.resource("example.com", "v1", "Thing").await.unwrap_err();
    let wanted = "cluster https://endless.example needs more than the 10 kinds of memory";
    assert!(refused.to_string().contains(wanted), "{refused}");
}

/// The cluster of the test, which serves config maps without end for as long as it is told to.
fn endless(tenants: &Tenants, is_endless: &Arc<AtomicBool>) -> kube::Client {
    let (client, is_endless) = (tenants.bed.test.client(), Arc::clone(is_endless));
    let service = service_fn(move |request: Request<Body>| {
        let (client, is_endless) = (client.clone(), is_endless.load(Ordering::SeqCst));
        async move {
            let uri = request.uri();
            let watches = uri.query().is_some_and(|query| query.contains("watch=true"));
            if is_endless && watches && uri.path().ends_with("/configmaps") {
                return Ok::<_, kube::Error>(answer(Endless::Events, &request));
            }
            let answer = client.send(request).await?;
            Ok(answer.map(|body| body.map_err(Error::from).boxed_unsync()))
        }
    });
    kube::Client::new(service, "default")
}

#[tokio::test(start_paused = true)]
async fn units_in_a_cluster_that_serves_without_end_fail_and_all_others_go_on() {
    let tenants = Tenants::paused().await;
    tenants
        .engine
        .set_reconciliation_settings(ReconciliationSettings {
            remote_budget: Budget {
                objects: 1000,
                ..Budget::default()
            },
            ..ReconciliationSettings::default()
        });
    let is_endless = Arc::new(AtomicBool::new(true));
    let client = endless(&tenants, &is_endless);
    let access = ("tenant", "tenant");
    tenants
        .names
        .vouched("remote", "https://endless.example", access, client);
    tenants.sync("remote", "remote", "v1", [config_map("far", "1")]);
    let status = tenants.until("remote", |status| !status.errors.is_empty()).await;
    let wanted = "cluster https://endless.example needs more than the 1000 objects of memory";
    assert_eq!(status.errors.len(), 1);
    assert!(status.errors[0].starts_with(wanted), "{:?}", status.errors);
    tenants.sync("platform", "platform", "v1", [config_map("x", "1")]);
    tenants.applied("platform", "v1").await;
    tenants.bed.by_hand("", config_map("x", "by hand")).await;
    tenants
        .bed
        .seen("ConfigMap", "x", |live| {
            live.is_some_and(|live| live.str_at(&["data", "key"]) == "1")
        })
        .await;
    is_endless.store(false, Ordering::SeqCst);
    tokio::time::sleep(Duration::from_secs(300)).await;
    let status = tenants.applied("remote", "v1").await;
    assert!(status.errors.is_empty(), "{:?}", status.errors);
    tenants.finish().await;
}

/// What was read of a list counted for no longer than a page, though all of it is in memory together.
#[tokio::test]
async fn all_pages_of_a_list_count_until_the_list_is_dropped() {
    let budget = |bytes| Budget {
        bytes,
        ..Budget::default()
    };
    let (small, large) = (
        server(Endless::Pages, 1, budget(256 << 10)),
        server(Endless::Pages, 1, budget(16 << 20)),
    );
    let things = large.resource("example.com", "v1", "Thing").await.unwrap();
    let refused = small.list_all(&things, "").await.unwrap_err();
    assert!(
        matches!(refused, engine::cluster::Error::OverBudget { .. }),
        "{refused:?}"
    );
    for _ in 0..20 {
        let listing = large.list_all(&things, "").await.unwrap();
        assert_eq!(listing.items.len(), MANY);
    }
    let mut held = Vec::new();
    let refused = loop {
        match large.list_all(&things, "").await {
            Ok(listing) => held.push(listing),
            Err(refused) => break refused,
        }
        assert!(held.len() < 20, "nothing counts");
    };
    assert!(
        matches!(refused, engine::cluster::Error::OverBudget { .. }),
        "{refused:?}"
    );
}

/// The bytes of a list were limited, and the objects that are made of them take up to thirty times as much.
#[tokio::test]
async fn a_list_is_limited_by_the_memory_that_its_objects_take() {
    let service = service_fn(|_: Request<Body>| async {
        let values = "0,".repeat(4 << 20);
        let page = format!(r#"{{"kind":"ThingList","metadata":{{}},"items":[{{"a":[{values}0]}}]}}"#);
        Ok::<_, std::convert::Infallible>(plain(page))
    });
    let things = server(Endless::Pages, 1, Budget::default());
    let things = things.resource("example.com", "v1", "Thing").await.unwrap();
    let cluster = Cluster::with_agent(kube::Client::new(service, "default"), "tests");
    let refused = cluster.list_all(&things, "").await.unwrap_err();
    let why = std::error::Error::source(&refused).unwrap().to_string();
    assert!(why.contains("more than 128 MiB of memory"), "{why}");
}
