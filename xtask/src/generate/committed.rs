//! Writing a generated file, or comparing it with the one that is committed.

use std::path::Path;

use anyhow::{Context, Result, ensure};

/// Whether to write.
#[derive(clap::Args)]
pub(super) struct Check {
    /// Change nothing; fail if the committed file is not what would be written
    #[arg(long)]
    check: bool,
}

impl Check {
    /// Brings a file, named from the root of the workspace, to this text; or fails where it has another one. `what` is
    /// the subcommand that makes it.
    pub(super) fn settle(&self, file: &str, text: &str, what: &str) -> Result<()> {
        let place = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(file);
        if self.check {
            let committed = std::fs::read_to_string(&place)
                .with_context(|| format!("failed to read {}", place.display()))?;
            let differing = committed
                .lines()
                .zip(text.lines())
                .position(|(old, new)| old != new);
            let line = differing.unwrap_or_else(|| committed.lines().count().min(text.lines().count())) + 1;
            ensure!(
                committed == text,
                "{file} is out of date from line {line} on; run `cargo xtask generate {what}`"
            );
            return Ok(());
        }
        std::fs::write(&place, text).with_context(|| format!("failed to write {}", place.display()))?;
        eprintln!("{file}: {} lines, {} bytes", text.lines().count(), text.len());
        Ok(())
    }
}
