//! Events as they come.

use std::collections::HashSet;
use std::pin::pin;

use futures::StreamExt as _;
use kube::runtime::watcher::{self, watcher};
use kube::{Client, ResourceExt as _};

use super::{Selection, row};
use crate::commands::printed;
use crate::commands::table::table;

/// Prints events until the program is stopped.
pub(super) async fn run(
    client: &Client,
    selections: &[Selection],
    types: &[String],
    with_namespace: bool,
) -> anyhow::Result<()> {
    let streams = selections.iter().map(|selection| {
        let mut config = watcher::Config::default();
        config.field_selector.clone_from(&selection.fields);
        watcher(selection.api(client), config).boxed()
    });
    let mut events = pin!(futures::stream::select_all(streams));
    // After an interruption all are told again.
    let mut seen = HashSet::new();
    let mut head = row::head(with_namespace);
    while let Some(event) = events.next().await {
        let event = match event {
            Ok(watcher::Event::Apply(event) | watcher::Event::InitApply(event)) => event,
            Ok(_) => continue,
            // It is asked again, by and by.
            Err(error) => {
                eprintln!("✗ error watching events: {error}");
                tokio::time::sleep(std::time::Duration::from_secs(1)).await;
                continue;
            }
        };
        let version = event.resource_version();
        if !row::is_shown(&event, types) || !seen.insert((event.metadata.uid.clone(), version)) {
            continue;
        }
        let row = row::row(&event, with_namespace, jiff::Timestamp::now());
        print!("{}", table(&std::mem::take(&mut head), &[row]));
        if printed::is_unread() {
            break;
        }
    }
    Ok(())
}
