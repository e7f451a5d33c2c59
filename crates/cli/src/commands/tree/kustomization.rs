//! `sluice tree kustomization`

use std::process::ExitCode;

use anyhow::Context as _;
use futures::FutureExt as _;
use futures::future::LocalBoxFuture;
use kube::Client;
use model::ObjectKey;
use model::inventory::Id;
use serde_json::Value;

use super::Common;
use super::release;
use super::shape::Node;
use crate::commands::objects::{Objects, named};
use crate::commands::pflag;

/// Kinds of Flux are in groups that end so.
const FLUX: &str = "toolkit.fluxcd.io";

#[derive(clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    common: Common,

    /// Only objects of Flux
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true, default_missing_value = "true", default_value = "false", hide_default_value = true, action = clap::ArgAction::Set, value_parser = pflag::boolean)]
    compact: bool,
}

pub(super) async fn run(args: Args) -> anyhow::Result<ExitCode> {
    let Common {
        name,
        output,
        mut place,
    } = args.common;
    let client = place.reach().await?;
    let looking = Looking {
        client,
        is_compact: args.compact,
    };
    let key = ObjectKey {
        group: api::kustomize::GROUP.into(),
        kind: "Kustomization".into(),
        namespace: place.namespace.as_str().into(),
        name: name.as_str().into(),
    };
    let tree = place.limited(looking.kustomization(key, Vec::new())).await?;
    tree.print(output)?;
    Ok(ExitCode::SUCCESS)
}

struct Looking {
    client: Client,
    is_compact: bool,
}

impl Looking {
    fn shows(&self, key: &ObjectKey) -> bool {
        !self.is_compact || key.group.contains(FLUX)
    }

    /// A Kustomization and what it has applied. Those above it are not followed once more.
    fn kustomization(
        &self,
        key: ObjectKey,
        above: Vec<ObjectKey>,
    ) -> LocalBoxFuture<'_, anyhow::Result<Node>> {
        async move {
            let kind = named("Kustomization").context("there is no such kind")?;
            let objects = Objects::new(self.client.clone(), kind, Some(&key.namespace));
            let object = objects.get(&key.name).await?;
            let is_elsewhere = object["spec"]["kubeConfig"].is_object();
            let mut node = Node::new(key.clone());
            let mut above = above;
            above.push(key.clone());
            for entry in object["status"]["inventory"]["entries"]
                .as_array()
                .into_iter()
                .flatten()
            {
                let made = entry_of(entry)?;
                if made == key || !self.shows(&made) {
                    continue;
                }
                let is_kind = |group: &str, kind: &str| made.group == group && made.kind == kind;
                let inner = if is_kind(api::kustomize::GROUP, "Kustomization") {
                    match is_elsewhere || above.contains(&made) {
                        true => Node::new(made),
                        false => self.kustomization(made, above.clone()).await?,
                    }
                } else if is_kind(api::helm::GROUP, "HelmRelease") {
                    let objects = release::objects(&self.client, &made).await?;
                    let shown = objects.into_iter().filter(|key| self.shows(key));
                    Node {
                        made: shown.map(Node::new).collect(),
                        key: made,
                    }
                } else {
                    Node::new(made)
                };
                node.made.push(inner);
            }
            Ok(node)
        }
        .boxed_local()
    }
}

fn entry_of(entry: &Value) -> anyhow::Result<ObjectKey> {
    let id = entry["id"].as_str().unwrap_or_default();
    let Id(key) = id.parse()?;
    Ok(key)
}
