//! What Go says about expressions that are none.

use std::fmt;

/// Why a text is no expression, and which part of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error {
    problem: Problem,
    part: Box<str>,
}

/// The kinds of mistakes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Problem {
    /// A range whose end comes before its start, or a class that does not exist.
    Range,
    /// A backslash before something that cannot be escaped.
    Escape,
    /// A group whose name is none.
    NamedCapture,
    /// `(?` and what Go does not know.
    PerlOperator,
    /// A repetition of a repetition.
    NestedRepeat,
    /// More than a thousand repetitions, or a largest number below the smallest.
    RepeatSize,
    /// A class that has no end.
    MissingBracket,
    /// A group that has no end.
    MissingParenthesis,
    /// A repetition of nothing.
    MissingArgument,
    /// A backslash at the very end.
    TrailingBackslash,
    /// The end of a group that has no start.
    UnexpectedParenthesis,
    /// Groups in groups beyond the limit.
    TooDeep,
    /// Takes more memory than allowed.
    Large,
}

impl Error {
    pub(super) fn new(problem: Problem, part: &str) -> Error {
        let part = part.into();
        Error { problem, part }
    }

    /// The kind of mistake.
    pub fn problem(&self) -> Problem {
        self.problem
    }
}

impl fmt::Display for Error {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let problem = match self.problem {
            Problem::Range => "invalid character class range",
            Problem::Escape => "invalid escape sequence",
            Problem::NamedCapture => "invalid named capture",
            Problem::PerlOperator => "invalid or unsupported Perl syntax",
            Problem::NestedRepeat => "invalid nested repetition operator",
            Problem::RepeatSize => "invalid repeat count",
            Problem::MissingBracket => "missing closing ]",
            Problem::MissingParenthesis => "missing closing )",
            Problem::MissingArgument => "missing argument to repetition operator",
            Problem::TrailingBackslash => "trailing backslash at end of expression",
            Problem::UnexpectedParenthesis => "unexpected )",
            Problem::TooDeep => "expression nests too deeply",
            Problem::Large => "expression too large",
        };
        write!(out, "error parsing regexp: {problem}: `{}`", self.part)
    }
}

impl std::error::Error for Error {}
