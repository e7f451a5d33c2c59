//! `sluice list artifacts`

use std::process::ExitCode;

use anyhow::Context as _;
use futures::stream::{self, StreamExt as _, TryStreamExt as _};
use model::regexp::Regexp;
use model::semver::{self, Constraint};
use source::oci::{Client, REVISION, Repository, SOURCE};

use super::registry::RegistryArgs;
use crate::commands::table::table;

/// This many manifests are fetched at a time.
const AT_ONCE: usize = 8;

/// List the artifacts of a repository, with digest, source and revision
///
///   sluice list artifacts oci://ghcr.io/org/app
#[derive(clap::Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct Args {
    /// The repository, such as oci://ghcr.io/org/app
    #[arg(value_name = "OCI_REPOSITORY_URL")]
    url: String,

    /// Only tags that are versions in this range
    #[arg(long, value_name = "RANGE")]
    filter_semver: Option<String>,

    /// Only tags that match this regular expression
    #[arg(long, value_name = "REGEX")]
    filter_regex: Option<String>,

    #[command(flatten)]
    registry: RegistryArgs,
}

pub(super) async fn run(args: Args) -> anyhow::Result<ExitCode> {
    let repository = Repository::parse(&args.url)?;
    let filter = Filter::new(&args)?;
    let client = args.registry.client(&repository).await?;
    let listed = async {
        let mut tags = client.tags(&repository).await.context("listing tags failed")?;
        tags.sort_by(|left, right| right.cmp(left));
        let wanted = tags.into_iter().filter(|tag| filter.takes(tag));
        let rows = wanted.map(|tag| row(&client, &repository, &args.url, tag));
        stream::iter(rows).buffered(AT_ONCE).try_collect::<Vec<_>>().await
    };
    let rows = args.registry.limited(listed).await?;
    let head = ["Artifact", "Digest", "Source", "Revision"];
    print!("{}", table(&head, &rows));
    Ok(ExitCode::SUCCESS)
}

struct Filter {
    range: Option<Constraint>,
    regex: Option<Regexp>,
}

impl Filter {
    fn new(args: &Args) -> anyhow::Result<Self> {
        let range = args
            .filter_semver
            .as_deref()
            .map(|text| Constraint::parse(text).with_context(|| format!("semver '{text}' parse error")));
        let regex = args
            .filter_regex
            .as_deref()
            .map(|text| Regexp::new(text).with_context(|| format!("regex '{text}' parse error")));
        Ok(Filter {
            range: range.transpose()?,
            regex: regex.transpose()?,
        })
    }

    /// Signatures, attestations and lists of packages of cosign are never taken.
    fn takes(&self, tag: &str) -> bool {
        let is_cosign = [".att", ".sbom", ".sig"].iter().any(|end| tag.ends_with(end));
        let in_range =
            |range: &Constraint| semver::parse_tag(tag).is_ok_and(|version| range.matches(&version));
        !is_cosign
            && self.range.as_ref().is_none_or(in_range)
            && self.regex.as_ref().is_none_or(|regex| regex.is_match(tag))
    }
}

async fn row(
    client: &Client,
    repository: &Repository,
    url: &str,
    tag: String,
) -> anyhow::Result<Vec<String>> {
    let content = client
        .content(&repository.tag(&tag)?)
        .await
        .context("fetching manifest failed")?;
    let manifest: serde_json::Value =
        serde_json::from_slice(&content.bytes).context("parsing manifest failed")?;
    let annotation = |key: &str| {
        manifest["annotations"][key]
            .as_str()
            .unwrap_or_default()
            .to_owned()
    };
    let name = url.trim_start_matches("oci://");
    Ok(vec![
        format!("{name}:{tag}"),
        content.digest.to_string(),
        annotation(SOURCE),
        annotation(REVISION),
    ])
}
