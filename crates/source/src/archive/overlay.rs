//! A tree with parts of other trees put into it.

use std::collections::BTreeMap;
use std::io::{self, Read};

use super::tree::{Entry, Kind, Tree};

/// A tree with parts of other trees put into it. Nothing gets out of it: a path that leads above the root stays there.
pub struct Overlay {
    trees: Vec<Box<dyn Tree + Send>>,
    /// By the parts of the path, so that they stand in the order of trees.
    nodes: BTreeMap<Vec<String>, Node>,
}

struct Node {
    kind: Kind,
    /// Which tree has it, and where.
    tree: usize,
    path: String,
}

/// Why something cannot be put into a tree.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The tree cannot be read.
    #[error("the files cannot be listed")]
    List(#[source] io::Error),
    /// There is nothing to put in.
    #[error("there is no file or directory '{0}': correct the path")]
    Missing(String),
    /// There is something already.
    #[error("there is something at '{0}' already: choose another path")]
    Taken(String),
    /// A file is in the way.
    #[error("'{0}' is a file and can hold nothing: choose another path")]
    File(String),
}

impl Overlay {
    /// A tree as it is.
    ///
    /// # Errors
    /// Where it cannot be listed.
    pub fn new(base: impl Tree + Send + 'static) -> Result<Self, Error> {
        let entries = base.entries().map_err(Error::List)?;
        let nodes = entries.into_iter().map(|entry| {
            let node = Node {
                kind: entry.kind,
                tree: 0,
                path: entry.path.clone(),
            };
            (parts(&entry.path), node)
        });
        Ok(Overlay {
            nodes: nodes.collect(),
            trees: vec![Box::new(base)],
        })
    }

    /// Puts what is at `from` of another tree to `to`: a directory where there is none or an empty one, a file also in the
    /// place of a file.
    ///
    /// # Errors
    /// As [`Error`] says; the tree is then as it was.
    pub fn put(&mut self, to: &str, tree: impl Tree + Send + 'static, from: &str) -> Result<(), Error> {
        let (to, from) = (parts(to), parts(from));
        let entries = tree.entries().map_err(Error::List)?;
        let entries: Vec<(Vec<String>, Entry)> = entries
            .into_iter()
            .map(|entry| (parts(&entry.path), entry))
            .filter(|(path, _)| path.starts_with(&from))
            .collect();
        let root = entries.iter().find(|(path, _)| *path == from);
        let kind = match root {
            Some((_, entry)) => entry.kind,
            None if from.is_empty() => Kind::Directory,
            None => return Err(Error::Missing(from.join("/"))),
        };
        self.check(&to, kind)?;
        let number = self.trees.len();
        let above = (1..to.len()).map(|length| (to[..length].to_vec(), Kind::Directory, String::new()));
        let root = (!to.is_empty()).then(|| (to.clone(), kind, from.join("/")));
        let below = entries.iter().filter(|(path, _)| path.len() > from.len());
        let below = below.map(|(path, entry)| {
            let path = to.iter().chain(&path[from.len()..]).cloned().collect();
            (path, entry.kind, entry.path.clone())
        });
        for (at, kind, path) in above.chain(root).chain(below) {
            let node = Node {
                kind,
                tree: number,
                path,
            };
            let known = self.nodes.get(&at).map(|known| known.kind);
            if known != Some(Kind::Directory) {
                self.nodes.insert(at, node);
            }
        }
        self.trees.push(Box::new(tree));
        Ok(())
    }

    /// Whether something of a kind can be put to a path.
    fn check(&self, to: &[String], kind: Kind) -> Result<(), Error> {
        for length in 1..to.len() {
            let above = self.nodes.get(&to[..length]);
            if above.is_some_and(|above| above.kind != Kind::Directory) {
                return Err(Error::File(to[..length].join("/")));
            }
        }
        let is_file = |kind: Kind| kind != Kind::Directory;
        let there = match to.is_empty() {
            true => Some(Kind::Directory),
            false => self.nodes.get(to).map(|node| node.kind),
        };
        let is_empty = || {
            !self
                .nodes
                .keys()
                .any(|path| path.len() > to.len() && path.starts_with(to))
        };
        let fits = match there {
            None => true,
            Some(there) if is_file(there) => is_file(kind),
            Some(_) => !is_file(kind) && is_empty(),
        };
        fits.then_some(()).ok_or_else(|| Error::Taken(to.join("/")))
    }

