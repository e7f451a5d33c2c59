//! `sluice create secret`: Secrets as sources take them.

mod git;
mod github_app;
pub(super) mod helm;
pub(super) mod host;
pub(super) mod key;
mod notation;
mod oci;
mod proxy;
pub(super) mod store;
mod tls;

pub(crate) use oci::content as registry_secret;

#[derive(clap::Subcommand)]
pub(crate) enum Secret {
    /// Credentials for a Git repository
    Git(git::Args),
    /// Credentials for a Helm repository
    Helm(helm::Args),
    /// Credentials for a registry
    Oci(oci::Args),
    /// Credentials of a GitHub App
    Githubapp(github_app::Args),
    /// Root certificates and the trust policy of Notation
    Notation(notation::Args),
    /// Certificates
    Tls(tls::Args),
    /// The address of a proxy, and credentials for it
    Proxy(proxy::Args),
}

pub(super) async fn run(secret: Secret) -> anyhow::Result<()> {
    match secret {
        Secret::Git(args) => git::run(args).await,
        Secret::Helm(args) => helm::run(args).await,
        Secret::Oci(args) => oci::run(args).await,
        Secret::Githubapp(args) => github_app::run(args).await,
        Secret::Notation(args) => notation::run(args).await,
        Secret::Tls(args) => tls::run(args).await,
        Secret::Proxy(args) => proxy::run(args).await,
    }
}
