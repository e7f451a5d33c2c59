//! Where objects stand in the files: so that what is said of them can be told with file and line.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use bytes::Bytes;
use model::{ObjectKey, Value};
use yaml::Step;

use super::tree::{Files, is_manifest};
use crate::commands::path::cleaned;

/// The objects of all files.
#[derive(Default)]
pub(super) struct Index {
    files: BTreeMap<String, Arc<File>>,
}

struct File {
    content: Bytes,
    objects: Vec<Stands>,
}

/// Where an object stands in its file.
struct Stands {
    object: Value,
    key: ObjectKey,
    /// The number of the document in the file.
    document: usize,
    /// The way to the object inside of the document: lists have several.
    inside: Vec<Step>,
}

/// The names that a kustomization file can have.
const KUSTOMIZATIONS: [&str; 3] = ["kustomization.yaml", "kustomization.yml", "Kustomization"];

impl Index {
    /// Reads the files; those that have not changed are not read again.
    pub(super) fn of(files: &Files, before: &Index) -> Self {
        let mut index = Index::default();
        for (path, held) in files.0.iter().filter(|(path, _)| is_manifest(path)) {
            let known = before.files.get(path);
            let known = known.filter(|known| known.content.as_ptr() == held.content.as_ptr());
            let file = match known {
                Some(known) => Arc::clone(known),
                None => Arc::new(File::read(&held.content)),
            };
            index.files.insert(path.clone(), file);
        }
        index
    }

    /// Whether a path is that of a file with manifests.
    pub(super) fn has_file(&self, path: &str) -> bool {
        self.files.contains_key(path)
    }

    /// How many lines a file has.
    pub(super) fn lines(&self, path: &str) -> Option<usize> {
        let content = &self.files.get(path)?.content;
        let ends = content.iter().filter(|byte| **byte == b'\n').count();
        Some(ends + usize::from(!content.is_empty() && !content.ends_with(b"\n")))
    }

    /// The directories with a kustomization that no other takes in.
    pub(super) fn overlays(&self) -> Vec<String> {
        let kustomizations = self.files.iter().filter_map(|(path, file)| {
            let (folder, name) = path.rsplit_once('/')?;
            KUSTOMIZATIONS.contains(&name).then_some((folder, file))
        });
        let kustomizations: Vec<_> = kustomizations.collect();
        let taken: BTreeSet<String> = kustomizations
            .iter()
            .flat_map(|(folder, file)| file.takes_in(folder))
            .collect();
        let folders = kustomizations.into_iter().map(|(folder, _)| folder.to_owned());
        folders.filter(|folder| !taken.contains(folder)).collect()
    }

    /// Whether there is nothing to apply below a path: no object, and no kustomization that could make some.
    pub(super) fn is_empty(&self, below: &str) -> bool {
        let mut files = self.below(below);
        !files.any(|(path, file)| {
            let name = path.rsplit('/').next().unwrap_or_default();
            // A file that cannot be read is no reason to take the directory for an empty one.
            !file.objects.is_empty() || KUSTOMIZATIONS.contains(&name) || !file.is_readable()
        })
    }

    /// Whether objects of Flux that have others reconciled stand below a path.
    pub(super) fn has_flux_objects(&self, below: &str) -> bool {
        let mut objects = self.below(below).flat_map(|(_, file)| &file.objects);
        objects.any(|stands| {
            let key = &stands.key;
            let key = (key.group.as_str(), key.kind.as_str());
            key == (api::kustomize::GROUP, "Kustomization") || key == (api::helm::GROUP, "HelmRelease")
        })
    }

    /// The namespaces that stand in the files.
    pub(super) fn namespaces(&self) -> BTreeSet<String> {
        let objects = self.files.values().flat_map(|file| &file.objects);
        let namespaces =
            objects.filter(|stands| stands.key.group.is_empty() && stands.key.kind == "Namespace");
        namespaces.map(|stands| stands.key.name.to_string()).collect()
    }

    /// The directories right below a path in which something stands.
    pub(super) fn directories(&self, below: &str) -> Vec<String> {
        let prefix = format!("{}/", below.trim_matches('/'));
        let inside = self.files.keys().filter_map(|path| path.strip_prefix(&prefix));
        let mut names: Vec<String> = inside
            .filter_map(|path| Some(path.split_once('/')?.0.to_owned()))
            .collect();
        names.dedup();
        names
    }

