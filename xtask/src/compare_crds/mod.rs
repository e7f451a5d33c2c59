//! Our CustomResourceDefinitions beside those of upstream: every difference in what they allow, fill in and show.
//!
//! Upstream's files are read from a folder that the user names; they are not part of this repository. A version that
//! is our current one must be the same in everything. An older one must take every object that upstream's takes.
//! What differs on purpose is in [`explained`], with the reason, and is not counted.

mod explained;
mod schema;
mod version;

use std::fmt;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use model::{Value, json};

/// Where upstream's definitions are.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// A folder of YAML files with upstream's CustomResourceDefinitions, of any release
    folder: PathBuf,
    /// Also print the differences that are explained
    #[arg(long)]
    all: bool,
}

/// One difference.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Difference {
    /// `gitrepositories.source.toolkit.fluxcd.io`
    definition: String,
    /// Empty if it is about all versions.
    version: String,
    /// The place in the definition: `spec.url`, or `names.shortNames`.
    path: String,
    /// What differs.
    what: String,
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Difference {
            definition,
            version,
            path,
            what,
        } = self;
        write!(f, "{definition} {version} {path}: {what}")
    }
}

/// Prints all differences and fails if there is one that is not explained.
pub(crate) fn run(args: &Args) -> Result<()> {
    let upstream = read(&args.folder)?;
    let ours = api::crds();
    let mut differences: Vec<Difference> = upstream
        .iter()
        .flat_map(|theirs| compare(theirs, &ours))
        .collect();
    differences.sort();
    differences.dedup();

    let (explained, open): (Vec<_>, Vec<_>) = differences
        .iter()
        .map(|difference| (difference, explained::reason(difference)))
        .partition(|(_, reason)| reason.is_some());
    if args.all {
        for (difference, reason) in &explained {
            println!("{difference}\n    explained: {}", reason.unwrap_or_default());
        }
    }
    for (difference, _) in &open {
        println!("{difference}");
    }
    for unused in explained::unused(&differences, &upstream) {
        println!("explained, but not a difference: {unused}");
    }
    let versions: usize = upstream
        .iter()
        .map(|theirs| theirs.list_at(&["spec", "versions"]).len())
        .sum();
    println!(
        "{} definitions, {versions} versions: {} differences are explained, {} are not",
        upstream.len(),
        explained.len(),
        open.len()
    );
    if !open.is_empty() {
        bail!("{} differences are not explained", open.len());
    }
    Ok(())
}

/// All definitions in the YAML files of a folder.
fn read(folder: &Path) -> Result<Vec<Value>> {
    let mut definitions = Vec::new();
    let entries =
        std::fs::read_dir(folder).with_context(|| format!("failed to read {}", folder.display()))?;
    for entry in entries {
        let path = entry?.path();
        if path.extension().is_none_or(|extension| extension != "yaml") {
            continue;
        }
        let text =
            std::fs::read_to_string(&path).with_context(|| format!("failed to read {}", path.display()))?;
        for document in yaml::documents(&text) {
            let document = document.with_context(|| format!("failed to parse {}", path.display()))?;
            if document.value.str_at(&["kind"]) == "CustomResourceDefinition" {
                definitions.push(document.value);
            }
        }
    }
    if definitions.is_empty() {
        bail!(
            "{} holds no CustomResourceDefinition in a file that ends in .yaml",
            folder.display()
        );
    }
    definitions.sort_by_key(|definition| definition.str_at(&["metadata", "name"]).to_owned());
    Ok(definitions)
}

fn compare(theirs: &Value, all_ours: &[Value]) -> Vec<Difference> {
    let name = theirs.str_at(&["metadata", "name"]);
    let found = all_ours
        .iter()
        .find(|ours| ours.str_at(&["metadata", "name"]) == name);
    let Some(ours) = found else {
        return vec![difference(name, "", "", "there is no such definition".to_owned())];
    };
    let mut differences = Vec::new();
    for part in ["group", "scope", "names"] {
        let (theirs, ours) = (theirs.at(&["spec", part]), ours.at(&["spec", part]));
        let words = theirs
            .and_then(Value::as_object)
            .into_iter()
            .flat_map(|map| map.iter());
        for (key, theirs) in words {
            same(
                &mut differences,
                name,
                "",
                &format!("{part}.{key}"),
                Some(theirs),
                ours.and_then(|ours| ours.get(key)),
            );
        }
        if theirs.is_some_and(|value| value.as_object().is_none()) {
            same(&mut differences, name, "", part, theirs, ours);
        }
    }
    let substitute = [
        "metadata",
        "annotations",
        "kustomize.toolkit.fluxcd.io/substitute",
    ];
    if let Some(theirs) = theirs.at(&substitute) {
        same(
            &mut differences,
            name,
            "",
            "substitute",
            Some(theirs),
            ours.at(&substitute),
        );
    }
    for version in theirs.list_at(&["spec", "versions"]) {
        version::compare(&mut differences, name, version, ours);
    }
    differences
}

/// Notes a difference if the two are not the same.
fn same(
    into: &mut Vec<Difference>,
    name: &str,
    version: &str,
    path: &str,
    theirs: Option<&Value>,
    ours: Option<&Value>,
) {
    if theirs != ours {
        into.push(difference(
            name,
            version,
            path,
            format!("upstream {}, ours {}", show(theirs), show(ours)),
        ));
    }
}

