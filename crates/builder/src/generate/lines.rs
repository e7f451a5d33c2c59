//! Errors about the kustomization that is built name lines of the text that was made of it. People know only their own file.

use kustomize::Errors;
use yaml::edit::Edit;
use yaml::{Step, locate};

/// The file as it is, and what was made of it.
pub(crate) struct Lines {
    /// The file, as messages name it.
    pub(super) file: String,
    /// What people wrote; nothing if there is no such file.
    pub(super) written: Option<String>,
    pub(super) made: String,
}

impl Lines {
    /// Names the lines of the file that people have. What only the request says has none there.
    pub(crate) fn correct(&self, mut errors: Errors) -> Errors {
        for error in errors.0.iter_mut().filter(|error| error.file == self.file) {
            error.line = error.line.and_then(|line| self.written_at(line));
        }
        errors
    }

    fn written_at(&self, line: usize) -> Option<usize> {
        let written = self.written.as_deref()?;
        let made = Edit::read(&self.made).ok()?;
        let after = made.scalars().iter().find(|scalar| scalar.line >= line)?;
        if after.line > line {
            // A field whose value begins further down.
            return field(written, after.path.first()?);
        }
        let theirs = Edit::read(written).ok()?;
        let same = |scalar: &&yaml::edit::Scalar<'_>| scalar.value == after.value;
        let exact = theirs
            .scalars()
            .iter()
            .find(|scalar| same(scalar) && scalar.path == after.path);
        // Lists may have lost elements that are ignored.
        let moved = || {
            let mut all = theirs.scalars().iter().filter(same);
            all.find(|scalar| scalar.path.first() == after.path.first())
        };
        exact.or_else(moved).map(|scalar| scalar.line)
    }
}

/// The line of a field at the top.
fn field(text: &str, step: &Step) -> Option<usize> {
    locate(text.as_bytes(), 0, std::slice::from_ref(step))
}
