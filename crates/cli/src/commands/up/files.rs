//! The wanted objects, read from a directory of YAML files.

use std::collections::BTreeMap;
use std::fmt;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use model::{ObjectKey, Value};
use yaml::Step;

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

/// Where an object stands.
#[derive(Clone, Debug)]
pub(super) struct Place {
    file: Arc<File>,
    /// The number of the document in the file.
    document: usize,
    /// The way to the object inside of the document: lists have several.
    inside: Vec<Step>,
}

#[derive(Debug)]
struct File {
    path: PathBuf,
    text: String,
}

impl Place {
    /// Where a field of the object stands, or the nearest thing above it that is there.
    pub(super) fn of_field(&self, field: &[Step]) -> String {
        let path: Vec<Step> = self.inside.iter().chain(field).cloned().collect();
        let line = yaml::locate(self.file.text.as_bytes(), self.document, &path).unwrap_or(1);
        format!("{}:{line}", self.file.path.display())
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.of_field(&[]))
    }
}

/// What there is to read, and what tells that it changed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Listing {
    /// The files with their sizes and times.
    pub files: BTreeMap<PathBuf, (u64, Option<SystemTime>)>,
    /// Names that look like manifests but are links or no regular files.
    pub left_out: Vec<PathBuf>,
}

/// All YAML and JSON files below `folder`; hidden ones are left out. Links are not followed, as in what is fetched from a
/// source: a tree that links to its own parent has no end, and one that links elsewhere is not whole.
pub(super) fn list(folder: &Path) -> Result<Listing, String> {
    let mut listing = Listing::default();
    let mut open = vec![folder.to_owned()];
    while let Some(folder) = open.pop() {
        let failed = |error: std::io::Error| format!("{}: failed to read it: {error}", folder.display());
        for entry in std::fs::read_dir(&folder).map_err(failed)? {
            let entry = entry.map_err(failed)?;
            let path = entry.path();
            if entry.file_name().to_string_lossy().starts_with('.') {
                continue;
            }
            // Of a link this tells about the link itself.
            let Ok(meta) = entry.metadata() else { continue };
            if meta.is_dir() {
                open.push(path);
            } else if !is_manifest(&path) {
                continue;
            } else if meta.is_file() {
                listing.files.insert(path, (meta.len(), meta.modified().ok()));
            } else {
                listing.left_out.push(path);
            }
        }
    }
    listing.left_out.sort();
    Ok(listing)
}

fn is_manifest(path: &Path) -> bool {
    let extension = path.extension().and_then(|extension| extension.to_str());
    extension.is_some_and(|extension| {
        ["yaml", "yml", "json"]
            .iter()
            .any(|known| extension.eq_ignore_ascii_case(known))
    })
}

/// Reads all files; gives all objects that can be read and all problems.
pub(super) fn read(listing: &Listing) -> (Vec<Wanted>, Vec<String>) {
    let mut wanted: Vec<Wanted> = Vec::new();
    let mut problems = Vec::new();
    for path in listing.files.keys() {
        match read_text(path) {
            Ok(text) => {
                let file = File {
                    path: path.clone(),
                    text,
                };
                read_file(&Arc::new(file), &mut wanted, &mut problems);
            }
            Err(problem) => problems.push(format!("{}: {problem}", path.display())),
        }
    }
    check_twice(&wanted, &mut problems);
    (wanted, problems)
}

fn read_text(path: &Path) -> Result<String, String> {
    let failed = |error: std::io::Error| format!("failed to read it: {error}");
    let mut bytes = Vec::new();
    let file = std::fs::File::open(path).map_err(failed)?;
    file.take(FILE_LIMIT + 1)
        .read_to_end(&mut bytes)
        .map_err(failed)?;
    if bytes.len() as u64 > FILE_LIMIT {
        return Err(format!("larger than {FILE_LIMIT} bytes; split it"));
    }
    String::from_utf8(bytes).map_err(|error| {
        let before = &error.as_bytes()[..error.utf8_error().valid_up_to()];
        let line = before.iter().filter(|byte| **byte == b'\n').count() + 1;
        format!("line {line} is not UTF-8; save the file in that encoding")
    })
}

