//! What can go wrong.

use std::fmt;

use kustomize::substitute;

/// One thing that is wrong. No message has a secret in it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// A file or directory cannot be read.
    #[error("{path}: {message}")]
    Read {
        /// The file or directory.
        path: String,
        /// Why.
        message: String,
    },
    /// A kustomization file is none.
    #[error("{path}:{line}: {message}")]
    Kustomization {
        /// The file.
        path: String,
        /// The line.
        line: usize,
        /// What is wrong with it.
        message: String,
    },
    /// The directory that was asked for is not there.
    #[error("the directory '{0}' is not there: correct the path, or add the directory to the source")]
    NoDirectory(String),
    /// A component is somewhere else.
    #[error("component path '{0}' must be local and relative")]
    Component(String),
    /// What the request adds to the kustomization is wrong.
    #[error("{}{message}", shown(field, *line))]
    Request {
        /// The field, as a Kustomization calls it.
        field: String,
        /// The line of the text that stands there, if it has several.
        line: Option<usize>,
        /// What is wrong with it.
        message: String,
    },
    /// The kustomization cannot be built.
    #[error(transparent)]
    Build(Box<kustomize::Error>),
    /// An object lacks what every object must have.
    #[error(
        "failed to decode Kubernetes apiVersion, kind and name from: {0}{1}: every object must have them; leave files that are \
         no manifests out with a .sourceignore"
    )]
    Incomplete(String, Origin),
    /// Something cannot be decrypted.
    #[error("decryption failed for '{of}': {message}")]
    Decrypt {
        /// The file, or the object and its field.
        of: String,
        /// Why.
        message: String,
    },
    /// A variable has a name that no text could refer to.
    #[error("'{0}' var name is invalid, must match '^[_[:alpha:]][_[:alpha:][:digit:]]*$'")]
    VariableName(String),
    /// Variables of an object cannot be substituted.
    #[error(
        "post build failed for '{object}': variable substitution failed: {field}{origin}: {problem}; the annotation \
         kustomize.toolkit.fluxcd.io/substitute: disabled leaves an object as it is"
    )]
    Substitute {
        /// The object.
        object: String,
        /// The field.
        field: String,
        /// Where it was read.
        origin: Origin,
        /// What is wrong there.
        problem: substitute::Problem,
    },
    /// What is left of an object after the substitution is no YAML. The text may have secrets in it.
    #[error(
        "post build failed for '{object}': {field}{origin}: with its variables substituted, it is no YAML object any more: \
         give the value quotes of its own, such as '\"a: b\"' (those around a variable in a file are gone by then)"
    )]
    Garbled {
        /// The object.
        object: String,
        /// The field, as near as it is known.
        field: String,
        /// Where it was read.
        origin: Origin,
    },
    /// Two objects became one by the substitution.
    #[error(
        "post build failed for '{0}': after the substitution of variables there are several objects of that name"
    )]
    Duplicate(String),
    /// An object cannot be written.
    #[error("{object}{origin}: {message}")]
    Write {
        /// The object.
        object: String,
        /// Where it was read.
        origin: Origin,
        /// What YAML has no form for.
        message: String,
    },
}

/// Where an object or a field of it was read, as far as it is known.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Origin(pub Option<(String, Option<usize>)>);

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Some((file, Some(line))) => write!(f, " ({file}:{line})"),
            Some((file, None)) => write!(f, " ({file})"),
            None => Ok(()),
        }
    }
}

fn shown(field: &str, line: Option<usize>) -> String {
    match line {
        Some(line) => format!("{field}, line {line}: "),
        None => format!("{field}: "),
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

impl Errors {
    /// Good, unless there is an error.
    pub(crate) fn check(errors: Vec<Error>) -> Result<(), Errors> {
        if errors.is_empty() {
            return Ok(());
        }
        Err(Errors(errors))
    }
}

impl From<Error> for Errors {
    fn from(error: Error) -> Self {
        Errors(vec![error])
    }
}

impl From<kustomize::Errors> for Errors {
    fn from(errors: kustomize::Errors) -> Self {
        Errors(
            errors
                .0
                .into_iter()
                .map(|error| Error::Build(Box::new(error)))
                .collect(),
        )
    }
}
