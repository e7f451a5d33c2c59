//! The credentials for registries that other programs have left on this machine.

use std::path::{Path, PathBuf};
use std::{env, fs};

use anyhow::Context as _;
use source::oci::Keychain;

/// What `docker login` left, if anything.
pub(super) fn docker() -> anyhow::Result<Keychain> {
    let folder = match env::var_os("DOCKER_CONFIG") {
        Some(folder) => PathBuf::from(folder),
        None => match env::home_dir() {
            Some(home) => home.join(".docker"),
            None => return Ok(Keychain::anonymous()),
        },
    };
    read(&folder.join("config.json"))
}

/// What `helm registry login` left, and then what `docker login` did.
pub(super) fn helm(given: Option<&Path>) -> anyhow::Result<Keychain> {
    let file = given
        .map(Path::to_owned)
        .or_else(|| Some(helm_home()?.join("registry/config.json")));
    let mut keychain = match file {
        Some(file) => read(&file)?,
        None => Keychain::anonymous(),
    };
    keychain.merge(docker()?);
    Ok(keychain)
}

/// Where helm keeps what it is told.
pub(super) fn helm_home() -> Option<PathBuf> {
    let of = |name: &str| {
        env::var_os(name)
            .filter(|value| !value.is_empty())
            .map(PathBuf::from)
    };
    of("HELM_CONFIG_HOME")
        .or_else(|| Some(of("XDG_CONFIG_HOME")?.join("helm")))
        .or_else(|| Some(env::home_dir()?.join(".config/helm")))
}

fn read(file: &Path) -> anyhow::Result<Keychain> {
    match fs::read(file) {
        Ok(json) => Keychain::docker_config(&json).with_context(|| file.display().to_string()),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(Keychain::anonymous()),
        Err(error) => Err(error).with_context(|| format!("failed to read {}", file.display())),
    }
}
