//! `cargo xtask built-tests`: runs tests of some crates out of the build of the whole workspace.
//!
//! `cargo test -p X` builds dependencies with only the features that X asks for, so that nearly all of them are built once
//! more for each choice of crates. This command runs the programs that `cargo test --workspace` builds, as cargo runs them.
//! A test that fails is never run again, and a program that hangs is ended.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context as _, bail, ensure};
use model::{Value, json};

/// How many integration tests keep a core busy.
const THREADS_FOR_EACH_CORE: usize = 3;

/// `cargo xtask built-tests ...`
#[derive(clap::Args)]
pub(crate) struct Args {
    /// Run the tests of this crate; may be repeated; without it, all
    #[arg(long = "package", short, value_name = "CRATE")]
    packages: Vec<String>,

    /// Run only the integration tests
    #[arg(long)]
    integration: bool,

    /// Skip the tests of a crate whose names start with a text; may be repeated
    #[arg(long, value_name = "CRATE::START", value_parser = parse_skip)]
    skip: Vec<(String, String)>,

    /// End a test program that takes longer than this many minutes; the tests that it has reported as slow are those that hang
    #[arg(long, default_value_t = 20, value_name = "MINUTES", value_parser = clap::value_parser!(u64).range(1..))]
    within: u64,

    /// Filters and flags (`--flag=value`) of the test programs, after `--`
    #[arg(last = true)]
    arguments: Vec<String>,
}

fn parse_skip(text: &str) -> Result<(String, String), String> {
    match text.split_once("::") {
        Some((package, start)) if !package.is_empty() && !start.is_empty() => {
            Ok((package.to_owned(), start.to_owned()))
        }
        _ => Err("it must be a crate and the start of test names: CRATE::START".to_owned()),
    }
}

/// A program that runs tests.
struct TestProgram {
    package: String,
    /// The directory cargo runs it in.
    folder: PathBuf,
    path: PathBuf,
    is_integration: bool,
    /// The tests to run, if not all of them.
    only: Option<Vec<String>>,
}

/// The outcome of one test program.
struct Outcome {
    name: String,
    succeeded: bool,
    took: Duration,
}

/// Builds what is not built yet and runs the chosen tests. Runs all of them, also after some have failed.
pub(crate) fn run(args: &Args) -> anyhow::Result<()> {
    let built = build()?;
    let skipped = args.skip.iter().map(|(package, _)| package);
    for package in args.packages.iter().chain(skipped) {
        ensure!(
            built.iter().any(|program| program.package == *package),
            "no crate {package:?} has tests: check the name"
        );
    }
    let mut chosen: Vec<TestProgram> = built
        .into_iter()
        .filter(|program| args.packages.is_empty() || args.packages.contains(&program.package))
        .filter(|program| program.is_integration || !args.integration)
        .collect();
    select_tests(&mut chosen, args)?;
    // Integration tests take longest, so they run first.
    chosen.sort_by_key(|program| !program.is_integration);
    let outcomes = chosen.iter().map(|program| program.run(args));
    let mut outcomes = outcomes.collect::<anyhow::Result<Vec<Outcome>>>()?;
    outcomes.sort_by_key(|outcome| std::cmp::Reverse(outcome.took));
    println!("\nslowest test programs:");
    for outcome in outcomes.iter().take(8) {
        println!("{:>6.1} s  {}", outcome.took.as_secs_f64(), outcome.name);
    }
    let failed: Vec<&str> = outcomes
        .iter()
        .filter(|outcome| !outcome.succeeded)
        .map(|outcome| outcome.name.as_str())
        .collect();
    ensure!(failed.is_empty(), "tests failed: {}", failed.join(", "));
    Ok(())
}

/// Chooses the tests of each program and drops programs without any. A filter or a skipped start that matches no test is an error: a
/// renamed test would otherwise be left out, or run twice, in silence.
fn select_tests(programs: &mut Vec<TestProgram>, args: &Args) -> anyhow::Result<()> {
    let filters: Vec<&String> = args
        .arguments
        .iter()
        .filter(|text| !text.starts_with('-'))
        .collect();
    if filters.is_empty() && args.skip.is_empty() {
        return Ok(());
    }
    let packages: Vec<String> = programs.iter().map(|program| program.package.clone()).collect();
    let skips = args.skip.iter().filter(|(package, _)| packages.contains(package));
    let mut unmatched: Vec<String> = skips
        .map(|(package, start)| format!("{package}::{start}"))
        .collect();
    unmatched.extend(filters.iter().map(|filter| (*filter).clone()));
    for program in programs.iter_mut() {
        let mut tests = program.list()?;
        let all = tests.len();
        tests.retain(|test| filters.is_empty() || filters.iter().any(|filter| test.contains(*filter)));
        unmatched.retain(|filter| !tests.iter().any(|test| test.contains(filter)));
        for (package, start) in &args.skip {
            if *package != program.package {
                continue;
            }
            let before = tests.len();
            tests.retain(|test| !test.starts_with(start));
            if tests.len() < before {
                unmatched.retain(|skip| *skip != format!("{package}::{start}"));
            }
        }
        if tests.len() < all {
            program.only = Some(tests);
        }
    }
    ensure!(
        unmatched.is_empty(),
        "no test matches {}: check the names",
        unmatched.join(", ")
    );
    programs.retain(|program| program.only.as_ref().is_none_or(|tests| !tests.is_empty()));
    Ok(())
}

impl TestProgram {
    fn name(&self) -> String {
        let kind = if self.is_integration {
            "integration"
        } else {
            "unit"
        };
        format!("{} ({kind})", self.package)
    }

