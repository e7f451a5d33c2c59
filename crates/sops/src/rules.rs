//! Which values of a file are encrypted.

use regex::bytes::{Regex, RegexBuilder};

use crate::error::Error;

/// The rule of a file. There is exactly one; the default is a suffix.
pub(crate) enum Rule {
    UnencryptedSuffix(String),
    EncryptedSuffix(String),
    UnencryptedRegex(Regex),
    EncryptedRegex(Regex),
    UnencryptedComment(Regex),
    EncryptedComment(Regex),
}

/// The comments that are in force at a place: one list for each map or list around it.
pub(crate) type Comments = Vec<Vec<Vec<u8>>>;

/// Compiles an expression of a file, which is one of Go's, in bounded memory.
pub(crate) fn regex(rule: &'static str, text: &str) -> Result<Regex, Error> {
    let unknown = Error::Rule { rule };
    let Ok(text) = model::regexp::translate(text) else {
        return Err(unknown);
    };
    RegexBuilder::new(&text)
        .size_limit(1 << 20)
        .dfa_size_limit(1 << 20)
        .build()
        .map_err(|_| unknown)
}

impl Rule {
    /// Whether the value at `path`, or the last of the comments, is encrypted.
    pub(crate) fn applies(&self, path: &[String], comments: &Comments, is_comment: bool) -> bool {
        let any_key = |test: &dyn Fn(&str) -> bool| path.iter().any(|key| test(key));
        match self {
            Rule::UnencryptedSuffix(suffix) => !any_key(&|key| key.ends_with(suffix.as_str())),
            Rule::EncryptedSuffix(suffix) => any_key(&|key| key.ends_with(suffix.as_str())),
            Rule::UnencryptedRegex(regex) => !any_key(&|key| regex.is_match(key.as_bytes())),
            Rule::EncryptedRegex(regex) => any_key(&|key| regex.is_match(key.as_bytes())),
            Rule::UnencryptedComment(regex) => {
                !comments.iter().flatten().any(|comment| regex.is_match(comment))
            }
            Rule::EncryptedComment(regex) => {
                let mut all = comments.iter().flatten();
                // A comment that asks for encryption is not encrypted itself, only what follows it.
                if is_comment && comments.last().is_some_and(|last| !last.is_empty()) {
                    all.next_back();
                }
                all.any(|comment| regex.is_match(comment))
            }
        }
    }
}
