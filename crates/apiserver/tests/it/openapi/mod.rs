//! OpenAPI documents against those of a real server (v1.35.8), without the descriptions.

use apiserver::catalog::{Catalog, CustomDefinition, CustomVersion, Resource};
use apiserver::discovery::Request;
use apiserver::openapi::{Document, OpenApi, Outcome, Sources};
use model::{Value, json};
use smd::Schema;

fn catalog() -> Catalog {
    let version = |name: &str, subresources| CustomVersion {
        name: name.into(),
        served: true,
        storage: subresources,
        status: subresources,
        scale: subresources,
    };
    Catalog::builtin().with_custom([CustomDefinition {
        group: "catalog.example.com".into(),
        plural: "widgets".into(),
        kind: "Widget".into(),
        namespaced: true,
        versions: vec![version("v1alpha1", false), version("v1", true)],
        ..CustomDefinition::default()
    }])
}

/// The schemas of the definition that the recorded server had.
fn widget_schema(resource: &Resource) -> Option<Value> {
    json::parse(include_bytes!("widget.json"))
        .unwrap()
        .get(&resource.version)
        .cloned()
}

struct Server {
    openapi: OpenApi,
    catalog: Catalog,
    schema: Schema,
}

impl Server {
    fn new() -> Self {
        Server {
            openapi: OpenApi::default(),
            catalog: catalog(),
            schema: Schema::builtin(),
        }
    }

    fn ask(&self, request: &Request<'_>) -> Option<Document> {
        let sources = Sources {
            catalog: &self.catalog,
            schema: &self.schema,
            custom: &widget_schema,
        };
        self.openapi
            .answer(&sources, request)
            .map(|answer| answer.unwrap())
    }

    fn get(&self, path: &str) -> Value {
        match self
            .ask(&Request {
                path,
                ..Request::default()
            })
            .unwrap()
            .outcome
        {
            Outcome::Json(bytes) => json::parse(&bytes).unwrap(),
            other => panic!("{path}: {other:?}"),
        }
    }
}

/// Removes what two ways of saying the same thing differ in: descriptions, the order of required fields, the list
/// type that a list has anyway, and a lone reference inside `allOf`.
fn normal(schema: &mut Value, is_properties: bool) {
    let Some(map) = schema.as_object_mut() else { return };
    if !is_properties {
        map.remove("description");
        if map.get("type").and_then(Value::as_str) == Some("array")
            && !map.contains_key("x-kubernetes-list-type")
        {
            map.insert("x-kubernetes-list-type", "atomic");
        }
        if let Some(required) = map.get_mut("required").and_then(Value::as_array_mut) {
            required.sort_by(|a, b| a.as_str().cmp(&b.as_str()));
        }
    }
    for (key, inner) in map.iter_mut() {
        normal(inner, key == "properties" && !is_properties);
    }
}

#[test]
fn schemas_are_those_of_the_real_server() {
    let server = Server::new();
    let recorded = json::parse(include_bytes!("recorded.json")).unwrap();
    let mut compared = 0;
    for entry in recorded.as_array().unwrap() {
        let path = format!("/openapi/v3/{}", entry.str_at(&["document"]));
        let document = server.get(&path);
        for (name, expected) in entry.get("schemas").unwrap().as_object().unwrap().iter() {
            let mut ours = document
                .at(&["components", "schemas", name])
                .cloned()
                .unwrap_or_default();
            let mut expected = expected.clone();
            normal(&mut ours, false);
            normal(&mut expected, false);
            assert_eq!(ours, expected, "{path} {name}");
            compared += 1;
        }
    }
    assert_eq!(compared, 25);
}

#[test]
fn operations_are_those_of_the_real_server() {
    let server = Server::new();
    let recorded = json::parse(include_bytes!("recorded.json")).unwrap();
    let mut compared = 0;
    for entry in recorded.as_array().unwrap() {
        let document = server.get(&format!("/openapi/v3/{}", entry.str_at(&["document"])));
        for operation in entry.list_at(&["operations"]) {
            let operation = operation.as_array().unwrap();
            let (path, method) = (operation[0].as_str().unwrap(), operation[1].as_str().unwrap());
            let ours = document
                .at(&["paths", path, method])
                .unwrap_or_else(|| panic!("no {method} {path}"));
            assert_eq!(ours.get("operationId"), Some(&operation[2]), "{method} {path}");
            assert_eq!(
                ours.get("x-kubernetes-action"),
                Some(&operation[3]),
                "{method} {path}"
            );
            let gvk = ours.get("x-kubernetes-group-version-kind").unwrap();
            let gvk: Value = ["group", "version", "kind"]
                .iter()
                .map(|key| gvk.str_at(&[key]))
                .collect();
            assert_eq!(gvk, operation[4], "{method} {path}");
            assert_eq!(ours.list_at(&["tags"])[0], operation[5], "{method} {path}");
            if method == "patch" {
                let content = ours.at(&["requestBody", "content"]).unwrap().as_object().unwrap();
                assert_eq!(content.keys().collect::<Value>(), operation[6], "{method} {path}");
            }
            compared += 1;
        }
    }
    assert_eq!(compared, 75);
}

