//! `sluice create image update`

use anyhow::{Context as _, ensure};
use serde_json::{Value, json};

use crate::commands::create::fields::Fields;
use crate::commands::create::{Common, object};

#[derive(clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    common: Common,

    /// The GitRepository
    #[arg(long, value_name = "NAME")]
    git_repo_ref: Option<String>,

    /// The namespace of the GitRepository
    #[arg(long, value_name = "NAMESPACE")]
    git_repo_namespace: Option<String>,

    /// The directory in which images are updated
    #[arg(long, value_name = "PATH")]
    git_repo_path: Option<String>,

    /// The branch to change
    #[arg(long, value_name = "BRANCH")]
    checkout_branch: Option<String>,

    /// The branch to push to, if it is another
    #[arg(long, value_name = "BRANCH")]
    push_branch: Option<String>,

    /// The message of commits, a template
    #[arg(long, value_name = "TEMPLATE")]
    commit_template: Option<String>,

    /// Who commits
    #[arg(long, value_name = "NAME")]
    author_name: Option<String>,

    /// The address of who commits
    #[arg(long, value_name = "EMAIL")]
    author_email: Option<String>,

    /// The Secret with the key that signs commits
    #[arg(long, value_name = "NAME")]
    signing_key_secret: Option<String>,

    /// What that key is
    #[arg(long, value_name = "TYPE", value_parser = ["gpg", "ssh"])]
    signing_key_type: Option<String>,
}

pub(super) async fn run(mut args: Args) -> anyhow::Result<()> {
    let spec = args.spec()?;
    object::finish(&mut args.common, "ImageUpdateAutomation", spec).await
}

impl Args {
    fn spec(&self) -> anyhow::Result<Value> {
        let said = |text: &'_ Option<String>| text.clone().filter(|text| !text.is_empty());
        let name = said(&self.git_repo_ref)
            .context("a reference to a GitRepository is required (--git-repo-ref)")?;
        let branch = said(&self.checkout_branch);
        let branch = branch.context("the Git repository branch is required (--checkout-branch)")?;
        let author = said(&self.author_name).context("the author name is required (--author-name)")?;
        let email = said(&self.author_email).context("the author email is required (--author-email)")?;
        ensure!(
            self.signing_key_type.is_none() || self.signing_key_secret.is_some(),
            "--signing-key-type requires --signing-key-secret"
        );
        let source = Fields::default().with("kind", "GitRepository").with("name", name);
        let source = source.text("namespace", self.git_repo_namespace.as_deref());
        let key = self.signing_key_secret.as_deref().map(|secret| {
            let key = Fields::default().named("secretRef", Some(secret));
            key.text("type", self.signing_key_type.as_deref()).into()
        });
        let commit = Fields::default()
            .with("author", json!({"name": author, "email": email}))
            .text("messageTemplate", self.commit_template.as_deref())
            .maybe("signingKey", key);
        let git = Fields::default()
            .with("checkout", json!({"ref": {"branch": branch}}))
            .with("commit", Value::from(commit))
            .maybe(
                "push",
                said(&self.push_branch).map(|branch| json!({"branch": branch})),
            );
        let update = said(&self.git_repo_path).map(|path| json!({"path": path, "strategy": "Setters"}));
        let spec = Fields::default()
            .with("interval", self.common.interval())
            .with("sourceRef", Value::from(source))
            .with("git", Value::from(git))
            .maybe("update", update);
        Ok(spec.into())
    }
}
