//! The columns that a definition adds to tables.

use model::Value;

use crate::jsonpath::JsonPath;
use crate::table::CustomColumn;

/// Reads a column. One whose path cannot be followed shows nothing.
pub(super) fn read(column: &Value) -> CustomColumn {
    let json_path = column.str_at(&["jsonPath"]);
    let path = JsonPath::parse(&format!("{{{json_path}}}")).ok();
    CustomColumn {
        name: column.str_at(&["name"]).into(),
        kind: column.str_at(&["type"]).into(),
        format: column.str_at(&["format"]).into(),
        description: column.str_at(&["description"]).into(),
        priority: column.get("priority").and_then(Value::as_i64).unwrap_or_default(),
        json_path: json_path.into(),
        find: Box::new(move |object| path.as_ref()?.find(object).ok()?.first().copied()),
    }
}
