//! `values.schema.json`: whether values are what a chart and the charts below it want.
//!
//! Drafts 4, 6, 7, 2019-09 and 2020-12, with the results and the words of the library that Helm uses. Schemas that point to
//! other documents are refused: nothing is fetched here.
//!
//! ```text
//!   values.schema.json ─▶ Document (ids, anchors, drafts) ─▶ Validator ─▶ Failure, a tree that prints itself
//! ```

mod document;
mod draft;
mod failure;
mod format;
mod number;
mod validator;

use std::fmt::Write as _;

use document::Document;
use model::{Map, Value};
use validator::Validator;

use crate::chart::Chart;
use crate::render::Stop;
use crate::values::go_type;

/// Values that do not fit.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("values don't meet the specifications of the schema(s) in the following chart(s):\n{0}")]
pub struct SchemaError(pub String);

/// Checks the values of a chart and, below them, those of the charts below, until `stop` says why not to go on.
pub fn validate(
    chart: &Chart,
    values: &Map,
    warnings: &mut Vec<String>,
    stop: Option<&Stop>,
) -> Result<(), SchemaError> {
    let mut text = String::new();
    check(chart, values, &mut text, (warnings, stop));
    if text.is_empty() {
        Ok(())
    } else {
        Err(SchemaError(text))
    }
}

/// Checks values against the schema of a chart alone, whatever those of the charts below say.
///
/// # Errors
/// What does not fit, a line for each.
pub fn validate_own(chart: &Chart, values: &Map, warnings: &mut Vec<String>) -> Result<(), String> {
    match chart.file("values.schema.json") {
        Some(schema) if !schema.is_empty() => check_one(schema, values, (warnings, None)),
        _ => Ok(()),
    }
}

/// Gets warnings, and says when to stop.
type Watched<'w> = (&'w mut Vec<String>, Option<&'w Stop>);

fn check(chart: &Chart, values: &Map, text: &mut String, (warnings, stop): Watched<'_>) {
    if stop.is_some_and(|stop| stop().is_some()) && !text.is_empty() {
        return;
    }
    let name = &chart.metadata.name;
    if let Some(schema) = chart.file("values.schema.json")
        && let Err(problem) = check_one(schema, values, (&mut *warnings, stop))
    {
        let _ = write!(text, "{name}:\n{problem}");
    }
    for below in &chart.dependencies {
        let name = &below.metadata.name;
        match values.get(name) {
            None | Some(Value::Null) => {}
            Some(Value::Object(values)) => check(below, values, text, (&mut *warnings, stop)),
            Some(other) => {
                let _ = writeln!(
                    text,
                    "{name}:\ninvalid type for values: expected object (map), got {}",
                    go_type(other)
                );
            }
        }
    }
}

/// Checks values against one schema. What is wrong ends with a line break only if it is the values.
fn check_one(schema: &[u8], values: &Map, (warnings, stop): Watched<'_>) -> Result<(), String> {
    let schema = model::json::parse(schema).map_err(|error| error.to_string())?;
    let document = Document::new(&schema, warnings)?;
    let values = Value::Object(values.clone());
    match Validator::new(&document, stop).run(&values) {
        Ok(()) => Ok(()),
        Err(failure) => Err(failure.to_string() + "\n"),
    }
}

#[cfg(test)]
mod tests;
