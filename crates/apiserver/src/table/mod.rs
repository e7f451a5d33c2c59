//! Objects as tables, which is what `kubectl get` asks for: the columns of each kind and the cells that an object
//! fills. The columns and cells are those of the real server; see [`render`].
//!
//! **Deviation**: the descriptions of built-in columns are empty. No client shows them.

mod builtin;
mod cell;
mod column;
mod custom;
pub mod duration;
mod metadata;
mod selector;

use jiff::Timestamp;
use model::{Map, Value, value};

pub use custom::{CustomColumn, Find};
pub use metadata::{metadata_list, metadata_only};

use crate::catalog::{Origin, Resource};
use crate::error::{Error, Result};
use crate::field;
use column::Layout;

/// How much of each object a row carries.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum IncludeObject {
    /// Nothing.
    None,
    /// Its metadata.
    #[default]
    Metadata,
    /// The whole object.
    Object,
}

impl IncludeObject {
    /// The meaning of the query parameter `includeObject`.
    pub fn parse(text: &str) -> Result<Self> {
        match text {
            "None" => Ok(IncludeObject::None),
            "" | "Metadata" => Ok(IncludeObject::Metadata),
            "Object" => Ok(IncludeObject::Object),
            other => {
                let why = "must be 'Metadata', 'Object', 'None', or empty";
                let error = field::Error::invalid("includeObject", &Value::str(other), why);
                let message = format!(
                    "Unable to convert to Table as requested: {}: {}",
                    error.field,
                    error.body()
                );
                Err(Error::bad_request(message))
            }
        }
    }
}

/// Objects of `resource` as a table. `columns` are those of a custom resource's version, `None` where it names none;
/// `metadata` is that of the list, or of a single object its `resourceVersion`.
///
/// Works for every object of a watch, too: bookmarks give a row like that of an empty object, and from the second
/// event on the caller sets `columnDefinitions` to `null`.
pub fn render(
    resource: &Resource,
    columns: Option<&[CustomColumn]>,
    objects: &[Value],
    metadata: Value,
    include: IncludeObject,
    now: Timestamp,
) -> Value {
    let mut objects: Vec<&Value> = objects.iter().collect();
    let (definitions, rows) = match (resource.origin, columns) {
        (Origin::Custom, Some(columns)) => {
            let row = |object: &&Value| row(object, custom::cells(columns, object, now), include);
            (custom::definitions(columns), objects.iter().map(row).collect())
        }
        (Origin::Custom, None) => {
            let cells = |object: &Value| vec![cell::name(object), cell::age(object, now)];
            let row = |object: &&Value| row(object, cells(object), include);
            (custom::default_definitions(), objects.iter().map(row).collect())
        }
        (Origin::Builtin, _) => {
            if resource.plural == "flowschemas" {
                objects.sort_by(|a, b| {
                    builtin::cluster::flow_schema_order(a).cmp(&builtin::cluster::flow_schema_order(b))
                });
            }
            fill(
                &builtin::layout(&resource.group, &resource.plural),
                &objects,
                include,
                now,
            )
        }
    };
    table(definitions, rows, metadata)
}

/// The `scale` subresource of any object as a table.
pub fn render_scale(scale: &Value, metadata: Value, include: IncludeObject, now: Timestamp) -> Value {
    let (definitions, rows) = fill(&builtin::workloads::SCALE, &[scale], include, now);
    table(definitions, rows, metadata)
}

fn fill(layout: &Layout, objects: &[&Value], include: IncludeObject, now: Timestamp) -> (Value, Value) {
    let definitions = layout.columns.iter().map(column::Column::definition).collect();
    let rows = objects
        .iter()
        .map(|object| row(object, (layout.cells)(object, now), include))
        .collect();
    (definitions, rows)
}

fn table(definitions: Value, rows: Value, metadata: Value) -> Value {
    value!({
        "kind": "Table",
        "apiVersion": "meta.k8s.io/v1",
        "metadata": metadata,
        "columnDefinitions": definitions,
        "rows": rows,
    })
}

fn row(object: &Value, cells: Vec<Value>, include: IncludeObject) -> Value {
    let mut row = Map::new();
    row.insert("cells", cells);
    if object.str_at(&["kind"]) == "Pod"
        && let Some(conditions) = builtin::pods::conditions(object)
    {
        row.insert("conditions", conditions);
    }
    // The bookmark that ends the initial events is told by its annotation, which must not get lost.
    let ends_initial_events = object
        .at(&["metadata", "annotations", "k8s.io/initial-events-end"])
        .is_some();
    row.insert(
        "object",
        match include {
            IncludeObject::Object => object.clone(),
            IncludeObject::None if !ends_initial_events => Value::Null,
            IncludeObject::None | IncludeObject::Metadata => metadata_only(object),
        },
    );
    Value::Object(row)
}
