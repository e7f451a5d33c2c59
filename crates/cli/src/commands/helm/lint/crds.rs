//! What lies in `crds/`.

use helm::chart::Chart;

use super::objects::Head;
use super::{Message, Severity};

/// Sees that there is nothing but definitions.
pub(super) fn check(chart: &Chart, found: &mut Vec<Message>) {
    for (path, content) in chart.crds() {
        // Messages have the path in the chart.
        let path = path
            .split_once('/')
            .map_or(path.as_str(), |(_, path)| path)
            .to_owned();
        let mut error = |text: String| found.push(Message::new(Severity::Error, path.clone(), text));
        for document in yaml::documents(&String::from_utf8_lossy(&content)) {
            let document = document.map_err(|error| format!("error converting YAML to JSON: {error}"));
            let head = match document.and_then(|document| Head::of(&document.value)) {
                Ok(Some(head)) => head,
                Ok(None) => continue,
                Err(problem) => {
                    error(format!("unable to parse YAML: {problem}"));
                    return;
                }
            };
            if !head.api_version.starts_with("apiextensions.k8s.io") {
                error("apiVersion is not in 'apiextensions.k8s.io'".to_owned());
            }
            if head.kind != "CustomResourceDefinition" {
                error("object kind is not 'CustomResourceDefinition'".to_owned());
            }
        }
    }
}
