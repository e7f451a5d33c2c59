//! Reading files from where a kustomization is.

use std::rc::Rc;

use super::encoding::{self, NoText};
use crate::generator::FileLoader;
use crate::options::{LoadRestrictor, Options};
use crate::remote::{RepoSpec, is_remote_file};
use crate::tree::{Tree, path};

/// The place of a kustomization: what it may read, and from where.
#[derive(Clone)]
pub(crate) struct Loader<'b> {
    tree: Source<'b>,
    /// The directory of the kustomization.
    pub(crate) root: String,
    restrictor: LoadRestrictor,
    options: &'b Options<'b>,
    /// The places that led here.
    referrer: Option<Rc<Loader<'b>>>,
    /// The repository, if the files are not those of the build itself.
    repository: Option<Rc<RepoSpec>>,
    depth: usize,
}

#[derive(Clone)]
enum Source<'b> {
    Given(&'b dyn Tree),
    Fetched(Rc<dyn Tree>),
}

/// So deeply kustomizations may be nested. Nobody nests a tenth of it.
const MAX_DEPTH: usize = 64;

impl<'b> Loader<'b> {
    pub(crate) fn new(tree: &'b dyn Tree, root: &str, options: &'b Options<'b>) -> Result<Self, String> {
        let root = path::clean(root);
        let found = (!path::escapes(&root)).then(|| tree.resolve(&root)).flatten();
        let Some(root) = found.filter(|found| tree.is_dir(found)) else {
            return Err(format!(
                "must build at directory: not a valid directory: '{}'",
                tree.show(&root)
            ));
        };
        Ok(Loader {
            tree: Source::Given(tree),
            root,
            restrictor: options.load_restrictor,
            options,
            referrer: None,
            repository: None,
            depth: 0,
        })
    }

    pub(crate) fn tree(&self) -> &dyn Tree {
        match &self.tree {
            Source::Given(tree) => *tree,
            Source::Fetched(tree) => tree.as_ref(),
        }
    }

    /// A path from here as it is shown to people.
    pub(crate) fn show(&self, name: &str) -> String {
        if is_remote_file(name) {
            return name.to_owned();
        }
        self.shown(&self.wanted(name))
    }

    /// A path in the tree as it is shown to people: in another repository, with the URL of that.
    fn shown(&self, path: &str) -> String {
        match &self.repository {
            Some(spec) if path.is_empty() => spec.clone_url(),
            Some(spec) => format!("{}//{path}", spec.clone_url()),
            None => self.tree().show(path),
        }
    }

    /// The path in the tree that a name means.
    fn wanted(&self, name: &str) -> String {
        let wanted = if name.starts_with('/') {
            path::clean(name)
        } else {
            path::join(&self.root, name)
        };
        self.at_top(wanted)
    }

    /// Nothing is above the root of a file system: there it is the root itself that `..` leads to.
    fn at_top(&self, wanted: String) -> String {
        if path::escapes(&wanted) && self.tree().is_file_system() {
            return wanted
                .trim_start_matches("../")
                .trim_start_matches("..")
                .to_owned();
        }
        wanted
    }

    /// Whether there is something of this name.
    pub(crate) fn is_there(&self, name: &str) -> bool {
        let wanted = self.wanted(name);
        let tree = self.tree();
        !path::escapes(&wanted) && (tree.resolve(&wanted).is_some() || tree.why_missing(&wanted).is_some())
    }

