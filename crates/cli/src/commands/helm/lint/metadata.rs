//! What `Chart.yaml` says that charts load with, and what it lacks.

use helm::chart::Chart;
use model::semver::Version;
use url::Url;

use super::{Message, Severity};

/// Looks at the metadata of a chart.
pub(super) fn check(chart: &Chart, found: &mut Vec<Message>) {
    let metadata = &chart.metadata;
    let mut add = |severity, text: String| found.push(Message::new(severity, "Chart.yaml", text));
    for maintainer in &metadata.maintainers {
        match maintainer {
            None => add(Severity::Error, "a maintainer entry is empty".to_owned()),
            Some(maintainer) if maintainer.name.is_empty() => {
                add(Severity::Error, "each maintainer requires a name".to_owned());
            }
            Some(_) => {}
        }
    }
    if let Some(source) = metadata.sources.iter().find(|source| !is_url(source)) {
        add(Severity::Error, format!("invalid source URL '{source}'"));
    }
    if metadata.icon.is_empty() {
        add(Severity::Info, "icon is recommended".to_owned());
    } else if !is_url(&metadata.icon) {
        add(Severity::Error, format!("invalid icon URL '{}'", metadata.icon));
    }
    let version = &metadata.api_version;
    if version != "v2" && !metadata.kind.is_empty() {
        add(
            Severity::Error,
            format!("chart type is not valid in apiVersion '{version}'. It is valid in apiVersion 'v2'"),
        );
    }
    if Version::parse_strict(&metadata.version).is_err() {
        add(
            Severity::Warning,
            format!("version '{}' is not a valid SemVerV2", metadata.version),
        );
    }
}

/// Whether something has a scheme and says more than that.
fn is_url(text: &str) -> bool {
    Url::parse(text).is_ok_and(|url| !url.scheme().is_empty())
}
