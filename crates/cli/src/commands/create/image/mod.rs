//! `sluice create image`

mod policy;
mod repository;
mod update;

#[derive(clap::Subcommand)]
pub(crate) enum Image {
    /// An ImageRepository
    Repository(repository::Args),
    /// An ImagePolicy
    Policy(policy::Args),
    /// An ImageUpdateAutomation
    Update(update::Args),
}

pub(super) async fn run(image: Image) -> anyhow::Result<()> {
    match image {
        Image::Repository(args) => repository::run(args).await,
        Image::Policy(args) => policy::run(args).await,
        Image::Update(args) => update::run(args).await,
    }
}