#[test]
fn every_patch_says_that_unknown_fields_can_be_checked() {
    let server = Server::new();
    let mut patches = 0;
    for (_, entry) in server
        .get("/openapi/v3")
        .get("paths")
        .unwrap()
        .as_object()
        .unwrap()
        .iter()
    {
        let address = entry.str_at(&["serverRelativeURL"]);
        let document = server.get(address.split('?').next().unwrap());
        for (path, item) in document.get("paths").unwrap().as_object().unwrap().iter() {
            let Some(patch) = item.get("patch") else { continue };
            let names: Vec<&str> = patch
                .list_at(&["parameters"])
                .iter()
                .map(|p| p.str_at(&["name"]))
                .collect();
            assert!(names.contains(&"fieldValidation"), "{path}: {names:?}");
            patches += 1;
        }
    }
    assert!(patches > 90, "{patches}");
}

#[test]
fn every_reference_leads_to_a_schema() {
    fn check(value: &Value, schemas: &Value) {
        match value {
            Value::Object(map) => map.iter().for_each(|(key, inner)| match inner.as_str() {
                Some(target) if key == "$ref" => {
                    let name = target.strip_prefix("#/components/schemas/").unwrap();
                    assert!(schemas.get(name).is_some(), "{target}");
                }
                _ => check(inner, schemas),
            }),
            Value::Array(items) => items.iter().for_each(|inner| check(inner, schemas)),
            _ => {}
        }
    }
    let server = Server::new();
    for (name, _) in server
        .get("/openapi/v3")
        .get("paths")
        .unwrap()
        .as_object()
        .unwrap()
        .iter()
    {
        let document = server.get(&format!("/openapi/v3/{name}"));
        check(&document, document.at(&["components", "schemas"]).unwrap());
    }
}

#[test]
fn the_index_lists_each_version_with_the_hash_of_its_document() {
    let server = Server::new();
    let index = server.get("/openapi/v3");
    let paths = index.get("paths").unwrap();
    let address = paths.str_at(&["apis/catalog.example.com/v1", "serverRelativeURL"]);
    let (path, query) = address.split_once('?').unwrap();
    assert_eq!(path, "/openapi/v3/apis/catalog.example.com/v1");
    assert!(paths.get("api/v1").is_some() && paths.get("apis/autoscaling/v2").is_some());
    let document = server
        .ask(&Request {
            path,
            query,
            ..Request::default()
        })
        .unwrap();
    assert!(document.immutable);
    let etag = document.etag.unwrap();
    assert_eq!(format!("hash={}", etag.trim_matches('"')), query);
}

#[test]
fn an_old_hash_leads_to_the_new_one_and_a_right_copy_is_not_sent_again() {
    let server = Server::new();
    let path = "/openapi/v3/apis/apps/v1";
    let plain = server
        .ask(&Request {
            path,
            ..Request::default()
        })
        .unwrap();
    let etag = plain.etag.unwrap();
    assert!(!plain.immutable);
    let moved = server
        .ask(&Request {
            path,
            query: "timeout=32s&hash=ABC",
            ..Request::default()
        })
        .unwrap();
    assert_eq!(
        moved.outcome,
        Outcome::Moved(format!("{path}?hash={}", etag.trim_matches('"')))
    );
    let same = server
        .ask(&Request {
            path,
            if_none_match: &etag,
            ..Request::default()
        })
        .unwrap();
    assert_eq!(same.outcome, Outcome::NotModified);
}

#[test]
fn a_changed_definition_changes_its_document_alone() {
    let mut server = Server::new();
    let before = server.get("/openapi/v3");
    let address = |index: &Value, name: &str| index.str_at(&["paths", name, "serverRelativeURL"]).to_owned();
    server.catalog = Catalog::builtin().with_custom([CustomDefinition {
        group: "catalog.example.com".into(),
        plural: "widgets".into(),
        kind: "Widget".into(),
        versions: vec![CustomVersion {
            name: "v1".into(),
            served: true,
            ..CustomVersion::default()
        }],
        ..CustomDefinition::default()
    }]);
    let after = server.get("/openapi/v3");
    assert_eq!(address(&before, "apis/apps/v1"), address(&after, "apis/apps/v1"));
    let name = "apis/catalog.example.com/v1";
    assert_ne!(address(&before, name), address(&after, name));
    assert_eq!(address(&after, "apis/catalog.example.com/v1alpha1"), "");
}

