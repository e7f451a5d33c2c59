//! Given values over the defaults of a chart and of the charts below it.
//!
//! A `null` takes a default away. While charts are still being sorted out (conditions, `import-values`) nulls are kept, so
//! that they can take away defaults of charts further below; that is called merging here and in Helm.

use model::{Map, Value};

use crate::chart::Chart;
use crate::version::HelmVersion;

/// The key of what all charts see.
pub const GLOBAL: &str = "global";

/// How values are put together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// A `null` takes away what it stands over.
    Coalesce,
    /// A `null` stays.
    Merge,
}

/// Why values do not go together.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("type mismatch on {chart}: {shown}: the values of a chart must be a map")]
pub struct Mismatch {
    /// The chart below.
    pub chart: String,
    /// What stands there instead of a map.
    pub shown: String,
}

/// Puts values together, and keeps what has to be said about it.
pub struct Coalesce<'w> {
    /// Whose rules apply.
    pub version: HelmVersion,
    /// What does not fit and was left out.
    pub warnings: &'w mut Vec<String>,
}

impl Coalesce<'_> {
    /// The given values with all defaults of the chart and those below it.
    pub fn values(&mut self, chart: &Chart, mut given: Map, mode: Mode) -> Result<Map, Mismatch> {
        self.chart(chart, &mut given, "", mode)?;
        Ok(given)
    }

    fn chart(&mut self, chart: &Chart, into: &mut Map, prefix: &str, mode: Mode) -> Result<(), Mismatch> {
        self.own(chart, into, prefix, mode);
        for below in &chart.dependencies {
            let name = below.metadata.name.as_str();
            let mut values = match into.get_mut(name) {
                None => Map::new(),
                Some(value) => match value.take() {
                    Value::Object(map) => map,
                    other => {
                        return Err(Mismatch {
                            chart: name.to_owned(),
                            shown: as_flag(&other),
                        });
                    }
                },
            };
            let prefix = joined(prefix, &chart.metadata.name);
            self.globals(&mut values, into, &prefix);
            let done = self.chart(below, &mut values, &prefix, mode);
            into.insert(name, values);
            done?;
        }
        Ok(())
    }

    /// Hands what all charts see on to a chart below.
    fn globals(&mut self, below: &mut Map, above: &Map, prefix: &str) {
        let mut own = match below.get_mut(GLOBAL) {
            None => Map::new(),
            Some(Value::Object(map)) => std::mem::take(map),
            Some(_) => {
                self.warn(format!(
                    "warning: skipping globals because destination {GLOBAL} is not a table."
                ));
                return;
            }
        };
        match above.get(GLOBAL) {
            None => {}
            Some(Value::Object(from)) => {
                for (key, value) in from.iter() {
                    self.global(&mut own, key, value, prefix);
                }
            }
            Some(_) => {
                self.warn(format!(
                    "warning: skipping globals because source {GLOBAL} is not a table."
                ));
            }
        }
        below.insert(GLOBAL, own);
    }

    fn global(&mut self, own: &mut Map, key: &str, value: &Value, prefix: &str) {
        match (value, own.get_mut(key)) {
            (Value::Object(_), None) => {
                own.insert(key, value.clone());
            }
            (Value::Object(from), Some(Value::Object(here))) => {
                // What comes from above wins.
                let mut table = from.clone();
                let here = std::mem::take(here);
                self.tables(&mut table, here, &joined(prefix, key), Mode::Merge);
                own.insert(key, table);
            }
            (Value::Object(_), Some(_)) => self.warn(format!(
                "Conflict: cannot merge map onto non-map for {}. Skipping.",
                model::quote::quote(key)
            )),
            (_, Some(Value::Object(_))) => self.warn(format!("key {key} is table. Skipping")),
            (_, _) => {
                own.insert(key, value.clone());
            }
        }
    }

    /// The defaults of the chart itself.
    fn own(&mut self, chart: &Chart, into: &mut Map, prefix: &str, mode: Mode) {
        let prefix = joined(prefix, &chart.metadata.name);
        let cleans = mode == Mode::Coalesce && self.version == HelmVersion::V4;
        for (key, default) in chart.defaults.iter() {
            let Some(value) = into.get_mut(key) else {
                if cleans && default.is_null() {
                    continue;
                }
                let mut default = default.clone();
                if cleans {
                    without_nulls(&mut default);
                }
                into.insert(key, default);
                continue;
            };
            match (value, default) {
                (Value::Null, _) if mode == Mode::Coalesce => {
                    into.remove(key);
                }
                (Value::Object(here), Value::Object(_)) => {
                    let is_chart = chart.dependencies.iter().any(|below| below.metadata.name == key);
                    let mode = if is_chart { Mode::Merge } else { mode };
                    let mut default = default.clone();
                    if mode == Mode::Coalesce && self.version == HelmVersion::V4 {
                        without_nulls(&mut default);
                    }
                    if let Value::Object(default) = default {
                        let mut table = std::mem::take(here);
                        self.tables(&mut table, default, &joined(&prefix, key), mode);
                        into.insert(key, table);
                    }
                }
                (Value::Object(_), Value::Null) => {}
                (Value::Object(_), _) => {
                    self.warn(format!("warning: skipped value for {prefix}.{key}: Not a table."))
                }
                _ => {}
            }
        }
    }

    /// One map under another, key by key.
    pub fn tables(&mut self, over: &mut Map, under: Map, prefix: &str, mode: Mode) {
        for (key, below) in under {
            let full = || joined(prefix, &key);
            match (over.get_mut(&key), below) {
                (None, below) => {
                    over.insert(&key, below);
                }
                (Some(Value::Null), Value::Null) => {}
                // A null over a default takes it away, or stays to do that later.
                (Some(Value::Null), _) if mode == Mode::Coalesce => {
                    over.remove(&key);
                }
                (Some(Value::Null), _) => {}
                (Some(Value::Object(here)), Value::Object(below)) => {
                    self.tables(here, below, &full(), mode);
                }
                (Some(_), below @ Value::Object(_)) => self.warn(format!(
                    "warning: cannot overwrite table with non table for {} ({})",
                    full(),
                    as_value(&below)
                )),
                (Some(Value::Object(_)), below) if !below.is_null() => self.warn(format!(
                    "warning: destination for {} is a table. Ignoring non-table value ({})",
                    full(),
                    as_value(&below)
                )),
                _ => {}
            }
        }
    }

    fn warn(&mut self, text: String) {
        self.warnings.push(text);
    }
}

