//! Whose signature an artifact must have.

use anyhow::bail;
use serde_json::{Value, json};

use crate::commands::create::fields::Fields;

#[derive(clap::Args)]
pub(super) struct Verify {
    /// What verifies signatures: cosign
    #[arg(long, value_name = "PROVIDER", value_parser = ["cosign"])]
    verify_provider: Option<String>,

    /// The Secret with the public keys
    #[arg(long, value_name = "NAME")]
    verify_secret_ref: Option<String>,

    /// The subject of a signature without a key, as a regular expression
    #[arg(long, value_name = "REGEXP")]
    verify_subject: Option<String>,

    /// The issuer of a signature without a key, as a regular expression
    #[arg(long, value_name = "REGEXP")]
    verify_issuer: Option<String>,
}

impl Verify {
    pub(super) fn value(&self) -> anyhow::Result<Option<Value>> {
        let identity = self.verify_subject.is_some() || self.verify_issuer.is_some();
        let Some(provider) = &self.verify_provider else {
            if self.verify_secret_ref.is_some() {
                bail!("a verification provider must be specified when a secret is specified");
            }
            if identity {
                bail!("a verification provider must be specified when OIDC issuer/subject is specified");
            }
            return Ok(None);
        };
        let identity = identity.then(|| {
            json!([{
                "issuer": self.verify_issuer.as_deref().unwrap_or_default(),
                "subject": self.verify_subject.as_deref().unwrap_or_default(),
            }])
        });
        let fields = Fields::default()
            .with("provider", provider.as_str())
            .named("secretRef", self.verify_secret_ref.as_deref())
            .maybe("matchOIDCIdentity", identity);
        Ok(Some(fields.into()))
    }
}
