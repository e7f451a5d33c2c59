//! `sluice create`: objects and Secrets from flags, printed or made in the cluster.
//!
//! Each kind is a file: its flags, and the spec that they make. `object` and `secret::write` do the rest.

mod alert;
mod alert_provider;
mod fields;
mod helmrelease;
pub(crate) mod image;
mod kustomization;
mod object;
mod receiver;
mod reference;
pub(crate) mod secret;
pub(crate) mod source;
mod tenant;

use std::collections::BTreeMap;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::bail;
use model::label;

use crate::commands::objects::Place;
use crate::commands::pflag;

/// Create or change objects, or print them
#[derive(clap::Subcommand)]
pub(crate) enum Create {
    /// Sources
    #[command(subcommand)]
    Source(source::Source),
    /// A Kustomization
    #[command(visible_alias = "ks")]
    Kustomization(kustomization::Args),
    /// A HelmRelease
    #[command(visible_alias = "hr")]
    Helmrelease(helmrelease::Args),
    /// An Alert
    Alert(alert::Args),
    /// An alert provider
    AlertProvider(alert_provider::Args),
    /// A Receiver
    Receiver(receiver::Args),
    /// Namespaces, service accounts and role bindings of a tenant
    Tenant(tenant::Args),
    /// Image repositories, policies and updates
    #[command(subcommand)]
    Image(image::Image),
    /// Secrets as sources take them
    #[command(subcommand)]
    Secret(secret::Secret),
}

/// How often controllers look at what they are not told more of.
const INTERVAL: Duration = Duration::from_secs(60);

/// What can be said of everything that is created.
#[derive(clap::Args)]
pub(crate) struct Common {
    /// The name of the object
    name: String,

    /// How often its controller looks at it; 1m if it is not said
    #[arg(long, value_parser = pflag::duration)]
    interval: Option<Duration>,

    /// Print the object as YAML instead of creating it
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true, default_missing_value = "true", default_value = "false", hide_default_value = true, action = clap::ArgAction::Set, value_parser = pflag::boolean)]
    export: bool,

    /// Labels of the object, KEY=VALUE; may be repeated
    #[arg(long, value_name = "LABELS", value_delimiter = ',')]
    label: Vec<String>,

    #[command(flatten)]
    place: Place,
}

pub(crate) async fn run(create: Create) -> anyhow::Result<ExitCode> {
    match create {
        Create::Source(what) => source::run(what).await?,
        Create::Kustomization(args) => kustomization::run(args).await?,
        Create::Helmrelease(args) => helmrelease::run(args).await?,
        Create::Alert(args) => alert::run(args).await?,
        Create::AlertProvider(args) => alert_provider::run(args).await?,
        Create::Receiver(args) => receiver::run(args).await?,
        Create::Tenant(args) => tenant::run(args).await?,
        Create::Image(what) => image::run(what).await?,
        Create::Secret(what) => secret::run(what).await?,
    }
    Ok(ExitCode::SUCCESS)
}

impl Common {
    /// The labels, if they and the name can be ones.
    fn labels(&self) -> anyhow::Result<BTreeMap<String, String>> {
        let name = &self.name;
        if !is_name(name) {
            bail!(
                "name '{name}' is invalid, it should adhere to standard defined in RFC 1123, the name can only contain \
                 alphanumeric characters or '-', begins and ends with an alphanumeric one, and is 2 to 63 of them long"
            );
        }
        let mut labels = BTreeMap::new();
        for text in &self.label {
            let [key, value] = text.split('=').collect::<Vec<_>>()[..] else {
                bail!("invalid label format '{text}', must be key=value");
            };
            if let [problem, ..] = &label::key_problems(key)[..] {
                bail!("invalid label '{key}': {problem}");
            }
            if let [problem, ..] = &label::value_problems(value)[..] {
                bail!("invalid label value '{value}': {problem}");
            }
            labels.insert(key.to_owned(), value.to_owned());
        }
        Ok(labels)
    }

    fn interval(&self) -> String {
        go_duration(self.interval.unwrap_or(INTERVAL))
    }
}

/// A length of time as Go writes it.
fn go_duration(duration: Duration) -> String {
    api::Duration::from(duration).to_string()
}

fn is_name(name: &str) -> bool {
    let is_inner = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
    let (first, last) = (name.bytes().next(), name.bytes().last());
    (2..=63).contains(&name.len())
        && first.is_some_and(is_inner)
        && last.is_some_and(is_inner)
        && name.bytes().all(|byte| is_inner(byte) || byte == b'-')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_written_as_go_writes_them() {
        assert_eq!(go_duration(Duration::from_secs(3600)), "1h0m0s");
        assert_eq!(go_duration(Duration::from_millis(1500)), "1.5s");
    }

    #[test]
    fn names_are_those_of_hosts() {
        for good in ["ab", "a-b", "0a", &"a".repeat(63)] {
            assert!(is_name(good), "{good}");
        }
        for bad in ["", "a", "-a", "a-", "A1", "a.b", "a_b", &"a".repeat(64)] {
            assert!(!is_name(bad), "{bad}");
        }
    }
}
