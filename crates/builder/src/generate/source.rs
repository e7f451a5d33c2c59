//! Errors about the kustomization that is built are about a text that was made. People know their own file, and what they
//! wrote into the Kustomization.

use std::cell::OnceCell;
use std::collections::BTreeMap;

use kustomize::{Place, Within};
use yaml::{Lines, Step};

use crate::error::{Error, Origin};

/// Where the parts of the kustomization that was made come from.
pub(crate) struct Source {
    /// The file, as messages name it.
    file: String,
    /// What people wrote, if it is a text.
    written: Option<String>,
    /// Whether there is no such file.
    is_generated: bool,
    /// The places in it, once something is wrong.
    lines: OnceCell<Option<Lines>>,
    changes: Changes,
}

/// What the request did to a kustomization.
#[derive(Default)]
pub(super) struct Changes {
    /// The fields and entries that the request added, and what they are in a Kustomization.
    added: Vec<(Vec<Step>, String)>,
    /// For lists with entries left out, the numbers that those that are left had.
    kept: BTreeMap<&'static str, Vec<usize>>,
}

impl Changes {
    /// Notes that a field, or an entry of it, is that of a Kustomization.
    pub(super) fn add(&mut self, field: &str, entry: Option<usize>, called: String) {
        let mut path = vec![Step::Key(field.to_owned())];
        path.extend(entry.map(Step::Item));
        self.added.push((path, called));
    }

    /// Notes which entries of a list are left.
    pub(super) fn keep(&mut self, field: &'static str, numbers: Vec<usize>) {
        self.kept.insert(field, numbers);
    }
}

impl Source {
    pub(super) fn new(file: String, written: Option<String>, is_generated: bool, changes: Changes) -> Source {
        Source {
            file,
            written,
            is_generated,
            lines: OnceCell::new(),
            changes,
        }
    }

    fn lines(&self) -> Option<&Lines> {
        let lines = self.lines.get_or_init(|| Lines::read(self.written.as_deref()?));
        lines.as_ref()
    }

    /// Tells errors of a build in the words of those who wrote what is wrong.
    pub(crate) fn tell(&self, found: kustomize::Errors, errors: &mut Vec<Error>) {
        for mut error in found.0 {
            if self.is_generated {
                // Nobody has ever seen that file.
                error.chain.retain(|file| *file != self.file);
            }
            let within = error.within.take().filter(|_| error.file == self.file);
            let Some(within) = within else {
                errors.push(Error::Build(Box::new(error)));
                continue;
            };
            if let Some(field) = self.added(&within.path) {
                errors.push(Error::Request {
                    field,
                    line: within.line,
                    message: error.message,
                });
                continue;
            }
            error.line = self.line(&within);
            errors.push(Error::Build(Box::new(error)));
        }
    }

    /// Where something was read, in the words of those who wrote it.
    pub(crate) fn origin(&self, place: Option<Place>) -> Origin {
        let shown = place.and_then(|place| {
            let within = place.within.filter(|_| place.file == self.file);
            let line = match within {
                None => place.line,
                Some(_) if self.is_generated => return None,
                Some(within) => self.line(&within),
            };
            Some((place.file, line))
        });
        Origin(shown)
    }

    /// What a Kustomization calls the field that a path leads to.
    fn added(&self, path: &[Step]) -> Option<String> {
        let found = self
            .changes
            .added
            .iter()
            .find(|(start, _)| path.starts_with(start));
        let (start, called) = found?;
        let rest = yaml::shown(&path[start.len()..]);
        Some(match rest.as_str() {
            "" => called.clone(),
            _ if rest.starts_with('[') => format!("{called}{rest}"),
            _ => format!("{called}.{rest}"),
        })
    }

    fn line(&self, within: &Within) -> Option<usize> {
        let lines = self.lines()?;
        let mut path = within.path.clone();
        if let [Step::Key(field), Step::Item(number), ..] = path.as_mut_slice()
            && let Some(kept) = self.changes.kept.get(field.as_str())
        {
            *number = *kept.get(*number)?;
        }
        if path.is_empty() {
            return None;
        }
        Some(match within.line {
            Some(line) => lines.line_in_text(&path, line),
            None => lines.line(&path),
        })
    }
}