    /// The place of another kustomization.
    pub(crate) fn enter(self: &Rc<Self>, name: &str) -> Result<Loader<'b>, String> {
        if name.is_empty() {
            return Err("new root cannot be empty".to_owned());
        }
        if self.depth >= MAX_DEPTH {
            return Err(format!("kustomizations are nested more than {MAX_DEPTH} deep"));
        }
        if let Some(spec) = RepoSpec::parse(name) {
            return self.enter_repository(spec);
        }
        if name.starts_with('/') {
            return Err(format!("new root '{name}' cannot be absolute"));
        }
        let wanted = self.at_top(path::join(&self.root, name));
        let tree = self.tree();
        let found = if path::escapes(&wanted) {
            None
        } else {
            tree.resolve(&wanted)
        };
        let Some(root) = found.filter(|found| tree.is_dir(found)) else {
            return Err(format!(
                "must build at directory: not a valid directory: '{}'",
                self.shown(&wanted)
            ));
        };
        self.check_cycle(&root)?;
        Ok(Loader {
            tree: self.tree.clone(),
            root,
            restrictor: self.restrictor,
            options: self.options,
            referrer: Some(Rc::clone(self)),
            repository: self.repository.clone(),
            depth: self.depth + 1,
        })
    }

    fn enter_repository(self: &Rc<Self>, spec: RepoSpec) -> Result<Loader<'b>, String> {
        let mut visited = Some(self);
        while let Some(loader) = visited {
            if let Some(known) = &loader.repository
                && known.raw.starts_with(&spec.raw)
            {
                return Err(format!(
                    "cycle detected: URI '{}' referenced by previous URI '{}'",
                    spec.raw, known.raw
                ));
            }
            visited = loader.referrer.as_ref();
        }
        let Some(fetcher) = self.options.fetcher else {
            return Err(format!("remote bases are not allowed here: '{}'", spec.raw));
        };
        let tree: Rc<dyn Tree> = fetcher.repository(&spec)?.into();
        let found = tree.resolve(&spec.path).filter(|found| tree.is_dir(found));
        let Some(root) = found else {
            return Err(format!("'{}' is no directory of '{}'", spec.path, spec.raw));
        };
        Ok(Loader {
            tree: Source::Fetched(tree),
            root,
            // What was fetched never reads beyond its own directory.
            restrictor: LoadRestrictor::RootOnly,
            options: self.options,
            referrer: Some(Rc::clone(self)),
            repository: Some(Rc::new(spec)),
            depth: self.depth + 1,
        })
    }

    /// A kustomization that contains one that led here would never come to an end.
    fn check_cycle(&self, root: &str) -> Result<(), String> {
        let mut visited = Some(self);
        while let Some(loader) = visited {
            if loader.repository.as_ref().map(|spec| &spec.raw)
                != self.repository.as_ref().map(|spec| &spec.raw)
            {
                return Ok(());
            }
            if path::is_within(&loader.root, root) {
                return Err(format!(
                    "cycle detected: candidate root '{}' contains visited root '{}'",
                    self.shown(root),
                    self.shown(&loader.root)
                ));
            }
            visited = loader.referrer.as_deref();
        }
        Ok(())
    }

    /// The content of a file, whose path is relative to the kustomization.
    pub(crate) fn load(&self, name: &str) -> Result<Vec<u8>, String> {
        if is_remote_file(name) {
            return match self.options.fetcher {
                Some(fetcher) => fetcher.file(name),
                None => Err(format!("remote files are not allowed here: '{name}'")),
            };
        }
        let wanted = self.wanted(name);
        let tree = self.tree();
        let missing = || format!("open {}: {}", self.shown(&wanted), why_missing(tree, &wanted));
        if path::escapes(&wanted) {
            return Err(missing());
        }
        let found = tree.resolve(&wanted).ok_or_else(missing)?;
        if tree.is_dir(&found) {
            return Err(format!("'{}' must resolve to a file", self.shown(&wanted)));
        }
        if self.restrictor == LoadRestrictor::RootOnly && !path::is_within(path::parent(&found), &self.root) {
            return Err(format!(
                "security; file '{}' is not in or below '{}'",
                self.shown(&wanted),
                self.shown(&self.root)
            ));
        }
        let content = tree.read(&found)?.ok_or_else(missing)?;
        Ok(content.into_owned())
    }

    /// The same as text.
    pub(crate) fn load_text(&self, name: &str) -> Result<String, String> {
        let content = self.load(name)?;
        encoding::text(content)
            .map_err(|NoText { line, message }| format!("{}:{line}: {message}", self.show(name)))
    }
}

fn why_missing(tree: &dyn Tree, path: &str) -> String {
    let why = (!path::escapes(path)).then(|| tree.why_missing(path)).flatten();
    why.unwrap_or_else(|| "no such file or directory".to_owned())
}

impl FileLoader for Loader<'_> {
    fn load(&self, path: &str) -> Result<Vec<u8>, String> {
        Loader::load(self, path)
    }
}
