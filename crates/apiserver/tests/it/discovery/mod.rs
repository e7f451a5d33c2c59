//! Discovery documents against those of a real server (v1.35.8) that had one CustomResourceDefinition, and the parts
//! of content negotiation that the recorded documents do not show.

use apiserver::catalog::{Catalog, CustomDefinition, CustomVersion};
use apiserver::discovery::{Body, Document, GIT_VERSION, Request, document};
use model::{Value, json};

const AGGREGATED: &str = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";

/// The definition that the real server had: `widgets.catalog.example.com`.
fn catalog() -> Catalog {
    let version = |name: &str, storage| CustomVersion {
        name: name.into(),
        served: true,
        storage,
        status: storage,
        scale: storage,
    };
    Catalog::builtin().with_custom([CustomDefinition {
        group: "catalog.example.com".into(),
        plural: "widgets".into(),
        singular: "widget".into(),
        kind: "Widget".into(),
        list_kind: "WidgetList".into(),
        short_names: vec!["wd".into()],
        categories: vec!["all".into(), "things".into()],
        namespaced: true,
        terminating: false,
        versions: vec![version("v1alpha1", false), version("v1", true)],
    }])
}

fn ask(path: &str, accept: &str) -> Option<Document> {
    let request = Request {
        path,
        accept,
        server_address: "127.0.0.1:16443",
        ..Request::default()
    };
    document(&catalog(), &request).map(|answer| answer.unwrap())
}

fn json_body(document: Document) -> Value {
    match document.body {
        Body::Json(value) | Body::Pretty(value) => value,
        other => panic!("no JSON: {other:?}"),
    }
}

/// Takes out of a recorded document what this server does not have.
fn without_deviations(mut body: Value) -> Value {
    let absent = |item: &Value| {
        ["componentstatuses", "resource.k8s.io"].iter().any(|name| {
            [&["name"][..], &["resource"], &["metadata", "name"]]
                .iter()
                .any(|path| item.str_at(path) == *name)
        })
    };
    for key in ["groups", "items", "resources"] {
        if let Some(items) = body.get_mut(key).and_then(Value::as_array_mut) {
            items.retain(|item| !absent(item));
            for item in items.iter_mut() {
                let versions = item.get_mut("versions").and_then(Value::as_array_mut);
                for version in versions.into_iter().flatten() {
                    if let Some(resources) = version.get_mut("resources").and_then(Value::as_array_mut) {
                        resources.retain(|resource| !absent(resource));
                    }
                }
            }
        }
    }
    body
}

#[test]
fn documents_are_those_of_the_real_server() {
    let recorded = json::parse(include_bytes!("recorded.json")).unwrap();
    let mut compared = 0;
    for entry in recorded.as_array().unwrap() {
        let (path, accept) = (entry.str_at(&["path"]), entry.str_at(&["accept"]));
        if path.starts_with("/apis/resource.k8s.io") {
            assert_eq!(ask(path, accept), None);
            continue;
        }
        let expected = without_deviations(entry.get("body").unwrap().clone());
        let document = ask(path, accept).unwrap_or_else(|| panic!("nothing at {path}"));
        assert_eq!(document.content_type, accept, "{path}");
        assert_eq!(json_body(document), expected, "{path}");
        compared += 1;
    }
    assert_eq!(compared, 47);
}

#[test]
fn a_client_that_accepts_both_gets_the_aggregated_document() {
    for accept in [
        format!("application/json,{AGGREGATED}"),
        format!("{AGGREGATED},application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList"),
        format!("{AGGREGATED};profile=nopeer"),
    ] {
        let document = ask("/apis", &accept).unwrap();
        assert_eq!(document.content_type, AGGREGATED);
        assert_eq!(json_body(document).str_at(&["kind"]), "APIGroupDiscoveryList");
    }
}

#[test]
fn the_beta_falls_back_to_the_plain_document() {
    let beta = "application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList";
    let document = ask("/apis", &format!("{beta},application/json")).unwrap();
    assert_eq!(json_body(document).str_at(&["kind"]), "APIGroupList");
    let request = Request {
        path: "/apis",
        accept: beta,
        ..Request::default()
    };
    assert_eq!(document_error(&request).code, 406);
}

fn document_error(request: &Request<'_>) -> apiserver::error::Error {
    document(&catalog(), request).unwrap().unwrap_err()
}

#[test]
fn a_path_that_cannot_be_converted_is_not_acceptable() {
    for (path, accept) in [
        ("/apis/apps", AGGREGATED),
        ("/apis/", AGGREGATED),
        ("/version", "application/xml"),
    ] {
        let error = document_error(&Request {
            path,
            accept,
            ..Request::default()
        });
        assert_eq!((error.code, error.reason), (406, "NotAcceptable"), "{path}");
    }
}

#[test]
fn a_copy_that_is_still_right_is_not_sent_again() {
    let first = ask("/apis", AGGREGATED).unwrap();
    let etag = first.etag.unwrap();
    let request = Request {
        path: "/apis",
        accept: AGGREGATED,
        if_none_match: &etag,
        ..Request::default()
    };
    let second = document(&catalog(), &request).unwrap().unwrap();
    assert_eq!(second.body, Body::NotModified);
    assert_eq!(second.etag.as_deref(), Some(etag.as_str()));
    let changed = document(&Catalog::builtin(), &request).unwrap().unwrap();
    assert!(matches!(changed.body, Body::Json(_)));
    assert_ne!(changed.etag.as_deref(), Some(etag.as_str()));
    assert_eq!((etag.len(), ask("/apis", "").unwrap().etag), (130, None));
}

#[test]
fn a_slash_at_the_end_changes_nothing() {
    for path in [
        "/api",
        "/apis",
        "/api/v1",
        "/apis/apps",
        "/apis/apps/v1",
        "/version",
    ] {
        assert_eq!(ask(path, ""), ask(&format!("{path}/"), ""), "{path}");
    }
}

#[test]
fn other_paths_are_not_answered() {
    for path in [
        "",
        "/foo",
        "/apis/nope",
        "/apis/apps/v2",
        "/api/v2",
        "/api/v1/pods",
        "//",
        "/apis//",
        "/apis//v1",
    ] {
        assert_eq!(ask(path, ""), None, "{path:?}");
    }
}

#[test]
fn the_root_lists_every_path() {
    let body = json_body(ask("/", "text/html").unwrap());
    let paths: Vec<&str> = body
        .list_at(&["paths"])
        .iter()
        .filter_map(Value::as_str)
        .collect();
    for path in [
        "/api/v1",
        "/apis/autoscaling/v1",
        "/apis/catalog.example.com/v1alpha1",
        "/livez/ping",
        "/version",
    ] {
        assert!(paths.contains(&path), "{path}");
    }
    assert!(paths.is_sorted());
}

#[test]
fn the_version_names_the_release_and_us() {
    let body = json_body(ask("/version", "").unwrap());
    assert_eq!(body.str_at(&["gitVersion"]), GIT_VERSION);
    assert_eq!((body.str_at(&["major"]), body.str_at(&["minor"])), ("1", "35"));
}

#[test]
fn health_is_plain_text() {
    let document = ask("/readyz", "application/json").unwrap();
    assert_eq!(document.body, Body::Text("ok".to_owned()));
    assert_eq!(document.content_type, "text/plain; charset=utf-8");
}
