//! `import-values`: what a parent sees of the values of charts below.

use model::{Map, Value};

use crate::chart::{Chart, Dependency};
use crate::values::coalesce::{Coalesce, Mismatch, Mode};
use crate::values::path;

/// Makes imported values defaults of the charts that import them, from the bottom up.
pub(super) fn import(chart: &mut Chart, coalesce: &mut Coalesce<'_>) -> Result<(), Mismatch> {
    for below in &mut chart.dependencies {
        import(below, coalesce)?;
    }
    if chart.metadata.dependencies.is_empty() {
        return Ok(());
    }
    let mut values = coalesce.values(chart, Map::new(), Mode::Merge)?;
    let mut imported = Map::new();
    for dependency in chart.metadata.dependencies.iter_mut().flatten() {
        let wanted: Vec<(String, String)> = dependency.import_values.iter().filter_map(wish).collect();
        for (child, parent) in &wanted {
            match path::table(&values, &format!("{}.{child}", dependency.name)) {
                Some(table) => {
                    let table = path::nest(parent, table.clone());
                    coalesce.tables(&mut imported, table, "", Mode::Merge);
                }
                None => coalesce.warnings.push(missing(dependency, child)),
            }
        }
        dependency.import_values = wanted
            .iter()
            .map(|(child, parent)| model::value!({"child": (child.as_str()), "parent": (parent.as_str())}))
            .collect();
    }
    // What the parent says itself wins.
    coalesce.tables(&mut values, imported, "", Mode::Merge);
    chart.defaults = values;
    Ok(())
}

fn missing(dependency: &Dependency, child: &str) -> String {
    format!(
        "Warning: ImportValues missing table '{child}' from chart {}",
        dependency.name
    )
}

/// From where in the values of the child to where in those of the parent.
fn wish(value: &Value) -> Option<(String, String)> {
    match value {
        Value::Str(name) => Some((format!("exports.{name}"), ".".to_owned())),
        Value::Object(map) => {
            let text = |key| match map.get(key) {
                None | Some(Value::Null) => "<nil>".to_owned(),
                Some(Value::Str(text)) => text.to_string(),
                Some(other) => model::json::to_string(other),
            };
            Some((text("child"), text("parent")))
        }
        _ => None,
    }
}
