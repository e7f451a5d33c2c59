//! What is told of an object, of what applied it, and of where that came from.

use anyhow::{Context as _, ensure};
use jiff::tz::TimeZone;
use kube::Client;
use serde_json::Value;

use crate::commands::objects::{Objects, condition, named};

/// Annotations of artifacts that are told, by the words for them.
const ORIGINS: [(&str, &str); 2] = [
    ("Origin Revision:", "org.opencontainers.image.revision"),
    ("Origin Source:", "org.opencontainers.image.source"),
];

/// Where the values begin, after their names.
const WIDE: usize = 17;
const NARROW: usize = 16;

pub(super) async fn of_kustomization(
    client: &Client,
    object: &Value,
    namespace: &str,
    name: &str,
) -> anyhow::Result<String> {
    let found = get(client, "Kustomization", namespace, name).await?;
    let spec = &found["spec"];
    let mut lines = Lines::of(object, WIDE);
    lines.part("Kustomization:", &found);
    lines.add_if("Target:", &spec["targetNamespace"]);
    lines.add("Path:", &spec["path"]);
    lines.add("Revision:", &found["status"]["lastAppliedRevision"]);
    lines.status(&found, false);
    let reference = &spec["sourceRef"];
    if let Some("GitRepository" | "OCIRepository" | "ExternalArtifact") = reference["kind"].as_str() {
        let source = referred(client, reference, namespace).await?;
        lines.source(&source, WIDE, true);
    }
    Ok(lines.text)
}

pub(super) async fn of_release(
    client: &Client,
    object: &Value,
    namespace: &str,
    name: &str,
) -> anyhow::Result<String> {
    let found = get(client, "HelmRelease", namespace, name).await?;
    let (spec, status) = (&found["spec"], &found["status"]);
    let mut lines = Lines::of(object, NARROW);
    lines.part("HelmRelease:", &found);
    lines.add_if("Target:", &spec["targetNamespace"]);
    lines.add("Revision:", &status["lastAttemptedRevision"]);
    lines.status(&found, false);
    if let Some(chart) = status["helmChart"].as_str().filter(|chart| !chart.is_empty()) {
        let (namespace, name) = chart.split_once('/').unwrap_or(("", chart));
        let chart = get(client, "HelmChart", namespace, name).await?;
        lines.part("HelmChart:", &chart);
        lines.add("Chart:", &chart["spec"]["chart"]);
        lines.add("Version:", &chart["spec"]["version"]);
        lines.revision(&chart);
        lines.status(&chart, false);
    }
    let reference = match spec["chart"].is_object() {
        true => &spec["chart"]["spec"]["sourceRef"],
        false => &spec["chartRef"],
    };
    let width = match reference["kind"].as_str() {
        Some("HelmRepository") => NARROW,
        // So the flux client has it.
        Some("GitRepository") => NARROW - 1,
        Some("OCIRepository" | "ExternalArtifact") => WIDE,
        _ => return Ok(lines.text),
    };
    let source = referred(client, reference, namespace).await?;
    lines.source(&source, width, false);
    Ok(lines.text)
}

async fn get(client: &Client, kind: &str, namespace: &str, name: &str) -> anyhow::Result<Value> {
    let known = named(kind).with_context(|| format!("the kind {kind} is not known"))?;
    Objects::new(client.clone(), known, Some(namespace))
        .get(name)
        .await
}

async fn referred(client: &Client, reference: &Value, own: &str) -> anyhow::Result<Value> {
    let text = |field: &str| reference[field].as_str().filter(|text| !text.is_empty());
    let kind = text("kind").unwrap_or_default();
    let namespace = text("namespace").unwrap_or(own);
    let source = get(client, kind, namespace, text("name").unwrap_or_default()).await?;
    ensure!(
        kind != "ExternalArtifact" || source["spec"]["sourceRef"].is_object(),
        "ExternalArtifact {namespace}/{} is missing spec.sourceRef",
        text("name").unwrap_or_default()
    );
    Ok(source)
}

struct Lines {
    text: String,
    width: usize,
}

