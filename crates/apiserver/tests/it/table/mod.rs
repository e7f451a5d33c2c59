//! Tables against those of a real server (v1.35.8) for the same objects at the same time.

use apiserver::catalog::{Catalog, CustomDefinition, CustomVersion, Resource};
use apiserver::table::{CustomColumn, IncludeObject, metadata_list, render, render_scale};
use jiff::Timestamp;
use model::{Str, Value, json, value};

fn resource(group: &str, version: &str, plural: &str) -> Resource {
    let served = |name: &str| CustomVersion {
        name: name.into(),
        served: true,
        ..CustomVersion::default()
    };
    let widgets = CustomDefinition {
        group: "catalog.example.com".into(),
        plural: "widgets".into(),
        kind: "Widget".into(),
        namespaced: true,
        versions: vec![served("v1"), served("v1alpha1")],
        ..CustomDefinition::default()
    };
    let catalog = Catalog::builtin().with_custom([widgets]);
    catalog.lookup(group, version, plural).unwrap().as_ref().clone()
}

fn now() -> Timestamp {
    "2026-11-15T20:00:00Z".parse().unwrap()
}

fn column(
    name: &str,
    kind: &str,
    json_path: &str,
    priority: i64,
    find: apiserver::table::Find,
) -> CustomColumn {
    CustomColumn {
        name: name.into(),
        kind: kind.into(),
        format: Str::default(),
        description: Str::default(),
        priority,
        json_path: json_path.into(),
        find,
    }
}

/// The columns that the recorded server's definition of widgets had.
fn widget_columns() -> Vec<CustomColumn> {
    vec![
        column(
            "Size",
            "integer",
            ".spec.size",
            0,
            Box::new(|object| object.at(&["spec", "size"])),
        ),
        column(
            "Ready",
            "string",
            ".status.conditions[?(@.type==\"Ready\")].status",
            0,
            Box::new(|object| {
                let conditions = object.list_at(&["status", "conditions"]);
                conditions
                    .iter()
                    .find(|condition| condition.str_at(&["type"]) == "Ready")?
                    .get("status")
            }),
        ),
        column(
            "Since",
            "date",
            ".spec.since",
            1,
            Box::new(|object| object.at(&["spec", "since"])),
        ),
        column(
            "Age",
            "date",
            ".metadata.creationTimestamp",
            0,
            Box::new(|object| object.at(&["metadata", "creationTimestamp"])),
        ),
    ]
}

#[test]
fn tables_are_those_of_the_real_server() {
    let recorded = json::parse(include_bytes!("recorded.json")).unwrap();
    let widget_columns = widget_columns();
    let mut rows = 0;
    for entry in recorded.as_array().unwrap() {
        let place: Vec<&str> = entry
            .list_at(&["resource"])
            .iter()
            .filter_map(Value::as_str)
            .collect();
        let resource = resource(place[0], place[1], place[2]);
        let columns = (place[1..] == ["v1", "widgets"]).then_some(widget_columns.as_slice());
        let objects: Vec<Value> = entry
            .list_at(&["objects"])
            .iter()
            .map(|object| typed(&resource, object))
            .collect();
        let now: Timestamp = entry.str_at(&["now"]).parse().unwrap();
        let table = render(
            &resource,
            columns,
            &objects,
            Value::object(),
            IncludeObject::None,
            now,
        );
        assert_eq!(columns_of(&table), *entry.get("columns").unwrap(), "{place:?}");
        for (at, row) in table.list_at(&["rows"]).iter().enumerate() {
            let expected = &entry.list_at(&["cells"])[at];
            assert_eq!(row.get("cells").unwrap(), expected, "{place:?}");
            let conditions = &entry.list_at(&["conditions"])[at];
            assert_eq!(
                row.get("conditions").unwrap_or(&Value::Null),
                conditions,
                "{place:?} {expected:?}"
            );
            rows += 1;
        }
        assert_eq!(
            table.list_at(&["rows"]).len(),
            entry.list_at(&["cells"]).len(),
            "{place:?}"
        );
    }
    assert!(rows > 150, "{rows}");
}

/// Elements of a list carry no kind; our objects always do.
fn typed(resource: &Resource, object: &Value) -> Value {
    let mut object = object.clone();
    object.set_at(&["kind"], resource.kind.clone());
    object.set_at(&["apiVersion"], resource.api_version());
    object
}

fn columns_of(table: &Value) -> Value {
    let columns = table.list_at(&["columnDefinitions"]).iter();
    columns
        .map(|column| {
            ["name", "type", "format", "priority"]
                .iter()
                .map(|key| column.get(key).cloned().unwrap())
                .collect::<Value>()
        })
        .collect()
}

