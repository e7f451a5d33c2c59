//! The files of a chart, as far as its kustomization may read them. Links are followed as helm follows them, and a chart prints its files
//! if it likes: one that comes with a repository could show those of whoever builds it.

use std::cell::RefCell;
use std::io::{self, Cursor, Read};

use helm::chart::{Entry, FileTree};
use kustomize::helm::Request;

use crate::commands::path::cleaned;

/// How deep directories may be nested: links can lead anywhere.
const MAX_DEPTH: usize = 64;
/// How many files and directories a chart may have; what `.helmignore` names counts too.
const MAX_ENTRIES: usize = 100_000;

/// A path below another one, or from the root of the tree on.
pub(super) fn joined(below: &str, path: &str) -> String {
    match path.starts_with('/') {
        true => cleaned(path),
        false => cleaned(&format!("{below}/{path}")),
    }
}

fn is_within(path: &str, folder: &str) -> bool {
    folder.is_empty()
        || path == folder
        || path
            .strip_prefix(folder)
            .is_some_and(|rest| rest.starts_with('/'))
}

/// A chart in the tree of a build.
pub(super) struct Files<'f, 'r> {
    request: &'f Request<'r>,
    /// Where the chart is.
    chart: &'f str,
    /// What is below these may be read.
    homes: Vec<String>,
    /// Why the first file that may not be read may not.
    refused: RefCell<Option<String>>,
}

impl<'f, 'r> Files<'f, 'r> {
    /// The chart at a path of the tree. Its files must be in it, in the directory of charts if that is the kustomization's own, or be what the
    /// kustomization may read itself.
    pub(super) fn new(request: &'f Request<'r>, chart: &'f str) -> Self {
        // The kustomization says where it is: what is elsewhere is not its own.
        let home = joined(request.root, &request.globals.chart_home);
        let home = Some(home).filter(|home| is_within(home, request.root));
        // A chart that links lead to is not where the kustomization says.
        let own = request.tree.resolve(chart).filter(|own| own == chart);
        Files {
            request,
            chart,
            homes: home.into_iter().chain(own).collect(),
            refused: RefCell::new(None),
        }
    }

    /// Why a file of the chart may not be read, if one was asked for.
    pub(super) fn refused(self) -> Option<String> {
        self.refused.into_inner()
    }

    fn path(&self, name: &str) -> String {
        match name {
            "" => self.chart.to_owned(),
            name => format!("{}/{name}", self.chart),
        }
    }

    fn collect(&self, prefix: &str, above: &mut Vec<String>, found: &mut Vec<Entry>) -> io::Result<()> {
        let tree = self.request.tree;
        let path = self.path(prefix);
        let nothing = || io::Error::other(format!("{}: there is no such directory", tree.show(&path)));
        let real = tree.resolve(&path).ok_or_else(nothing)?;
        if above.contains(&real) || above.len() > MAX_DEPTH {
            let problem = format!("{}: links lead in a circle", tree.show(&path));
            return Err(io::Error::other(problem));
        }
        above.push(real);
        let names = tree.names_in(&path).map_err(io::Error::other)?;
        for name in names.ok_or_else(nothing)? {
            let name = match prefix {
                "" => name,
                prefix => format!("{prefix}/{name}"),
            };
            if found.len() == MAX_ENTRIES {
                return Err(io::Error::other(format!("it has more than {MAX_ENTRIES} files")));
            }
            let is_directory = tree.is_dir(&self.path(&name));
            found.push(Entry {
                path: name.clone(),
                is_directory,
            });
            if is_directory {
                self.collect(&name, above, found)?;
            }
        }
        above.pop();
        Ok(())
    }
}

impl FileTree for Files<'_, '_> {
    fn entries(&self) -> io::Result<Vec<Entry>> {
        let mut found = Vec::new();
        self.collect("", &mut Vec::new(), &mut found)?;
        Ok(found)
    }

    fn open(&self, name: &str) -> io::Result<Box<dyn Read + '_>> {
        let tree = self.request.tree;
        let path = self.path(name);
        let real = tree.resolve(&path);
        // What was looked at is what is read: a link that is changed in between changes nothing.
        if let Some(real) = real.filter(|real| self.homes.iter().any(|home| is_within(real, home))) {
            let content = tree.read(&real).map_err(io::Error::other)?;
            let content = content.ok_or_else(|| io::Error::from(io::ErrorKind::NotFound))?;
            return Ok(Box::new(Cursor::new(content)));
        }
        match self.request.load(&format!("/{path}")) {
            Ok(content) => Ok(Box::new(Cursor::new(content))),
            Err(problem) => {
                self.refused.borrow_mut().get_or_insert_with(|| problem.clone());
                Err(io::Error::other(problem))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_never_leave_the_tree() {
        assert_eq!(joined("a/b", "charts/./web"), "a/b/charts/web");
        assert_eq!(joined("a/b", "../../../c"), "c");
        assert_eq!(joined("a/b", "/c/../d"), "d");
        assert!(is_within("a/b", "a") && is_within("a", "a") && is_within("a", ""));
        assert!(!is_within("ab", "a") && !is_within("a", "a/b"));
    }
}
