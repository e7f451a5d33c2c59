//! `cargo xtask built-tests`: runs tests of some crates out of the build of the whole workspace.
//!
//! What `cargo test -p X` builds has only those features of its dependencies that X asks for, so that nearly all of them are
//! built once more for each choice of crates. This runs what `cargo test --workspace` has built, as cargo would run it.

use std::io::{BufRead as _, BufReader};
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

    /// Run tests that have failed once more, by themselves; one that passes then is told and has not failed
    #[arg(long)]
    again: bool,

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
    let mut by_chance = Vec::new();
    let chosen = built.iter().filter(|tests| {
        args.packages.contains(&tests.package) && (tests.is_integration || !args.integration)
    });
    for tests in chosen {
        println!("     Running {} of {}", tests.program.display(), tests.package);
        let ran = tests.run(&args.arguments)?;
        if ran.is_ok {
            continue;
        }
        if args.again && !ran.failed.is_empty() && ran.failed.len() <= MOST_AGAIN {
            println!("     Once more {}", ran.failed.join(", "));
            let exactly = ["--exact".to_owned(), "--test-threads=1".to_owned()];
            let arguments = [ran.failed.as_slice(), &exactly].concat();
            if tests.run(&arguments)?.is_ok {
                by_chance.extend(ran.failed);
                continue;
            }
        }
        failed.push(tests.package.as_str());
    }
    ensure!(failed.is_empty(), "tests failed: {}", failed.join(", "));
    for test in by_chance {
        println!("WARNING: failed once, then passed: {test}");
    }
    Ok(())
}

/// If more than these fail, it is not by chance.
const MOST_AGAIN: usize = 5;

/// What a program with tests came to.
struct Ran {
    is_ok: bool,
    /// The names of tests that failed, as far as the program got to tell them.
    failed: Vec<String>,
}

impl Tests {
    /// Runs the program as cargo would, and shows what it prints.
    fn run(&self, arguments: &[String]) -> anyhow::Result<Ran> {
        let told = || format!("failed to run {}", self.program.display());
        let mut child = Command::new(&self.program)
            .args(arguments)
            .current_dir(&self.folder)
            .env("CARGO_MANIFEST_DIR", &self.folder)
            .env("CARGO_PKG_NAME", &self.package)
            .stdout(Stdio::piped())
            .spawn()
            .with_context(told)?;
        let mut lines = Vec::new();
        if let Some(printed) = child.stdout.take() {
            for line in BufReader::new(printed).split(b'\n') {
                let line = String::from_utf8_lossy(&line.with_context(told)?).into_owned();
                println!("{line}");
                lines.push(line);
            }
        }
        let is_ok = child.wait().with_context(told)?.success();
        Ok(Ran {
            is_ok,
            failed: failures(&lines),
        })
    }
}

/// The tests that failed by what a program with tests has printed: its last list of failures.
fn failures(lines: &[String]) -> Vec<String> {
    let Some(head) = lines.iter().rposition(|line| line == "failures:") else {
        return Vec::new();
    };
    let names = lines[head + 1..]
        .iter()
        .map_while(|line| line.strip_prefix("    "));
    names.map(str::to_owned).collect()
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
    fn the_tests_that_failed_are_those_of_the_last_list() {
        let printed = "running 3 tests\n.F.\nfailures:\n\n---- a::b stdout ----\n    no name\n\n\nfailures:\n    a::b\n    c\n\ntest \
                       result: FAILED. 1 passed; 2 failed";
        let lines: Vec<String> = printed.lines().map(str::to_owned).collect();
        assert_eq!(failures(&lines), ["a::b", "c"]);
        assert!(failures(&["running 3 tests".to_owned()]).is_empty());
    }

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
