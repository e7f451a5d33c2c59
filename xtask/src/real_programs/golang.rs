//! Programs that are built from the Go module registry, whose checksums Go itself checks.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use anyhow::{Context, ensure};

use super::debian::{remake, run};
use super::pins::Program;

/// Builds a program in a writable copy of its module; where the program is now. `go install` refuses modules that replace
/// others, as flux does.
pub(super) fn build(program: &Program, scratch: &Path) -> anyhow::Result<PathBuf> {
    remake(scratch)?;
    let module = format!("{}@{}", program.module.path, program.version);
    eprintln!("building {} from {module}: minutes, the first time", program.name);
    let started = Instant::now();
    let downloaded = Command::new("go")
        .args(["mod", "download", "-json", &module])
        .current_dir(scratch)
        .env("GOWORK", "off")
        .output()
        .context("failed to run go: install Go 1.26 or newer (https://go.dev/dl)")?;
    ensure!(
        downloaded.status.success(),
        "`go mod download {module}` failed: {}",
        String::from_utf8_lossy(&downloaded.stdout)
    );
    let folder =
        folder(&String::from_utf8_lossy(&downloaded.stdout)).context("go did not say where it is")?;
    let sources = scratch.join("sources");
    run(Command::new("cp").arg("-r").arg(&folder).arg(&sources))?;
    run(Command::new("chmod").args(["-R", "u+w"]).arg(&sources))?;
    if program.name == "flux" {
        // The manifests that `flux install` writes are made by upstream's own build. Nothing here installs them.
        let manifests = sources.join("cmd/flux/manifests");
        fs::create_dir_all(&manifests)?;
        fs::write(manifests.join("placeholder.yaml"), "{}\n")?;
    }
    for edit in program.module.edits {
        run(Command::new("go")
            .current_dir(&sources)
            .args(["mod", "edit", edit])
            .env("GOWORK", "off"))?;
    }
    let built = scratch.join(program.name);
    run(Command::new("go")
        .current_dir(&sources)
        .args(["build", "-mod=mod", "-trimpath", "-ldflags"])
        .arg(format!("-s -w{}", program.module.linker))
        .arg("-o")
        .arg(&built)
        .arg(format!("./{}", program.module.package))
        .env("CGO_ENABLED", "0")
        .env("GOWORK", "off"))?;
    eprintln!(
        "built {} in {:.0} s",
        program.name,
        started.elapsed().as_secs_f64()
    );
    Ok(built)
}

/// Downloads a module into Go's module cache, where tests find it.
pub(super) fn download(module: &str, scratch: &Path) -> anyhow::Result<()> {
    fs::create_dir_all(scratch).with_context(|| format!("failed to create {}", scratch.display()))?;
    run(Command::new("go")
        .args(["mod", "download", module])
        .current_dir(scratch)
        .env("GOWORK", "off"))
}

/// Where a module was unpacked, from what `go mod download -json` prints.
fn folder(printed: &str) -> Option<PathBuf> {
    let line = printed.lines().find(|line| line.trim().starts_with("\"Dir\":"))?;
    let quoted = line.split_once(':')?.1.trim().trim_end_matches(',');
    Some(PathBuf::from(quoted.strip_prefix('"')?.strip_suffix('"')?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_folder_of_a_module_is_read_from_what_go_prints() {
        let printed = "{\n\t\"Path\": \"a/b\",\n\t\"Dir\": \"/go/a/b@v1\",\n\t\"Sum\": \"x\"\n}\n";
        assert_eq!(folder(printed), Some(PathBuf::from("/go/a/b@v1")));
        assert_eq!(folder("{}"), None);
    }
}
