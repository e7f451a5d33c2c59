//! Identities, against servers that check what they are asked as those of the clouds do.

mod aws;
mod azure;
mod gcp;
pub(crate) mod signature;

use std::sync::Arc;

use futures::future::BoxFuture;
use parking_lot::Mutex;
use secrecy::{ExposeSecret, SecretString};
use source::identity::{
    Asker, Caller, Environment, Error, Identities, ServiceAccount, ServiceAccountTokens, Settings,
};
use source::oci::Credential;
use testkit::Clock;
use testkit::http::{Reply, Request};

const START: &str = "2026-01-01T00:00:00Z";

/// Settings with a clock of their own.
fn settings(variables: &[(&str, &str)]) -> (Settings, Clock) {
    let environment = Environment::of(variables.iter().copied());
    let clock = Clock::at(START);
    let mut settings = Settings::new(environment);
    let now = clock.clone();
    settings.clock = Arc::new(move || now.now());
    (settings, clock)
}

fn identities(variables: &[(&str, &str)], change: impl FnOnce(&mut Settings)) -> Identities {
    let (mut settings, _) = settings(variables);
    change(&mut settings);
    Identities::new(settings)
}

/// An answer that repeats everything that was asked, as an unkind server may.
fn echo(request: &Request) -> Reply {
    let body = String::from_utf8_lossy(&request.body).into_owned();
    let text = format!("{body} {:?} {:?}", request.headers, request.form().values());
    let json = serde_json::json!({"error": "invalid_grant", "error_description": text, "message": text});
    Reply::json(json.to_string()).with_status(400)
}

fn login(credential: Credential) -> (String, String) {
    match credential {
        Credential::Basic { user, password } => (user, password.expose_secret().to_owned()),
        other => panic!("{other:?}"),
    }
}

/// A file with a token.
fn token_file(text: &str) -> (tempfile::NamedTempFile, String) {
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), format!("{text}\n")).unwrap();
    let path = file.path().display().to_string();
    (file, path)
}

/// The ServiceAccount `apps/reader`, whose token is `cluster:<audience>`.
#[derive(Clone, Default)]
struct Cluster(Arc<Mutex<Vec<String>>>);

impl ServiceAccountTokens for Cluster {
    fn token<'a>(
        &'a self,
        audience: &'a str,
    ) -> BoxFuture<'a, Result<SecretString, Box<dyn std::error::Error + Send + Sync>>> {
        self.0.lock().push(audience.to_owned());
        Box::pin(async move { Ok(format!("cluster:{audience}").into()) })
    }
}

impl Cluster {
    fn reader(&self, annotations: &[(&str, &str)]) -> Asker {
        let annotations = annotations.iter();
        let account = ServiceAccount {
            namespace: "apps".into(),
            name: "reader".into(),
            annotations: annotations
                .map(|(key, value)| ((*key).to_owned(), (*value).to_owned()))
                .collect(),
            tokens: Arc::new(self.clone()),
        };
        Asker {
            caller: Caller::ServiceAccount(account),
            proxy: None,
        }
    }
}

/// The error with all its causes, as a status would show it, with everything that `Debug` shows.
fn all_of(error: &Error) -> String {
    let mut text = format!("{error:?} {error}");
    let mut cause = std::error::Error::source(error);
    while let Some(error) = cause {
        text += &format!(": {error}");
        cause = error.source();
    }
    text
}
