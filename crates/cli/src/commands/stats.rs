//! `sluice stats`

use std::process::ExitCode;

use kube::api::ListParams;
use serde_json::Value;

use crate::commands::objects::{Objects, Place, named};
use crate::commands::pflag;
use crate::commands::table::table;

/// Count objects, by kind and by how they are
#[derive(clap::Args)]
pub(crate) struct Args {
    /// In all namespaces
    #[arg(long, short = 'A', value_name = "BOOL", num_args = 0..=1, require_equals = true, default_missing_value = "true", default_value = "false", hide_default_value = true, action = clap::ArgAction::Set, value_parser = pflag::boolean)]
    all_namespaces: bool,

    #[command(flatten)]
    place: Place,
}

const HEAD: [&str; 5] = ["Reconcilers", "Running", "Failing", "Suspended", "Storage"];

/// In the order in which they are shown.
const KINDS: [&str; 13] = [
    "GitRepository",
    "OCIRepository",
    "HelmRepository",
    "HelmChart",
    "Bucket",
    "Kustomization",
    "HelmRelease",
    "Alert",
    "Provider",
    "Receiver",
    "ImageUpdateAutomation",
    "ImagePolicy",
    "ImageRepository",
];

pub(crate) async fn run(mut args: Args) -> anyhow::Result<ExitCode> {
    let client = args.place.reach().await?;
    let namespace = (!args.all_namespaces).then_some(args.place.namespace.as_str());
    let kinds = KINDS.into_iter().filter_map(named);
    let wanted = ListParams::default();
    let lists = kinds.map(|kind| {
        let objects = Objects::new(client.clone(), kind, namespace);
        let wanted = &wanted;
        async move {
            // A kind that the cluster does not know has no objects.
            let listed = objects.list(wanted).await?.unwrap_or_default();
            anyhow::Ok(row(kind.names.kind, &listed))
        }
    });
    let rows = args.place.limited(futures::future::try_join_all(lists)).await?;
    print!("{}", table(&HEAD, &rows));
    Ok(ExitCode::SUCCESS)
}

fn row(kind: &str, objects: &[Value]) -> Vec<String> {
    let is_suspended = |object: &&Value| object["spec"]["suspend"] == Value::Bool(true);
    let suspended = objects.iter().filter(is_suspended).count();
    let conditions = objects
        .iter()
        .filter_map(|object| object["status"]["conditions"].as_array());
    let is_failure = |condition: &&Value| condition["type"] == "Ready" && condition["status"] == "False";
    let failing = conditions.flatten().filter(is_failure).count();
    let sizes = objects
        .iter()
        .filter_map(|object| object["status"]["artifact"]["size"].as_u64());
    vec![
        kind.to_owned(),
        (objects.len() - suspended).to_string(),
        failing.to_string(),
        suspended.to_string(),
        size(sizes.sum()),
    ]
}

/// A number of bytes in a unit that leaves few digits.
#[expect(clippy::cast_precision_loss, reason = "one digit after the point is shown")]
fn size(bytes: u64) -> String {
    const UNITS: [&str; 6] = ["KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];
    match bytes {
        0 => "-".to_owned(),
        1..1024 => format!("{bytes} B"),
        _ => {
            let power = bytes.ilog(1024);
            let value = bytes as f64 / 1024_f64.powi(power.cast_signed());
            format!("{value:.1} {}", UNITS[power as usize - 1])
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_have_few_digits() {
        for (bytes, expected) in [
            (0, "-"),
            (1, "1 B"),
            (1023, "1023 B"),
            (1024, "1.0 KiB"),
            (1536, "1.5 KiB"),
            (5 << 20, "5.0 MiB"),
            (u64::MAX, "16.0 EiB"),
        ] {
            assert_eq!(size(bytes), expected);
        }
    }
}
