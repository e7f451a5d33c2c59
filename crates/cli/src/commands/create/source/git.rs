//! `sluice create source git`

use std::path::PathBuf;

use anyhow::{Context as _, bail, ensure};
use serde_json::{Value, json};

use super::{SourceArgs, credentials};
use crate::commands::create::fields::Fields;
use crate::commands::create::object;
use crate::commands::create::secret::key::Keys;
use crate::commands::create::secret::store::{Content, file};
use crate::commands::objects::is_agreed;
use crate::commands::pflag;

#[derive(clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    source: SourceArgs,

    /// The address of the repository
    #[arg(long)]
    url: Option<String>,

    /// The branch
    #[arg(long)]
    branch: Option<String>,

    /// The tag
    #[arg(long)]
    tag: Option<String>,

    /// A range of versions that the tag must be in
    #[arg(long, value_name = "RANGE")]
    tag_semver: Option<String>,

    /// The reference, such as refs/pull/1/head
    #[arg(long, value_name = "NAME")]
    ref_name: Option<String>,

    /// The commit
    #[arg(long)]
    commit: Option<String>,

    /// Who asks, over HTTP
    #[arg(long, short)]
    username: Option<String>,

    /// The password of who asks, or of the private key
    #[arg(long, short)]
    password: Option<String>,

    #[command(flatten)]
    keys: Keys,

    /// The Secret with the credentials
    #[arg(long, value_name = "NAME")]
    secret_ref: Option<String>,

    /// The Secret with the address of a proxy
    #[arg(long, value_name = "NAME")]
    proxy_secret_ref: Option<String>,

    /// Who gives the credentials
    #[arg(long, value_parser = ["generic", "github", "aws", "azure"])]
    provider: Option<String>,

    /// A file with the certificates of those who may vouch for the server
    #[arg(long, value_name = "FILE")]
    ca_file: Option<PathBuf>,

    /// With the submodules
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true, default_missing_value = "true", default_value = "false", hide_default_value = true, action = clap::ArgAction::Set, value_parser = pflag::boolean)]
    recurse_submodules: bool,

    /// Do not ask whether the repository knows the key
    #[arg(long, short, value_name = "BOOL", num_args = 0..=1, require_equals = true, default_missing_value = "true", default_value = "false", hide_default_value = true, action = clap::ArgAction::Set, value_parser = pflag::boolean)]
    silent: bool,

    /// Paths that are left out; may be repeated
    #[arg(long, value_name = "PATHS", value_delimiter = ',')]
    ignore_paths: Vec<String>,

    /// Only these directories; may be repeated
    #[arg(long, value_name = "PATHS", value_delimiter = ',')]
    sparse_checkout_paths: Vec<String>,
}

pub(super) async fn run(mut args: Args) -> anyhow::Result<()> {
    let url = args.address()?;
    let mut spec = args.spec(url.as_str())?;
    if !args.source.common.export && args.secret_ref.is_none() {
        let content = args.content(&url).await?;
        let name = args.source.common.name.clone();
        if credentials(&mut args.source.common, &name, &content).await? {
            spec["secretRef"] = json!({"name": name});
        }
    }
    object::finish(&mut args.source.common, "GitRepository", spec).await
}

impl Args {
    fn address(&self) -> anyhow::Result<url::Url> {
        let url = self.url.as_deref().context("url is required: --url")?;
        let url = url::Url::parse(url).context("git URL parse failed")?;
        let scheme = url.scheme();
        ensure!(
            matches!(scheme, "ssh" | "http" | "https"),
            "git URL scheme '{scheme}' not supported, can be: ssh, http and https"
        );
        ensure!(
            self.ca_file.is_none() || scheme != "ssh",
            "specifying a CA file is not supported for Git over SSH"
        );
        Ok(url)
    }

    fn spec(&self, url: &str) -> anyhow::Result<Value> {
        let sparse = (!self.sparse_checkout_paths.is_empty()).then(|| json!(self.sparse_checkout_paths));
        let spec = self
            .source
            .fields()
            .with("url", self.url.as_deref().unwrap_or(url))
            .flag("recurseSubmodules", self.recurse_submodules)
            .with("ref", self.reference()?)
            .lines("ignore", &self.ignore_paths)
            .maybe("sparseCheckout", sparse)
            .named("secretRef", self.secret_ref.as_deref())
            .named("proxySecretRef", self.proxy_secret_ref.as_deref())
            .text("provider", self.provider.as_deref());
        Ok(spec.into())
    }

    /// A commit goes before everything else, and a branch after it.
    fn reference(&self) -> anyhow::Result<Value> {
        let fields = Fields::default();
        let branch = self.branch.as_deref();
        let fields = if self.commit.is_some() {
            fields
                .text("commit", self.commit.as_deref())
                .text("branch", branch)
        } else if self.ref_name.is_some() {
            fields.text("name", self.ref_name.as_deref())
        } else if self.tag_semver.is_some() {
            fields.text("semver", self.tag_semver.as_deref())
        } else if self.tag.is_some() {
            fields.text("tag", self.tag.as_deref())
        } else if branch.is_some() {
            fields.text("branch", branch)
        } else {
            bail!(
                "a Git ref is required, use one of the following: --branch, --tag, --commit, --ref-name or --tag-semver"
            );
        };
        Ok(fields.into())
    }

    async fn content(&self, url: &url::Url) -> anyhow::Result<Content> {
        if url.scheme() != "ssh" {
            if url.scheme() == "http" && self.username.is_some() {
                eprintln!("⚠️ insecure configuration: credentials configured for an HTTP URL");
            }
            let authority = file(
                self.ca_file.as_ref().filter(|_| url.scheme() == "https"),
                "TLS CA",
            )?;
            let content = Content::default().with("ca.crt", authority.as_deref());
            return Ok(match (&self.username, &self.password) {
                (Some(username), Some(password)) => content
                    .with("username", Some(username))
                    .with("password", Some(password)),
                _ => content,
            });
        }
        let content = self.keys.content(url, self.password.as_deref()).await?;
        let of = |key: &str| content.entries.get(key).map(String::as_str).unwrap_or_default();
        eprintln!("✔ collected public key from SSH server:\n{}", of("known_hosts"));
        eprintln!("✚ deploy key: {}", of("identity.pub"));
        if !self.silent
            && !is_agreed(
                "Have you added the deploy key to your repository",
                "--silent does not ask",
            )?
        {
            bail!("aborting");
        }
        Ok(content)
    }
}
