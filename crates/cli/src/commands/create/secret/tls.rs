//! `sluice create secret tls`

use std::path::PathBuf;

use anyhow::ensure;

use super::store::{self, Content};
use crate::commands::create::Common;

#[derive(clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    common: Common,

    #[command(flatten)]
    certificates: Certificates,
}

#[derive(clap::Args)]
pub(super) struct Certificates {
    /// A file with the certificate that proves who asks
    #[arg(long, value_name = "FILE")]
    tls_crt_file: Option<PathBuf>,

    /// A file with the key of that certificate
    #[arg(long, value_name = "FILE")]
    tls_key_file: Option<PathBuf>,

    /// A file with the certificates of those who may vouch for the server
    #[arg(long, value_name = "FILE")]
    ca_crt_file: Option<PathBuf>,
}

pub(super) async fn run(mut args: Args) -> anyhow::Result<()> {
    let content = args.certificates.content()?;
    ensure!(
        !content.entries.is_empty(),
        "no certificates: --ca-crt-file, or --tls-crt-file and --tls-key-file, name some"
    );
    store::finish(&mut args.common, "tls", &content).await
}

impl Certificates {
    pub(super) fn content(&self) -> anyhow::Result<Content> {
        let certificate = store::file(self.tls_crt_file.as_ref(), "cert")?;
        let key = store::file(self.tls_key_file.as_ref(), "key")?;
        let authority = store::file(self.ca_crt_file.as_ref(), "TLS CA")?;
        ensure!(
            certificate.is_some() == key.is_some(),
            "a certificate needs its key, and a key its certificate: --tls-crt-file and --tls-key-file"
        );
        let content = Content {
            kind: Some(match certificate {
                Some(_) => "kubernetes.io/tls",
                None => "Opaque",
            }),
            ..Content::default()
        };
        Ok(content
            .with("tls.crt", certificate.as_deref())
            .with("tls.key", key.as_deref())
            .with("ca.crt", authority.as_deref()))
    }
}