fn difference(definition: &str, version: &str, path: &str, what: String) -> Difference {
    Difference {
        definition: definition.to_owned(),
        version: version.to_owned(),
        path: path.to_owned(),
        what,
    }
}

fn show(value: Option<&Value>) -> String {
    value.map_or_else(|| "nothing".to_owned(), json::to_string)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is found when upstream's definition is ours but for one change at a path of its version.
    fn found(version: usize, path: &[&str], value: Option<Value>) -> Vec<String> {
        let ours = api::crds();
        let name = "gitrepositories.source.toolkit.fluxcd.io";
        let mut theirs = ours
            .iter()
            .find(|ours| ours.str_at(&["metadata", "name"]) == name)
            .unwrap()
            .clone();
        let versions = theirs
            .at_mut(&["spec", "versions"])
            .and_then(Value::as_array_mut)
            .unwrap();
        let schema = versions[version]
            .at_mut(&["schema", "openAPIV3Schema", "properties"])
            .unwrap();
        match value {
            Some(value) => schema.set_at(path, value),
            None => drop(schema.remove_at(path).unwrap()),
        }
        let differences = compare(&theirs, &ours);
        differences
            .iter()
            .map(|difference| format!("{} {}: {}", difference.version, difference.path, difference.what))
            .collect()
    }

    const CURRENT: usize = 0;
    const OLDER: usize = 1;

    fn words(words: &[&str]) -> Option<Value> {
        Some(words.iter().copied().collect())
    }

    #[test]
    fn a_definition_is_like_itself() {
        let ours = api::crds();
        assert!(
            ours.iter()
                .all(|definition| compare(definition, &ours).is_empty())
        );
    }

    #[test]
    fn everything_counts_in_the_current_version() {
        let spec = ["spec", "properties"];
        let at = |rest: &[&'static str]| [&spec[..], rest].concat();
        let cases: [(Vec<&str>, Option<Value>, &str); 8] = [
            (
                at(&["url", "pattern"]),
                Some("^a".into()),
                r#"v1 spec.url: pattern: upstream "^a", ours "^(http|https|ssh)://.*$""#,
            ),
            (
                at(&["url", "maxLength"]),
                Some(9.into()),
                "v1 spec.url: maxLength: upstream 9, ours nothing",
            ),
            (
                at(&["timeout", "default"]),
                None,
                r#"v1 spec.timeout: default: upstream nothing, ours "60s""#,
            ),
            (
                at(&["suspend", "type"]),
                Some("string".into()),
                r#"v1 spec.suspend: type: upstream "string", ours "boolean""#,
            ),
            (
                at(&["new", "type"]),
                Some("string".into()),
                "v1 spec.new: ours has no such field",
            ),
            (
                at(&["ignore"]),
                None,
                "v1 spec.ignore: upstream has no such field",
            ),
            (
                vec!["spec", "required"],
                words(&["interval"]),
                "v1 spec.url: required: upstream nothing, ours true",
            ),
            (
                at(&["provider", "enum"]),
                words(&["a"]),
                r#"v1 spec.provider: enum: upstream ["a"], ours ["generic","aws","azure","github"]"#,
            ),
        ];
        for (path, value, expected) in cases {
            assert_eq!(found(CURRENT, &path, value), [expected], "{path:?}");
        }
        let rules = found(CURRENT, &["spec", "x-kubernetes-validations"], None);
        assert!(
            rules[0].starts_with("v1 spec: rules: upstream nothing, ours"),
            "{rules:?}"
        );
    }

    #[test]
    fn an_older_version_must_take_what_upstream_took() {
        let at = |rest: &[&'static str]| [&["spec", "properties"][..], rest].concat();
        let refused: [(Vec<&str>, Option<Value>, &str); 4] = [
            (
                at(&["new", "type"]),
                Some("string".into()),
                "v1beta1 spec.new: ours has no such field",
            ),
            (
                vec!["spec", "required"],
                words(&["interval"]),
                "v1beta1 spec.url: required: only ours",
            ),
            (
                at(&["provider", "enum"]),
                words(&["aws", "b"]),
                "v1beta1 spec.provider: enum: ours lacks b",
            ),
            (
                at(&["provider", "enum"]),
                None,
                "v1beta1 spec.provider: enum: only ours",
            ),
        ];
        for (path, value, expected) in refused {
            assert_eq!(found(OLDER, &path, value), [expected], "{path:?}");
        }
        // Ours may take more.
        assert!(found(OLDER, &at(&["url", "pattern"]), Some("^a".into())).is_empty());
        assert!(found(OLDER, &at(&["ignore"]), None).is_empty());
        assert!(found(OLDER, &at(&["provider", "enum"]), words(&["aws"])).is_empty());
    }

    #[test]
    fn names_and_columns_count() {
        let ours = api::crds();
        let mut theirs = ours[0].clone();
        theirs.set_at(&["spec", "names", "shortNames"], words(&["x"]).unwrap());
        theirs.set_at(&["spec", "scope"], "Cluster");
        let paths: Vec<String> = compare(&theirs, &ours)
            .into_iter()
            .map(|difference| difference.path)
            .collect();
        assert_eq!(paths, ["scope", "names.shortNames"]);
    }
}
