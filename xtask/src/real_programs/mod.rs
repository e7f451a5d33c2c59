//! The programs that people use with Git, registries and charts, for tests that must hold on more than our own servers.
//!
//! Most come as Debian packages, which are only unpacked; flux, its controllers, helm and sops are built from the Go module registry. All are kept
//! outside the checkout, each version in a folder of its own, and found by tests through `PATH`. `git` with its HTTP backend,
//! `tar`, `gpg` and `ssh-keygen` are expected to be there; an SSH server is installed where that is allowed.
//!
//! Reading order: [`pins`] says what there is, [`debian`] and [`golang`] how it is had.

mod debian;
mod golang;
mod pins;

use std::env;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process;

use anyhow::{Context, bail, ensure};
use clap::Subcommand;

use pins::Program;

/// `cargo xtask real-programs ...`
#[derive(Subcommand)]
pub(crate) enum Command {
    /// Fetch or build what is missing; about 10 minutes on two free cores the first time
    Get,
    /// Run a command that finds the programs on its PATH, and whose tests fail where one is missing
    Exec {
        /// The command and its arguments, after `--`
        #[arg(last = true, required = true)]
        command: Vec<String>,
    },
}

/// Says to tests that a missing program is a failure and no reason to skip. `testkit` reads it.
const REQUIRED: &str = "SLUICE_TEST_REAL_PROGRAMS";

/// Runs one subcommand.
pub(crate) fn run(command: Command) -> anyhow::Result<()> {
    let folders = get()?;
    match command {
        Command::Get => {
            for folder in folders {
                println!("{}", folder.display());
            }
            Ok(())
        }
        Command::Exec { command } => {
            let status = process::Command::new(&command[0])
                .args(&command[1..])
                .env("PATH", path(&folders)?)
                .env(REQUIRED, "required")
                .status()
                .with_context(|| format!("failed to run {}", command[0]))?;
            match status.code() {
                Some(0) => Ok(()),
                Some(code) => process::exit(code),
                None => bail!("{} ended by {status}", command[0]),
            }
        }
    }
}

/// The folders of all programs, after what was missing is there.
fn get() -> anyhow::Result<Vec<PathBuf>> {
    for program in ["git", "tar", "gpg", "ssh-keygen"] {
        ensure!(
            find(program).is_some(),
            "{program} is missing: install it (the Debian packages are git, tar, gnupg and openssh-client)"
        );
    }
    debian::install_sshd()?;
    let root = root()?;
    for module in pins::MODULES {
        golang::download(module, &root.join("modules"))?;
    }
    pins::PROGRAMS
        .iter()
        .map(|program| folder(&root, program))
        .collect()
}

/// Where one program is.
fn folder(root: &Path, program: &Program) -> anyhow::Result<PathBuf> {
    let folder = root.join(program.name).join(program.version);
    if folder.join(program.name).is_file() {
        return Ok(folder);
    }
    // Half a program never gets its final name.
    fs::create_dir_all(&folder).with_context(|| format!("failed to create {}", folder.display()))?;
    let scratch = folder.join(".partial");
    let made = match &program.package {
        // Archives drop old versions; modules stay. A program that no module builds comes in the version of this system.
        Some(package) => debian::pinned(package, program, &scratch)
            .or_else(|error| {
                eprintln!("{error:#}: building {} instead", program.name);
                golang::build(program, &scratch)
            })
            .or_else(|error| {
                eprintln!("{error:#}: asking apt for the version that this system has");
                debian::of_system(package, program, &scratch)
            }),
        None => golang::build(program, &scratch),
    };
    let made = made.with_context(|| format!("{} {} cannot be had", program.name, program.version))?;
    let path = folder.join(program.name);
    fs::rename(&made, &path).with_context(|| format!("failed to name {}", path.display()))?;
    fs::remove_dir_all(&scratch).with_context(|| format!("failed to remove {}", scratch.display()))?;
    Ok(folder)
}

/// `$SLUICE_REAL_PROGRAMS_HOME`, else `real-programs` in the user's cache folder.
fn root() -> anyhow::Result<PathBuf> {
    let absolute = |name: &str| {
        env::var_os(name)
            .map(PathBuf::from)
            .filter(|path| path.is_absolute())
    };
    absolute("SLUICE_REAL_PROGRAMS_HOME")
        .or_else(|| absolute("XDG_CACHE_HOME").map(|cache| cache.join("sluice/real-programs")))
        .or_else(|| absolute("HOME").map(|home| home.join(".cache/sluice/real-programs")))
        .context("neither SLUICE_REAL_PROGRAMS_HOME, XDG_CACHE_HOME nor HOME names an absolute path")
}

/// The search path with these folders first, and with that of system programs, where sshd is.
fn path(folders: &[PathBuf]) -> anyhow::Result<OsString> {
    let old = env::var_os("PATH").unwrap_or_default();
    let old: Vec<PathBuf> = env::split_paths(&old).collect();
    let all = folders
        .iter()
        .cloned()
        .chain(old)
        .chain([PathBuf::from("/usr/sbin")]);
    env::join_paths(all).context("a folder's name cannot be in PATH")
}

/// A program on the search path, or among the system's.
fn find(name: &str) -> Option<PathBuf> {
    let path = env::var_os("PATH").unwrap_or_default();
    let folders: Vec<PathBuf> = env::split_paths(&path)
        .chain([PathBuf::from("/usr/sbin")])
        .collect();
    let mut found = folders.into_iter().map(|folder| folder.join(name));
    found.find(|path| path.is_file())
}
