//! Dependencies are declared once, in the workspace, and crates depend only on crates of a lower band.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

use anyhow::Context as _;

use super::Problem;

/// Crates beside the product, which only tests, `sluice up` and chores use. They have no band.
const BESIDE: [&str; 5] = ["apiserver", "conformance", "gitserver", "testkit", "xtask"];

struct Manifest {
    name: String,
    band: Option<u32>,
    /// Ours, in `[dependencies]`.
    uses: Vec<String>,
    text: String,
}

pub(super) fn check(root: &Path) -> anyhow::Result<Vec<Problem>> {
    let mut manifests = BTreeMap::new();
    for folder in super::crates(root)? {
        let manifest = read(&folder)?;
        manifests.insert(manifest.name.clone(), manifest);
    }
    let mut problems = Vec::new();
    for manifest in manifests.values() {
        inheritance(manifest, &mut problems);
        bands(manifest, &manifests, &mut problems);
        let readme = root.join("crates").join(&manifest.name).join("README.md");
        if manifest.name != "xtask" && !readme.is_file() {
            problems.push(format!(
                "{}: the crate has no README.md that says what it is for",
                manifest.name
            ));
        }
    }
    if uses_ring(root) {
        problems.push(
            "ring is in the tree; two TLS providers make clients panic at run time: find who wants it with \
             `cargo tree --workspace -i ring` and choose aws-lc-rs there"
                .into(),
        );
    }
    Ok(problems)
}

/// Whether anything that is built uses ring. The lock file also lists what is never built, so cargo is asked.
fn uses_ring(root: &Path) -> bool {
    let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    cargo.current_dir(root).args([
        "tree",
        "--offline",
        "--workspace",
        "--invert",
        "ring",
        "--edges",
        "normal",
    ]);
    cargo
        .output()
        .is_ok_and(|output| output.status.success() && !output.stdout.is_empty())
}

fn read(folder: &Path) -> anyhow::Result<Manifest> {
    let path = folder.join("Cargo.toml");
    let text =
        std::fs::read_to_string(&path).with_context(|| format!("failed to read {}", path.display()))?;
    let name = folder
        .file_name()
        .map(|name| name.to_string_lossy().into_owned())
        .unwrap_or_default();
    let mut section = "";
    let mut band = None;
    let mut uses = Vec::new();
    for line in text.lines() {
        if line.starts_with('[') {
            section = line.trim_matches(['[', ']']);
        } else if section == "package.metadata.sluice" {
            band = line
                .strip_prefix("band = ")
                .and_then(|band| band.parse().ok())
                .or(band);
        } else if section == "dependencies"
            && let Some(used) = line.split(['.', ' ', '=']).next().filter(|used| !used.is_empty())
        {
            uses.push(used.to_owned());
        }
    }
    Ok(Manifest {
        name,
        band,
        uses,
        text,
    })
}

/// Versions and lints stand in the workspace's manifest only.
fn inheritance(manifest: &Manifest, problems: &mut Vec<Problem>) {
    let name = &manifest.name;
    let mut section = "";
    let mut lints = false;
    for line in manifest.text.lines() {
        if line.starts_with('[') {
            section = line.trim_matches(['[', ']']);
        } else if section.ends_with("dependencies")
            && line.contains('=')
            && !line.contains("workspace = true")
        {
            problems.push(format!(
                "{name}: `{line}`: declare it in the workspace's Cargo.toml and inherit it"
            ));
        } else if section == "lints" {
            lints |= line == "workspace = true";
        }
    }
    if !lints {
        problems.push(format!(
            "{name}: inherit the workspace's lints: `[lints]` with `workspace = true`"
        ));
    }
    if !manifest.text.contains(&format!("name = \"{name}\"")) {
        problems.push(format!("{name}: the package is called otherwise than its folder"));
    }
}

/// Data flows one way: a crate depends on lower bands only.
fn bands(manifest: &Manifest, all: &BTreeMap<String, Manifest>, problems: &mut Vec<Problem>) {
    let name = &manifest.name;
    let beside = BESIDE.contains(&name.as_str());
    let Some(band) = manifest.band else {
        if !beside {
            problems.push(format!(
                "{name}: say which band it is in: `[package.metadata.sluice]` with `band = N`"
            ));
        }
        return;
    };
    for used in manifest.uses.iter().filter_map(|used| all.get(used)) {
        match used.band {
            Some(lower) if lower < band => {}
            // The words everyone shares are below everything.
            Some(0) if used.name == "model" => {}
            Some(other) => problems.push(format!("{name} (band {band}) uses {} (band {other})", used.name)),
            // The program itself runs the embedded servers.
            None if name == "cli" && matches!(used.name.as_str(), "apiserver" | "gitserver") => {}
            None => problems.push(format!(
                "{name} (band {band}) uses {}, which is for development",
                used.name
            )),
        }
    }
}
