//! Servers of tenants: a kubeconfig may lead to one that answers whatever it likes.

use engine::cluster::{Cluster, Error};
use http::{Request, Response};
use kube::client::Body;
use tower::service_fn;

/// A server that fills its answers up to this size.
fn server(size: usize) -> Cluster {
    let service = service_fn(move |request: Request<Body>| async move {
        let path = request.uri().path().to_owned();
        let is_group = path.ends_with("/things/one");
        let start = match path.as_str() {
            "/api" => r#"{"kind":"APIGroupDiscoveryList","items":[]"#,
            "/apis" => {
                r#"{"kind":"APIGroupDiscoveryList","items":[{"metadata":{"name":"example.com"},"versions":[{"version":"v1",
                "resources":[{"resource":"things","responseKind":{"group":"example.com","version":"v1","kind":"Thing"},
                "scope":"Cluster","verbs":["get","list","watch"]}]}]}]"#
            }
            _ if is_group => r#"{"apiVersion":"example.com/v1","kind":"Thing","metadata":{"name":"one"}"#,
            _ => r#"{"kind":"Status","code":404"#,
        };
        let (size, is_discovery) = (size, path.starts_with("/api") && !is_group);
        let size = if is_discovery == (size > 30 << 20) {
            size
        } else {
            0
        };
        let body = format!("{start},\"filler\":\"{}\"}}", "a".repeat(size));
        Ok::<_, std::convert::Infallible>(Response::new(Body::from(body.into_bytes())))
    });
    Cluster::with_agent(kube::Client::new(service, "default"), "tests")
}

#[tokio::test]
async fn what_is_served_is_not_read_without_an_end() {
    let resource = server(0).resource("example.com", "v1", "Thing").await.unwrap();
    assert_eq!(resource.plural, "things");
    let refused = server(40 << 20).resource("example.com", "v1", "Thing").await;
    assert!(matches!(refused, Err(Error::Transport { .. })), "{refused:?}");
}

#[tokio::test]
async fn an_object_is_not_read_without_an_end() {
    let there = server(1 << 20);
    let resource = there.resource("example.com", "v1", "Thing").await.unwrap();
    assert!(there.get(&resource, "", "one").await.unwrap().is_some());
    let refused = server(20 << 20).get(&resource, "", "one").await;
    assert!(matches!(refused, Err(Error::Transport { .. })), "{refused:?}");
}

/// A server whose list never ends.
#[tokio::test]
async fn a_list_is_not_read_without_an_end() {
    let resource = server(0).resource("example.com", "v1", "Thing").await.unwrap();
    let service = service_fn(|_: Request<Body>| async {
        let item = format!("{{\"metadata\":{{\"name\":\"{}\"}}}}", "a".repeat(16 << 20));
        let page =
            format!("{{\"kind\":\"ThingList\",\"metadata\":{{\"continue\":\"more\"}},\"items\":[{item}]}}");
        Ok::<_, std::convert::Infallible>(Response::new(Body::from(page.into_bytes())))
    });
    let endless = Cluster::with_agent(kube::Client::new(service, "default"), "tests");
    let refused = endless.list_all(&resource, "").await;
    assert!(matches!(refused, Err(Error::Malformed { .. })), "{refused:?}");
}
