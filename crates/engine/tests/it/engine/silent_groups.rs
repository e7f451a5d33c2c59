//! Groups of which nobody knows what they serve, as their own server is down.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use bytes::Bytes;
use engine::unit::{OperationState, Phase, ReconciliationSettings, Status};
use http::{Request, Response};
use http_body_util::BodyExt;
use kube::Client;
use kube::client::Body;
use tower::{BoxError, service_fn};

use super::{Bed, config_map, definition, widget};

/// A client that is told, while that is so, that the server of a group does not answer.
fn through(inner: Client, group: String, silent: Arc<AtomicBool>) -> Client {
    let service = service_fn(move |request: Request<Body>| {
        let (inner, group) = (inner.clone(), group.clone());
        let is_told = request.uri().path() == "/apis" && silent.load(Ordering::SeqCst);
        async move {
            let (head, body) = inner.send(request).await?.into_parts();
            if !is_told {
                return Ok::<_, BoxError>(Response::from_parts(head, body));
            }
            let body = body.collect().await?.to_bytes();
            let body = Body::from(stale(&body, &group));
            Ok(Response::from_parts(head, body))
        }
    });
    Client::new(service, "default")
}

fn stale(body: &Bytes, group: &str) -> Vec<u8> {
    let mut answer: serde_json::Value = serde_json::from_slice(body).unwrap();
    for item in answer["items"].as_array_mut().unwrap() {
        if item["metadata"]["name"] == group {
            item["versions"] = serde_json::json!([{ "version": "v1", "freshness": "Stale" }]);
        }
    }
    answer.to_string().into_bytes()
}

/// Its objects are there all the same.
#[tokio::test(flavor = "multi_thread")]
async fn what_is_of_a_group_whose_server_is_down_is_not_forgotten() {
    let test = testkit::Cluster::start().await;
    let (group, silent) = (
        format!("{}.example.com", test.prefix()),
        Arc::new(AtomicBool::new(false)),
    );
    let client = through(test.client(), group.clone(), Arc::clone(&silent));
    let mut bed = Bed::reached(test, client, ReconciliationSettings::default()).await;
    bed.sync("definitions", "v1", [definition(&group)]);
    bed.applied("definitions", "v1").await;
    bed.sync("shop", "v1", [widget(&group), config_map("a", "1")]);
    bed.applied("shop", "v1").await;
    silent.store(true, Ordering::SeqCst);
    bed.restart().await;
    bed.sync("shop", "v2", [config_map("a", "2")]);
    let is_over = |status: &Status| {
        let failed = |state: &OperationState| state.phase == Phase::Failed;
        status.revision == "v2" || status.operation.as_deref().is_some_and(failed)
    };
    let inventory = bed.until("shop", is_over).await.inventory;
    let has_widget = inventory.entries.iter().any(|entry| entry.id.0.kind == "Widget");
    assert!(has_widget, "{inventory:?}");
    silent.store(false, Ordering::SeqCst);
    bed.restart().await;
    let status = bed.until("shop", |status| {
        status.revision == "v2" && status.inventory.entries.len() == 1
    });
    status.await;
    assert!(bed.get(&group, "Widget", "w").await.is_none());
    bed.finish().await;
}
