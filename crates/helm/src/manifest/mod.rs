//! What rendered files hold: manifests and hooks, each in the order in which Helm installs them.

mod head;
mod hook;
mod order;
mod split;
mod uninstall;

use std::collections::BTreeMap;

pub use head::Head;
pub use hook::{Event, Hook};
pub use order::{INSTALL, UNINSTALL, install_rank, uninstall_rank};
pub use split::split;
pub use uninstall::{Uninstall, kept_text, uninstall};

use crate::version::HelmVersion;

/// One document that is no hook.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Manifest {
    /// The path of the template it comes from, beginning with the chart.
    pub path: String,
    /// The text.
    pub content: String,
    /// What it is.
    pub head: Head,
}

/// Why a rendered file is none.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("YAML parse error on {path}: {problem}")]
pub struct Error {
    /// The template.
    pub path: String,
    /// What is wrong, in the words of Go's libraries.
    pub problem: String,
}

/// All documents of rendered files.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sorted {
    /// Those to run at certain times.
    pub hooks: Vec<Hook>,
    /// All others.
    pub manifests: Vec<Manifest>,
    /// Hooks of kinds that nobody knows, which are left out.
    pub unknown: Vec<String>,
}

/// Finds the documents of rendered files, and sorts them by kind. Of one kind they stay in the order of the files' paths.
pub fn sort(files: &BTreeMap<String, String>, version: HelmVersion) -> Result<Sorted, Error> {
    let mut sorted = Sorted::default();
    for (path, content) in files {
        let name = path.rsplit('/').next().unwrap_or_default();
        if name.starts_with('_') || content.trim().is_empty() {
            continue;
        }
        for document in split(content, version) {
            place(path, document, &mut sorted)?;
        }
    }
    order::sort(&mut sorted.hooks, |hook| &hook.kind, version);
    order::sort(&mut sorted.manifests, |manifest| &manifest.head.kind, version);
    Ok(sorted)
}

fn place(path: &str, document: &str, sorted: &mut Sorted) -> Result<(), Error> {
    let head = Head::read(document).map_err(|problem| Error {
        path: path.to_owned(),
        problem,
    })?;
    match hook::find(path, document, &head) {
        hook::Found::None => sorted.manifests.push(Manifest {
            path: path.to_owned(),
            content: document.to_owned(),
            head,
        }),
        hook::Found::Hook(hook) => sorted.hooks.push(hook),
        hook::Found::Unknown(events) => sorted.unknown.push(events),
    }
    Ok(())
}

#[cfg(test)]
mod tests;
