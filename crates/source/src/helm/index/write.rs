//! The index as it is stored: checked, sorted, and as indented JSON.

use std::io::Write;

use model::Value;
use model::semver::Version;
use serde::Serialize;

use super::version::NO_TIME;
use super::{ChartVersion, Error, Index};

impl Index {
    /// Writes the index as indented JSON: charts by name, each from its highest version down, without broken entries. Only
    /// one chart at a time is in memory.
    pub fn write_json(&self, out: &mut dyn Write) -> Result<(), Error> {
        let mut writer = Writer { out, first: true };
        writer.raw("{")?;
        if let Some(Value::Object(info)) = self.field("serverInfo")?
            && !info.is_empty()
        {
            writer.member("serverInfo", &info)?;
        }
        writer.member("apiVersion", &self.field("apiVersion")?)?;
        let generated = self.field("generated")?;
        let generated = generated.as_ref().and_then(Value::as_str);
        writer.member("generated", generated.unwrap_or(NO_TIME))?;
        self.write_entries(&mut writer)?;
        for name in ["publicKeys", "annotations"] {
            if let Some(value) = self.field(name)?.filter(|value| !is_empty(value)) {
                writer.member(name, &value)?;
            }
        }
        writer.raw("\n}")
    }

    fn write_entries(&self, writer: &mut Writer<'_>) -> Result<(), Error> {
        let charts = self.charts();
        writer.key("entries")?;
        if charts.is_empty() {
            return writer.raw("{}");
        }
        writer.raw("{")?;
        for (index, chart) in charts.into_iter().enumerate() {
            let mut versions = self.versions(chart)?.unwrap_or_default();
            sort(&mut versions);
            writer.raw(if index > 0 { ",\n    " } else { "\n    " })?;
            writer.json(chart, 0)?;
            writer.raw(": ")?;
            if versions.is_empty() {
                writer.raw("[]")?;
                continue;
            }
            for (index, version) in versions.iter().enumerate() {
                writer.raw(if index > 0 { ",\n      " } else { "[\n      " })?;
                writer.json(&version.written(), 3)?;
            }
            writer.raw("\n    ]")?;
        }
        writer.raw("\n  }")
    }
}

/// Sorts from the highest version down; of equal ones the order stays.
fn sort(versions: &mut Vec<ChartVersion>) {
    let mut keyed: Vec<_> = std::mem::take(versions)
        .into_iter()
        .map(|entry| (Version::parse(&entry.metadata.version).ok(), entry))
        .collect();
    keyed.sort_by(|(a, _), (b, _)| b.cmp(a));
    versions.extend(keyed.into_iter().map(|(_, entry)| entry));
}

fn is_empty(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Array(list) => list.is_empty(),
        Value::Object(map) => map.is_empty(),
        _ => false,
    }
}

struct Writer<'a> {
    out: &'a mut dyn Write,
    first: bool,
}

impl Writer<'_> {
    fn raw(&mut self, text: &str) -> Result<(), Error> {
        self.out.write_all(text.as_bytes()).map_err(Error::Write)
    }

    fn key(&mut self, name: &str) -> Result<(), Error> {
        self.raw(if self.first { "\n  " } else { ",\n  " })?;
        self.first = false;
        self.json(name, 0)?;
        self.raw(": ")
    }

    fn member(&mut self, name: &str, value: &(impl Serialize + ?Sized)) -> Result<(), Error> {
        self.key(name)?;
        self.json(value, 1)
    }

    /// Writes indented JSON whose first line stands so many levels deep already.
    fn json(&mut self, value: &(impl Serialize + ?Sized), level: usize) -> Result<(), Error> {
        let text = serde_json::to_string_pretty(value)
            .map_err(|error| Error::Write(std::io::Error::other(error)))?;
        // A line break inside of a string is written as an escape, so every line break is one of the layout.
        let indent = "  ".repeat(level);
        for (index, line) in text.split('\n').enumerate() {
            if index > 0 {
                self.raw("\n")?;
                self.raw(&indent)?;
            }
            self.raw(line)?;
        }
        Ok(())
    }
}
