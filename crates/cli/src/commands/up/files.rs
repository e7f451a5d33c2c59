//! The wanted objects, read from a directory of YAML files.

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use model::{ObjectKey, Value};

/// Files larger than this are not manifests.
const FILE_LIMIT: u64 = 16 * 1024 * 1024;

/// One wanted object.
#[derive(Clone, Debug)]
pub(super) struct Wanted {
    pub api_version: String,
    pub key: ObjectKey,
    pub object: Value,
    pub place: Place,
}

/// Where something stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Place {
    pub file: PathBuf,
    pub line: usize,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.file.display(), self.line)
    }
}

/// What tells that a file changed.
pub(super) type Fingerprint = BTreeMap<PathBuf, (u64, Option<SystemTime>)>;

/// All YAML and JSON files below `folder`; hidden ones are left out.
pub(super) fn fingerprint(folder: &Path) -> Result<Fingerprint, String> {
    let mut files = Fingerprint::new();
    let mut open = vec![folder.to_owned()];
    while let Some(folder) = open.pop() {
        let entries = std::fs::read_dir(&folder)
            .map_err(|error| format!("{}: failed to read it: {error}", folder.display()))?;
        for entry in entries {
            let entry = entry.map_err(|error| format!("{}: failed to read it: {error}", folder.display()))?;
            let path = entry.path();
            if entry.file_name().to_string_lossy().starts_with('.') {
                continue;
            }
            // Links are not followed: a tree that links to its own parent has no end.
            let Ok(meta) = entry.metadata() else { continue };
            if meta.is_dir() {
                open.push(path);
            } else if is_manifest(&path) {
                files.insert(path, (meta.len(), meta.modified().ok()));
            }
        }
    }
    Ok(files)
}

fn is_manifest(path: &Path) -> bool {
    matches!(
        path.extension().and_then(|extension| extension.to_str()),
        Some("yaml" | "yml" | "json")
    )
}

/// Reads all files; gives all objects or all problems.
pub(super) fn read(files: &Fingerprint) -> Result<Vec<Wanted>, Vec<String>> {
    let mut wanted: Vec<Wanted> = Vec::new();
    let mut problems = Vec::new();
    for (path, (size, _)) in files {
        if *size > FILE_LIMIT {
            problems.push(format!(
                "{}: larger than {FILE_LIMIT} bytes; split it",
                path.display()
            ));
            continue;
        }
        match std::fs::read_to_string(path) {
            Ok(text) => read_file(path, &text, &mut wanted, &mut problems),
            Err(error) => problems.push(format!("{}: failed to read it: {error}", path.display())),
        }
    }
    check_twice(&wanted, &mut problems);
    if problems.is_empty() {
        Ok(wanted)
    } else {
        Err(problems)
    }
}

fn read_file(path: &Path, text: &str, wanted: &mut Vec<Wanted>, problems: &mut Vec<String>) {
    for document in yaml::documents(text) {
        match document {
            Err(error) => problems.push(format!("{}: {error}", path.display())),
            Ok(document) => {
                let place = Place {
                    file: path.to_owned(),
                    line: document.line,
                };
                add(document.value, &place, wanted, problems);
            }
        }
    }
}

fn add(object: Value, place: &Place, wanted: &mut Vec<Wanted>, problems: &mut Vec<String>) {
    if object.is_null() {
        return;
    }
    let kind = object.str_at(&["kind"]);
    if kind == "List" || (kind.ends_with("List") && object.get("items").is_some()) {
        for item in object.list_at(&["items"]) {
            add(item.clone(), place, wanted, problems);
        }
        return;
    }
    let (api_version, name) = (
        object.str_at(&["apiVersion"]),
        object.str_at(&["metadata", "name"]),
    );
    let missing: Vec<&str> = [
        ("apiVersion", api_version),
        ("kind", kind),
        ("metadata.name", name),
    ]
    .iter()
    .filter(|(_, text)| text.is_empty())
    .map(|(field, _)| *field)
    .collect();
    if !missing.is_empty() {
        problems.push(format!(
            "{place}: not a Kubernetes object: it has no {}",
            missing.join(" and no ")
        ));
        return;
    }
    let group = api_version.split_once('/').map_or("", |(group, _)| group);
    let namespace = object.str_at(&["metadata", "namespace"]);
    let key = ObjectKey {
        group: group.into(),
        kind: kind.into(),
        namespace: namespace.into(),
        name: name.into(),
    };
    wanted.push(Wanted {
        api_version: api_version.to_owned(),
        key,
        object,
        place: place.clone(),
    });
}

/// Two files that want one object differently would take turns.
fn check_twice(wanted: &[Wanted], problems: &mut Vec<String>) {
    let mut seen: BTreeMap<&ObjectKey, &Place> = BTreeMap::new();
    for one in wanted {
        if let Some(first) = seen.insert(&one.key, &one.place) {
            problems.push(format!(
                "{}: {} stands already in {first}; remove one of them",
                one.place, one.key
            ));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read_text(text: &str) -> Result<Vec<Wanted>, Vec<String>> {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("a.yaml"), text).unwrap();
        std::fs::write(folder.path().join(".hidden.yaml"), "not: [yaml").unwrap();
        std::fs::write(folder.path().join("notes.txt"), "not: [yaml").unwrap();
        read(&fingerprint(folder.path()).unwrap())
    }

    #[test]
    fn objects_are_found_with_their_lines() {
        let text = "kind: ConfigMap\napiVersion: v1\nmetadata: {name: a}\n---\n# nothing\n---\napiVersion: apps/v1\nkind: Deployment\nmetadata: {name: b, namespace: n}\n";
        let wanted = read_text(text).unwrap();
        let found: Vec<String> = wanted
            .iter()
            .map(|one| format!("{} {}", one.key, one.place.line))
            .collect();
        assert_eq!(found.len(), 2, "{found:?}");
        assert_eq!(wanted[1].key.group, "apps");
        assert_eq!(wanted[1].place.line, 7);
    }

    #[test]
    fn all_problems_are_told_at_once() {
        let text = "kind: ConfigMap\n---\napiVersion: v1\nkind: Secret\nmetadata: {name: a}\n---\napiVersion: v1\nkind: Secret\nmetadata: {name: a}\n";
        let problems = read_text(text).unwrap_err();
        assert_eq!(problems.len(), 2, "{problems:?}");
        assert!(
            problems[0]
                .contains("a.yaml:1: not a Kubernetes object: it has no apiVersion and no metadata.name"),
            "{problems:?}"
        );
        assert!(problems[1].contains("stands already in"), "{problems:?}");
    }
}
