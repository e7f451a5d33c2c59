//! `sluice history helmrelease`

use std::collections::BTreeMap;
use std::process::ExitCode;

use anyhow::Context as _;
use serde_json::Value;

use super::records;
use crate::commands::objects::{Objects, Place, named};
use crate::commands::table::table;

/// Show what became of a release before
#[derive(clap::Subcommand)]
pub(crate) enum History {
    #[command(visible_alias = "hr")]
    Helmrelease(Box<Args>),
}

/// Show the versions of the release of a HelmRelease
///
/// What Helm has kept of each, and what the controller has done with it. Of a release in another cluster, only what the status
/// tells. `sluice rollback helmrelease NAME VERSION` goes back to one.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// The name of the HelmRelease
    name: String,

    #[command(flatten)]
    place: Place,
}

const HEAD: [&str; 7] = [
    "Version",
    "Updated",
    "Status",
    "Chart",
    "App version",
    "Action",
    "Description",
];

pub(crate) async fn run(History::Helmrelease(args): History) -> anyhow::Result<ExitCode> {
    let mut args = *args;
    let client = args.place.reach().await?;
    let kind = named("HelmRelease").context("there is no such kind")?;
    let objects = Objects::new(client.clone(), kind, Some(&args.place.namespace));
    let work = async {
        let object = objects.get(&args.name).await?;
        let mut versions = told_by_status(&object);
        let status = &object["status"];
        let storage = status["storageNamespace"].as_str().unwrap_or_default();
        let release = status["history"][0]["name"].as_str().unwrap_or_default();
        if object["spec"]["kubeConfig"].is_null() && !storage.is_empty() && !release.is_empty() {
            for record in records(&client, storage, release).await? {
                let row = versions.entry(record.version).or_default();
                let updated = record.info.last_deployed.map(|time| time.timestamp());
                row.updated = updated
                    .map(|time| time.strftime("%FT%TZ").to_string())
                    .unwrap_or_default();
                row.status = record.info.status.as_str().to_owned();
                row.chart = format!("{}@{}", record.chart_name(), record.chart_version());
                row.app_version = record
                    .metadata()
                    .map(|chart| chart.app_version.clone())
                    .unwrap_or_default();
                row.description = record.info.description.clone();
            }
        }
        Ok(versions)
    };
    let versions = args.place.limited(work).await?;
    let rows: Vec<Vec<String>> = versions
        .into_iter()
        .rev()
        .map(|(version, row)| row.shown(version))
        .collect();
    print!("{}", table(&HEAD, &rows));
    Ok(ExitCode::SUCCESS)
}

/// What is known of one version.
#[derive(Default)]
struct Row {
    updated: String,
    status: String,
    chart: String,
    app_version: String,
    action: String,
    description: String,
}

impl Row {
    fn shown(self, version: i64) -> Vec<String> {
        let first = self.description.lines().next().unwrap_or_default().to_owned();
        vec![
            version.to_string(),
            self.updated,
            self.status,
            self.chart,
            self.app_version,
            self.action,
            first,
        ]
    }
}

fn told_by_status(object: &Value) -> BTreeMap<i64, Row> {
    let history = object["status"]["history"].as_array();
    let snapshots = history.into_iter().flatten().map(|snapshot| {
        let text = |field: &str| snapshot[field].as_str().unwrap_or_default().to_owned();
        let row = Row {
            updated: text("lastDeployed"),
            status: text("status"),
            chart: format!("{}@{}", text("chartName"), text("chartVersion")),
            app_version: text("appVersion"),
            action: text("action"),
            description: String::new(),
        };
        (snapshot["version"].as_i64().unwrap_or_default(), row)
    });
    snapshots.collect()
}
