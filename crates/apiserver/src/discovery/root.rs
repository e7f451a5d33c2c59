//! `/`, the list of paths, and `/version`.

use std::collections::BTreeSet;

use model::{Value, value};

use super::health;
use crate::catalog::{Catalog, group_version_path};

/// The Kubernetes release this server behaves like.
pub const GIT_VERSION: &str = "v1.35.0+sluice";

/// `/`: every path that is not about single resources.
pub(super) fn paths(catalog: &Catalog) -> Value {
    let fixed = [
        "/api",
        "/apis",
        "/apis/",
        "/openapi/v2",
        "/openapi/v3",
        "/version",
    ];
    let mut paths: BTreeSet<String> = fixed.into_iter().map(str::to_owned).collect();
    paths.extend(health::paths());
    for group in catalog.groups() {
        if !group.name.is_empty() {
            paths.insert(format!("/apis/{}", group.name));
        }
        paths.extend(
            group
                .versions
                .iter()
                .map(|version| group_version_path(&group.name, &version.name)),
        );
    }
    value!({ "paths": (paths.into_iter().collect::<Value>()) })
}

/// `/version`.
pub(super) fn version() -> Value {
    value!({
        "major": "1",
        "minor": "35",
        "emulationMajor": "1",
        "emulationMinor": "35",
        "minCompatibilityMajor": "1",
        "minCompatibilityMinor": "34",
        "gitVersion": GIT_VERSION,
        "gitCommit": "",
        "gitTreeState": "",
        "buildDate": "1970-01-01T00:00:00Z",
        "goVersion": "",
        "compiler": "rustc",
        "platform": (format!("{}/{}", std::env::consts::OS, go_architecture())),
    })
}

/// The machine's architecture by the name Go gives it, which is what clients know.
fn go_architecture() -> &'static str {
    match std::env::consts::ARCH {
        "x86_64" => "amd64",
        "aarch64" => "arm64",
        "x86" => "386",
        other => other,
    }
}
