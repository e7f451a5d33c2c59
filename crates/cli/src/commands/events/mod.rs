//! `sluice events`: what controllers have told of objects of Flux.

mod about;
mod row;
mod watch;

use std::process::ExitCode;

use anyhow::{Context as _, bail};
use k8s_openapi::api::core::v1::Event;
use kube::Client;
use kube::api::{Api, ListParams};

use crate::commands::objects::{Place, told};
use crate::commands::pflag;
use crate::commands::table::table;

/// Show what controllers have told of objects
#[derive(clap::Args)]
pub(crate) struct Args {
    /// In all namespaces
    #[arg(long, short = 'A', value_name = "BOOL", num_args = 0..=1, require_equals = true, default_missing_value = "true", default_value = "false", hide_default_value = true, action = clap::ArgAction::Set, value_parser = pflag::boolean)]
    all_namespaces: bool,

    /// Go on with new events until it is stopped
    #[arg(long, short, value_name = "BOOL", num_args = 0..=1, require_equals = true, default_missing_value = "true", default_value = "false", hide_default_value = true, action = clap::ArgAction::Set, value_parser = pflag::boolean)]
    watch: bool,

    /// Only those of a kind, or of an object and its source
    #[arg(long = "for", value_name = "KIND[/NAME]")]
    about: Option<String>,

    /// Only those of types: Normal, Warning
    #[arg(long, value_name = "TYPES", value_delimiter = ',')]
    types: Vec<String>,

    #[command(flatten)]
    place: Place,
}

/// How many events are asked for at a time.
const PAGE: u32 = 500;

/// A place to look for events, and which of them.
struct Selection {
    /// All namespaces where there is none.
    namespace: Option<String>,
    fields: Option<String>,
}

impl Selection {
    fn api(&self, client: &Client) -> Api<Event> {
        match &self.namespace {
            Some(namespace) => Api::namespaced(client.clone(), namespace),
            None => Api::all(client.clone()),
        }
    }

    async fn list(&self, client: &Client) -> anyhow::Result<Vec<Event>> {
        let mut wanted = ListParams::default().limit(PAGE);
        wanted.field_selector.clone_from(&self.fields);
        let mut events = Vec::new();
        loop {
            let page = self.api(client).list(&wanted).await.map_err(told);
            let page = page.context("error getting events")?;
            events.extend(page.items);
            match page.metadata.continue_.filter(|token| !token.is_empty()) {
                Some(token) => wanted = wanted.continue_token(&token),
                None => return Ok(events),
            }
        }
    }
}

pub(crate) async fn run(mut args: Args) -> anyhow::Result<ExitCode> {
    if let Some(wrong) = args.types.iter().find(|name| !is_type(name)) {
        bail!("type '{wrong}' not supported. Supported types are Normal, Warning");
    }
    let client = args.place.reach().await?;
    let namespace = (!args.all_namespaces).then(|| args.place.namespace.clone());
    let selections = args
        .place
        .limited(about::selections(&client, &args, namespace))
        .await?;
    let with_namespace = selections
        .iter()
        .any(|one| one.namespace != selections[0].namespace)
        || selections[0].namespace.is_none();
    if args.watch {
        watch::run(&client, &selections, &args.types, with_namespace).await?;
        return Ok(ExitCode::SUCCESS);
    }
    let mut events = Vec::new();
    for selection in &selections {
        events.extend(args.place.limited(selection.list(&client)).await?);
    }
    events.sort_by_key(row::time);
    let now = jiff::Timestamp::now();
    let shown = events.iter().filter(|event| row::is_shown(event, &args.types));
    let rows: Vec<_> = shown.map(|event| row::row(event, with_namespace, now)).collect();
    match (rows.is_empty(), args.all_namespaces) {
        (true, true) => eprintln!("✗ No events found."),
        (true, false) => eprintln!("✗ No events found in {} namespace.", args.place.namespace),
        (false, _) => print!("{}", table(&row::head(with_namespace), &rows)),
    }
    Ok(ExitCode::SUCCESS)
}

fn is_type(name: &str) -> bool {
    ["Normal", "Warning"]
        .iter()
        .any(|known| known.eq_ignore_ascii_case(name))
}
