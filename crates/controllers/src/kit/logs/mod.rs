//! Logs in the form that Flux's controllers have, which `flux logs` reads: one JSON object per line.
//!
//! ```text
//! {"level":"info","ts":"2026-01-02T03:04:05.678Z","msg":"stored artifact …","controllerKind":"GitRepository","name":"app",…}
//! ```
//!
//! What a span around an event knows (kind, namespace and name of the object that is worked on) is part of its line. The form
//! for people (`console`) has the same in columns.

mod fields;

use std::io::Write;

use parking_lot::Mutex;
use serde_json::{Map, Value};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Level, Metadata, Subscriber};
use tracing_subscriber::Layer;
use tracing_subscriber::layer::Context;
use tracing_subscriber::registry::LookupSpan;

use fields::Fields;

/// How a line looks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Encoding {
    /// For programs.
    Json,
    /// For people.
    Console,
}

impl Encoding {
    /// By its name; names are those of Flux's flag.
    pub fn named(name: &str) -> Option<Self> {
        match name {
            "json" => Some(Encoding::Json),
            "console" => Some(Encoding::Console),
            _ => None,
        }
    }
}

/// The level of that name; names are those of Flux's flag.
pub fn level_named(name: &str) -> Option<Level> {
    match name {
        "trace" => Some(Level::TRACE),
        "debug" => Some(Level::DEBUG),
        "info" => Some(Level::INFO),
        "error" => Some(Level::ERROR),
        _ => None,
    }
}

/// Our own crates, of which everything up to the chosen level is told. Of all others only what is wrong.
const OURS: [&str; 4] = ["controllers", "source", "sluice", "api"];

/// The client of the cluster. It logs answers that it cannot decode as a whole, with the values and
/// Secrets of all tenants. Its callers get the error and log that.
const LOGS_ANSWERS: &str = "kube_client::client";

/// Writes what is logged to somewhere.
pub struct Logs {
    level: Level,
    encoding: Encoding,
    output: Mutex<Box<dyn Write + Send>>,
}

impl Logs {
    /// Writes what is at least as grave as `level`.
    pub fn new(level: Level, encoding: Encoding, output: impl Write + Send + 'static) -> Self {
        Logs {
            level,
            encoding,
            output: Mutex::new(Box::new(output)),
        }
    }

    fn wants(&self, metadata: &Metadata<'_>) -> bool {
        if metadata.target() == LOGS_ANSWERS {
            return false;
        }
        let crate_name = metadata.target().split("::").next().unwrap_or_default();
        let most = match OURS.contains(&crate_name) {
            true => self.level,
            false => self.level.min(Level::WARN),
        };
        // What Flux calls an error comprises what is a warning here.
        *metadata.level() <= most.max(Level::WARN)
    }

    fn line(&self, time: &str, level: &str, logger: Option<&str>, fields: Fields) -> String {
        let Fields { message, values } = fields;
        match self.encoding {
            Encoding::Json => {
                let mut line = Map::new();
                line.insert("level".into(), level.into());
                line.insert("ts".into(), time.into());
                line.extend(logger.map(|logger| ("logger".to_owned(), logger.into())));
                line.insert("msg".into(), message.into());
                line.extend(values);
                Value::Object(line).to_string()
            }
            Encoding::Console => {
                let mut line = format!("{time}\t{}", level.to_ascii_uppercase());
                for part in logger.into_iter().chain([message.as_str()]) {
                    line.push('\t');
                    line.push_str(&part.replace('\n', "\\n"));
                }
                if !values.is_empty() {
                    line.push('\t');
                    line.push_str(&Value::Object(values).to_string());
                }
                line
            }
        }
    }
}

impl<S: Subscriber + for<'l> LookupSpan<'l>> Layer<S> for Logs {
    fn enabled(&self, metadata: &Metadata<'_>, _: Context<'_, S>) -> bool {
        metadata.is_span() || self.wants(metadata)
    }

    fn on_new_span(&self, attributes: &Attributes<'_>, id: &Id, context: Context<'_, S>) {
        if let Some(span) = context.span(id) {
            let mut fields = Fields::default();
            attributes.record(&mut fields);
            span.extensions_mut().insert(fields);
        }
    }

    fn on_record(&self, id: &Id, values: &Record<'_>, context: Context<'_, S>) {
        if let Some(span) = context.span(id)
            && let Some(fields) = span.extensions_mut().get_mut::<Fields>()
        {
            values.record(fields);
        }
    }

    fn on_event(&self, event: &Event<'_>, context: Context<'_, S>) {
        let mut fields = Fields::default();
        for span in context.event_scope(event).into_iter().flatten() {
            if let Some(known) = span.extensions().get::<Fields>() {
                fields.add_missing(known);
            }
        }
        let is_about_object = fields.values.contains_key("controllerKind");
        event.record(&mut fields);
        let metadata = event.metadata();
        let logger = match is_about_object {
            true => None,
            false if OURS.iter().any(|name| metadata.target().starts_with(name)) => Some("setup"),
            false => Some("runtime"),
        };
        let level = match *metadata.level() {
            Level::TRACE => "trace",
            Level::DEBUG => "debug",
            Level::INFO => "info",
            Level::WARN | Level::ERROR => "error",
        };
        let time = jiff::Timestamp::now()
            .strftime("%Y-%m-%dT%H:%M:%S.%3fZ")
            .to_string();
        let mut line = self.line(&time, level, logger, fields);
        line.push('\n');
        // There is no one left to tell that the log cannot be written.
        let _ = self.output.lock().write_all(line.as_bytes());
    }
}