fn joined(prefix: &str, key: &str) -> String {
    if prefix.is_empty() {
        key.to_owned()
    } else {
        format!("{prefix}.{key}")
    }
}

/// Takes nulls out of maps, however deep; lists are not looked into.
fn without_nulls(value: &mut Value) {
    if let Value::Object(map) = value {
        map.retain(|_, value| {
            without_nulls(value);
            !value.is_null()
        });
    }
}

/// A value as Go's `%v` prints it.
fn as_value(value: &Value) -> String {
    match value {
        Value::Null => "<nil>".to_owned(),
        Value::Float(number) => yaml::go::float(*number),
        Value::Str(text) => text.to_string(),
        Value::Array(items) => {
            let items: Vec<String> = items.iter().map(as_value).collect();
            format!("[{}]", items.join(" "))
        }
        Value::Object(map) => {
            let pairs: Vec<String> = map
                .iter()
                .map(|(key, value)| format!("{key}:{}", as_value(value)))
                .collect();
            format!("map[{}]", pairs.join(" "))
        }
        other => model::json::to_string(other),
    }
}

/// A value as Go's `%t` prints it, which Helm uses here.
fn as_flag(value: &Value) -> String {
    match value {
        Value::Bool(flag) => flag.to_string(),
        Value::Null => "%!t(<nil>)".to_owned(),
        Value::Array(items) => {
            let items: Vec<String> = items.iter().map(as_flag).collect();
            format!("[{}]", items.join(" "))
        }
        other => format!("%!t({}={})", super::go_type(other), as_value(other)),
    }
}
