//! Trees of kustomizations, in parts that can be left out.

use std::path::Path;

use kustomize::Memory;

use super::dice::Dice;
use super::layer::{self, Layer};
use super::{beside, object};

/// A file; its text is that of its parts.
#[derive(Clone)]
pub(super) struct File {
    pub(super) path: String,
    between: &'static str,
    pub(super) parts: Vec<Vec<u8>>,
}

impl File {
    fn of(path: &str, parts: Vec<String>, between: &'static str) -> File {
        File {
            path: path.to_owned(),
            between,
            parts: parts.into_iter().map(String::into_bytes).collect(),
        }
    }

    fn content(&self) -> Vec<u8> {
        self.parts.join(self.between.as_bytes())
    }
}

/// A resource of a layer. Without brackets: the README says what differs with them.
const OWN: &str = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: own-NAME\ndata:\n  a: b\n";

/// A resource as JSON.
const MORE: &str = "{\n  \"apiVersion\": \"v1\",\n  \"kind\": \"Service\",\n  \"metadata\": {\"name\": \"more\", \"annotations\": {\"a\": \"1.50\"}},\n  \"spec\": {\"v\": 1e3, \"ports\": []}\n}\n";

/// A tree whose kustomization to be built is in `over`.
#[derive(Clone)]
pub(super) struct Tree(pub(super) Vec<File>);

impl Tree {
    pub(super) fn new(seed: u64) -> Tree {
        let dice = &mut Dice::new(seed);
        let mut files = Vec::new();
        let components: &[&str] = dice.pick(&[
            &[][..],
            &[],
            &[],
            &["../comp"],
            &["../comp"],
            &["../outer"],
            &["../outer", "../second"],
        ]);
        let bases: &[&str] = dice.pick(&[
            &["../base"][..],
            &["../base"],
            &["../base"],
            &["../mid"],
            &["../mid"],
            &["../mid", "../other"],
            &["../mid", "own.yaml"],
            &["more.json", "../base"],
        ]);
        for (place, layer) in [
            ("base", Layer::base(&["r.yaml"])),
            ("other", Layer::over(&["../base"], &[])),
            (
                "mid",
                Layer::over(&["../base"], dice.pick(&[&[][..], &[], &["../comp"]])),
            ),
            (
                "comp",
                Layer::component(dice.pick(&[&[][..], &[], &["own.yaml"]]), &[]),
            ),
            ("second", Layer::component(&[], &[])),
            ("outer", Layer::component(&[], &["../comp"])),
            ("over", Layer::over(bases, components)),
        ] {
            let fields = layer::fields(dice, &layer);
            files.push(File::of(&format!("{place}/kustomization.yaml"), fields, ""));
            for (name, documents) in beside::files(dice) {
                files.push(File::of(&format!("{place}/{name}"), documents, "\n---\n"));
            }
            files.push(File::of(
                &format!("{place}/own.yaml"),
                vec![OWN.replace("NAME", place)],
                "",
            ));
            files.push(File::of(&format!("{place}/more.json"), vec![MORE.to_owned()], ""));
            files.push(File {
                path: format!("{place}/bin.dat"),
                between: "",
                parts: vec![vec![0, 1, 0xff, 0xfe]],
            });
        }
        files.push(File::of("base/r.yaml", object::documents(dice), "---\n"));
        let mut tree = Tree(files);
        tree.drop_unused();
        tree
    }

    /// Leaves out the files that nothing names, which would only take time.
    fn drop_unused(&mut self) {
        let mut used = vec!["over/kustomization.yaml".to_owned()];
        let mut seen = 0;
        while let Some(path) = used.get(seen).cloned() {
            seen += 1;
            let Some(file) = self.0.iter().find(|file| file.path == path) else {
                continue;
            };
            let text = String::from_utf8_lossy(&file.content()).into_owned();
            let (place, _) = path.split_once('/').unwrap_or((&path, ""));
            for other in &self.0 {
                let (there, name) = other.path.split_once('/').unwrap_or((&other.path, ""));
                let named = match name {
                    "kustomization.yaml" => text.contains(&format!("../{there}")),
                    _ if name.starts_with("plugs/") => there == place && text.contains("plugs"),
                    _ => there == place && text.contains(name),
                };
                if named && !used.contains(&other.path) {
                    used.push(other.path.clone());
                }
            }
        }
        self.0.retain(|file| used.contains(&file.path));
    }

    pub(super) fn in_memory(&self) -> Memory {
        let mut memory = Memory::new();
        for file in &self.0 {
            memory.insert(&file.path, file.content());
        }
        memory
    }

    /// Writes the tree to a folder.
    pub(super) fn write(&self, folder: &Path) {
        for file in &self.0 {
            let path = folder.join(&file.path);
            let parent = path.parent().expect("it is in a folder");
            std::fs::create_dir_all(parent).expect("a folder can be made");
            std::fs::write(&path, file.content()).expect("a file can be written");
        }
    }

    /// What the tree consists of, without what no kustomization of it uses.
    pub(super) fn shown(&self) -> String {
        let shown = self.0.iter().filter(|file| !file.parts.is_empty());
        shown
            .map(|file| {
                format!(
                    "=== {}\n{}\n",
                    file.path,
                    String::from_utf8_lossy(&file.content())
                )
            })
            .collect()
    }

    /// Leaves out what the lines of kustomizations say that are told to be wrong, or anything if none is.
    pub(super) fn without_told(&mut self, told: &str, seed: u64) {
        let mut found = false;
        for file in self
            .0
            .iter_mut()
            .filter(|file| file.path.ends_with("kustomization.yaml"))
        {
            let lines: Vec<usize> = told
                .split(&format!("{}:", file.path))
                .skip(1)
                .filter_map(|rest| {
                    rest.split(|letter: char| !letter.is_ascii_digit())
                        .next()?
                        .parse()
                        .ok()
                })
                .collect();
            let mut line = 1;
            file.parts.retain(|part| {
                let first = line;
                line += part.iter().filter(|byte| **byte == b'\n').count();
                let wrong =
                    !part.starts_with(b"resources:") && lines.iter().any(|told| (first..line).contains(told));
                found |= wrong;
                !wrong
            });
        }
        if !found {
            let dice = &mut Dice::new(seed);
            let mut left: Vec<&mut File> = self
                .0
                .iter_mut()
                .filter(|file| file.path.ends_with("kustomization.yaml") && file.parts.len() > 2)
                .collect();
            if !left.is_empty() {
                let file = dice.below(left.len());
                let part = 1 + dice.below(left[file].parts.len() - 1);
                left[file].parts.remove(part);
            }
        }
    }

    /// The trees with one part less.
    pub(super) fn smaller(&self) -> Vec<Tree> {
        let mut trees = Vec::new();
        for (at, file) in self.0.iter().enumerate() {
            for part in 0..file.parts.len() {
                let mut tree = self.clone();
                tree.0[at].parts.remove(part);
                trees.push(tree);
            }
        }
        trees
    }
}