    /// Returns the names of all tests of the program.
    fn list(&self) -> anyhow::Result<Vec<String>> {
        let output = Command::new(&self.path)
            .args(["--list", "--format", "terse"])
            .current_dir(&self.folder)
            .output()
            .with_context(|| format!("failed to run {}", self.path.display()))?;
        ensure!(
            output.status.success(),
            "{} --list failed ({})",
            self.path.display(),
            output.status
        );
        let text = String::from_utf8_lossy(&output.stdout);
        let tests = text.lines().filter_map(|line| line.strip_suffix(": test"));
        Ok(tests.map(str::to_owned).collect())
    }

    /// Runs the program as cargo does.
    fn run(&self, args: &Args) -> anyhow::Result<Outcome> {
        let context = || format!("failed to run {}", self.path.display());
        println!("     Running {}", self.name());
        let started = Instant::now();
        let mut command = Command::new(&self.path);
        command.args(args.arguments.iter().filter(|text| text.starts_with('-')));
        if self.is_integration
            && !args
                .arguments
                .iter()
                .any(|text| text.starts_with("--test-threads"))
        {
            command.arg(format!("--test-threads={}", threads_of_waiting_tests()));
        }
        if let Some(only) = &self.only {
            command.arg("--exact").args(only);
        }
        command
            .current_dir(&self.folder)
            .env("CARGO_MANIFEST_DIR", &self.folder)
            .env("CARGO_PKG_NAME", &self.package)
            .stdin(Stdio::null());
        let within = Duration::from_secs(60 * args.within);
        let mut child = command.spawn().with_context(context)?;
        let status = wait(&mut child, started + within).with_context(context)?;
        if status.is_none() {
            println!(
                "{} was ended: it took more than {} minutes",
                self.name(),
                args.within
            );
        }
        Ok(Outcome {
            name: self.name(),
            succeeded: status.is_some_and(|status| status.success()),
            took: started.elapsed(),
        })
    }
}

/// The number of integration tests that run at once. They wait for servers most of their time, so more of them than there are cores.
fn threads_of_waiting_tests() -> usize {
    THREADS_FOR_EACH_CORE * std::thread::available_parallelism().map_or(1, usize::from)
}

/// Waits for a program until a deadline, then ends it; a program that was ended has no status.
fn wait(child: &mut Child, deadline: Instant) -> std::io::Result<Option<ExitStatus>> {
    while Instant::now() < deadline {
        if let Some(status) = child.try_wait()? {
            return Ok(Some(status));
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    child.kill()?;
    child.wait()?;
    Ok(None)
}

/// Builds all tests of the workspace and returns their programs, ordered by crate.
fn build() -> anyhow::Result<Vec<TestProgram>> {
    let output = Command::new(env!("CARGO"))
        .args(["build", "--workspace", "--all-targets", "--locked", "--quiet"])
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
        let message = json::parse(line).context("cargo printed a line that is not JSON")?;
        built.extend(test_program(&message));
    }
    built.sort_by(|one, other| (&one.package, &one.path).cmp(&(&other.package, &other.path)));
    Ok(built)
}

/// The test program that a message of cargo names, if it names one. Benchmarks and examples are built with the test profile
/// too, but hold no tests.
fn test_program(message: &Value) -> Option<TestProgram> {
    let is_test = message.at(&["profile", "test"]).and_then(Value::as_bool) == Some(true);
    let path = message.str_at(&["executable"]);
    if message.str_at(&["reason"]) != "compiler-artifact" || !is_test || path.is_empty() {
        return None;
    }
    let folder = Path::new(message.str_at(&["manifest_path"])).parent()?;
    let kinds = message.at(&["target", "kind"])?.as_array()?;
    let has_kind = |name: &str| kinds.iter().any(|kind| kind.as_str() == Some(name));
    if has_kind("bench") || has_kind("example") {
        return None;
    }
    Some(TestProgram {
        // Folders have the names of their crates; the repository's rules see to that.
        package: folder.file_name()?.to_str()?.to_owned(),
        folder: folder.to_owned(),
        path: path.into(),
        is_integration: has_kind("test"),
        only: None,
    })
}

#[cfg(test)]
mod tests {
    use model::value;

    use super::*;

    #[test]
    fn a_test_to_skip_is_named_with_its_crate() {
        assert_eq!(
            parse_skip("cli::up::given"),
            Ok(("cli".into(), "up::given".into()))
        );
        for wrong in ["cli", "::up", "cli::"] {
            assert!(parse_skip(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_program_that_hangs_is_ended() -> std::io::Result<()> {
        let ends = |seconds: &str| {
            let mut child = Command::new("sleep").arg(seconds).spawn()?;
            wait(&mut child, Instant::now() + Duration::from_secs(2))
        };
        assert!(ends("0")?.is_some_and(|status| status.success()));
        assert!(ends("600")?.is_none());
        Ok(())
    }

    #[test]
    fn only_test_programs_are_taken_from_cargo_messages() {
        let message = |reason: &str, kind: &str, test: bool, program: Value| {
            value!({
                "reason": (reason),
                "manifest_path": "/repository/crates/model/Cargo.toml",
                "target": {"kind": [(kind)], "name": "it"},
                "profile": {"test": (test)},
                "executable": (program),
            })
        };
        let path = || Value::str("/target/debug/deps/it-0123");
        let found = test_program(&message("compiler-artifact", "test", true, path())).unwrap();
        assert_eq!((found.package.as_str(), found.is_integration), ("model", true));
        assert_eq!(found.folder, Path::new("/repository/crates/model"));
        assert!(test_program(&message("compiler-artifact", "bench", true, path())).is_none());
        assert!(test_program(&message("compiler-artifact", "test", false, path())).is_none());
        assert!(test_program(&message("compiler-artifact", "test", true, Value::Null)).is_none());
        assert!(test_program(&message("build-finished", "test", true, path())).is_none());
    }
}
