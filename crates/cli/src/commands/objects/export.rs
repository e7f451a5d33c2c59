//! `sluice export`

use std::process::ExitCode;

use anyhow::{Context as _, bail};
use k8s_openapi::api::core::v1::Secret;
use kube::api::{Api, ListParams};
use serde_json::{Value, json};

use super::api::{Objects, Place};
use super::choice::{Choice, Verb};
use super::get::yaml_of;
use crate::commands::pflag;

#[derive(clap::Args)]
pub(crate) struct Args {
    /// The name of the object
    name: Option<String>,

    /// All objects of the namespace
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true, default_missing_value = "true", default_value = "false", hide_default_value = true, action = clap::ArgAction::Set, value_parser = pflag::boolean)]
    all: bool,

    /// With each object the Secret that its spec.secretRef names, unmasked
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true, default_missing_value = "true", default_value = "false", hide_default_value = true, action = clap::ArgAction::Set, value_parser = pflag::boolean)]
    with_credentials: bool,

    #[command(flatten)]
    place: Place,
}

impl Verb for Args {
    const DOES: &'static str = "Print";
}

pub(crate) async fn run(choice: Choice<Args>) -> anyhow::Result<ExitCode> {
    let Choice { kinds, mut args, .. } = choice;
    let client = args.place.reach().await?;
    for kind in kinds {
        let objects = Objects::new(client.clone(), kind, Some(&args.place.namespace));
        let found = args.place.limited(async {
            match &args.name {
                _ if args.all => Ok(objects.list(&ListParams::default()).await?.unwrap_or_default()),
                Some(name) => Ok(vec![objects.get(name).await?]),
                None => bail!("name is required, or --all"),
            }
        });
        let found = found.await?;
        if found.is_empty() {
            bail!("no objects found in {} namespace", args.place.namespace);
        }
        for object in found {
            let shown = (kind.tidied)(written(&object));
            let shown = shown.with_context(|| format!("the {} cannot be read", kind.names.kind))?;
            print!("---\n{}", yaml_of(&shown)?);
            if let Some(name) = object["spec"]["secretRef"]["name"]
                .as_str()
                .filter(|_| args.with_credentials)
            {
                let secrets = Api::namespaced(client.clone(), &args.place.namespace);
                let secret = args.place.limited(credentials(&secrets, name)).await?;
                print!("---\n{}", yaml_of(&secret)?);
            }
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// A Secret as somebody would have written it.
async fn credentials(secrets: &Api<Secret>, name: &str) -> anyhow::Result<Value> {
    let secret = secrets.get(name).await;
    let secret = secret.with_context(|| format!("the Secret '{name}' cannot be read"))?;
    let secret = serde_json::to_value(secret).context("the Secret is no JSON")?;
    let mut shown = json!({
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": {"name": name, "namespace": secret["metadata"]["namespace"]},
    });
    for field in ["data", "type"] {
        if !secret[field].is_null() {
            shown[field] = secret[field].clone();
        }
    }
    Ok(shown)
}

/// What somebody would have written to make an object.
fn written(object: &Value) -> Value {
    let metadata = &object["metadata"];
    let mut kept = serde_json::Map::new();
    for field in ["name", "namespace", "labels", "annotations"] {
        if !metadata[field].is_null() {
            kept.insert(field.to_owned(), metadata[field].clone());
        }
    }
    json!({
        "apiVersion": object["apiVersion"],
        "kind": object["kind"],
        "metadata": kept,
        "spec": object["spec"],
    })
}
