//! `sluice get`

use std::process::ExitCode;

use anyhow::{Context as _, bail, ensure};
use kube::api::ListParams;
use kube::runtime::watcher;
use serde_json::{Value, json};

use super::api::{Objects, Place};
use super::choice::{Choice, Verb};
use super::kinds::Kind;
use super::selector::StatusSelector;
use super::{rows, watch};
use crate::commands::pflag;
use crate::commands::table::table;

#[derive(clap::Args)]
pub(crate) struct Args {
    /// Only the object of this name
    name: Option<String>,

    /// In all namespaces
    #[arg(long, short = 'A', value_name = "BOOL", num_args = 0..=1, require_equals = true, default_missing_value = "true", default_value = "false", hide_default_value = true, action = clap::ArgAction::Set, value_parser = pflag::boolean)]
    all_namespaces: bool,

    /// Only objects with these labels
    #[arg(long, short = 'l', value_name = "SELECTOR")]
    label_selector: Option<String>,

    /// Only objects with a condition, such as ready=false or ready!=true
    #[arg(long, value_name = "SELECTOR")]
    status_selector: Option<String>,

    /// Print no names of columns
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true, default_missing_value = "true", default_value = "false", hide_default_value = true, action = clap::ArgAction::Set, value_parser = pflag::boolean)]
    no_header: bool,

    /// How to print
    #[arg(long, short, value_enum)]
    output: Option<Output>,

    /// Go on, and print objects again when they change
    #[arg(long, short, value_name = "BOOL", num_args = 0..=1, require_equals = true, default_missing_value = "true", default_value = "false", hide_default_value = true, action = clap::ArgAction::Set, value_parser = pflag::boolean)]
    watch: bool,

    #[command(flatten)]
    place: Place,
}

#[derive(Clone, Copy, clap::ValueEnum)]
enum Output {
    /// A table that also says what objects are made of
    Wide,
    /// The objects, as JSON
    Json,
    /// The objects, as YAML
    Yaml,
}

impl Verb for Args {
    const DOES: &'static str = "Show";
    const SEVERAL: bool = true;
    const ALL: bool = true;
}

pub(crate) async fn run(choice: Choice<Args>) -> anyhow::Result<ExitCode> {
    let Choice { kinds, all, mut args } = choice;
    let client = args.place.reach().await?;
    let mut wanted = ListParams::default();
    if let Some(name) = &args.name {
        wanted = wanted.fields(&format!("metadata.name={name}"));
    }
    if let Some(labels) = &args.label_selector {
        wanted = wanted.labels(labels);
    }
    let selector = args
        .status_selector
        .as_deref()
        .map(StatusSelector::parse)
        .transpose()?;
    let namespace = (!args.all_namespaces).then_some(args.place.namespace.as_str());
    if args.watch {
        ensure!(
            !matches!(args.output, Some(Output::Json | Output::Yaml)),
            "--watch prints rows of a table: leave out --output"
        );
        let (with_namespace, is_wide) = (args.all_namespaces, args.output.is_some());
        let head = match (args.no_header, &kinds[..]) {
            // Several kinds have no columns in common.
            (false, [kind]) => rows::head(kind, with_namespace, is_wide),
            _ => Vec::new(),
        };
        let config = watcher::Config {
            label_selector: wanted.label_selector.clone(),
            field_selector: wanted.field_selector.clone(),
            ..watcher::Config::default()
        };
        let objects = kinds.into_iter();
        let objects = objects.map(|kind| Objects::new(client.clone(), kind, namespace));
        let row = |kind: &Kind, object: &Value| {
            let is_shown = selector.as_ref().is_none_or(|selector| selector.selects(object));
            is_shown.then(|| rows::row(kind, object, with_namespace, all, is_wide))
        };
        watch::run(objects.collect(), &config, head, row).await;
        return Ok(ExitCode::SUCCESS);
    }
    let listed = args.place.limited(async {
        let mut listed = Vec::new();
        for kind in kinds {
            let objects = Objects::new(client.clone(), kind, namespace)
                .list(&wanted)
                .await?;
            match objects {
                None if !all => bail!(
                    "the cluster does not know {}: `sluice install` brings its definition",
                    kind.names.plural
                ),
                Some(objects) if objects.is_empty() && !all => bail!(nothing(kind.names.kind, &args)),
                objects => listed.push((kind, objects.unwrap_or_default())),
            }
        }
        Ok(listed)
    });
    let mut listed = listed.await?;
    if let Some(selector) = selector {
        for (_, objects) in &mut listed {
            objects.retain(|object| selector.selects(object));
        }
    }
    match args.output {
        None | Some(Output::Wide) => {
            let is_wide = args.output.is_some();
            for (kind, objects) in listed.iter().filter(|(_, objects)| !all || !objects.is_empty()) {
                let head = match args.no_header {
                    true => Vec::new(),
                    false => rows::head(kind, args.all_namespaces, is_wide),
                };
                let rows: Vec<_> = objects
                    .iter()
                    .map(|object| rows::row(kind, object, args.all_namespaces, all, is_wide))
                    .collect();
                print!("{}", table(&head, &rows));
                if all {
                    println!();
                }
            }
        }
        Some(form) => print!("{}", whole(form, args.name.is_some(), listed)?),
    }
    Ok(ExitCode::SUCCESS)
}

fn nothing(kind: &str, args: &Args) -> String {
    let namespace = match args.all_namespaces {
        true => "any".to_owned(),
        false => format!("{:?}", args.place.namespace),
    };
    match &args.name {
        Some(name) => format!("{kind} object '{name}' not found in {namespace} namespace"),
        None => format!("no {kind} objects found in {namespace} namespace"),
    }
}

/// The objects themselves: one alone, several as a list.
fn whole(form: Output, one: bool, listed: Vec<(&super::kinds::Kind, Vec<Value>)>) -> anyhow::Result<String> {
    let mut objects: Vec<Value> = listed.into_iter().flat_map(|(_, objects)| objects).collect();
    let value = match one && objects.len() == 1 {
        true => objects.remove(0),
        false => json!({"apiVersion": "v1", "kind": "List", "metadata": {}, "items": objects}),
    };
    Ok(match form {
        Output::Yaml => yaml_of(&value)?,
        Output::Wide | Output::Json => serde_json::to_string_pretty(&value)? + "\n",
    })
}

/// A value as YAML.
pub(crate) fn yaml_of(value: &Value) -> anyhow::Result<String> {
    let value = model::json::parse(&serde_json::to_vec(value)?).context("the cluster has sent no object")?;
    let mut text = String::new();
    yaml::go::write(&kustomize::from_value(&value), &mut text).map_err(anyhow::Error::msg)?;
    Ok(text)
}
