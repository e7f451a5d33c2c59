//! `sluice envsubst`

use std::io::{BufRead, Write};
use std::process::ExitCode;

use anyhow::{Context as _, anyhow};
use kustomize::substitute::Variables;

use super::{pflag, printed};

/// Substitute environment variables in standard input
///
/// Each line is printed as soon as it is read, with the substitutions that Kustomizations make after a build.
///
///   sluice kustomize build . | sluice envsubst --strict
#[derive(clap::Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct Args {
    /// Fail if a variable without a default is not in the environment
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true, default_missing_value = "true", default_value = "false", hide_default_value = true, action = clap::ArgAction::Set, value_parser = pflag::boolean)]
    strict: bool,
}

pub(crate) fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let mut variables = Variables::default();
    variables.strict = args.strict;
    for (name, value) in std::env::vars_os() {
        if let (Some(name), Some(value)) = (name.to_str(), value.to_str()) {
            variables.insert_verbatim(name, value);
        }
    }
    substitute(&variables, std::io::stdin().lock(), printed::stdout())?;
    Ok(ExitCode::SUCCESS)
}

/// Substitutes line by line. Ends of lines are written as `\n`.
fn substitute(variables: &Variables, mut from: impl BufRead, mut to: impl Write) -> anyhow::Result<()> {
    let mut bytes = Vec::new();
    for number in 1_usize.. {
        bytes.clear();
        let read = from.read_until(b'\n', &mut bytes);
        if read.context("failed to read standard input")? == 0 {
            break;
        }
        let line = bytes.strip_suffix(b"\n").unwrap_or(&bytes);
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        let line = std::str::from_utf8(line).with_context(|| format!("line {number} is not UTF-8"))?;
        let done = variables.substitute(line);
        let done = done.map_err(|error| anyhow!("line {number}: {}", error.problem))?;
        writeln!(to, "{done}")
            .and_then(|()| to.flush())
            .context("failed to write to standard output")?;
    }
    Ok(())
}
