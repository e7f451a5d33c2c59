//! Who asked the API server for what: its audit log, counted.

use std::collections::BTreeMap;
use std::fs;
use std::io::{BufRead, BufReader};
use std::path::Path;

use anyhow::Context;
use serde::Deserialize;

use super::clock::Window;

/// How many requests of each sort there were.
pub(crate) type Counts = BTreeMap<String, u64>;

/// What is counted as a write.
pub(crate) const WRITES: [&str; 6] = ["apply", "status", "event", "create", "patch", "delete"];

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Line<'a> {
    stage: &'a str,
    verb: &'a str,
    #[serde(rename = "requestURI")]
    uri: String,
    #[serde(borrow)]
    user: User<'a>,
    #[serde(default, borrow)]
    object_ref: Option<Reference<'a>>,
    request_received_timestamp: jiff::Timestamp,
}

#[derive(Deserialize)]
struct User<'a> {
    #[serde(borrow)]
    username: std::borrow::Cow<'a, str>,
}

#[derive(Default, Deserialize)]
struct Reference<'a> {
    #[serde(default)]
    resource: &'a str,
    #[serde(default)]
    subresource: &'a str,
    #[serde(default, rename = "apiGroup")]
    group: &'a str,
}

/// The requests of a user in each of these stretches of time.
pub(crate) fn count(folder: &Path, user: &str, windows: &[Window]) -> anyhow::Result<Vec<Counts>> {
    let mut counts = vec![Counts::new(); windows.len()];
    for path in logs(folder)? {
        let file = fs::File::open(&path).with_context(|| format!("{} cannot be read", path.display()))?;
        for line in BufReader::new(file).lines() {
            let text = line.with_context(|| format!("{} cannot be read", path.display()))?;
            // The last line may be half written.
            let Ok(line) = serde_json::from_str::<Line<'_>>(&text) else {
                continue;
            };
            if line.user.username != user || !line.is_counted() {
                continue;
            }
            let at = line.request_received_timestamp.as_nanosecond() as f64 / 1e9;
            let window = windows
                .iter()
                .position(|window| window.from <= at && at < window.to);
            if let Some(window) = window {
                *counts[window].entry(line.sort().to_owned()).or_default() += 1;
            }
        }
    }
    Ok(counts)
}

/// The log, and what was put aside of it because it had grown long.
fn logs(folder: &Path) -> anyhow::Result<Vec<std::path::PathBuf>> {
    let entries = fs::read_dir(folder).with_context(|| format!("{} cannot be listed", folder.display()))?;
    let is_log = |name: &str| name.starts_with("audit") && name.ends_with(".log");
    let paths = entries.filter_map(|entry| Some(entry.ok()?.path()));
    Ok(paths
        .filter(|path| {
            path.file_name()
                .is_some_and(|name| is_log(&name.to_string_lossy()))
        })
        .collect())
}

impl Line<'_> {
    /// A watch is counted when it begins, all else when it has ended.
    fn is_counted(&self) -> bool {
        match self.verb {
            "watch" => self.stage == "ResponseStarted",
            _ => self.stage == "ResponseComplete",
        }
    }

    fn sort(&self) -> &str {
        let object = self.object_ref.as_ref();
        let resource = object.map_or("", |object| object.resource);
        let is_ours = object.is_some_and(|object| object.group.ends_with(".toolkit.fluxcd.io"));
        let is_status = object.is_some_and(|object| object.subresource == "status");
        match self.verb {
            _ if resource == "leases" => "lease",
            "get" if resource.is_empty() => "discovery",
            "create" | "patch" | "update" if resource == "events" => "event",
            "patch" if self.uri.contains("dryRun=All") => "dry run",
            "patch" | "update" if is_status => "status",
            // Only finalizers and annotations are written of our own objects.
            "patch" if !is_ours => "apply",
            "update" => "patch",
            verb => verb,
        }
    }
}
