//! What is shown of an event.

use apiserver::table::duration::human;
use jiff::Timestamp;
use k8s_openapi::api::core::v1::Event;

use super::about::tells;
use crate::commands::objects::named;

pub(super) fn head(with_namespace: bool) -> Vec<&'static str> {
    let own = ["Last seen", "Type", "Reason", "Object", "Message"];
    with_namespace
        .then_some("Namespace")
        .into_iter()
        .chain(own)
        .collect()
}

/// Whether an event is about an object of Flux, and of one of the types, or any where there are none.
pub(super) fn is_shown(event: &Event, types: &[String]) -> bool {
    let kind = event.involved_object.kind.as_deref().and_then(named);
    let own = event.type_.as_deref().unwrap_or_default();
    let is_meant = types.is_empty() || types.iter().any(|name| name.eq_ignore_ascii_case(own));
    kind.is_some_and(tells) && is_meant
}

/// When it was seen last.
pub(super) fn time(event: &Event) -> Option<Timestamp> {
    match &event.series {
        Some(series) => series.last_observed_time.as_ref().map(|time| time.0),
        None => {
            let last = event.last_timestamp.as_ref().map(|time| time.0);
            last.or_else(|| event.event_time.as_ref().map(|time| time.0))
        }
    }
}

pub(super) fn row(event: &Event, with_namespace: bool, now: Timestamp) -> Vec<String> {
    let object = &event.involved_object;
    let text = |text: &Option<String>| text.clone().unwrap_or_default();
    let namespace = with_namespace.then(|| text(&event.metadata.namespace));
    let own = [
        seen(event, now),
        text(&event.type_),
        text(&event.reason),
        format!("{}/{}", text(&object.kind), text(&object.name)),
        text(&event.message),
    ];
    namespace.into_iter().chain(own).collect()
}

/// How long ago, and how often in which time.
fn seen(event: &Event, now: Timestamp) -> String {
    let since = |time: Option<Timestamp>| match time {
        Some(time) => human(now.duration_since(time)),
        None => "<unknown>".to_owned(),
    };
    let own = event.event_time.as_ref().map(|time| time.0);
    let first = since(own.or_else(|| event.first_timestamp.as_ref().map(|time| time.0)));
    let last = event.last_timestamp.as_ref().map(|time| time.0);
    match (&event.series, event.count) {
        (Some(series), _) => {
            let last = since(series.last_observed_time.as_ref().map(|time| time.0));
            format!("{last} (x{} over {first})", series.count.unwrap_or_default())
        }
        (None, Some(count @ 2..)) => format!("{} (x{count} over {first})", since(last)),
        (None, _) => first,
    }
}
