//! Ranges of versions.

use std::fmt;
use std::str::FromStr;

use super::Version;
use super::grammar::{self, Numbers};

/// The longest text that is read as a range.
const MAX_LENGTH: usize = 512;
/// The most alternatives a range can have.
const MAX_ALTERNATIVES: usize = 32;

/// A range of versions: alternatives (`||`) of comparisons that all must hold (`,` or a space between them).
///
/// | text | what matches |
/// |---|---|
/// | `1.2.3`, `=1.2.3` | that version |
/// | `1.2`, `1.2.x`, `1`, `*` | any version that begins so |
/// | `!=`, `>`, `<`, `>=`, `=>`, `<=`, `=<` | as they say |
/// | `~1.2.3`, `~>1.2.3` | `>=1.2.3, <1.3` |
/// | `^1.2.3`, `^0.2.3`, `^0.0.3` | `>=1.2.3, <2`, `>=0.2.3, <0.3`, `0.0.3` |
/// | `1.2 - 2.3` | `>=1.2, <=2.3` |
///
/// Pre-releases match only where the alternative names one (`>=1.2-0`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Constraint {
    alternatives: Vec<Vec<Comparison>>,
}

/// Why a text is no range.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ConstraintError {
    /// It does not look like one.
    #[error("improper constraint: {}", crate::quote::quote(.0))]
    Improper(String),
    /// It names something that looks like a version and is none.
    #[error("constraint parser error")]
    Version,
    /// It is longer than anyone writes.
    #[error("constraint string is too long (max {MAX_LENGTH} bytes)")]
    TooLong,
    /// It has more alternatives than anyone writes.
    #[error("too many constraint groups (max {MAX_ALTERNATIVES})")]
    TooManyAlternatives,
}

/// One comparison with a version.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Comparison {
    pub(super) operator: Operator,
    pub(super) version: Version,
    pub(super) given: Given,
    /// Operator and version as they were written.
    text: String,
}

/// How much of the version was given; the rest is a wildcard or missing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Given {
    Nothing,
    Major,
    MajorMinor,
    Everything,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Operator {
    Equal,
    NotEqual,
    Greater,
    Less,
    GreaterOrEqual,
    LessOrEqual,
    Tilde,
    Caret,
}

/// Longer ones first.
const OPERATORS: [(&str, Operator); 11] = [
    ("!=", Operator::NotEqual),
    (">=", Operator::GreaterOrEqual),
    ("=>", Operator::GreaterOrEqual),
    ("<=", Operator::LessOrEqual),
    ("=<", Operator::LessOrEqual),
    ("~>", Operator::Tilde),
    ("=", Operator::Equal),
    (">", Operator::Greater),
    ("<", Operator::Less),
    ("~", Operator::Tilde),
    ("^", Operator::Caret),
];

impl Constraint {
    /// Reads a range.
    pub fn parse(text: &str) -> Result<Self, ConstraintError> {
        if text.len() > MAX_LENGTH {
            return Err(ConstraintError::TooLong);
        }
        let text = grammar::rewrite_hyphens(text);
        if text.matches("||").count() >= MAX_ALTERNATIVES {
            return Err(ConstraintError::TooManyAlternatives);
        }
        let alternatives = text.split("||").map(all_of).collect::<Result<_, _>>()?;
        Ok(Constraint { alternatives })
    }

    /// Whether the version is in the range.
    pub fn matches(&self, version: &Version) -> bool {
        self.alternatives.iter().any(|comparisons| {
            let prereleases = comparisons
                .iter()
                .any(|comparison| !comparison.version.prerelease().is_empty());
            (prereleases || version.prerelease().is_empty())
                && comparisons.iter().all(|comparison| comparison.holds(version))
        })
    }
}

impl FromStr for Constraint {
    type Err = ConstraintError;

    fn from_str(text: &str) -> Result<Self, ConstraintError> {
        Constraint::parse(text)
    }
}

impl fmt::Display for Constraint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, comparisons) in self.alternatives.iter().enumerate() {
            if index > 0 {
                f.write_str(" || ")?;
            }
            for (index, comparison) in comparisons.iter().enumerate() {
                if index > 0 {
                    f.write_str(" ")?;
                }
                f.write_str(&comparison.text)?;
            }
        }
        Ok(())
    }
}

/// Reads the comparisons of one alternative.
fn all_of(text: &str) -> Result<Vec<Comparison>, ConstraintError> {
    let improper = || ConstraintError::Improper(text.to_owned());
    let mut comparisons = Vec::new();
    let mut rest = skip_space(text);
    loop {
        let (spelled, operator) = operator(rest);
        rest = skip_space(&rest[spelled.len()..]);
        let parts = grammar::version(rest, Numbers::Wildcards).ok_or_else(improper)?;
        let written = &rest[..parts.length];
        rest = &rest[parts.length..];
        comparisons.push((operator, spelled, written, parts));

        let next = skip_space(rest);
        if next.is_empty() {
            break;
        }
        rest = match next.strip_prefix(',') {
            Some(next) => skip_space(next),
            // Without a comma there must have been white space.
            None if next.len() < rest.len() => next,
            None => return Err(improper()),
        };
    }
    comparisons
        .into_iter()
        .map(|(operator, spelled, written, parts)| comparison(operator, spelled, written, &parts))
        .collect()
}

fn operator(text: &str) -> (&'static str, Operator) {
    let known = OPERATORS
        .into_iter()
        .find(|(spelled, _)| text.starts_with(spelled));
    known.unwrap_or(("", Operator::Equal))
}

fn comparison(
    operator: Operator,
    spelled: &str,
    written: &str,
    parts: &grammar::Parts<'_>,
) -> Result<Comparison, ConstraintError> {
    let wild = |part: Option<&str>| part.is_none_or(|part| matches!(part, "x" | "X" | "*"));
    let prerelease = parts.prerelease.map(|words| format!("-{words}"));
    let prerelease = prerelease.as_deref().unwrap_or_default();
    let (given, text) = if wild(Some(parts.major)) {
        (Given::Nothing, format!("0.0.0{prerelease}"))
    } else if wild(parts.minor) {
        (Given::Major, format!("{}.0.0{prerelease}", parts.major))
    } else if wild(parts.patch) {
        let minor = parts.minor.unwrap_or_default();
        (
            Given::MajorMinor,
            format!("{}.{minor}.0{prerelease}", parts.major),
        )
    } else {
        (Given::Everything, written.to_owned())
    };
    Ok(Comparison {
        operator,
        version: Version::parse(&text).map_err(|_| ConstraintError::Version)?,
        given,
        text: format!("{spelled}{written}"),
    })
}

fn skip_space(text: &str) -> &str {
    text.trim_start_matches(|c: char| u8::try_from(c).is_ok_and(grammar::is_space))
}