fn config_map() -> Value {
    value!({
        "kind": "ConfigMap",
        "apiVersion": "v1",
        "metadata": { "name": "one", "creationTimestamp": "2026-11-15T19:59:30Z" },
        "data": { "a": "b" },
    })
}

#[test]
fn a_row_carries_as_much_of_the_object_as_was_asked_for() {
    let resource = resource("", "v1", "configmaps");
    let object = |include| {
        let metadata = value!({ "resourceVersion": "7" });
        let table = render(&resource, None, &[config_map()], metadata, include, now());
        assert_eq!(table.str_at(&["metadata", "resourceVersion"]), "7");
        table.list_at(&["rows"])[0].get("object").cloned().unwrap()
    };
    assert_eq!(object(IncludeObject::None), Value::Null);
    assert_eq!(object(IncludeObject::Object), config_map());
    let metadata = object(IncludeObject::Metadata);
    assert_eq!(metadata.str_at(&["kind"]), "PartialObjectMetadata");
    assert_eq!(metadata.str_at(&["apiVersion"]), "meta.k8s.io/v1");
    assert_eq!(metadata.get("metadata"), config_map().get("metadata"));
    assert_eq!(metadata.get("data"), None);
}

#[test]
fn the_parameter_knows_three_words() {
    assert_eq!(IncludeObject::parse("").unwrap(), IncludeObject::Metadata);
    assert_eq!(IncludeObject::parse("None").unwrap(), IncludeObject::None);
    let error = IncludeObject::parse("Foo").unwrap_err();
    assert_eq!(error.code, 400);
    assert_eq!(
        error.message,
        "Unable to convert to Table as requested: includeObject: Invalid value: \"Foo\": \
         must be 'Metadata', 'Object', 'None', or empty"
    );
}

#[test]
fn a_bookmark_is_a_row_of_an_empty_object_that_keeps_its_annotation() {
    let bookmark = value!({
        "kind": "ConfigMap",
        "apiVersion": "v1",
        "metadata": { "resourceVersion": "390", "annotations": { "k8s.io/initial-events-end": "true" } },
    });
    let resource = resource("", "v1", "configmaps");
    let table = render(
        &resource,
        None,
        std::slice::from_ref(&bookmark),
        Value::object(),
        IncludeObject::None,
        now(),
    );
    let row = &table.list_at(&["rows"])[0];
    assert_eq!(row.get("cells").unwrap(), &value!(["", 0i64, "<unknown>"]));
    assert_eq!(row.at(&["object", "metadata"]), bookmark.get("metadata"));
}

#[test]
fn no_objects_make_a_table_without_rows() {
    let table = render(
        &resource("", "v1", "pods"),
        None,
        &[],
        Value::object(),
        IncludeObject::Metadata,
        now(),
    );
    assert_eq!(table.get("rows"), Some(&value!([])));
    assert_eq!(table.list_at(&["columnDefinitions"]).len(), 9);
}

#[test]
fn every_listed_kind_fills_all_its_columns_even_from_an_empty_object() {
    for resource in Catalog::builtin()
        .iter()
        .filter(|resource| resource.allows("list"))
    {
        let table = render(
            resource,
            None,
            &[Value::object()],
            Value::object(),
            IncludeObject::None,
            now(),
        );
        let (columns, cells) = (
            table.list_at(&["columnDefinitions"]),
            table.list_at(&["rows"])[0].list_at(&["cells"]),
        );
        let extra = usize::from(resource.plural == "ipaddresses");
        assert_eq!(columns.len() + extra, cells.len(), "{}", resource.plural);
    }
}

#[test]
fn a_scale_shows_wanted_and_present_replicas() {
    let scale = value!({
        "kind": "Scale",
        "metadata": { "name": "web", "creationTimestamp": "2026-11-15T19:00:00Z" },
        "spec": { "replicas": 3i64 },
        "status": { "replicas": 2i64 },
    });
    let table = render_scale(&scale, Value::object(), IncludeObject::None, now());
    assert_eq!(
        table.list_at(&["rows"])[0].get("cells"),
        Some(&value!(["web", 3i64, 2i64, "60m"]))
    );
}

#[test]
fn a_list_of_metadata_keeps_nothing_else() {
    let list = metadata_list(&[config_map()], value!({ "resourceVersion": "9" }));
    assert_eq!(list.str_at(&["kind"]), "PartialObjectMetadataList");
    assert_eq!(list.str_at(&["metadata", "resourceVersion"]), "9");
    let item = &list.list_at(&["items"])[0];
    assert_eq!(item.str_at(&["metadata", "name"]), "one");
    assert_eq!(item.get("data"), None);
}
