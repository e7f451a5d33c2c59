//! Trees of kustomizations, in parts that can be left out.

use std::path::Path;

use kustomize::Memory;

use super::dice::Dice;
use super::layer::{self, Layer};
use super::{edit, object};

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

/// A tree whose kustomization to be built is in `over`.
#[derive(Clone)]
pub(super) struct Tree(pub(super) Vec<File>);

impl Tree {
    pub(super) fn new(seed: u64) -> Tree {
        let dice = &mut Dice::new(seed);
        let mut files = Vec::new();
        let component: &[&str] = if dice.chance(30) { &["../comp"] } else { &[] };
        let bases: &[&str] = match dice.below(8) {
            0..=3 => &["../base"],
            4 | 5 => &["../mid"],
            6 => &["../mid", "../other"],
            _ => &["../mid", "own.yaml"],
        };
        let places: [(&str, Layer<'_>); 5] = [
            (
                "base",
                Layer {
                    resources: &["r.yaml"],
                    components: &[],
                    is_base: true,
                    is_component: false,
                },
            ),
            (
                "other",
                Layer {
                    resources: &["../base"],
                    components: &[],
                    is_base: false,
                    is_component: false,
                },
            ),
            (
                "mid",
                Layer {
                    resources: &["../base"],
                    components: &[],
                    is_base: false,
                    is_component: false,
                },
            ),
            (
                "comp",
                Layer {
                    resources: &[],
                    components: &[],
                    is_base: false,
                    is_component: true,
                },
            ),
            (
                "over",
                Layer {
                    resources: bases,
                    components: component,
                    is_base: false,
                    is_component: false,
                },
            ),
        ];
        for (place, layer) in &places {
            files.push(File::of(
                &format!("{place}/kustomization.yaml"),
                layer::fields(dice, layer),
                "",
            ));
            files.push(File::of(
                &format!("{place}/p.yaml"),
                vec![edit::strategic(dice)],
                "",
            ));
            for (name, text) in [
                ("f.txt", "line\nmore\n"),
                ("x.env", "E=1\n# c\nF=a b\n"),
                ("specs.yaml", edit::SPECS),
                ("more-specs.yaml", edit::MORE_SPECS),
            ] {
                files.push(File::of(&format!("{place}/{name}"), vec![text.to_owned()], ""));
            }
            files.push(File {
                path: format!("{place}/bin.dat"),
                between: "",
                parts: vec![vec![0, 1, 0xff, 0xfe]],
            });
        }
        files.push(File::of("base/r.yaml", object::documents(dice), "---\n"));
        files.push(File::of(
            "over/own.yaml",
            // Without brackets: the README says what differs with them.
            vec!["apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: own\ndata:\n  a: b\n".to_owned()],
            "",
        ));
        Tree(files)
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
        let usual = |file: &&File| {
            !file.path.ends_with("specs.yaml")
                && !file.path.ends_with(".env")
                && !file.path.ends_with(".dat")
                && !file.path.ends_with(".txt")
        };
        let shown = self.0.iter().filter(usual).filter(|file| !file.parts.is_empty());
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
