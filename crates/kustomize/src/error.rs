//! What can go wrong, with the place it is about.

use std::fmt;

/// One thing that is wrong.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub struct Error {
    /// The file it is about, as the tree shows it.
    pub file: String,
    /// The line in the file, where it is known; the first line is 1.
    pub line: Option<usize>,
    /// The kustomizations that led there, from the one that was asked for.
    pub chain: Vec<String>,
    /// What is wrong.
    pub message: String,
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.file)?;
        if let Some(line) = self.line {
            write!(f, ":{line}")?;
        }
        write!(f, ": {}", self.message)?;
        if self.chain.len() > 1 {
            write!(f, " (through {})", self.chain.join(", "))?;
        }
        Ok(())
    }
}

/// All that is wrong, as far as it can be told in one run.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub struct Errors(pub Vec<Error>);

impl fmt::Display for Errors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, error) in self.0.iter().enumerate() {
            if index > 0 {
                writeln!(f)?;
            }
            write!(f, "{error}")?;
        }
        Ok(())
    }
}

impl From<Error> for Errors {
    fn from(error: Error) -> Self {
        Errors(vec![error])
    }
}

impl Errors {
    /// Adds what is wrong with a result, and gives what is right of it.
    pub(crate) fn keep<T>(&mut self, result: Result<T, Errors>) -> Option<T> {
        result.map_err(|more| self.0.extend(more.0)).ok()
    }

    /// `value`, if nothing is wrong.
    pub(crate) fn or<T>(self, value: T) -> Result<T, Errors> {
        if self.0.is_empty() { Ok(value) } else { Err(self) }
    }
}

/// Keeps what is right, and all that is wrong when anything is.
pub(crate) fn all<T>(results: impl IntoIterator<Item = Result<T, Errors>>) -> Result<Vec<T>, Errors> {
    let (mut values, mut errors) = (Vec::new(), Vec::new());
    for result in results {
        match result {
            Ok(value) => values.push(value),
            Err(more) => errors.extend(more.0),
        }
    }
    if errors.is_empty() {
        Ok(values)
    } else {
        Err(Errors(errors))
    }
}
