//! `sluice push artifact`

use std::io;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context as _, bail};
use source::oci::{Annotations, CREATED, REVISION, Reference, SOURCE};

use super::content::{IgnoreArgs, Links, pack};
use super::registry::RegistryArgs;
use super::{action, success};
use crate::commands::pflag;

/// Push local files as an artifact to an OCI registry
///
/// Packs a directory or a single file and pushes it, with the media types and annotations of `flux push artifact`.
///
///   sluice push artifact oci://ghcr.io/org/app:1.0.0 --path ./manifests --source "$(git config --get remote.origin.url)" --revision "$(git branch --show-current)@sha1:$(git rev-parse HEAD)"
#[derive(clap::Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct Args {
    /// Where to push to, such as oci://ghcr.io/org/app:1.0.0
    #[arg(value_name = "OCI_URL")]
    url: String,

    /// The directory or file to push; `-` reads standard input
    #[arg(long, short = 'f', value_name = "PATH")]
    path: PathBuf,

    /// Where the files come from, such as the URL of the Git repository
    #[arg(long)]
    source: String,

    /// The revision of the files, in the format <branch|tag>@sha1:<commit>
    #[arg(long)]
    revision: String,

    /// More annotations, each in the format <key>=<value>
    #[arg(long, short = 'a', value_name = "KEY=VALUE")]
    annotations: Vec<String>,

    /// Print where the artifact is in this format
    #[arg(long, short = 'o', value_parser = ["json", "yaml"])]
    output: Option<String>,

    /// Tell what happens underneath, such as other tries
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true, default_missing_value = "true", default_value = "false", hide_default_value = true, action = clap::ArgAction::Set, value_parser = pflag::boolean)]
    debug: bool,

    /// Date the artifact 1970, so that the same files give the same digest
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true, default_missing_value = "true", default_value = "false", hide_default_value = true, action = clap::ArgAction::Set, value_parser = pflag::boolean)]
    reproducible: bool,

    /// Take what symbolic links point to in their place
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true, default_missing_value = "true", default_value = "false", hide_default_value = true, action = clap::ArgAction::Set, value_parser = pflag::boolean)]
    resolve_symlinks: bool,

    #[command(flatten)]
    ignore: IgnoreArgs,

    #[command(flatten)]
    registry: RegistryArgs,
}

pub(super) async fn run(args: Args) -> anyhow::Result<ExitCode> {
    let reference = Reference::parse(&args.url)?;
    let Some(tag) = reference.tag().map(str::to_owned) else {
        bail!("'{}' names a digest: an artifact is pushed to a tag", args.url);
    };
    if args.debug {
        let log = tracing_subscriber::fmt().with_max_level(tracing_subscriber::filter::LevelFilter::DEBUG);
        log.with_writer(io::stderr).init();
    }
    let annotations = annotations(&args)?;
    let links = if args.resolve_symlinks {
        Links::Resolve
    } else {
        Links::Skip
    };
    let archive = pack(&args.path, &args.ignore, links)?;
    let client = args.registry.client(&reference.repository).await?;
    if args.output.is_none() {
        action(format!(
            "pushing artifact to {}",
            args.url.trim_start_matches("oci://")
        ));
    }
    let pushed = client.push_artifact(&reference, archive.into(), annotations);
    let pushed = async { Ok(pushed.await?) };
    let digest = args
        .registry
        .limited(pushed)
        .await
        .context("pushing artifact failed")?;
    let repository = &reference.repository;
    match args.output.as_deref() {
        Some("json") => {
            let [url, repository, tag, digest] = [
                format!("oci://{repository}@{digest}"),
                repository.to_string(),
                tag,
                digest.to_string(),
            ]
            .map(|text| serde_json::Value::from(text).to_string());
            println!(
                "{{\n  \"url\": {url},\n  \"repository\": {repository},\n  \"tag\": {tag},\n  \"digest\": {digest}\n}}"
            );
        }
        // A tag may look like a number, so that it is quoted where Go's YAML would quote it.
        Some(_) => {
            let quoted = if tag.parse::<f64>().is_ok() {
                format!("{tag:?}")
            } else {
                tag
            };
            println!(
                "digest: {digest}\nrepository: {repository}\ntag: {quoted}\nurl: oci://{repository}@{digest}"
            );
        }
        None => success(format!("artifact successfully pushed to {repository}@{digest}")),
    }
    Ok(ExitCode::SUCCESS)
}

/// What is said about the artifact. Given annotations count before those that come from other flags.
fn annotations(args: &Args) -> anyhow::Result<Annotations> {
    let created = if args.reproducible {
        "1970-01-01T00:00:00Z".to_owned()
    } else {
        jiff::Timestamp::now().strftime("%Y-%m-%dT%H:%M:%SZ").to_string()
    };
    let mut annotations = Annotations::from([
        (CREATED.to_owned(), created),
        (SOURCE.to_owned(), args.source.clone()),
        (REVISION.to_owned(), args.revision.clone()),
    ]);
    for given in &args.annotations {
        match given.split('=').collect::<Vec<_>>()[..] {
            [key, value] => annotations.insert(key.to_owned(), value.to_owned()),
            _ => bail!("invalid annotation {given}, must be in the format key=value"),
        };
    }
    let created = &annotations[CREATED];
    if created.parse::<jiff::Timestamp>().is_err() {
        bail!("invalid created timestamp {created:?}: it must look like 2026-01-31T12:00:00Z");
    }
    Ok(annotations)
}