#[test]
fn version_2_defines_what_version_3_does() {
    let server = Server::new();
    let document = server.get("/openapi/v2");
    assert_eq!(document.str_at(&["swagger"]), "2.0");
    for (path, name) in [
        ("/openapi/v3/apis/apps/v1", "io.k8s.api.apps.v1.Deployment"),
        (
            "/openapi/v3/apis/catalog.example.com/v1",
            "com.example.catalog.v1.Widget",
        ),
    ] {
        let third = server.get(path);
        let fields = |schema: &Value| -> Vec<String> {
            let fields = schema.at(&["properties"]).and_then(Value::as_object).unwrap();
            fields.keys().map(str::to_owned).collect()
        };
        let [second, third] = [
            document.at(&["definitions", name]).unwrap(),
            third.at(&["components", "schemas", name]).unwrap(),
        ];
        assert_eq!(fields(second), fields(third), "{name}");
        let kinds = "x-kubernetes-group-version-kind";
        assert_eq!(second.get(kinds), third.get(kinds), "{name}");
    }
}

#[test]
fn every_reference_of_version_2_leads_somewhere() {
    let document = Server::new().get("/openapi/v2");
    let mut open = vec![&document];
    let mut seen = 0;
    while let Some(value) = open.pop() {
        match value {
            Value::Array(items) => open.extend(items.iter()),
            Value::Object(map) => open.extend(map.values()),
            _ => {}
        }
        if let Some(reference) = value.get("$ref").and_then(Value::as_str) {
            let name = reference.strip_prefix("#/definitions/").unwrap();
            assert!(document.at(&["definitions", name]).is_some(), "{name}");
            seen += 1;
        }
    }
    assert!(seen > 1000, "{seen}");
}

#[test]
fn version_2_says_which_parameters_a_patch_takes() {
    let document = Server::new().get("/openapi/v2");
    let patch = document
        .at(&["paths", "/api/v1/namespaces/{name}", "patch"])
        .unwrap();
    let names: Vec<&str> = patch
        .list_at(&["parameters"])
        .iter()
        .map(|parameter| parameter.str_at(&["name"]))
        .collect();
    assert_eq!(
        names,
        ["body", "dryRun", "fieldManager", "fieldValidation", "force"]
    );
}

#[test]
fn version_2_comes_as_protobuf_for_those_who_ask() {
    let server = Server::new();
    let ask = |accept, if_none_match| {
        let request = Request {
            path: "/openapi/v2",
            accept,
            if_none_match,
            ..Request::default()
        };
        server.ask(&request).unwrap()
    };
    let accept = "application/com.github.proto-openapi.spec.v2@v1.0+protobuf";
    let document = ask(accept, "");
    let Outcome::Protobuf(media_type, bytes) = &document.outcome else {
        panic!("{:?}", document.outcome);
    };
    assert_eq!(
        *media_type,
        "application/com.github.proto-openapi.spec.v2.v1.0+protobuf"
    );
    assert_eq!(&bytes[..5], b"\x0a\x032.0");
    let etag = document.etag.unwrap();
    assert_eq!(ask(accept, &etag).outcome, Outcome::NotModified);
}

#[test]
fn other_paths_are_not_answered() {
    let server = Server::new();
    for path in [
        "/openapi/v2/",
        "/openapi/v3/",
        "/openapi/v3/apis",
        "/openapi/v3/apis/apps",
        "/openapi/v3x/api/v1",
    ] {
        assert!(
            server
                .ask(&Request {
                    path,
                    ..Request::default()
                })
                .is_none(),
            "{path}"
        );
    }
    for path in [
        "/openapi/v3/apis/nope/v1",
        "/openapi/v3/api/v2",
        "/openapi/v3/apis//v1",
        "/openapi",
    ] {
        assert!(
            server
                .ask(&Request {
                    path,
                    ..Request::default()
                })
                .is_none(),
            "{path}"
        );
    }
}

#[test]
fn other_encodings_are_not_acceptable() {
    let server = Server::new();
    let accept = "application/com.github.proto-openapi.spec.v3@v1.0+protobuf";
    let request = Request {
        path: "/openapi/v3/api/v1",
        accept,
        ..Request::default()
    };
    let sources = Sources {
        catalog: &server.catalog,
        schema: &server.schema,
        custom: &widget_schema,
    };
    let error = server.openapi.answer(&sources, &request).unwrap().unwrap_err();
    assert_eq!(error.code, 406);
}
