//! `index.yaml`.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::chart::Chart;

/// When everything was made.
const CREATED: &str = "2026-01-01T00:00:00Z";

/// What stands before the entries.
pub(super) const HEAD: &str = "apiVersion: v1\nentries:\n";

/// What stands after the entries.
pub(super) fn tail() -> String {
    format!("generated: {CREATED}\n")
}

/// The entries of these charts with the addresses and digests of their archives, in the order of their names.
pub(super) fn entries<'a>(charts: impl Iterator<Item = (&'a Chart, String, Option<&'a str>)>) -> String {
    let mut by_name: BTreeMap<&str, String> = BTreeMap::new();
    for (chart, url, digest) in charts {
        by_name
            .entry(chart.name())
            .or_default()
            .push_str(&entry(chart, &url, digest));
    }
    by_name
        .into_iter()
        .map(|(name, entries)| format!("  {}:\n{entries}", json!(name)))
        .collect()
}

/// One version of a chart.
pub(super) fn entry(chart: &Chart, url: &str, digest: Option<&str>) -> String {
    let mut fields = chart.fields();
    fields.push(("created", json!(CREATED)));
    fields.extend(digest.map(|digest| ("digest", json!(digest))));
    fields.push(("urls", json!([url])));
    let line = |(index, (key, value)): (usize, (&str, Value))| {
        let mark = if index == 0 { "  - " } else { "    " };
        format!("{mark}{key}: {value}\n")
    };
    fields.into_iter().enumerate().map(line).collect()
}
