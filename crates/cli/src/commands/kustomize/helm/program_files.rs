//! Whether helm may read the files of a chart. It follows links, and a chart prints its files if it likes: one that comes with a
//! repository could show those of whoever builds it.

use std::collections::HashSet;
use std::fs;
use std::path::{Component, Path, PathBuf};

use kustomize::helm::Request;

/// Sees that all files of a chart are in it, in the directory of charts if that is the kustomization's own, or are what it may read itself.
///
/// # Errors
/// Names the first that is not.
pub(super) fn check(request: &Request<'_>, root: &Path, chart: &Path) -> Result<(), String> {
    let given = root;
    let root = fs::canonicalize(given).map_err(|error| format!("{}: {error}", given.display()))?;
    // The kustomization says where it is: what is elsewhere is not its own.
    let home = cleaned(&root.join(&request.globals.chart_home));
    let home = Some(home).filter(|home| home.starts_with(&root));
    // A chart that links lead to is not where the kustomization says.
    let plain = chart
        .strip_prefix(given)
        .map_or(chart.to_owned(), |rest| root.join(rest));
    let own = fs::canonicalize(chart).ok().filter(|own| *own == cleaned(&plain));
    let mut walk = Walk {
        request,
        homes: home.into_iter().chain(own).collect(),
        seen: HashSet::new(),
    };
    walk.folder(chart)
        .map_err(|problem| format!("chart '{}': {problem}", request.chart.name))
}

/// The path without `.` and `..`. Links in it are not followed: they are for the chart to say, not for where it is.
fn cleaned(path: &Path) -> PathBuf {
    let mut cleaned = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => drop(cleaned.pop()),
            Component::CurDir => {}
            part => cleaned.push(part),
        }
    }
    cleaned
}

struct Walk<'w, 'r> {
    request: &'w Request<'r>,
    /// What is below these may be read.
    homes: Vec<PathBuf>,
    /// Directories, with links followed, which may lead in circles.
    seen: HashSet<PathBuf>,
}

impl Walk<'_, '_> {
    fn folder(&mut self, folder: &Path) -> Result<(), String> {
        // What is not there, or may not be looked at, is for helm to tell.
        let Ok(found) = fs::canonicalize(folder) else {
            return Ok(());
        };
        if !self.seen.insert(found) {
            return Ok(());
        }
        let Ok(entries) = fs::read_dir(folder) else {
            return Ok(());
        };
        let mut paths: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
        paths.sort();
        for path in paths {
            match fs::metadata(&path) {
                Ok(metadata) if metadata.is_dir() => self.folder(&path)?,
                Ok(_) => self.file(&path)?,
                Err(_) => {}
            }
        }
        Ok(())
    }

    fn file(&self, file: &Path) -> Result<(), String> {
        let found = fs::canonicalize(file);
        if found.is_ok_and(|found| self.homes.iter().any(|home| found.starts_with(home))) {
            return Ok(());
        }
        let name = file.to_str().ok_or("the path of a file is not UTF-8")?;
        self.request.load(name).map(drop)
    }
}
