//! What can go wrong with a file. No text here ever holds a value, encrypted or not.

use std::fmt::{self, Write as _};

use crate::format::Format;
use crate::metadata::Recipient;

/// Why a file cannot be decrypted.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The file is too large.
    #[error("the file has {size} bytes, and at most {limit} are decrypted")]
    TooLarge {
        /// Its size.
        size: usize,
        /// What is taken.
        limit: usize,
    },
    /// The file is not what its format says.
    #[error("failed to load encrypted {format} data: {reason}")]
    Read {
        /// The format it was taken for.
        format: Format,
        /// What is wrong.
        reason: String,
    },
    /// What SOPS says about the file is missing or makes no sense.
    #[error("failed to load encrypted {format} data: {reason}")]
    Metadata {
        /// The format.
        format: Format,
        /// What is wrong.
        reason: String,
    },
    /// No recipient of the file could be used.
    #[error("cannot get sops data key: {}", report(*.needed, *.groups, .attempts))]
    DataKey {
        /// How many groups of recipients must agree.
        needed: usize,
        /// How many groups there are.
        groups: usize,
        /// Whom the file is for and why that did not help.
        attempts: Vec<Attempt>,
    },
    /// The parts of the data key do not fit together.
    #[error("cannot get sops data key: the parts of the key groups do not fit together: {0}")]
    Shares(&'static str),
    /// A value cannot be decrypted.
    #[error("error decrypting sops tree: the value of '{path}' {reason}")]
    Value {
        /// The keys that lead to it.
        path: String,
        /// What is wrong with it.
        reason: &'static str,
    },
    /// A rule of the metadata about which values are encrypted is no regular expression.
    #[error("the metadata's {rule} is no regular expression: encrypt the file again with a valid one")]
    Rule {
        /// The name of the rule.
        rule: &'static str,
    },
    /// The file was changed after it was encrypted.
    #[error(
        "failed to verify sops data integrity: the file was changed after it was encrypted; encrypt it again"
    )]
    Mac,
    /// What was decrypted cannot be written in the format that is wanted.
    #[error("failed to emit encrypted {from} file as decrypted {to}: {reason}")]
    Write {
        /// The format of the file.
        from: Format,
        /// The format that is wanted.
        to: Format,
        /// What it has no form for.
        reason: String,
    },
}

/// A recipient and why its data key cannot be had.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Attempt {
    /// Whom the data key is encrypted for.
    pub recipient: Recipient,
    /// Why that did not help.
    pub reason: String,
}

fn report(needed: usize, groups: usize, attempts: &[Attempt]) -> DataKeyReport<'_> {
    DataKeyReport {
        needed,
        groups,
        attempts,
    }
}

struct DataKeyReport<'a> {
    needed: usize,
    groups: usize,
    attempts: &'a [Attempt],
}

impl fmt::Display for DataKeyReport<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.groups > 1 {
            write!(f, "{} of {} key groups are needed; ", self.needed, self.groups)?;
        }
        f.write_str("none of the file's recipients can be used: ")?;
        for (index, attempt) in self.attempts.iter().enumerate() {
            if index > 0 {
                f.write_str("; ")?;
            }
            write!(f, "{}: {}", attempt.recipient, attempt.reason)?;
        }
        let mut entries: Vec<&str> = Vec::new();
        for attempt in self.attempts {
            let entry = attempt.recipient.secret_entry();
            if !entries.is_empty() && entries.contains(&entry) {
                continue;
            }
            entries.push(entry);
        }
        let mut advice = String::new();
        for (index, entry) in entries.iter().enumerate() {
            let separator = if index == 0 { "" } else { " or " };
            let _ = write!(advice, "{separator}{entry}");
        }
        if advice.is_empty() {
            return Ok(());
        }
        write!(f, ". Add {advice} to the decryption Secret")
    }
}