    fn below<'i>(&'i self, path: &str) -> impl Iterator<Item = (&'i String, &'i Arc<File>)> {
        let prefix = match path.trim_start_matches("./").trim_matches('/') {
            "" | "." => String::new(),
            path => format!("{path}/"),
        };
        let files = self.files.iter();
        files.filter(move |(path, _)| path.starts_with(&prefix))
    }

    /// Where an object stands, or the field of it that a text names: file and line. A build may have given it another name or
    /// namespace, and several files may speak of it: the one that has the field is taken.
    pub(super) fn place(&self, key: &ObjectKey, field: impl Fn(&Value) -> Vec<Step>) -> Option<String> {
        let candidates: Vec<_> = self.candidates(key);
        let whole = candidates.iter().find(|(_, stands)| {
            let steps = field(&stands.object);
            !steps.is_empty() && has(&stands.object, &steps)
        });
        let (path, stands) = whole.or(candidates.first())?;
        let steps: Vec<Step> = stands
            .inside
            .iter()
            .cloned()
            .chain(field(&stands.object))
            .collect();
        let content = &self.files.get(*path)?.content;
        let line = yaml::locate(content, stands.document, &steps).unwrap_or(1);
        Some(format!("{path}:{line}"))
    }

    /// As [`Index::place`], of an object whose group is not known.
    pub(super) fn place_of_kind(
        &self,
        key: &ObjectKey,
        field: impl Fn(&Value) -> Vec<Step>,
    ) -> Option<String> {
        let objects = self.files.values().flat_map(|file| &file.objects);
        let groups: BTreeSet<_> = objects
            .filter(|stands| stands.key.kind == key.kind)
            .map(|stands| stands.key.group.clone())
            .collect();
        let places = groups.into_iter().filter_map(|group| {
            let key = ObjectKey { group, ..key.clone() };
            self.place(&key, &field)
        });
        places.into_iter().next()
    }

    /// The objects that could be meant, the best guess first.
    fn candidates(&self, key: &ObjectKey) -> Vec<(&String, &Stands)> {
        let all = self.files.iter().flat_map(|(path, file)| {
            let objects = file.objects.iter();
            objects.map(move |stands| (path, stands))
        });
        let mut found: Vec<_> = all
            .filter_map(|(path, stands)| Some((nearness(&stands.key, key)?, path, stands)))
            .collect();
        found.sort_by_key(|(nearness, ..)| *nearness);
        let best = found.first().map(|(nearness, ..)| *nearness);
        let best = found.into_iter().filter(|(nearness, ..)| Some(*nearness) == best);
        best.map(|(_, path, stands)| (path, stands)).collect()
    }
}

/// How well what stands in a file fits to an object of the cluster; the least is the best.
fn nearness(stands: &ObjectKey, key: &ObjectKey) -> Option<u8> {
    if stands.kind != key.kind || stands.group != key.group || stands.name.is_empty() {
        return None;
    }
    match (stands.name == key.name, stands.namespace == key.namespace) {
        (true, true) => Some(0),
        (true, false) if stands.namespace.is_empty() => Some(1),
        (true, false) => Some(2),
        // With a prefix, a suffix or a hash.
        (false, _) if key.name.contains(stands.name.as_str()) => Some(3),
        (false, _) => None,
    }
}

/// Whether all but the last of the steps lead somewhere.
fn has(object: &Value, steps: &[Step]) -> bool {
    let mut here = Some(object);
    for step in steps {
        here = match (here, step) {
            (Some(value), Step::Key(key)) => value.get(key),
            (Some(value), Step::Item(at)) => value.as_array().and_then(|list| list.get(*at)),
            (None, _) => None,
        };
    }
    here.is_some()
}

impl File {
    fn read(content: &Bytes) -> Self {
        let mut objects = Vec::new();
        let text = String::from_utf8_lossy(content);
        for (document, read) in yaml::documents(&text).enumerate() {
            // What cannot be read is told by whoever builds it.
            let Ok(read) = read else { break };
            add(read.value, document, Vec::new(), &mut objects);
        }
        File {
            content: content.clone(),
            objects,
        }
    }

    /// What a kustomization in a directory takes in.
    fn takes_in(&self, folder: &str) -> Vec<String> {
        let text = String::from_utf8_lossy(&self.content);
        let Some(Ok(read)) = yaml::documents(&text).next() else {
            return Vec::new();
        };
        let fields = ["resources", "components", "bases"];
        let named = fields.iter().flat_map(|field| read.value.list_at(&[field]));
        let named = named.filter_map(Value::as_str);
        named.map(|path| cleaned(&format!("{folder}/{path}"))).collect()
    }

    fn is_readable(&self) -> bool {
        let text = String::from_utf8_lossy(&self.content);
        yaml::documents(&text).all(|document| document.is_ok())
    }
}

