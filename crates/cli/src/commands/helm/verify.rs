//! `sluice helm verify`, and what the flag `--verify` of other commands does.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context as _, bail};
use source::verify::provenance::{self, Keyring, Verification};

use super::template;

/// Verify that a packed chart has been signed and is valid
#[derive(clap::Args)]
pub(crate) struct Args {
    /// The packed chart; its provenance file is beside it, named PATH.prov
    path: PathBuf,
    /// Keyring containing public keys [default: pubring.gpg of GnuPG]
    #[arg(long, value_name = "FILE")]
    keyring: Option<PathBuf>,
}

pub(super) fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let verified = file(&args.path, args.keyring.as_deref())?;
    template::write(&told(&verified))?;
    Ok(ExitCode::SUCCESS)
}

/// The lines that Helm prints of a chart that is verified.
pub(super) fn told(verified: &Verification) -> String {
    let mut lines = String::new();
    for name in &verified.signed_by {
        lines += &format!("Signed by: {name}\n");
    }
    lines += &format!("Using Key With Fingerprint: {}\n", verified.fingerprint);
    lines += &format!("Chart Hash Verified: {}\n", verified.file_hash);
    lines
}

/// Verifies a packed chart with the provenance file beside it.
pub(super) fn file(path: &Path, keyring: Option<&Path>) -> anyhow::Result<Verification> {
    let kind = fs::metadata(path).with_context(|| path.display().to_string())?;
    if kind.is_dir() {
        bail!("unpacked charts cannot be verified");
    }
    let extension = path.extension().unwrap_or_default();
    if !extension.eq_ignore_ascii_case("tgz") {
        bail!("chart must be a tgz file");
    }
    let mut beside = path.as_os_str().to_owned();
    beside.push(".prov");
    let beside = PathBuf::from(beside);
    let provenance =
        fs::read(&beside).with_context(|| format!("could not load provenance file {}", beside.display()))?;
    let archive = fs::read(path).context("failed to read chart archive")?;
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    bytes(&archive, &provenance, &name, keyring)
}

/// Verifies a packed chart of this file name.
pub(super) fn bytes(
    archive: &[u8],
    provenance: &[u8],
    name: &str,
    keyring: Option<&Path>,
) -> anyhow::Result<Verification> {
    let keyring = load(keyring).context("failed to load keyring")?;
    let now = jiff::Timestamp::now().as_second();
    Ok(provenance::verify(archive, provenance, name, &keyring, now)?)
}

fn load(keyring: Option<&Path>) -> anyhow::Result<Keyring> {
    let path = match keyring {
        Some(path) => path.to_owned(),
        None => default_keyring().context("no keyring: --keyring names one")?,
    };
    let bytes = fs::read(&path).with_context(|| path.display().to_string())?;
    Ok(Keyring::read(&bytes)?)
}

fn default_keyring() -> Option<PathBuf> {
    let home = match std::env::var_os("GNUPGHOME") {
        Some(home) => PathBuf::from(home),
        None => std::env::home_dir()?.join(".gnupg"),
    };
    Some(home.join("pubring.gpg"))
}
