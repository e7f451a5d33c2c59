//! `sluice helm push`: a packed chart into a registry.

use std::fs;
use std::io::ErrorKind;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context as _, bail};
use jiff::Zoned;
use source::helm::artifact::Push;
use source::oci;

use super::access::Access;
use super::{chart, fetch, template, whole};

/// Push a packed chart to a registry
///
///   sluice helm push app-1.2.3.tgz oci://ghcr.io/org/charts
#[derive(clap::Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct Args {
    /// The packed chart; a provenance file beside it is pushed too
    chart: PathBuf,
    /// The address below which it goes, such as oci://ghcr.io/org/charts
    remote: String,
    #[command(flatten)]
    access: Access,
}

pub(super) fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let Some((scheme, below)) = args.remote.split_once("://") else {
        bail!("scheme prefix missing from remote (e.g. \"oci://\")");
    };
    if scheme != "oci" {
        bail!("scheme {scheme:?} not supported");
    }
    let shown = args.chart.display();
    let file = match fs::metadata(&args.chart) {
        Ok(file) if file.is_dir() => {
            bail!("cannot push directory, must provide chart archive (.tgz)")
        }
        Ok(file) => file,
        Err(error) if error.kind() == ErrorKind::NotFound => bail!("{shown}: no such file"),
        Err(error) => return Err(error).with_context(|| shown.to_string()),
    };
    let archive = fs::read(&args.chart).with_context(|| shown.to_string())?;
    let provenance = {
        let mut name = args.chart.clone().into_os_string();
        name.push(".prov");
        match fs::read(&name) {
            Ok(content) => Some(content.into()),
            Err(error) if error.kind() == ErrorKind::NotFound => None,
            Err(error) => return Err(error).with_context(|| PathBuf::from(name).display().to_string()),
        }
    };
    let push = Push {
        archive: archive.into(),
        provenance,
        created: time(file.modified()?)?,
    };
    let below = below.trim_end_matches('/');
    // Which repository it is only the chart can tell; the registry is known before.
    let client = args
        .access
        .registry(&oci::Repository::parse(&format!("oci://{below}/chart"))?)?;
    let pushed = fetch::wait(async {
        let pushed = push
            .to(&client, &format!("oci://{below}"), &chart::limits())
            .await;
        pushed.map_err(|error| whole(&error))
    });
    let (reference, digest) = pushed?;
    let tag = reference.tag().unwrap_or_default();
    let name = reference.repository.path().rsplit('/').next().unwrap_or_default();
    let shown = format!("{below}/{name}:{tag}");
    let mut told = format!("Pushed: {shown}\nDigest: {digest}\n");
    if tag.contains('_') {
        told += &fetch::remark(&shown);
    }
    template::write(&told)?;
    Ok(ExitCode::SUCCESS)
}

/// The time at which the archive was written, in the zone of this machine, as Helm has it.
fn time(modified: std::time::SystemTime) -> anyhow::Result<String> {
    let time = Zoned::try_from(modified)?;
    let format = match time.offset().is_zero() {
        true => "%Y-%m-%dT%H:%M:%SZ",
        false => "%Y-%m-%dT%H:%M:%S%:z",
    };
    Ok(time.strftime(format).to_string())
}