fn add(object: Value, document: usize, inside: Vec<Step>, objects: &mut Vec<Stands>) {
    let kind = object.str_at(&["kind"]);
    if kind.ends_with("List") && object.get("items").is_some() {
        for (number, item) in object.list_at(&["items"]).iter().enumerate() {
            let steps = [Step::Key("items".into()), Step::Item(number)];
            let inside = inside.iter().cloned().chain(steps).collect();
            add(item.clone(), document, inside, objects);
        }
        return;
    }
    if kind.is_empty() || object.str_at(&["apiVersion"]).is_empty() {
        return;
    }
    objects.push(Stands {
        key: ObjectKey::of(&object),
        object,
        document,
        inside,
    });
}

#[cfg(test)]
impl Index {
    /// That of these files.
    pub(super) fn of_texts(files: &[(&str, &str)]) -> Self {
        let root = tempfile::tempdir().unwrap();
        for (path, text) in files {
            let path = root.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        let tree = super::tree::WorkingTree::new(root.path());
        let files = tree.read(&tree.list().unwrap(), &Files::default()).unwrap();
        Index::of(&files, &Index::default())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn index(files: &[(&str, &str)]) -> Index {
        Index::of_texts(files)
    }

    fn key(kind: &str, namespace: &str, name: &str) -> ObjectKey {
        ObjectKey {
            group: "".into(),
            kind: kind.into(),
            namespace: namespace.into(),
            name: name.into(),
        }
    }

    const MAP: &str = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata:\n  x: y\n";

    #[test]
    fn objects_are_found_with_their_lines() {
        let second = MAP.replace("name: a", "name: b, namespace: n");
        let index = index(&[("a.yaml", &format!("{MAP}---\n# nothing\n---\n{second}"))]);
        let none = |_: &Value| Vec::new();
        assert_eq!(
            index.place(&key("ConfigMap", "n", "b"), none).as_deref(),
            Some("a.yaml:9")
        );
        let field = |_: &Value| vec![Step::Key("data".into()), Step::Key("x".into())];
        assert_eq!(
            index.place(&key("ConfigMap", "default", "a"), field).as_deref(),
            Some("a.yaml:5")
        );
        assert_eq!(index.place(&key("Secret", "n", "b"), none), None);
    }

    #[test]
    fn items_of_a_list_have_lines_of_their_own() {
        let text = "apiVersion: v1\nkind: List\nitems:\n- apiVersion: v1\n  kind: ConfigMap\n  metadata: {name: a}\n- apiVersion: v1\n  kind: ConfigMap\n  metadata: {name: b}\n";
        let index = index(&[("a.yaml", text)]);
        let place = index.place(&key("ConfigMap", "n", "b"), |_| Vec::new());
        assert_eq!(place.as_deref(), Some("a.yaml:7"));
    }

    #[test]
    fn of_several_files_the_one_that_has_the_field_is_named() {
        let patch = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\ndata:\n  z: y\n";
        let index = index(&[("base/a.yaml", MAP), ("dev/patch.yaml", patch)]);
        let place = |name: &str, field: &str| {
            let field = field.to_owned();
            index.place(&key("ConfigMap", "n", name), |_| {
                vec![Step::Key("data".into()), Step::Key(field.clone())]
            })
        };
        assert_eq!(place("a", "z").as_deref(), Some("dev/patch.yaml:6"));
        assert_eq!(place("dev-a", "x").as_deref(), Some("base/a.yaml:5"));
    }

    #[test]
    fn overlays_are_what_no_other_kustomization_takes_in() {
        let index = index(&[
            ("base/kustomization.yaml", "resources: [a.yaml]\n"),
            ("dev/kustomization.yaml", "resources: [../base]\n"),
            ("more/prod/kustomization.yml", "resources: [../../base/, web]\n"),
            ("more/prod/web/kustomization.yaml", "resources: []\n"),
        ]);
        assert_eq!(index.overlays(), ["dev", "more/prod"]);
    }

    #[test]
    fn a_directory_is_empty_when_nothing_could_come_of_it() {
        let index = index(&[
            ("a/notes.yaml", "# nothing\n"),
            ("b/kustomization.yaml", "resources: []\n"),
            ("c/broken.yaml", "a: [\n"),
            ("d/a.yaml", MAP),
        ]);
        assert!(index.is_empty("a") && index.is_empty("./a/"));
        assert!(!index.is_empty("b") && !index.is_empty("c") && !index.is_empty("d"));
        assert!(!index.is_empty("") && !index.is_empty("./"));
    }
}