    fn node(&self, path: &str) -> io::Result<&Node> {
        let missing = || io::Error::new(io::ErrorKind::NotFound, format!("{path}: no such file"));
        self.nodes.get(&parts(path)).ok_or_else(missing)
    }
}

/// The parts of a path from the root on.
fn parts(path: &str) -> Vec<String> {
    let mut parts: Vec<String> = Vec::new();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => drop(parts.pop()),
            part => parts.push(part.to_owned()),
        }
    }
    parts
}

impl Tree for Overlay {
    fn entries(&self) -> io::Result<Vec<Entry>> {
        let nodes = self.nodes.iter();
        Ok(nodes
            .map(|(path, node)| Entry {
                path: path.join("/"),
                kind: node.kind,
            })
            .collect())
    }

    fn open(&self, path: &str) -> io::Result<Box<dyn Read + '_>> {
        let node = self.node(path)?;
        self.trees[node.tree].open(&node.path)
    }

    fn size(&self, path: &str) -> io::Result<Option<u64>> {
        let node = self.node(path)?;
        self.trees[node.tree].size(&node.path)
    }
}

#[cfg(test)]
mod tests {
    use super::super::MemoryTree;
    use super::*;

    fn base() -> Overlay {
        Overlay::new(MemoryTree::new().with("a/x", "1").with("b", "2")).unwrap()
    }

    fn other() -> MemoryTree {
        MemoryTree::new()
            .with("deploy/app.yaml", "app")
            .with_executable("deploy/run/start.sh", "start")
            .with("readme", "text")
    }

    fn shown(tree: &Overlay) -> Vec<String> {
        let entries = tree.entries().unwrap().into_iter();
        let show = |entry: Entry| match entry.kind {
            Kind::Directory => format!("{}/", entry.path),
            Kind::File { executable } => {
                let mut text = String::new();
                tree.open(&entry.path).unwrap().read_to_string(&mut text).unwrap();
                let size = tree.size(&entry.path).unwrap();
                assert_eq!(size, Some(text.len() as u64));
                format!("{}{}={text}", entry.path, if executable { "*" } else { "" })
            }
        };
        entries.map(show).collect()
    }

    #[test]
    fn a_part_of_a_tree_is_put_into_another() {
        let mut tree = base();
        tree.put("apps/other", other(), "./deploy/").unwrap();
        assert_eq!(
            shown(&tree),
            [
                "a/",
                "a/x=1",
                "apps/",
                "apps/other/",
                "apps/other/app.yaml=app",
                "apps/other/run/",
                "apps/other/run/start.sh*=start",
                "b=2"
            ]
        );
        tree.put("b", other(), "readme").unwrap();
        assert!(
            shown(&tree).contains(&"b=text".to_owned()),
            "a file replaces a file"
        );
    }

    #[test]
    fn nothing_is_put_where_something_is_or_out_of_the_tree() {
        let mut tree = base();
        let before = shown(&tree);
        assert!(matches!(tree.put("a", other(), ""), Err(Error::Taken(_))));
        assert!(matches!(tree.put("/", other(), ""), Err(Error::Taken(_))));
        assert!(matches!(tree.put("b", other(), ""), Err(Error::Taken(_))));
        assert!(matches!(tree.put("a", other(), "readme"), Err(Error::Taken(_))));
        assert!(matches!(tree.put("b/c", other(), ""), Err(Error::File(_))));
        assert!(matches!(
            tree.put("c", other(), "nothing"),
            Err(Error::Missing(_))
        ));
        assert_eq!(shown(&tree), before);
        tree.put("../../c", other(), "../readme").unwrap();
        assert!(shown(&tree).contains(&"c=text".to_owned()));
    }
}
