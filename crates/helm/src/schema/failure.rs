//! What does not fit, as a tree, and how it is printed.

use std::fmt;

/// Something that does not fit.
#[derive(Clone, Debug)]
pub(super) struct Failure {
    /// Where in the values.
    pub(super) place: Vec<String>,
    pub(super) kind: Kind,
    pub(super) causes: Vec<Failure>,
}

/// What it is.
#[derive(Clone, Debug)]
pub(super) enum Kind {
    /// Several things of one schema.
    Group,
    /// What `$ref` points to.
    Reference,
    /// Anything else, in words.
    Problem(String),
}

impl Failure {
    /// Adds what a schema says to the causes: several things of it are causes of their own.
    pub(super) fn into_causes(self) -> Vec<Failure> {
        match self.kind {
            Kind::Group => self.causes,
            _ => vec![self],
        }
    }

    fn print(&self, f: &mut fmt::Formatter<'_>, mut indent: usize) -> fmt::Result {
        let is_passed_over = matches!(self.kind, Kind::Reference) && self.causes.len() == 1;
        if !is_passed_over {
            if indent > 0 {
                f.write_str("\n")?;
            }
            for _ in 0..indent {
                f.write_str("  ")?;
            }
            let place: String = self
                .place
                .iter()
                .map(|part| format!("/{}", part.replace('~', "~0").replace('/', "~1")))
                .collect();
            write!(f, "- at {}: ", quote(&place))?;
            match &self.kind {
                Kind::Group | Kind::Reference => f.write_str("validation failed")?,
                Kind::Problem(text) => f.write_str(text)?,
            }
            indent += 1;
        }
        for cause in &self.causes {
            cause.print(f, indent)?;
        }
        Ok(())
    }
}

/// All that does not fit.
#[derive(Clone, Debug)]
pub(super) struct Failures(pub(super) Vec<Failure>);

impl fmt::Display for Failures {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, failure) in self.0.iter().enumerate() {
            if at > 0 {
                f.write_str("\n")?;
            }
            failure.print(f, 0)?;
        }
        Ok(())
    }
}

/// A text in single quotes.
pub(super) fn quote(text: &str) -> String {
    let quoted = model::quote::quote(text);
    let inner = quoted.replace("\\\"", "\"").replace('\'', "\\'");
    format!("'{}'", &inner[1..inner.len() - 1])
}

/// Texts in single quotes, with commas.
pub(super) fn quoted<'t>(texts: impl IntoIterator<Item = &'t str>) -> String {
    texts.into_iter().map(quote).collect::<Vec<_>>().join(", ")
}