#[cfg(test)]
mod tests {
    use std::io;
    use std::sync::Arc;

    use k8s_openapi::api::core::v1::ConfigMap;
    use kube::client::Body;
    use kube::{Api, Client};
    use tracing_subscriber::layer::SubscriberExt;

    use super::*;

    #[derive(Clone, Default)]
    struct Lines(Arc<Mutex<Vec<u8>>>);

    impl Write for Lines {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.lock().extend_from_slice(bytes);
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    fn logged(level: Level, encoding: Encoding, log: impl FnOnce()) -> Vec<String> {
        let lines = Lines::default();
        let logs = Logs::new(level, encoding, lines.clone());
        let subscriber = tracing_subscriber::registry().with(logs);
        tracing::subscriber::with_default(subscriber, log);
        let text = String::from_utf8(lines.0.lock().clone()).unwrap();
        text.lines().map(str::to_owned).collect()
    }

    /// E5: the keys that `flux logs` reads.
    #[test]
    fn a_line_tells_what_flux_logs_reads() {
        let lines = logged(Level::INFO, Encoding::Json, || {
            let span = tracing::info_span!(
                "reconcile",
                controllerKind = "GitRepository",
                name = "app",
                namespace = "a"
            );
            let _entered = span.enter();
            tracing::info!("stored \"artifact\"");
            tracing::error!(error = "no route", "Reconciler error");
            tracing::debug!("not told");
        });
        assert_eq!(lines.len(), 2);
        let line: Value = serde_json::from_str(&lines[0]).unwrap();
        assert_eq!(line["level"], "info");
        assert_eq!(line["msg"], "stored \"artifact\"");
        assert_eq!(line["controllerKind"], "GitRepository");
        assert_eq!((&line["name"], &line["namespace"]), (&"app".into(), &"a".into()));
        assert_eq!(line.get("logger"), None);
        let time = line["ts"].as_str().unwrap();
        assert_eq!((time.len(), &time[10..11], &time[23..]), (24, "T", "Z"), "{time}");
        let line: Value = serde_json::from_str(&lines[1]).unwrap();
        assert_eq!(line["level"], "error");
        assert_eq!(
            (&line["msg"], &line["error"]),
            (&"Reconciler error".into(), &"no route".into())
        );
    }

    #[test]
    fn levels_have_flux_names_and_other_crates_tell_only_what_is_wrong() {
        let log = || {
            tracing::trace!("1");
            tracing::debug!("2");
            tracing::info!("3");
            tracing::warn!("4");
            tracing::error!("5");
            tracing::info!(target: "hyper::client", "6");
            tracing::warn!(target: "hyper::client", "7");
        };
        let shown = |level| -> Vec<(String, String)> {
            let lines = logged(level, Encoding::Json, log);
            let lines = lines
                .iter()
                .map(|line| -> Value { serde_json::from_str(line).unwrap() });
            let text = |value: &Value| value.as_str().unwrap().to_owned();
            lines
                .map(|line| (text(&line["msg"]), text(&line["level"])))
                .collect()
        };
        let pair = |a: &str, b: &str| (a.to_owned(), b.to_owned());
        assert_eq!(
            shown(Level::TRACE),
            [
                pair("1", "trace"),
                pair("2", "debug"),
                pair("3", "info"),
                pair("4", "error"),
                pair("5", "error"),
                pair("7", "error")
            ]
        );
        assert_eq!(
            shown(Level::ERROR),
            [pair("4", "error"), pair("5", "error"), pair("7", "error")]
        );
        for name in ["trace", "debug", "info", "error"] {
            assert!(level_named(name).is_some());
        }
        assert_eq!(level_named("warn"), None);
    }

    #[test]
    fn answers_of_the_cluster_are_not_logged() {
        let lines = logged(Level::TRACE, Encoding::Json, || {
            let service = tower::service_fn(|request: http::Request<Body>| async move {
                let answer = match *request.method() {
                    // Cut off.
                    http::Method::GET => r#"{"items": [{"data": {"password": "hunter2"}}"#,
                    // No ConfigMap.
                    _ => r#"{"kind": "ConfigMap", "data": "hunter2"}"#,
                };
                let answer = http::Response::new(Body::from(answer.as_bytes().to_vec()));
                Ok::<_, std::convert::Infallible>(answer)
            });
            let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
            runtime.block_on(async {
                let maps: Api<ConfigMap> = Api::namespaced(Client::new(service, "default"), "team");
                maps.list(&Default::default()).await.unwrap_err();
                maps.delete("a", &Default::default()).await.unwrap_err();
            });
            tracing::warn!(target: "kube_client::client::tls", "kept");
        });
        assert_eq!(lines.len(), 1, "{lines:?}");
        assert!(lines[0].contains("kept"), "{lines:?}");
    }

    #[test]
    fn the_form_for_people_has_columns() {
        let lines = logged(Level::INFO, Encoding::Console, || {
            tracing::info!(address = ":9090", "starting server");
        });
        let (_, rest) = lines[0].split_once('\t').unwrap();
        assert_eq!(rest, "INFO\tsetup\tstarting server\t{\"address\":\":9090\"}");
    }
}
