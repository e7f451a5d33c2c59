//! An object of a kind of ours, printed, or made in the cluster and waited for.

use anyhow::Context as _;
use kube::Client;
use serde_json::{Value, json};

use super::Common;
use crate::commands::objects::{Kind, Objects, condition, named, wait, yaml_of};

/// Prints the object, or puts it into the cluster and waits until its controller is done with it.
pub(super) async fn finish(common: &mut Common, kind: &str, spec: Value) -> anyhow::Result<()> {
    let kind = named(kind).context("there is no such kind")?;
    if common.export {
        let object = (kind.tidied)(object(common, kind, spec)?)?;
        print!("---\n{}", yaml_of(&object)?);
        return Ok(());
    }
    let client = common.place.reach().await?;
    in_cluster(common, client, kind, spec).await
}

/// The same without the question whether to print it.
pub(super) async fn in_cluster(
    common: &Common,
    client: Client,
    kind: &'static Kind,
    spec: Value,
) -> anyhow::Result<()> {
    let is_of_registry = spec["type"] == "oci";
    let object = object(common, kind, spec)?;
    let place = &common.place;
    let objects = Objects::new(client, kind, Some(&place.namespace));
    let name = kind.names.kind;
    eprintln!("► applying {name}");
    let work = async {
        match objects.put(&common.name, object).await? {
            true => eprintln!("✔ {name} created"),
            false => eprintln!("✔ {name} updated"),
        }
        // Nobody works on repositories in registries.
        let is_registry = name == "HelmRepository" && is_of_registry;
        if is_registry || !kind.is_worked_on {
            return Ok(());
        }
        eprintln!("◎ waiting for {name} reconciliation");
        // What its controller said of it before the change is of no use.
        let is_looked_at = |object: &Value| {
            let ready = condition(object, "Ready");
            ready.is_some_and(|ready| ready["observedGeneration"] == object["metadata"]["generation"])
        };
        let object = wait::until_ready(&objects, &common.name, is_looked_at).await?;
        eprintln!("✔ {name} {} is ready", common.name);
        eprintln!("✔ {}", wait::told(&object));
        Ok(())
    };
    place.limited(work).await
}

fn object(common: &Common, kind: &Kind, spec: Value) -> anyhow::Result<Value> {
    let mut object = json!({
        "apiVersion": kind.names.api_version(),
        "kind": kind.names.kind,
        "metadata": {"name": common.name, "namespace": common.place.namespace},
        "spec": spec,
    });
    let labels = common.labels()?;
    if !labels.is_empty() {
        object["metadata"]["labels"] = json!(labels);
    }
    Ok(object)
}