fn read_file(file: &Arc<File>, wanted: &mut Vec<Wanted>, problems: &mut Vec<String>) {
    let options = yaml::Options {
        duplicates: yaml::Duplicates::Refuse,
        ..Default::default()
    };
    for (number, document) in options.documents(&file.text).enumerate() {
        match document {
            Err(error) => {
                let text = error.without_values();
                problems.push(format!("{}:{}: {text}", file.path.display(), error.line()));
            }
            Ok(document) => {
                let place = Place {
                    file: Arc::clone(file),
                    document: number,
                    inside: Vec::new(),
                };
                add(document.value, place, wanted, problems);
            }
        }
    }
}

fn add(object: Value, place: Place, wanted: &mut Vec<Wanted>, problems: &mut Vec<String>) {
    if object.is_null() {
        return;
    }
    let kind = object.str_at(&["kind"]);
    if kind == "List" || (kind.ends_with("List") && object.get("items").is_some()) {
        for (number, item) in object.list_at(&["items"]).iter().enumerate() {
            let mut place = place.clone();
            place
                .inside
                .extend([Step::Key("items".into()), Step::Item(number)]);
            add(item.clone(), place, wanted, problems);
        }
        return;
    }
    let (api_version, name) = (
        object.str_at(&["apiVersion"]),
        object.str_at(&["metadata", "name"]),
    );
    let fields = [
        ("apiVersion", api_version),
        ("kind", kind),
        ("metadata.name", name),
    ];
    let missing: Vec<&str> = fields
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
        place,
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

    fn read_text(text: &str) -> (Vec<Wanted>, Vec<String>) {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("a.yaml"), text).unwrap();
        std::fs::write(folder.path().join(".hidden.yaml"), "not: [yaml").unwrap();
        std::fs::write(folder.path().join("notes.txt"), "not: [yaml").unwrap();
        read(&list(folder.path()).unwrap())
    }

    fn problems(text: &str) -> Vec<String> {
        read_text(text).1
    }

    #[test]
    fn objects_are_found_with_their_lines() {
        let text = "kind: ConfigMap\napiVersion: v1\nmetadata: {name: a}\n---\n# nothing\n---\napiVersion: apps/v1\nkind: Deployment\nmetadata: {name: b, namespace: n}\n";
        let (wanted, _) = read_text(text);
        assert_eq!(wanted.len(), 2, "{wanted:?}");
        assert_eq!(wanted[1].key.group, "apps");
        assert!(wanted[1].place.to_string().ends_with("a.yaml:7"));
        let field = [Step::Key("metadata".into()), Step::Key("name".into())];
        assert!(wanted[1].place.of_field(&field).ends_with("a.yaml:9"));
    }

    #[test]
    fn items_of_a_list_have_lines_of_their_own() {
        let text = "apiVersion: v1\nkind: List\nitems:\n- apiVersion: v1\n  kind: ConfigMap\n  metadata: {name: a}\n- apiVersion: v1\n  kind: ConfigMap\n  metadata: {name: b}\n";
        let (wanted, _) = read_text(text);
        assert!(wanted[1].place.to_string().ends_with("a.yaml:7"));
    }

    #[test]
    fn all_problems_are_told_at_once() {
        let problems = problems(
            "kind: ConfigMap\n---\napiVersion: v1\nkind: Secret\nmetadata: {name: a}\n---\napiVersion: v1\nkind: Secret\nmetadata: {name: a}\n",
        );
        assert_eq!(problems.len(), 2, "{problems:?}");
        assert!(
            problems[0]
                .contains("a.yaml:1: not a Kubernetes object: it has no apiVersion and no metadata.name"),
            "{problems:?}"
        );
        assert!(problems[1].contains("stands already in"), "{problems:?}");
    }

    #[test]
    fn a_key_that_stands_twice_is_a_problem() {
        let found = problems("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata:\n  a: x\n  a: y\n");
        assert!(found[0].contains("a.yaml:6: "), "{found:?}");
    }

    #[test]
    fn what_follows_a_star_is_not_told() {
        let found = problems("password: *geheim\n");
        assert!(
            !found[0].contains("geheim") && found[0].contains("a.yaml:1: "),
            "{found:?}"
        );
    }

    #[cfg(unix)]
    #[test]
    fn links_are_left_out() {
        let folder = tempfile::tempdir().unwrap();
        std::os::unix::fs::symlink("/dev/zero", folder.path().join("zero.yaml")).unwrap();
        std::os::unix::fs::symlink("/", folder.path().join("root")).unwrap();
        let listing = list(folder.path()).unwrap();
        assert!(listing.files.is_empty());
        assert_eq!(listing.left_out, [folder.path().join("zero.yaml")]);
    }
}
