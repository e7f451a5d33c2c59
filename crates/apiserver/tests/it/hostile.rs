//! Whatever a client sends, the server answers with a `Status` of the client's fault, and goes on.

use apiserver::{Body, Server};
use bytes::Bytes;
use http::{Method, Request, Response};
use http_body_util::{BodyExt, Full};
use model::{Value, json, value};
use proptest::prelude::*;
use tokio::runtime::Runtime;
use tower::ServiceExt;

const PATCHES: [&str; 4] = [
    "application/json-patch+json",
    "application/merge-patch+json",
    "application/strategic-merge-patch+json",
    "application/apply-patch+yaml",
];

async fn send(server: &Server, method: Method, path: &str, media: &str, body: Vec<u8>) -> Response<Body> {
    let request = Request::builder()
        .method(method)
        .uri(path)
        .header("content-type", media);
    let request = request.body(Full::new(Bytes::from(body))).unwrap();
    server.service().oneshot(request).await.unwrap()
}

/// A server with one Deployment.
async fn started() -> Server {
    let server = Server::builder().start();
    let deployment = value!({
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "a"},
        "spec": {
            "selector": {"matchLabels": {"app": "a"}},
            "template": {
                "metadata": {"labels": {"app": "a"}},
                "spec": {"containers": [{"name": "c", "image": "i", "ports": [{"containerPort": 80}]}]},
            },
        },
    });
    let path = "/apis/apps/v1/namespaces/default/deployments";
    let made = send(
        &server,
        Method::POST,
        path,
        "application/json",
        json::to_vec(&deployment),
    )
    .await;
    assert_eq!(made.status(), 201);
    server
}

/// One server for all cases of a test: starting one for each would be most of the time.
fn shared() -> (Runtime, Server) {
    let runtime = Runtime::new().unwrap();
    let server = runtime.block_on(started());
    (runtime, server)
}

/// The answer is a success or a refusal that a client can understand; the object is still there.
async fn check(server: &Server, response: Response<Body>) {
    let status = response.status().as_u16();
    let body = response.into_body().collect().await.unwrap().to_bytes();
    let value = json::parse(&body).unwrap();
    assert!(
        matches!(status, 200 | 201 | 400 | 409 | 413 | 415 | 422 | 500),
        "{status} {value:?}"
    );
    if status >= 400 {
        assert_eq!(value.str_at(&["kind"]), "Status");
        assert_ne!(value.str_at(&["message"]), "");
        // The real server calls some bad patches its own fault, but never by this reason: that is for ours.
        assert_ne!(value.str_at(&["reason"]), "InternalError", "{value:?}");
    }
    let path = "/apis/apps/v1/namespaces/default/deployments/a";
    let still = send(server, Method::GET, path, "", Vec::new()).await;
    assert_eq!(still.status(), 200);
}

/// Any JSON, with the names that mean something.
fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::Bool),
        any::<i64>().prop_map(Value::Int),
        prop_oneof![
            Just("a"),
            Just(""),
            Just("apps/v1"),
            Just("Deployment"),
            Just("delete"),
            Just("/spec/replicas")
        ]
        .prop_map(Value::from),
        ".{0,12}".prop_map(Value::from),
    ];
    let key = prop_oneof![
        Just("metadata"),
        Just("spec"),
        Just("template"),
        Just("containers"),
        Just("name"),
        Just("replicas"),
        Just("$patch"),
        Just("$retainKeys"),
        Just("$setElementOrder/containers"),
        Just("$deleteFromPrimitiveList/finalizers"),
        Just("apiVersion"),
        Just("kind"),
        Just("op"),
        Just("path"),
        Just("from"),
        Just("value"),
        Just("ports"),
        Just("containerPort"),
        Just("managedFields"),
        Just("ownerReferences"),
        Just("labels"),
        Just("selector"),
    ];
    leaf.prop_recursive(5, 40, 5, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
            prop::collection::vec((key.clone(), inner), 0..5)
                .prop_map(|pairs| Value::Object(pairs.into_iter().collect())),
        ]
    })
}

