//! `crates/apiserver/data/protobuf.txt`: the field numbers of Kubernetes' own messages.
//!
//! They are read from the `generated.proto` files that the Go modules carry. One message a line, so that a new version
//! shows as a readable diff: `k8s.io.api.core.v1.ConfigMapKeySelector 1:localObjectReference:.k8s.io...;2:key:string`.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::Context as _;

use super::committed::Check;

const FILE: &str = "crates/apiserver/data/protobuf.txt";

/// The modules that define messages, and the version of Kubernetes they are taken from.
const MODULES: [&str; 4] = [
    "k8s.io/api",
    "k8s.io/apimachinery",
    "k8s.io/apiextensions-apiserver",
    "k8s.io/kube-aggregator",
];
const VERSION: &str = "v0.35.8";

#[derive(clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    check: Check,
}

pub(crate) fn run(args: &Args) -> anyhow::Result<()> {
    let mut messages = BTreeMap::new();
    for module in MODULES {
        for file in proto_files(&module_folder(module)?)? {
            let text = std::fs::read_to_string(&file)
                .with_context(|| format!("failed to read {}", file.display()))?;
            read_messages(&text, &mut messages).with_context(|| format!("in {}", file.display()))?;
        }
    }
    let mut text = String::new();
    for (name, fields) in messages {
        let _ = writeln!(text, "{name} {}", fields.join(";"));
    }
    args.check.settle(FILE, &text, "protobuf")
}

fn module_folder(module: &str) -> anyhow::Result<PathBuf> {
    let output = Command::new("go")
        .args(["mod", "download", "-json", &format!("{module}@{VERSION}")])
        .output()
        .context("failed to run go; it is needed to fetch the modules of Kubernetes")?;
    let text = String::from_utf8_lossy(&output.stdout);
    let folder = text
        .lines()
        .find_map(|line| line.trim().strip_prefix("\"Dir\": \"")?.split('"').next());
    let folder = folder.with_context(|| format!("go mod download says nothing of {module}: {text}"))?;
    Ok(PathBuf::from(folder))
}

/// All `generated.proto` files below `folder`.
fn proto_files(folder: &Path) -> anyhow::Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    let mut open = vec![folder.to_owned()];
    while let Some(folder) = open.pop() {
        for entry in
            std::fs::read_dir(&folder).with_context(|| format!("failed to read {}", folder.display()))?
        {
            let path = entry?.path();
            if path.is_dir() {
                open.push(path);
            } else if path.ends_with("generated.proto") {
                found.push(path);
            }
        }
    }
    Ok(found)
}

fn read_messages(text: &str, messages: &mut BTreeMap<String, Vec<String>>) -> anyhow::Result<()> {
    let mut package = "";
    let mut message: Option<(String, Vec<String>)> = None;
    for line in text.lines().map(str::trim) {
        if let Some(name) = line.strip_prefix("package ") {
            package = name.trim_end_matches(';');
        } else if let Some(name) = line.strip_prefix("message ") {
            message = Some((format!("{package}.{}", name.trim_end_matches(" {")), Vec::new()));
        } else if line == "}" {
            // Versions that the server does not have are not worth their bytes.
            if let Some((name, fields)) = message
                .take()
                .filter(|(name, _)| !name.contains("alpha") && !name.contains("beta"))
            {
                messages.insert(name, fields);
            }
        } else if let Some((_, fields)) = &mut message
            && line.ends_with(';')
            && !line.starts_with("//")
        {
            fields.push(field(line, package).with_context(|| format!("cannot read the field `{line}`"))?);
        }
    }
    Ok(())
}

/// `optional string key = 2;` as `2:key:string`; `*` marks what repeats, `%` a map.
fn field(line: &str, package: &str) -> Option<String> {
    let (declaration, number) = line.trim_end_matches(';').rsplit_once(" = ")?;
    let (declaration, name) = declaration.rsplit_once(' ')?;
    let (mark, kind) = match declaration.strip_prefix("map<") {
        Some(pair) => ("%", pair.strip_suffix('>')?.strip_prefix("string, ")?),
        None => match declaration.split_once(' ')? {
            ("repeated", kind) => ("*", kind),
            (_, kind) => ("", kind),
        },
    };
    let scalar = matches!(
        kind,
        "string" | "int32" | "int64" | "bool" | "bytes" | "double" | "uint32" | "uint64"
    );
    let kind = match kind.strip_prefix('.') {
        Some(full) => full.to_owned(),
        None if scalar => kind.to_owned(),
        None => format!("{package}.{kind}"),
    };
    Some(format!("{number}:{name}:{mark}{kind}"))
}
