//! `sluice create image policy`

use anyhow::{Context as _, bail, ensure};
use model::regexp::Regexp;
use serde_json::{Value, json};

use crate::commands::create::fields::Fields;
use crate::commands::create::{Common, go_duration, object};

#[derive(clap::Args)]
#[command(group(clap::ArgGroup::new("select").args(["select_semver", "select_alpha", "select_numeric"])))]
pub(crate) struct Args {
    #[command(flatten)]
    common: Common,

    /// The ImageRepository
    #[arg(long, value_name = "NAME")]
    image_ref: Option<String>,

    /// The highest version in a range
    #[arg(long, value_name = "RANGE")]
    select_semver: Option<String>,

    /// The last tag of the alphabet (asc), or the first (desc)
    #[arg(long, value_name = "ORDER", value_parser = ["asc", "desc"])]
    select_alpha: Option<String>,

    /// The highest number (asc), or the lowest (desc)
    #[arg(long, value_name = "ORDER", value_parser = ["asc", "desc"])]
    select_numeric: Option<String>,

    /// Only tags that match
    #[arg(long, value_name = "REGEXP")]
    filter_regex: Option<String>,

    /// The part of the tag that counts, with groups of --filter-regex
    #[arg(long, value_name = "TEMPLATE")]
    filter_extract: Option<String>,

    /// When the digest of the tag is told
    #[arg(long, value_name = "POLICY", value_parser = ["Never", "IfNotPresent", "Always"])]
    reflect_digest: Option<String>,
}

pub(super) async fn run(mut args: Args) -> anyhow::Result<()> {
    let spec = args.spec()?;
    object::finish(&mut args.common, "ImagePolicy", spec).await
}

impl Args {
    fn spec(&self) -> anyhow::Result<Value> {
        let image = self.image_ref.as_deref().filter(|name| !name.is_empty());
        let image =
            image.context("the name of an ImageRepository in the namespace is required (--image-ref)")?;
        let policy = match (&self.select_semver, &self.select_alpha, &self.select_numeric) {
            (Some(range), ..) => json!({"semver": {"range": range}}),
            (_, Some(order), _) => json!({"alphabetical": {"order": order}}),
            (.., Some(order)) => json!({"numerical": {"order": order}}),
            _ => bail!("a policy must be provided with --select-semver, --select-alpha or --select-numeric"),
        };
        let digest = self.reflect_digest.as_deref();
        let interval = self.common.interval.map(|interval| go_duration(interval).into());
        ensure!(
            interval.is_none() || digest == Some("Always"),
            "the --interval flag can only be used with the 'Always' digest reflection policy, use --reflect-digest=Always"
        );
        let spec = Fields::default()
            .named("imageRepositoryRef", Some(image))
            .with("policy", policy)
            .maybe("filterTags", self.filter()?)
            .text("digestReflectionPolicy", digest)
            .maybe("interval", interval);
        Ok(spec.into())
    }

    fn filter(&self) -> anyhow::Result<Option<Value>> {
        let extract = self.filter_extract.as_deref();
        let Some(pattern) = &self.filter_regex else {
            ensure!(
                extract.is_none(),
                "cannot specify --filter-extract without specifying --filter-regex"
            );
            return Ok(None);
        };
        Regexp::new(pattern).context("--filter-regex is an invalid regex pattern")?;
        for name in groups(extract.unwrap_or_default())? {
            let is_number = name.bytes().all(|byte| byte.is_ascii_digit());
            ensure!(
                is_number
                    || pattern.contains(&format!("P<{name}>"))
                    || pattern.contains(&format!("?<{name}>")),
                "capture group ${name} used in --filter-extract not found in --filter-regex"
            );
        }
        let filter = Fields::default().with("pattern", pattern.as_str());
        Ok(Some(filter.text("extract", extract).into()))
    }
}

/// The groups that a template names: `$name`, `${name}`. `$$` is none.
fn groups(template: &str) -> anyhow::Result<Vec<&str>> {
    let mut names = Vec::new();
    let mut rest = template;
    while let Some((_, after)) = rest.split_once('$') {
        if let Some(after) = after.strip_prefix('$') {
            rest = after;
            continue;
        }
        let (body, is_braced) = match after.strip_prefix('{') {
            Some(body) => (body, true),
            None => (after, false),
        };
        let end = body.find(|letter: char| !letter.is_alphanumeric() && letter != '_');
        let (name, after) = body.split_at(end.unwrap_or(body.len()));
        let closed = match is_braced {
            true => after.strip_prefix('}'),
            false => Some(after),
        };
        match closed {
            Some(after) if !name.is_empty() => {
                names.push(name);
                rest = after;
            }
            _ => bail!("--filter-extract is malformed"),
        }
    }
    Ok(names)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_of_templates_are_found() {
        assert_eq!(groups("$ts-${name}$$x$1").unwrap(), ["ts", "name", "1"]);
        for wrong in ["$", "${a", "$-", "${}"] {
            assert!(groups(wrong).is_err(), "{wrong}");
        }
    }
}
