//! Objects that are nested more deeply than is read: an API server accepts 10,000 levels, and a kind whose schema preserves
//! unknown fields holds them.

use std::convert::Infallible;
use std::error::Error as _;

use engine::cache::{Cache, Interest, Settings};
use engine::cluster::{Cluster, Error, Selection};
use http::{Request, Response};
use kube::client::Body;
use model::{ObjectKey, json};
use tokio::time::Instant;
use tower::service_fn;

use crate::engine::LIMIT;

const DISCOVERY: &str = r#"{"kind":"APIGroupDiscoveryList","items":[{"metadata":{"name":"example.com"},"versions":[{"version":"v1",
    "resources":[{"resource":"things","responseKind":{"group":"example.com","version":"v1","kind":"Thing"},
    "scope":"Cluster","verbs":["get","list","watch"]}]}]}]}"#;

fn thing(name: &str, depth: usize) -> String {
    let spec = "{\"a\":".repeat(depth - 1) + "{" + &"}".repeat(depth);
    format!(
        r#"{{"apiVersion":"example.com/v1","kind":"Thing","metadata":{{"name":"{name}","resourceVersion":"1","uid":"{name}"}},"spec":{spec}}}"#
    )
}

/// A server with two things and one that is nested too deeply, which streams lists or does not.
fn server(streams: bool) -> Cluster {
    let service = service_fn(move |request: Request<Body>| async move {
        let things = [thing("a", 2), thing("bad", 10_000), thing("c", 2)];
        let query = request.uri().query().unwrap_or_default().to_owned();
        let path = request.uri().path().to_owned();
        let (code, body) = match path.as_str() {
            "/api" => (200, r#"{"kind":"APIGroupDiscoveryList","items":[]}"#.to_owned()),
            "/apis" => (200, DISCOVERY.to_owned()),
            _ if query.contains("sendInitialEvents") && streams => {
                let added = things.map(|thing| format!("{{\"type\":\"ADDED\",\"object\":{thing}}}\n"));
                let end = r#"{"metadata":{"resourceVersion":"1","annotations":{"k8s.io/initial-events-end":"true"}}}"#;
                let end = format!("{{\"type\":\"BOOKMARK\",\"object\":{end}}}\n");
                (200, added.concat() + &end)
            }
            _ if query.contains("sendInitialEvents") => (400, r#"{"kind":"Status","code":400}"#.to_owned()),
            _ if query.contains("watch=true") => std::future::pending().await,
            _ => {
                let things = things.join(",");
                let list = r#"{"kind":"ThingList","metadata":{"resourceVersion":"1"},"items":["#;
                (200, format!("{list}{things}]}}"))
            }
        };
        let answer = Response::builder()
            .status(code)
            .body(Body::from(body.into_bytes()));
        Ok::<_, Infallible>(answer.unwrap())
    });
    Cluster::with_agent(kube::Client::new(service, "default"), "tests")
}

async fn is_cached(streams: bool) {
    let cache = Cache::new(server(streams), Settings::default());
    let follow = cache.follow(Interest::in_all("example.com", "Thing"));
    follow.synced(Instant::now() + LIMIT).await.unwrap();
    for name in ["a", "bad", "c"] {
        let key = json::parse(thing(name, 2).as_bytes()).unwrap();
        let entry = cache.get(&ObjectKey::of(&key)).unwrap();
        assert_eq!(entry.resource_version(), "1", "{name}");
    }
}

#[tokio::test]
async fn objects_beside_one_that_is_nested_too_deeply_are_listed() {
    is_cached(false).await;
}

#[tokio::test]
async fn objects_beside_one_that_is_nested_too_deeply_are_watched() {
    is_cached(true).await;
}

/// Whoever works with whole objects is not given parts.
#[tokio::test]
async fn what_is_read_in_part_is_no_whole_object() {
    let cluster = server(false);
    let things = cluster.resource("example.com", "v1", "Thing").await.unwrap();
    let page = cluster.list(&things, &Selection::default(), 500, None).await;
    let page = page.unwrap();
    assert_eq!((page.items.len(), page.partial.len()), (2, 1));
    let error = cluster.list_all(&things, "").await.unwrap_err();
    assert!(matches!(error, Error::Malformed { .. }), "{error:?}");
    assert_eq!(
        error.to_string(),
        "failed to list Thing/bad: the answer cannot be read"
    );
    let why = error.source().unwrap().to_string();
    assert!(why.contains("nested too deeply"), "{why}");
}
