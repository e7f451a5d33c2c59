//! Programs of Debian packages. They are unpacked, not installed: their static or widely compatible programs run on other
//! versions of Debian too.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, ensure};
use sha2::{Digest, Sha256};

use super::find;
use super::pins::{Package, Program};

/// Where packages are fetched from. What is checked is their digest, so that it does not matter who has them.
const ARCHIVE: &str = "http://deb.debian.org/debian/pool";

/// What decides whether services start when their package is installed.
const POLICY: &str = "/usr/sbin/policy-rc.d";

/// Fetches the pinned package, checks it and returns the path of the program that was unpacked from it.
pub(super) fn pinned(package: &Package, program: &Program, scratch: &Path) -> anyhow::Result<PathBuf> {
    let (cpu, system) = (std::env::consts::ARCH, std::env::consts::OS);
    ensure!(
        (cpu, system) == ("x86_64", "linux"),
        "there is no package for {cpu} {system}"
    );
    remake(scratch)?;
    let file = fetch(package, scratch)?;
    unpack(&file, program, scratch)
}

/// Downloads the package in the version that this system's archive has, which apt checks, and returns the path of the program that was
/// unpacked from it.
pub(super) fn of_system(package: &Package, program: &Program, scratch: &Path) -> anyhow::Result<PathBuf> {
    remake(scratch)?;
    let file = download(package, scratch)?;
    unpack(&file, program, scratch)
}

fn unpack(file: &Path, program: &Program, scratch: &Path) -> anyhow::Result<PathBuf> {
    let content = scratch.join("content");
    run(Command::new("dpkg-deb").arg("-x").arg(file).arg(&content))?;
    let path = content.join("usr/bin").join(program.name);
    ensure!(
        path.is_file(),
        "{} has no /usr/bin/{}",
        file.display(),
        program.name
    );
    Ok(path)
}

/// Fetches the pinned version of a package, and checks its digest.
fn fetch(package: &Package, scratch: &Path) -> anyhow::Result<PathBuf> {
    let file = scratch.join("package.deb");
    let url = format!("{ARCHIVE}/{}", package.path);
    eprintln!("fetching {url}");
    run(Command::new("curl")
        .args(["-fsSL", "--retry", "3", "--max-time", "300", "-o"])
        .arg(&file)
        .arg(&url))?;
    let found = sha256(&file)?;
    ensure!(
        found == package.sha256,
        "{url} has the digest {found} instead of {}",
        package.sha256
    );
    Ok(file)
}

/// Downloads a package of the system's archive. Archives drop old versions, so its version is not pinned.
fn download(package: &Package, scratch: &Path) -> anyhow::Result<PathBuf> {
    let name = package.name();
    run(Command::new("apt-get").args(["-qq", "update"]))?;
    run(Command::new("apt-get")
        .args(["-qq", "download", name])
        .current_dir(scratch))?;
    let mut files = fs::read_dir(scratch)?
        .flatten()
        .map(|entry| entry.path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "deb"));
    files.next().with_context(|| format!("apt downloaded no {name}"))
}

/// Installs OpenSSH's server where it is missing, without starting it: an SSH server needs a user of its own, and so cannot
/// just be unpacked.
pub(super) fn install_sshd() -> anyhow::Result<()> {
    if find("sshd").is_some() {
        return Ok(());
    }
    let advice = "sshd is missing: install the Debian package openssh-server";
    ensure!(rustix::process::geteuid().is_root(), "{advice}");
    eprintln!("installing openssh-server");
    let policy = Path::new(POLICY);
    let own = !policy.exists();
    if own {
        fs::write(policy, "#!/bin/sh\nexit 101\n").with_context(|| format!("failed to write {POLICY}"))?;
        run(Command::new("chmod").arg("755").arg(policy))?;
    }
    let installed = ["update", "install"].iter().try_for_each(|verb| {
        let mut command = Command::new("apt-get");
        command
            .args(["-qq", verb])
            .env("DEBIAN_FRONTEND", "noninteractive")
            .stdout(Stdio::null());
        if *verb == "install" {
            command.args(["-y", "--no-install-recommends", "openssh-server"]);
        }
        run(&mut command)
    });
    if own {
        fs::remove_file(policy).with_context(|| format!("failed to remove {POLICY}"))?;
    }
    installed.context(advice)
}

/// An empty folder.
pub(super) fn remake(folder: &Path) -> anyhow::Result<()> {
    if folder.exists() {
        fs::remove_dir_all(folder).with_context(|| format!("failed to remove {}", folder.display()))?;
    }
    fs::create_dir_all(folder).with_context(|| format!("failed to create {}", folder.display()))
}

/// Runs a command that must succeed.
pub(super) fn run(command: &mut Command) -> anyhow::Result<()> {
    let name = command.get_program().to_string_lossy().into_owned();
    let status = command
        .status()
        .with_context(|| format!("failed to run {name}"))?;
    ensure!(status.success(), "{name} failed ({status})");
    Ok(())
}

fn sha256(file: &Path) -> anyhow::Result<String> {
    let content = fs::read(file).with_context(|| format!("failed to read {}", file.display()))?;
    let mut hex = String::new();
    for byte in Sha256::digest(&content) {
        write!(hex, "{byte:02x}").expect("a String takes all text");
    }
    Ok(hex)
}
