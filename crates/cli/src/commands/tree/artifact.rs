//! `sluice tree artifact generator`

use std::process::ExitCode;

use anyhow::Context as _;
use model::ObjectKey;

use super::Common;
use super::shape::Node;
use crate::commands::objects::{Objects, named};

#[derive(clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    common: Common,
}

pub(super) async fn run(args: Args) -> anyhow::Result<ExitCode> {
    let Common {
        name,
        output,
        mut place,
    } = args.common;
    let client = place.reach().await?;
    let kind = named("ArtifactGenerator").context("there is no such kind")?;
    let made = named("ExternalArtifact").context("there is no such kind")?;
    let objects = Objects::new(client, kind, Some(&place.namespace));
    let object = place.limited(objects.get(&name)).await?;
    let key = |names: &api::Names, namespace: &str, name: &str| ObjectKey {
        group: names.group.into(),
        kind: names.kind.into(),
        namespace: namespace.into(),
        name: name.into(),
    };
    let mut tree = Node::new(key(kind.names, &place.namespace, &name));
    for entry in object["status"]["inventory"].as_array().into_iter().flatten() {
        let text = |field: &str| entry[field].as_str().unwrap_or_default();
        tree.made
            .push(Node::new(key(made.names, text("namespace"), text("name"))));
    }
    tree.print(output)?;
    Ok(ExitCode::SUCCESS)
}