#[test]
fn any_patch_is_applied_or_refused() {
    let (runtime, server) = shared();
    let sub = prop_oneof![Just(""), Just("/status"), Just("/scale")];
    let cases = (any_json(), 0..PATCHES.len(), sub);
    proptest!(|((patch, media, sub) in cases)| {
        runtime.block_on(async {
            let path = format!("/apis/apps/v1/namespaces/default/deployments/a{sub}?fieldManager=fuzz");
            let response = send(&server, Method::PATCH, &path, PATCHES[media], json::to_vec(&patch)).await;
            check(&server, response).await;
        });
    });
}

#[test]
fn any_bytes_are_read_or_refused() {
    const BODIES: [&str; 3] = [
        "application/json",
        "application/yaml",
        "application/vnd.kubernetes.protobuf",
    ];
    let (runtime, server) = shared();
    let cases = (
        prop::collection::vec(any::<u8>(), 0..200),
        0..PATCHES.len() + BODIES.len(),
    );
    proptest!(|((body, media) in cases)| {
        let (method, name, media) = match PATCHES.get(media) {
            Some(media) => (Method::PATCH, "/a?fieldManager=fuzz", *media),
            None => (Method::POST, "", BODIES[media - PATCHES.len()]),
        };
        runtime.block_on(async {
            let path = format!("/apis/apps/v1/namespaces/default/deployments{name}");
            let mut enveloped = b"k8s\0".to_vec();
            enveloped.extend_from_slice(&body);
            check(&server, send(&server, method.clone(), &path, media, body).await).await;
            check(&server, send(&server, method, &path, media, enveloped).await).await;
        });
    });
}

#[test]
fn any_selector_selects_or_is_refused() {
    let (runtime, server) = shared();
    let kind = prop_oneof![Just("labelSelector"), Just("fieldSelector")];
    proptest!(|(text in "[a-z/.=!(), <>%0-9\\\\-]{0,30}", kind in kind)| {
        runtime.block_on(async {
            let query = form_urlencoded::Serializer::new(String::new()).append_pair(kind, &text).finish();
            let path = format!("/apis/apps/v1/namespaces/default/deployments?{query}");
            check(&server, send(&server, Method::GET, &path, "", Vec::new()).await).await;
        });
    });
}

#[test]
fn a_number_of_any_length_is_not_repeated() {
    let (runtime, server) = shared();
    let digits = "9".repeat(1_000_000);
    let path = "/apis/apps/v1/namespaces/default/deployments";
    runtime.block_on(async {
        for (method, path, media, body) in [
            (
                Method::POST,
                path.to_owned(),
                "application/json",
                format!("{{\"a\":{digits}}}"),
            ),
            (
                Method::PATCH,
                format!("{path}/a"),
                PATCHES[1],
                format!("{{\"a\":{digits}}}"),
            ),
            (
                Method::PATCH,
                format!("{path}/a"),
                PATCHES[0],
                format!("[{{\"op\":\"add\",\"path\":\"/a\",\"value\":{digits}}}]"),
            ),
            (
                Method::PATCH,
                format!("{path}/a"),
                PATCHES[2],
                format!("{{\"a\":{digits}}}"),
            ),
        ] {
            let response = send(&server, method, &path, media, body.into_bytes()).await;
            assert_eq!(response.status(), 400, "{media}");
            let body = response.into_body().collect().await.unwrap().to_bytes();
            assert!(body.len() < 1000, "{media}: {} bytes", body.len());
        }
    });
}

