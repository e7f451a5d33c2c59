//! Whose events are meant: those of an object, and of what it is made of.

use anyhow::{Context as _, bail};
use kube::Client;
use serde_json::Value;

use super::{Args, Selection};
use crate::commands::objects::{Kind, Objects, named};

/// Where to look for events. The first is what was asked for, the others are sources of it.
pub(super) async fn selections(
    client: &Client,
    args: &Args,
    namespace: Option<String>,
) -> anyhow::Result<Vec<Selection>> {
    let Some(about) = &args.about else {
        return Ok(vec![Selection {
            namespace,
            fields: None,
        }]);
    };
    let (kind, name) = match about.split('/').collect::<Vec<_>>()[..] {
        [kind, name] => (kind, name),
        _ => (about.as_str(), ""),
    };
    if kind.is_empty() {
        bail!("--for selector must be of format <kind>[/<name>]");
    }
    let Some(kind) = named(kind).filter(|kind| tells(kind)) else {
        bail!("'{kind}' is not a recognized Flux kind");
    };
    let mut all = vec![Selection {
        namespace,
        fields: Some(fields(kind.names.kind, name)),
    }];
    if !name.is_empty() {
        let own = &args.place.namespace;
        for (kind, name, namespace) in sources(client, kind, name, own).await? {
            all.push(Selection {
                namespace: Some(namespace),
                fields: Some(fields(&kind, &name)),
            });
        }
    }
    Ok(all)
}

/// Whether anybody tells of a kind.
pub(super) fn tells(kind: &Kind) -> bool {
    kind.names.kind != "ExternalArtifact"
}

fn fields(kind: &str, name: &str) -> String {
    match name {
        "" => format!("involvedObject.kind={kind}"),
        name => format!("involvedObject.kind={kind},involvedObject.name={name}"),
    }
}

/// Where an object names what it is made of.
struct Reference {
    path: &'static [&'static str],
    /// The kind, where the object does not say it.
    kind: Option<&'static str>,
    /// Whether it may be in another namespace.
    crosses: bool,
}

fn reference(kind: &str) -> Option<Reference> {
    let (path, kind, crosses): (&[&str], _, _) = match kind {
        "Kustomization" | "HelmChart" => (&["spec", "sourceRef"], None, true),
        "HelmRelease" => (&["spec", "chart", "spec", "sourceRef"], None, true),
        "Alert" => (&["spec", "providerRef"], Some("Provider"), false),
        "ImagePolicy" => (&["spec", "imageRepositoryRef"], Some("ImageRepository"), true),
        _ => return None,
    };
    Some(Reference { path, kind, crosses })
}

/// Kind, name and namespace of what an object is made of.
async fn sources(
    client: &Client,
    kind: &'static Kind,
    name: &str,
    own: &str,
) -> anyhow::Result<Vec<(String, String, String)>> {
    let Some(reference) = reference(kind.names.kind) else {
        return Ok(Vec::new());
    };
    let object = Objects::new(client.clone(), kind, Some(own)).get(name).await?;
    let chart_ref = &object["spec"]["chartRef"];
    let mut found = reference.path.iter().fold(&object, |value, field| &value[*field]);
    // Releases name their chart in one of two ways.
    if found.is_null() && chart_ref.is_object() {
        found = chart_ref;
    }
    let text = |field: &str| found[field].as_str().map(str::to_owned);
    let missing = |field: &str| {
        format!(
            "field '{}.{field}' for '{own}/{name}' not found",
            reference.path.join(".")
        )
    };
    let source = match reference.kind {
        Some(kind) => kind.to_owned(),
        None => text("kind").with_context(|| missing("kind"))?,
    };
    let namespace = text("namespace").filter(|_| reference.crosses);
    let namespace = namespace.unwrap_or_else(|| own.to_owned());
    let mut all = vec![(
        source,
        text("name").with_context(|| missing("name"))?,
        namespace.clone(),
    )];
    if kind.names.kind == "HelmRelease" && !chart_is_referred(&object) {
        all.push(("HelmChart".to_owned(), format!("{own}-{name}"), namespace));
    }
    Ok(all)
}

/// Whether a release takes a chart that somebody else has made.
fn chart_is_referred(release: &Value) -> bool {
    release["spec"]["chart"].is_null()
}
