//! What was found to differ, and how that is told.

use std::io::Write as _;
use std::process::ExitCode;

use anyhow::Context as _;
use model::ObjectKey;

use super::object::Change;
use super::report::report;
use crate::commands::failure::WithCode;

/// What was found.
#[derive(Default)]
pub(super) struct Found {
    pub(super) text: String,
    pub(super) differs: bool,
    pub(super) errors: Vec<anyhow::Error>,
}

impl Found {
    /// Tells it, and how the program ends by it.
    pub(super) fn ended(self) -> anyhow::Result<ExitCode> {
        let mut out = crate::commands::printed::stdout();
        let written = out.write_all(self.text.as_bytes()).and_then(|()| out.flush());
        written
            .context("failed to write the output")
            .map_err(WithCode::wrong)?;
        if !self.errors.is_empty() {
            let errors = self.errors.iter().map(|error| format!("{error:#}"));
            let errors: Vec<String> = errors.collect();
            return Err(WithCode::wrong(anyhow::anyhow!(errors.join("\n"))).into());
        }
        if self.differs {
            eprintln!("⚠️ identified at least one change, exiting with non-zero exit code");
            return Ok(ExitCode::FAILURE);
        }
        Ok(ExitCode::SUCCESS)
    }
}

/// Tells of one object.
pub(super) fn tell(found: &mut Found, key: &ObjectKey, change: &Change) {
    let what = match change {
        Change::Unchanged => return,
        Change::Skipped => "skipped",
        Change::Created => "created",
        Change::Deleted => "deleted",
        Change::Drifted(_) => "drifted",
    };
    found.text += &format!("► {key} {what}\n");
    if let Change::Drifted(objects) = change {
        found.text += &report(&objects.0, &objects.1);
    }
    found.differs |= !matches!(change, Change::Skipped);
}