#[test]
fn what_needs_a_running_container_says_that_there_is_none() {
    let runtime = Runtime::new().unwrap();
    runtime.block_on(async {
        let server = Server::builder().start();
        let pods = "/api/v1/namespaces/default/pods";
        let pod = value!({"metadata": {"name": "p"}, "spec": {"containers": [{"name": "c", "image": "i"}]}});
        let made = send(
            &server,
            Method::POST,
            pods,
            "application/json",
            json::to_vec(&pod),
        )
        .await;
        assert_eq!(made.status(), 201);
        for part in ["ephemeralcontainers", "resize"] {
            let response = send(
                &server,
                Method::PATCH,
                &format!("{pods}/p/{part}"),
                PATCHES[2],
                b"{}".to_vec(),
            )
            .await;
            assert_eq!(response.status(), 501);
            let body = response.into_body().collect().await.unwrap().to_bytes();
            let body = json::parse(&body).unwrap();
            let message = body.str_at(&["message"]);
            assert!(message.contains("which runs no containers"), "{message}");
        }
    });
}

#[test]
fn the_deepest_nesting_that_is_read_fits_a_small_stack() {
    let deepest = json::MAX_DEPTH - 2;
    let nest = |open: &str, close: &str| format!("{}1{}", open.repeat(deepest), close.repeat(deepest));
    let bodies = [nest("[", "]"), nest("{\"a\":", "}")];
    let path = "/apis/apps/v1/namespaces/default/deployments";
    let work = move || {
        let (runtime, server) = shared();
        runtime.block_on(async {
            for nested in bodies {
                let body = format!("{{\"metadata\":{nested},\"other\":{nested}}}").into_bytes();
                let made = send(&server, Method::POST, path, "application/json", body.clone()).await;
                check(&server, made).await;
                for media in PATCHES {
                    let path = format!("{path}/a?fieldManager=m");
                    check(
                        &server,
                        send(&server, Method::PATCH, &path, media, body.clone()).await,
                    )
                    .await;
                }
            }
        });
    };
    let thread = std::thread::Builder::new()
        .stack_size(2 << 20)
        .spawn(work)
        .unwrap();
    thread.join().unwrap();
}

/// Asked for at the very moment its definition comes or goes, a resource is there or it is not.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_resource_that_comes_and_goes_is_there_or_not_and_nothing_in_between() {
    let server = Server::builder().start();
    let definition = value!({
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": "things.example.com"},
        "spec": {
            "group": "example.com",
            "scope": "Cluster",
            "names": {"plural": "things", "singular": "thing", "kind": "Thing", "listKind": "ThingList"},
            "versions": [{
                "name": "v1",
                "served": true,
                "storage": true,
                "schema": {"openAPIV3Schema": {"type": "object"}},
            }],
        },
    });
    let ended = std::sync::Arc::new(std::sync::atomic::AtomicBool::new(false));
    let askers: Vec<_> = (0..3)
        .map(|_| {
            let (server, ended) = (server.clone(), ended.clone());
            tokio::spawn(async move {
                while !ended.load(std::sync::atomic::Ordering::Relaxed) {
                    let path = "/apis/example.com/v1/things";
                    let answer = send(&server, Method::GET, path, "application/json", Vec::new()).await;
                    assert!(
                        matches!(answer.status().as_u16(), 200 | 404),
                        "{}",
                        answer.status()
                    );
                    tokio::task::yield_now().await;
                }
            })
        })
        .collect();
    let all = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
    let one = format!("{all}/things.example.com");
    for _ in 0..40 {
        let text = json::to_vec(&definition);
        send(&server, Method::POST, all, "application/json", text).await;
        for _ in 0..5 {
            tokio::task::yield_now().await;
        }
        send(&server, Method::DELETE, &one, "application/json", Vec::new()).await;
        while send(&server, Method::GET, &one, "application/json", Vec::new())
            .await
            .status()
            != 404
        {
            tokio::task::yield_now().await;
        }
    }
    ended.store(true, std::sync::atomic::Ordering::Relaxed);
    for asker in askers {
        asker.await.unwrap();
    }
}
