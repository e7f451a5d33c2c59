//! `sluice logs`: what controllers have written, line by line.

mod entry;
mod pods;

use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context as _, bail};
use futures::{AsyncBufReadExt as _, StreamExt as _, TryStreamExt as _};
use k8s_openapi::api::core::v1::Pod;
use kube::api::{Api, LogParams};

use crate::commands::objects::{Place, told};
use crate::commands::{pflag, printed};
use entry::{Entry, Wanted};

/// Show what controllers have written of objects
#[derive(clap::Args)]
pub(crate) struct Args {
    /// Only lines of this level
    #[arg(long, value_parser = ["debug", "info", "error"])]
    level: Option<String>,

    /// Only lines about objects of this kind
    #[arg(long)]
    kind: Option<String>,

    /// Only lines about objects of this name
    #[arg(long)]
    name: Option<String>,

    /// Go on with new lines until it is stopped
    #[arg(long, short, value_name = "BOOL", num_args = 0..=1, require_equals = true, default_missing_value = "true", default_value = "false", hide_default_value = true, action = clap::ArgAction::Set, value_parser = pflag::boolean)]
    follow: bool,

    /// Only so many lines of each controller, the last ones
    #[arg(long, value_name = "LINES", default_value_t = -1, hide_default_value = true, allow_negative_numbers = true)]
    tail: i64,

    /// The namespace of the controllers
    #[arg(long, value_name = "NAMESPACE", default_value = "flux-system")]
    flux_namespace: String,

    /// About objects in all namespaces
    #[arg(long, short = 'A', value_name = "BOOL", num_args = 0..=1, require_equals = true, default_missing_value = "true", default_value = "false", hide_default_value = true, action = clap::ArgAction::Set, value_parser = pflag::boolean)]
    all_namespaces: bool,

    /// Only lines that are not older, such as 5m
    #[arg(long, value_name = "DURATION", value_parser = pflag::duration)]
    since: Option<Duration>,

    /// Only lines after this time
    #[arg(long, value_name = "TIME")]
    since_time: Option<String>,

    #[command(flatten)]
    place: Place,
}

/// Longer lines are not of a controller.
const LONGEST: usize = 1 << 20;

pub(crate) async fn run(mut args: Args) -> anyhow::Result<ExitCode> {
    let parameters = parameters(&args)?;
    let client = args.place.reach().await?;
    let pods = args
        .place
        .limited(pods::of_controllers(&client, &args.flux_namespace))
        .await?;
    let wanted = Wanted {
        level: args.level,
        kind: args.kind,
        name: args.name,
        namespace: (!args.all_namespaces).then(|| args.place.namespace.clone()),
    };
    let api: Api<Pod> = Api::namespaced(client, &args.flux_namespace);
    let reads = pods.iter().map(|pod| print(&api, pod, &parameters, &wanted));
    let failures: Vec<anyhow::Error> = match args.follow {
        // It goes on for as long as somebody looks.
        true => futures::future::join_all(reads)
            .await
            .into_iter()
            .filter_map(Result::err)
            .collect(),
        false => {
            let mut failures = Vec::new();
            for read in reads {
                failures.extend(args.place.limited(read).await.err());
            }
            failures
        }
    };
    for failure in &failures {
        eprintln!("failed getting logs: {failure:#}");
    }
    if !failures.is_empty() {
        bail!("failed to collect logs from all Flux pods");
    }
    Ok(ExitCode::SUCCESS)
}

fn parameters(args: &Args) -> anyhow::Result<LogParams> {
    if args.since.is_some() && args.since_time.is_some() {
        bail!("at most one of --since and --since-time may be specified");
    }
    let time = args.since_time.as_deref().map(|text| {
        let time: Result<jiff::Timestamp, _> = text.parse();
        time.with_context(|| format!("{text} is not a valid (RFC3339) time"))
    });
    let seconds = args.since.map(|since| since.as_secs_f64().round());
    #[expect(
        clippy::cast_possible_truncation,
        reason = "it is no longer than Go's longest duration"
    )]
    let seconds = seconds.map(|seconds| seconds as i64);
    Ok(LogParams {
        follow: args.follow,
        tail_lines: (args.tail >= 0).then_some(args.tail),
        since_seconds: seconds,
        since_time: time.transpose()?,
        ..LogParams::default()
    })
}

async fn print(
    api: &Api<Pod>,
    pod: &pods::Chosen,
    parameters: &LogParams,
    wanted: &Wanted,
) -> anyhow::Result<()> {
    let parameters = LogParams {
        container: pod.container.clone(),
        ..parameters.clone()
    };
    let stream = api.log_stream(&pod.name, &parameters).await.map_err(told);
    let stream = stream.with_context(|| format!("the pod {} gives none", pod.name))?;
    let mut lines = stream.lines().boxed_local();
    while let Some(line) = lines.try_next().await? {
        if printed::is_unread() {
            break;
        }
        // What is written before the log is set up is no JSON.
        if !line.starts_with('{') || line.len() > LONGEST {
            continue;
        }
        match serde_json::from_str::<serde_json::Value>(&line) {
            Ok(value) => {
                let entry = Entry(&value);
                if wanted.wants(&entry) {
                    println!("{entry}");
                }
            }
            Err(error) => eprintln!("✗ parse error: {error}"),
        }
    }
    Ok(())
}
