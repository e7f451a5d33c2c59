//! What Go says to regular expressions: the table that ours are tested with, and as many more as one likes.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};

use super::committed::Check;

/// What to do with the table.
#[derive(clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    check: Check,
    /// So many expressions that are thrown together, beside those that are written down
    #[arg(long, default_value_t = 700)]
    count: u32,
    /// Other numbers make other expressions
    #[arg(long, default_value_t = 1)]
    seed: u32,
    /// Write to this file instead, for `SLUICE_REGEXPS=FILE cargo test -p model regexp`
    #[arg(long)]
    output: Option<PathBuf>,
}

const FILE: &str = "crates/model/tests/it/regexp.jsonl";

/// Asks Go.
pub(crate) fn run(args: &Args) -> Result<()> {
    let program = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/generate/regexps.go");
    let answered = Command::new("go")
        .arg("run")
        .arg(&program)
        .arg(args.count.to_string())
        .arg(args.seed.to_string())
        .output()
        .context("failed to run go: install Go 1.26 or newer (https://go.dev/dl)")?;
    ensure!(
        answered.status.success(),
        "`go run {}` failed: {}",
        program.display(),
        String::from_utf8_lossy(&answered.stderr)
    );
    let table = String::from_utf8(answered.stdout).context("go printed what is no text")?;
    match &args.output {
        Some(file) => {
            std::fs::write(file, table).with_context(|| format!("failed to write {}", file.display()))
        }
        None => args.check.settle(FILE, &table, "regexps"),
    }
}
