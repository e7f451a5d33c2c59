//! What can go wrong, with the place it is about.

use std::collections::HashMap;
use std::fmt;

use yaml::Step;

/// One thing that is wrong.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub struct Error {
    /// The file it is about, as the tree shows it.
    pub file: String,
    /// The line in the file, where it is known; the first line is 1.
    pub line: Option<usize>,
    /// For a kustomization file, where in it.
    pub within: Option<Within>,
    /// The kustomizations that led there, from the one that was asked for.
    pub chain: Vec<String>,
    /// How many other chains lead to the same mistake.
    pub other_chains: usize,
    /// What is wrong.
    pub message: String,
}

/// A place in a kustomization.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Within {
    /// The way to the field.
    pub path: Vec<Step>,
    /// The line of the text that stands there, if it is a text of several, such as a patch.
    pub line: Option<usize>,
}

impl Error {
    /// Something about a file as such.
    pub(crate) fn of_file(file: String, chain: Vec<String>, message: String) -> Error {
        Error {
            file,
            line: None,
            within: None,
            chain,
            other_chains: 0,
            message,
        }
    }
}

impl Error {
    /// The file and the line; with the kustomizations that led there, unless they are `chain`.
    pub(crate) fn place(&self, chain: &[String]) -> String {
        let mut place = self.file.clone();
        if let Some(line) = self.line {
            place.push_str(&format!(":{line}"));
        }
        if self.chain != chain {
            place.push_str(&format!("{WAY}{})", self.chain.join(", ")));
        }
        place
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.place(&self.chain), self.message)?;
        let is_itself = matches!(self.chain.as_slice(), [only] if *only == self.file);
        if self.chain.is_empty() || is_itself && self.other_chains == 0 {
            return Ok(());
        }
        write!(f, "{WAY}{}", self.chain.join(", "))?;
        match self.other_chains {
            0 => {}
            1 => write!(f, ", and in one other way")?,
            more => write!(f, ", and in {more} other ways")?,
        }
        write!(f, ")")
    }
}

/// What stands before the kustomizations that led to something.
const WAY: &str = " (through ";

/// A message without the kustomizations that led to the places it names.
fn without_ways(message: &str) -> String {
    let mut parts = message.split(WAY);
    let mut plain = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        plain.push_str(part.split_once(')').map_or("", |(_, after)| after));
    }
    plain
}

/// All that is wrong, as far as it can be told in one run.
#[derive(Clone, Debug, Default, PartialEq, Eq, thiserror::Error)]
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

    /// The same, without the credentials that addresses of bases and charts may have.
    pub(crate) fn without_credentials(mut self) -> Errors {
        for error in &mut self.0 {
            let texts = [&mut error.file, &mut error.message].into_iter();
            for text in texts.chain(&mut error.chain) {
                if let Some(hidden) = crate::remote::without_credentials(text) {
                    *text = hidden;
                }
            }
        }
        self
    }

    /// `value`, if nothing is wrong.
    pub(crate) fn or<T>(self, value: T) -> Result<T, Errors> {
        if self.0.is_empty() { Ok(value) } else { Err(self) }
    }

    /// Each mistake once. Kustomizations that share bases would tell theirs as often as there are ways to them, or to the other
    /// objects that they are about.
    pub(crate) fn distinct(self) -> Errors {
        let mut known: HashMap<(String, Option<usize>, String), usize> = HashMap::new();
        let mut told: Vec<Error> = Vec::new();
        for error in self.0 {
            let key = (error.file.clone(), error.line, without_ways(&error.message));
            match known.get(&key) {
                Some(&at) if told[at].chain == error.chain => {
                    told[at].other_chains = told[at].other_chains.max(error.other_chains);
                }
                Some(&at) => told[at].other_chains += 1 + error.other_chains,
                None => {
                    known.insert(key, told.len());
                    told.push(error);
                }
            }
        }
        Errors(told)
    }
}