impl Lines {
    fn of(object: &Value, width: usize) -> Lines {
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let mut lines = Lines {
            text: "\n".to_owned(),
            width,
        };
        let name = format!("{}/{}", text(&object["kind"]), text(&object["metadata"]["name"]));
        lines.put("Object:", &name);
        lines.add_if("Namespace:", &object["metadata"]["namespace"]);
        lines.put("Status:", "Managed by Flux");
        lines
    }

    fn put(&mut self, name: &str, value: &str) {
        let width = self.width;
        self.text += &format!("{name:width$}{value}\n");
    }

    fn add(&mut self, name: &str, value: &Value) {
        self.put(name, value.as_str().unwrap_or_default());
    }

    fn add_if(&mut self, name: &str, value: &Value) {
        if value.as_str().is_some_and(|value| !value.is_empty()) {
            self.add(name, value);
        }
    }

    /// Begins what is told of another object.
    fn part(&mut self, name: &str, object: &Value) {
        self.text += "---\n";
        self.add(name, &object["metadata"]["name"]);
        self.add("Namespace:", &object["metadata"]["namespace"]);
    }

    fn revision(&mut self, object: &Value) {
        let artifact = &object["status"]["artifact"];
        if artifact.is_object() {
            self.add("Revision:", &artifact["revision"]);
        }
    }

    /// `tells_failure` where a failure is not told as a success.
    fn status(&mut self, object: &Value, tells_failure: bool) {
        let Some(ready) = condition(object, "Ready") else {
            return self.put("Status:", "Unknown");
        };
        let how = match tells_failure && ready["status"] == "False" {
            true => "Last reconciliation failed at",
            false => "Last reconciled at",
        };
        let at = time(
            ready["lastTransitionTime"].as_str().unwrap_or_default(),
            &TimeZone::system(),
        );
        self.put("Status:", &format!("{how} {at}"));
        self.add("Message:", &ready["message"]);
    }

    fn source(&mut self, source: &Value, width: usize, with_origins: bool) {
        self.width = width;
        let kind = source["kind"].as_str().unwrap_or_default();
        self.part(&format!("{kind}:"), source);
        let spec = &source["spec"];
        if kind == "ExternalArtifact" {
            let parts = ["kind", "namespace", "name"].map(|part| spec["sourceRef"][part].as_str());
            self.put("Source:", &parts.map(Option::unwrap_or_default).join("/"));
        } else {
            self.add("URL:", &spec["url"]);
        }
        let fields: &[(&str, &str)] = match kind {
            "GitRepository" => &[("tag", "Tag:"), ("semver", "Tag:"), ("branch", "Branch:")],
            "OCIRepository" => &[("tag", "Tag:"), ("semver", "Tag:"), ("digest", "Digest:")],
            _ => &[],
        };
        let is_there = |field: &str| spec["ref"][field].as_str().is_some_and(|text| !text.is_empty());
        if let Some((field, name)) = fields.iter().find(|(field, _)| is_there(field)) {
            self.add(name, &spec["ref"][field]);
        }
        self.revision(source);
        if with_origins && kind != "GitRepository" {
            self.origins(&source["status"]["artifact"]["metadata"]);
        }
        self.status(source, kind != "HelmRepository");
    }

    /// A line for each, empty where the artifact does not say it: so many lines the flux client prints.
    fn origins(&mut self, metadata: &Value) {
        if metadata.as_object().is_none_or(serde_json::Map::is_empty) {
            return;
        }
        for (name, annotation) in ORIGINS {
            match metadata[annotation].as_str().filter(|value| !value.is_empty()) {
                Some(value) => self.put(name, value),
                None => self.text.push('\n'),
            }
        }
    }
}

/// A time as Go prints it.
fn time(text: &str, zone: &TimeZone) -> String {
    match text.parse::<jiff::Timestamp>() {
        Ok(time) => {
            let time = time.to_zoned(zone.clone());
            time.strftime("%Y-%m-%d %H:%M:%S %z %Z").to_string()
        }
        Err(_) => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_told_as_by_go() {
        assert_eq!(
            time("2026-01-02T03:04:05Z", &TimeZone::UTC),
            "2026-01-02 03:04:05 +0000 UTC"
        );
        assert_eq!(time("soon", &TimeZone::UTC), "soon");
    }
}
