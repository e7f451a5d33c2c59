//! `cargo xtask built-tests`: runs tests of some crates out of the build of the whole workspace.
//!
//! What `cargo test -p X` builds has only those features of its dependencies that X asks for, so that nearly all of them are
//! built once more for each choice of crates. This runs what `cargo test --workspace` has built, as cargo would run it.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context as _, bail, ensure};
use model::{Value, json};

/// `cargo xtask built-tests ...`
#[derive(clap::Args)]
pub(crate) struct Args {
    /// A crate whose tests are run; may be repeated
    #[arg(long = "package", short, value_name = "CRATE", required = true)]
    packages: Vec<String>,

    /// Run only the integration tests
    #[arg(long)]
    integration: bool,

    /// What the tests are told: filters and flags, after `--`
    #[arg(last = true)]
    arguments: Vec<String>,
}

/// A program that runs tests.
struct Tests {
    package: String,
    /// Where cargo runs it.
    folder: PathBuf,
    program: PathBuf,
    is_integration: bool,
}

/// Builds what is not built yet, and runs the chosen tests; all of them, also after some have failed.
pub(crate) fn run(args: &Args) -> anyhow::Result<()> {
    let built = built()?;
    for package in &args.packages {
        ensure!(
            built.iter().any(|tests| tests.package == *package),
            "there is no crate {package:?} with tests"
        );
    }
    let mut failed = Vec::new();
    let chosen = built.iter().filter(|tests| {
        args.packages.contains(&tests.package) && (tests.is_integration || !args.integration)
    });
    for tests in chosen {
        println!("     Running {} of {}", tests.program.display(), tests.package);
        let status = Command::new(&tests.program)
            .args(&args.arguments)
            .current_dir(&tests.folder)
            .env("CARGO_MANIFEST_DIR", &tests.folder)
            .env("CARGO_PKG_NAME", &tests.package)
            .status()
            .with_context(|| format!("failed to run {}", tests.program.display()))?;
        if !status.success() {
            failed.push(format!("{} ({status})", tests.package));
        }
    }
    ensure!(failed.is_empty(), "tests failed: {}", failed.join(", "));
    Ok(())
}

/// The programs of all tests of the workspace, in the order of their crates.
fn built() -> anyhow::Result<Vec<Tests>> {
    let output = Command::new(env!("CARGO"))
        .args(["build", "--workspace", "--bins", "--tests", "--locked", "--quiet"])
        .arg("--message-format=json-render-diagnostics")
        .stderr(Stdio::inherit())
        .output()
        .context("failed to run cargo")?;
    if !output.status.success() {
        bail!("cargo failed to build the tests ({})", output.status);
    }
    let mut built = Vec::new();
    for line in output.stdout.split(|byte| *byte == b'\n') {
        if line.is_empty() {
            continue;
        }
        let message = json::parse(line).context("cargo tells something that is no JSON")?;
        built.extend(told_of(&message));
    }
    built.sort_by(|one, other| (&one.package, &one.program).cmp(&(&other.package, &other.program)));
    Ok(built)
}

/// The tests that a message of cargo tells of, if it does.
fn told_of(message: &Value) -> Option<Tests> {
    let is_test = message.at(&["profile", "test"]).and_then(Value::as_bool) == Some(true);
    let program = message.str_at(&["executable"]);
    if message.str_at(&["reason"]) != "compiler-artifact" || !is_test || program.is_empty() {
        return None;
    }
    let folder = Path::new(message.str_at(&["manifest_path"])).parent()?;
    let kinds = message.at(&["target", "kind"])?.as_array()?;
    Some(Tests {
        // Folders have the names of their crates; the repository's rules see to that.
        package: folder.file_name()?.to_str()?.to_owned(),
        folder: folder.to_owned(),
        program: program.into(),
        is_integration: kinds.iter().any(|kind| kind.as_str() == Some("test")),
    })
}

#[cfg(test)]
mod tests {
    use model::value;

    use super::*;

    #[test]
    fn of_what_cargo_tells_only_programs_with_tests_count() {
        let message = |reason: &str, test: bool, program: Value| {
            value!({
                "reason": (reason),
                "manifest_path": "/repository/crates/model/Cargo.toml",
                "target": {"kind": ["test"], "name": "it"},
                "profile": {"test": (test)},
                "executable": (program),
            })
        };
        let program = || Value::str("/target/debug/deps/it-0123");
        let found = told_of(&message("compiler-artifact", true, program())).unwrap();
        assert_eq!((found.package.as_str(), found.is_integration), ("model", true));
        assert_eq!(found.folder, Path::new("/repository/crates/model"));
        assert!(told_of(&message("compiler-artifact", false, program())).is_none());
        assert!(told_of(&message("compiler-artifact", true, Value::Null)).is_none());
        assert!(told_of(&message("build-finished", true, program())).is_none());
    }
}
