//! Random trees of all features, built by the real program and by ours: the same bytes, or both refuse.
//!
//! `cargo test` tries a few if there is a `kustomize` (`cargo xtask real-programs exec` gets it);
//! `SLUICE_KUSTOMIZE_CASES=5000 cargo test -p kustomize --test it program:: -- --nocapture` as many as one likes, and
//! `SLUICE_KUSTOMIZE_SEED` says where they begin. A tree follows from its seed alone. One that gives different results is
//! printed, without all that can be left out of it. Where the real program panics, ours may do what it likes.

mod beside;
mod dice;
mod edit;
mod layer;
mod object;
mod plugin;
mod scalar;
mod tree;

use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};

use crate::skip;
use kustomize::{Options, build};
use tree::Tree;

/// So many are tried if nothing else is said.
const USUAL: u64 = 100;

/// So often something is left out of a tree that is refused.
const MENDED: u64 = 40;

/// So many that differ are printed.
const PRINTED: usize = 5;

fn number(name: &str) -> Option<u64> {
    let text = std::env::var(name).ok()?;
    Some(text.parse().expect("the variable is a number"))
}

/// Where a program is, or `None` after a line that says that the test is skipped. `testkit` has the same, but with it the
/// benchmarks of this crate would have to build all that its servers need.
fn find(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let found = std::env::split_paths(&path)
        .map(|folder| folder.join(name))
        .find(|file| file.is_file());
    if found.is_none() {
        let required = std::env::var_os("SLUICE_TEST_REAL_PROGRAMS").is_some();
        assert!(
            !required,
            "{name} is missing: run the tests with `cargo xtask real-programs exec`"
        );
        skip(&format!(
            "this machine has no {name}; `cargo xtask real-programs exec` gets it"
        ));
    }
    found
}

/// What a build comes to: a text, or what is wrong.
type Built = Result<Vec<u8>, String>;

/// The real program and ours.
struct Programs {
    real: PathBuf,
    /// The version that the real one tells.
    version: String,
}

impl Programs {
    fn new(real: PathBuf) -> Programs {
        let told = Command::new(&real)
            .arg("version")
            .output()
            .expect("the program can be run");
        let version = String::from_utf8_lossy(&told.stdout).trim().to_owned();
        Programs { real, version }
    }

    fn ours(&self, tree: &Tree) -> Built {
        let options = Options {
            version: self.version.clone(),
            ..Options::default()
        };
        let output = build(&tree.in_memory(), "over", &options).and_then(|output| output.to_yaml());
        output
            .map(String::into_bytes)
            .map_err(|errors| errors.to_string())
    }

    fn real(&self, tree: &Tree) -> Built {
        let folder = tempfile::tempdir().expect("a folder can be made");
        tree.write(folder.path());
        let output = Command::new(&self.real)
            .arg("build")
            .arg(folder.path().join("over"))
            .stdin(Stdio::null())
            .output()
            .expect("the program can be run");
        match output.status.success() {
            true => Ok(output.stdout),
            false => Err(String::from_utf8_lossy(&output.stderr).into_owned()),
        }
    }

    /// The tree of a seed without what ours refuses about it, since what both refuse tells little; some times the last of
    /// those that ours refuses, as the real program has to refuse that as well; and some times the tree as it is.
    fn tree(&self, seed: u64) -> Tree {
        let mut tree = Tree::new(seed);
        if seed.is_multiple_of(8) {
            return tree;
        }
        for turn in 0..MENDED {
            let Err(told) = self.ours(&tree) else {
                break;
            };
            let refused = tree.clone();
            tree.without_told(&told, seed.wrapping_mul(MENDED) + turn);
            if seed % 8 == 1 && self.ours(&tree).is_ok() {
                return refused;
            }
        }
        tree
    }

    fn differ(&self, tree: &Tree) -> Option<String> {
        difference(&self.ours(tree), &self.real(tree))
    }

    /// The tree without all that takes no part in the difference, and the difference then.
    fn shrunk(&self, mut tree: Tree) -> String {
        let mut told = self.differ(&tree).unwrap_or_default();
        'smaller: loop {
            for smaller in tree.smaller() {
                if let Some(difference) = self.differ(&smaller) {
                    (tree, told) = (smaller, difference);
                    continue 'smaller;
                }
            }
            return format!("{}{told}", tree.shown());
        }
    }
}

/// How two results differ.
fn difference(ours: &Built, real: &Built) -> Option<String> {
    match (ours, real) {
        (Ok(ours), Ok(real)) if ours == real => None,
        (Err(_), Err(_)) => None,
        // There is nothing to be like in that.
        (Ok(_), Err(error)) if error.contains("goroutine 1 [running]") => None,
        (Ok(_), Err(error)) => Some(format!("only the real program refuses: {error}")),
        (Err(error), Ok(_)) => Some(format!("only ours refuses: {error}")),
        (Ok(ours), Ok(real)) => {
            let (ours, real) = (String::from_utf8_lossy(ours), String::from_utf8_lossy(real));
            let at = ours
                .lines()
                .zip(real.lines())
                .take_while(|(ours, real)| ours == real)
                .count();
            let near = |text: &str| {
                let lines = text.lines().skip(at.saturating_sub(4)).take(12);
                lines.map(|line| format!("    {line}\n")).collect::<String>()
            };
            Some(format!(
                "line {}\n  ours:\n{}  the real program:\n{}",
                at + 1,
                near(&ours),
                near(&real)
            ))
        }
    }
}

#[test]
fn random_trees_are_built_as_the_real_program_builds_them() {
    let Some(real) = find("kustomize") else {
        return;
    };
    let programs = Programs::new(real);
    let first = number("SLUICE_KUSTOMIZE_SEED").unwrap_or(1);
    let end = first + number("SLUICE_KUSTOMIZE_CASES").unwrap_or(USUAL);
    let (next, built) = (AtomicU64::new(first), AtomicU64::new(0));
    let work = || {
        let mut different = Vec::new();
        loop {
            let seed = next.fetch_add(1, Ordering::Relaxed);
            if seed >= end {
                return different;
            }
            let tree = programs.tree(seed);
            let (ours, real) = (programs.ours(&tree), programs.real(&tree));
            built.fetch_add(u64::from(real.is_ok()), Ordering::Relaxed);
            if difference(&ours, &real).is_some() {
                eprintln!("the tree with seed {seed} differs");
                different.push(seed);
            }
        }
    };
    let workers = std::thread::available_parallelism().map_or(1, |count| count.get().min(4));
    let mut different: Vec<u64> = std::thread::scope(|scope| {
        let workers: Vec<_> = (0..workers).map(|_| scope.spawn(work)).collect();
        workers
            .into_iter()
            .flat_map(|worker| worker.join().expect("no worker panics"))
            .collect()
    });
    different.sort_unstable();
    eprintln!(
        "{} trees, of which {} build; {} differ",
        end - first,
        built.into_inner(),
        different.len()
    );
    for seed in different.iter().take(PRINTED) {
        eprintln!(
            "\nSLUICE_KUSTOMIZE_SEED={seed} SLUICE_KUSTOMIZE_CASES=1\n{}",
            programs.shrunk(programs.tree(*seed))
        );
    }
    assert!(
        different.is_empty(),
        "these seeds give different results: {different:?}"
    );
}
