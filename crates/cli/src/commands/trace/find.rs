//! Which objects are meant.

use anyhow::{Context as _, bail};
use kube::Client;
use serde_json::Value;

use super::Args;
use crate::commands::objects::told;
use crate::commands::served::{Resource, Served};

pub(super) async fn objects(client: &Client, served: &Served, args: &Args) -> anyhow::Result<Vec<Value>> {
    let mut objects = Vec::new();
    for (resource, name) in meant(served, args)? {
        let api = resource.objects(client.clone(), &args.place.namespace);
        let found = api.get(name).await.map_err(told);
        let mut found = found.with_context(|| format!("failed to find {} {name}", resource.resource.kind))?;
        found.metadata.managed_fields = None;
        objects.push(serde_json::to_value(found)?);
    }
    Ok(objects)
}

fn meant<'a>(served: &'a Served, args: &'a Args) -> anyhow::Result<Vec<(&'a Resource, &'a str)>> {
    match (&args.kind, &args.api_version) {
        (None, None) => by_words(served, &args.objects),
        (None, Some(_)) => bail!("object kind is required (--kind)"),
        (Some(_), None) => bail!("object apiVersion is required (--api-version)"),
        (Some(kind), Some(version)) => {
            let name = args.objects.first().context("object name is required")?;
            Ok(vec![(served.of(version, kind)?, name)])
        }
    }
}

fn by_words<'a>(served: &'a Served, words: &'a [String]) -> anyhow::Result<Vec<(&'a Resource, &'a str)>> {
    if words.iter().any(|word| word.contains('/')) {
        let pairs = words.iter().map(|word| match word.split_once('/') {
            Some((kind, name)) if !kind.is_empty() && !name.is_empty() && !name.contains('/') => {
                Ok((served.named(kind)?, name))
            }
            _ => bail!("'{word}' is no <resource>/<name>, as the other arguments are"),
        });
        return pairs.collect();
    }
    let [kind, names @ ..] = words else {
        bail!("either `<resource>/<name>` or `<resource> <name>` is required as an argument");
    };
    if names.is_empty() {
        bail!("either `<resource>/<name>` or `<resource> <name>` is required as an argument");
    }
    let resource = served.named(kind)?;
    Ok(names.iter().map(|name| (resource, name.as_str())).collect())
}
