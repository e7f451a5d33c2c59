//! Builds the programs from the Go module registry.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use anyhow::{Context, bail};

use super::home::Home;
use super::pins::{self, Program};

/// Where each program lies, by its name.
pub(super) type Programs = BTreeMap<&'static str, PathBuf>;

/// Finds each program or builds it.
pub(super) fn programs(home: &Home, needed: &[Program]) -> anyhow::Result<Programs> {
    let mut found = Programs::new();
    let mut missing = Vec::new();
    for &program in needed {
        match find(home, program) {
            Some(path) => drop(found.insert(program.name(), path)),
            None => missing.push(program),
        }
    }
    if missing.is_empty() {
        return Ok(found);
    }

    check_go(&missing)?;
    let folder = home.programs();
    fs::create_dir_all(&folder).with_context(|| format!("failed to create {}", folder.display()))?;
    let lock_path = folder.join(".lock");
    let lock =
        File::create(&lock_path).with_context(|| format!("failed to create {}", lock_path.display()))?;
    if lock.try_lock().is_err() {
        eprintln!("waiting for another build into {}", folder.display());
        lock.lock()
            .with_context(|| format!("failed to lock {}", lock_path.display()))?;
    }
    for program in missing {
        // Another build may have made it while this one waited for the lock.
        if find(home, program).is_none() {
            build(home, program)?;
        }
        found.insert(program.name(), folder.join(program.name()));
    }
    Ok(found)
}

fn find(home: &Home, program: Program) -> Option<PathBuf> {
    let folders = home
        .ready_made()
        .map(Path::to_path_buf)
        .into_iter()
        .chain([home.programs()]);
    folders
        .map(|folder| folder.join(program.name()))
        .find(|path| path.is_file())
}

fn check_go(missing: &[Program]) -> anyhow::Result<()> {
    let names = missing
        .iter()
        .map(|program| program.name())
        .collect::<Vec<_>>()
        .join(", ");
    match Command::new("go").arg("version").output() {
        Ok(output) if output.status.success() => {
            eprintln!(
                "building {names} once, from the Go module registry, with {}",
                String::from_utf8_lossy(&output.stdout).trim()
            );
            Ok(())
        }
        Ok(output) => bail!(
            "`go version` fails: {}",
            String::from_utf8_lossy(&output.stderr).trim()
        ),
        Err(error) => bail!(
            "{names} must be built, and Go is missing ({error}): install Go 1.26 or newer \
             (https://go.dev/dl) or set BED_HOME to a folder whose `bin` holds the programs"
        ),
    }
}

fn build(home: &Home, program: Program) -> anyhow::Result<()> {
    let name = program.name();
    let sources = home.sources().join(match program {
        Program::Kubernetes(_) => "kubernetes",
        Program::Etcd => "etcd",
        Program::Kwok => "kwok",
    });
    fs::create_dir_all(&sources).with_context(|| format!("failed to create {}", sources.display()))?;
    let wrapper = sources.join("go.mod");
    fs::write(&wrapper, go_mod(program)).with_context(|| format!("failed to write {}", wrapper.display()))?;

    eprintln!(
        "building {name}: {} on two cores the first time",
        program.build_time()
    );
    let started = Instant::now();
    // A build that is interrupted must not leave half a program under its final name.
    let partial = home.programs().join(format!(".{name}.partial"));
    let status = Command::new("go")
        .current_dir(&sources)
        .args([
            "build",
            "-mod=mod",
            "-trimpath",
            "-tags",
            "selinux,notest,grpcnotrace",
        ])
        .args(["-ldflags", &linker_flags(program)])
        .arg("-o")
        .arg(&partial)
        .arg(package(program))
        .env("CGO_ENABLED", "0")
        .env("GOWORK", "off")
        .status()
        .context("failed to run go")?;
    if !status.success() {
        bail!(
            "building {name} failed ({status}). The modules come from GOPROXY; where the checksum database \
             cannot be reached, set GOSUMDB=off; a Go that is too old needs GOTOOLCHAIN=auto or an update"
        );
    }
    let path = home.programs().join(name);
    fs::rename(&partial, &path).with_context(|| format!("failed to name {}", path.display()))?;
    eprintln!("built {name} in {:.0} s", started.elapsed().as_secs_f64());
    Ok(())
}

fn package(program: Program) -> String {
    match program {
        Program::Kubernetes(name) => format!("k8s.io/kubernetes/cmd/{name}"),
        Program::Etcd => "go.etcd.io/etcd/server/v3".to_owned(),
        Program::Kwok => "sigs.k8s.io/kwok/cmd/kwok".to_owned(),
    }
}

/// The module that wraps a program. `go install PACKAGE@VERSION` refuses a module with replacements of its own,
/// a module that requires it does not.
fn go_mod(program: Program) -> String {
    match program {
        Program::Kubernetes(_) => {
            let (minor, staging) = versions();
            let mut text = format!(
                "module sluice/kubernetes\n\ngo 1.26.0\n\ngodebug default=go1.{}\n\n\
                 require k8s.io/kubernetes {}\n\nreplace (\n",
                minor - 10,
                pins::KUBERNETES
            );
            for module in pins::STAGING {
                writeln!(text, "\tk8s.io/{module} => k8s.io/{module} {staging}")
                    .expect("a String takes all text");
            }
            text + ")\n"
        }
        Program::Etcd => format!(
            "module sluice/etcd\n\ngo 1.26.0\n\nrequire go.etcd.io/etcd/server/v3 {}\n",
            pins::ETCD
        ),
        Program::Kwok => {
            format!(
                "module sluice/kwok\n\ngo 1.26.0\n\nrequire sigs.k8s.io/kwok {}\n",
                pins::KWOK
            )
        }
    }
}

/// Without these flags `/version` says v0.0.0, and clients that look at it take the server for an ancient one.
fn linker_flags(program: Program) -> String {
    let mut flags = "-s -w".to_owned();
    if let Program::Kubernetes(_) = program {
        let (minor, _) = versions();
        for package in ["k8s.io/component-base/version", "k8s.io/client-go/pkg/version"] {
            let version = pins::KUBERNETES;
            write!(
                flags,
                " -X {package}.gitVersion={version} -X {package}.gitMajor=1 -X {package}.gitMinor={minor} \
                 -X {package}.gitTreeState=archive -X {package}.buildDate=1970-01-01T00:00:00Z"
            )
            .expect("a String takes all text");
        }
    }
    flags
}

/// The minor version, and the version of the staging modules: v1.35.8 gives 35 and v0.35.8.
fn versions() -> (u32, String) {
    let rest = pins::KUBERNETES
        .strip_prefix("v1.")
        .expect("the pin is a version of Kubernetes 1");
    let minor = rest
        .split('.')
        .next()
        .and_then(|text| text.parse().ok())
        .expect("the pin has a minor version");
    (minor, format!("v0.{rest}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_wrapper_replaces_every_staging_module_by_its_published_version() {
        let text = go_mod(Program::Kubernetes("kubectl"));
        assert!(text.contains("require k8s.io/kubernetes v1.35.8\n"), "{text}");
        assert!(text.contains("\tk8s.io/api => k8s.io/api v0.35.8\n"), "{text}");
        assert!(text.contains("godebug default=go1.25\n"), "{text}");
    }

    #[test]
    fn the_version_is_linked_into_kubernetes_programs_only() {
        assert!(linker_flags(Program::Kubernetes("kubectl")).contains("gitVersion=v1.35.8"));
        assert_eq!(linker_flags(Program::Etcd), "-s -w");
    }
}
