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
    #[error("{path}: {message}")]
    Kustomization {
        /// The file.
        path: String,
        /// What is wrong with it.
        message: String,
    },
    /// The directory that was asked for is not there.
    #[error("the directory '{0}' is not there: correct the path, or add the directory to the source")]
    NoDirectory(String),
    /// A component is somewhere else.
    #[error("component path '{0}' must be local and relative")]
    Component(String),
    /// The kustomization cannot be built.
    #[error(transparent)]
    Build(Box<kustomize::Error>),
    /// An object lacks what every object must have.
    #[error(
        "failed to decode Kubernetes apiVersion, kind and name from: {0}: every object must have them; leave files that are \
         no manifests out with a .sourceignore"
    )]
    Incomplete(String),
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
        "post build failed for '{object}': variable substitution failed: {problem}; the annotation \
         kustomize.toolkit.fluxcd.io/substitute: disabled leaves an object as it is"
    )]
    Substitute {
        /// The object.
        object: String,
        /// Where in its text, and what is wrong there.
        problem: substitute::Error,
    },
    /// What is left of an object after the substitution is no YAML. The text may have secrets in it.
    #[error(
        "post build failed for '{object}': with its variables substituted, it is no YAML object any more (line {line}): \
         put quotes around the variables"
    )]
    Garbled {
        /// The object.
        object: String,
        /// The line of its text.
        line: usize,
    },
    /// Two objects became one by the substitution.
    #[error(
        "post build failed for '{0}': after the substitution of variables there are several objects of that name"
    )]
    Duplicate(String),
    /// An object cannot be written.
    #[error("{object}: {message}")]
    Write {
        /// The object.
        object: String,
        /// What YAML has no form for.
        message: String,
    },
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
