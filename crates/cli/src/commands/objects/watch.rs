//! `sluice get --watch`: objects as they change.

use std::collections::HashSet;
use std::time::Duration;

use futures::StreamExt as _;
use futures::stream::select_all;
use kube::runtime::watcher;
use serde_json::Value;

use super::api::Objects;
use super::kinds::Kind;
use crate::commands::printed;
use crate::commands::table::table;

/// Before a watch that was refused is tried again.
const PAUSE: Duration = Duration::from_secs(1);

/// Prints a row for each object and for each change, until the program is stopped or nobody reads on.
pub(super) async fn run(
    objects: Vec<Objects>,
    wanted: &watcher::Config,
    mut head: Vec<&'static str>,
    row: impl Fn(&Kind, &Value) -> Option<Vec<String>>,
) {
    let streams = objects.into_iter().map(|objects| {
        let kind = objects.kind;
        let values = objects.watch(wanted);
        values.map(move |value| (kind, value)).boxed()
    });
    let mut values = select_all(streams);
    // After an interruption all are listed again.
    let mut seen = HashSet::new();
    while let Some((kind, value)) = values.next().await {
        let value = match value {
            Ok(value) => value,
            Err(error) => {
                eprintln!("✗ error watching {}: {error:#}", kind.names.plural);
                tokio::time::sleep(PAUSE).await;
                continue;
            }
        };
        let metadata = &value["metadata"];
        if !seen.insert((
            metadata["uid"].to_string(),
            metadata["resourceVersion"].to_string(),
        )) {
            continue;
        }
        if let Some(row) = row(kind, &value) {
            print!("{}", table(&std::mem::take(&mut head), &[row]));
        }
        if printed::is_unread() {
            return;
        }
    }
}
