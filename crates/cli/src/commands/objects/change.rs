//! Several objects suspended or resumed: what both verbs have in common.

use std::collections::BTreeSet;
use std::process::ExitCode;

use anyhow::bail;
use kube::api::ListParams;
use serde_json::{Value, json};

use super::api::{Objects, Place};
use super::kinds::Kind;
use super::wait;
use crate::commands::pflag;

/// The objects a verb is about.
#[derive(clap::Args)]
pub(crate) struct Which {
    /// The names of the objects
    pub(super) names: Vec<String>,

    /// All objects of the namespace
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true, default_missing_value = "true", default_value = "false", hide_default_value = true, action = clap::ArgAction::Set, value_parser = pflag::boolean)]
    all: bool,
}

/// What is done with each.
pub(super) struct Change {
    pub(super) doing: &'static str,
    pub(super) done: &'static str,
    pub(super) suspend: bool,
    /// Whether controllers are waited for afterwards.
    pub(super) waits: bool,
}

/// Changes the objects. What cannot be done with one is told, and hinders no other.
pub(super) async fn all(
    kinds: Vec<&'static Kind>,
    which: &Which,
    place: &mut Place,
    change: &Change,
) -> anyhow::Result<ExitCode> {
    let client = place.reach().await?;
    let mut code = ExitCode::SUCCESS;
    for kind in kinds {
        let objects = Objects::new(client.clone(), kind, Some(&place.namespace));
        let problems = place
            .limited(of_kind(&objects, which, &place.namespace, change))
            .await?;
        for problem in problems {
            eprintln!("✗ {problem}");
            code = ExitCode::FAILURE;
        }
    }
    Ok(code)
}

async fn of_kind(
    objects: &Objects,
    which: &Which,
    namespace: &str,
    change: &Change,
) -> anyhow::Result<Vec<String>> {
    let human = objects.kind.human;
    let (found, mut problems) = which.find(objects, namespace).await?;
    for name in &found {
        eprintln!("► {} {human} {name} in {namespace} namespace", change.doing);
        objects
            .patch(name, &json!({"spec": {"suspend": change.suspend}}))
            .await?;
        eprintln!("✔ {human} {}", change.done);
    }
    if change.waits && objects.kind.is_worked_on {
        problems.extend(waited(objects, &found).await);
    }
    Ok(problems)
}

async fn waited(objects: &Objects, names: &[String]) -> Vec<String> {
    let kind = objects.kind.names.kind;
    eprintln!("◎ waiting for {kind} reconciliation");
    let waits = names
        .iter()
        .map(|name| wait::until_ready(objects, name, |_| true));
    let mut problems = Vec::new();
    for (name, waited) in names.iter().zip(futures::future::join_all(waits).await) {
        match waited {
            Ok(object) => {
                eprintln!("✔ {kind} {name} reconciliation completed");
                eprintln!("✔ {}", wait::told(&object));
            }
            Err(error) => problems.push(format!("{kind} {name} reconciliation failed: {error:#}")),
        }
    }
    problems
}

impl Which {
    /// The names of those that are there, each once, and what is to be said of the others.
    async fn find(&self, objects: &Objects, namespace: &str) -> anyhow::Result<(Vec<String>, Vec<String>)> {
        let kind = objects.kind;
        if self.names.is_empty() && !self.all {
            bail!("{} name is required, or --all", kind.human);
        }
        let listed = objects.list(&ListParams::default()).await?.unwrap_or_default();
        let name_of = |object: &Value| object["metadata"]["name"].as_str().map(str::to_owned);
        let there: BTreeSet<String> = listed.iter().filter_map(name_of).collect();
        if self.names.is_empty() {
            let problem = format!("no {} objects found in {namespace} namespace", kind.names.kind);
            let problems = if there.is_empty() {
                vec![problem]
            } else {
                Vec::new()
            };
            return Ok((there.into_iter().collect(), problems));
        }
        let mut seen = BTreeSet::new();
        let wanted = self.names.iter().filter(|name| seen.insert(name.as_str()));
        let (found, missing): (Vec<_>, Vec<_>) = wanted.cloned().partition(|name| there.contains(name));
        let missing = missing
            .into_iter()
            .map(|name| format!("{} {name} not found in {namespace} namespace", kind.names.kind));
        Ok((found, missing.collect()))
    }
}
