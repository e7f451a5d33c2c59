//! Git over HTTP.
//!
//! A server that speaks version 2 keeps no state: a list of references is one POST, once it is known what the server can
//! do. The first contact costs a GET before it. Servers of the old versions list everything in answer to that GET.

use std::time::Duration;

use bytes::Bytes;
use futures::future::BoxFuture;
use reqwest::header::{ACCEPT, CONTENT_TYPE, HeaderValue, WWW_AUTHENTICATE};
use reqwest::{Client, RequestBuilder, Response, StatusCode};

use super::{Chunks, Version};
use crate::git::error::{Cause, Source};
use crate::git::protocol::{AGENT, Capabilities};
use crate::git::settings::Settings;
use crate::http::redirect::{self, Failure, Landed, Shown};
use crate::http::{Options, tls_failure};

/// How much later than the whole a request is given up, so that it is the whole that says so.
const AFTERWARDS: Duration = Duration::from_secs(5);
const SERVICE: &str = "git-upload-pack";

/// What is remembered of a server that speaks version 2. One that led elsewhere is not remembered: it may lead to another place
/// the next time.
#[derive(Clone, Debug)]
pub(in crate::git) struct Known(Capabilities);

/// A server by HTTP.
pub(super) struct Link {
    client: Client,
    options: Options,
    base: String,
    /// What the credentials were given for.
    home: url::Url,
    authorization: Option<HeaderValue>,
    known: Option<Known>,
    /// Whether the server has led elsewhere.
    is_elsewhere: bool,
}

impl Link {
    pub(super) fn new(settings: &Settings, known: Option<Known>) -> Result<Self, Cause> {
        let mut options = settings.http.clone();
        options.user_agent = Some(options.user_agent.unwrap_or_else(|| format!("git/{AGENT}")));
        // The whole listing or fetch has a limit, and no request outlives it by much.
        options.timeout = Some(settings.timeout.saturating_add(AFTERWARDS));
        let base = settings.url.http_base();
        let home = settings.url.http_base();
        let home = url::Url::parse(&home)
            .map_err(|error| Cause::protocol(format!("{home} is no address: {error}")))?;
        Ok(Link {
            client: options
                .client_with("git", redirect::by_hand)
                .map_err(Cause::Client)?,
            options,
            base,
            home,
            authorization: settings.auth.header(&settings.url)?,
            known,
            is_elsewhere: false,
        })
    }

    pub(super) fn known(&self) -> Option<Capabilities> {
        self.known.as_ref().map(|known| known.0.clone())
    }

    pub(super) fn forget(&mut self) {
        self.known = None;
    }

    pub(super) fn remember(&self, capabilities: &Capabilities) -> Option<Known> {
        (!self.is_elsewhere).then(|| Known(capabilities.essential()))
    }

    /// Asks what the server can do.
    pub(super) async fn greet(&mut self) -> Result<Answer, Cause> {
        let url = format!("{}/info/refs?service={SERVICE}", self.base);
        let request = self.client.get(url).header("Git-Protocol", "version=2");
        let response = self.send(request).await?;
        expect_type(&response, &format!("application/x-{SERVICE}-advertisement"))?;
        // Where we were sent to, all that follows is asked.
        let reached = response.url().as_str();
        if let Some((base, _)) = reached.split_once("/info/refs") {
            self.is_elsewhere = self.base != base;
            self.base = base.to_owned();
        }
        Ok(Answer(response))
    }

    /// Asks for something.
    pub(super) async fn ask(&mut self, body: Vec<u8>, version: Version) -> Result<Answer, Cause> {
        let url = format!("{}/{SERVICE}", self.base);
        let mut request = self
            .client
            .post(url)
            .header(CONTENT_TYPE, format!("application/x-{SERVICE}-request"))
            .header(ACCEPT, format!("application/x-{SERVICE}-result"))
            .body(body);
        if version == Version::Second {
            request = request.header("Git-Protocol", "version=2");
        }
        let response = self.send(request).await?;
        expect_type(&response, &format!("application/x-{SERVICE}-result"))?;
        Ok(Answer(response))
    }

    async fn send(&self, request: RequestBuilder) -> Result<Response, Cause> {
        let request = request.build().map_err(failure)?;
        let credentials = Shown {
            home: &self.home,
            authorization: self.authorization.as_ref(),
            may_leave_tls: false,
        };
        let sent = redirect::send(&self.client, request, credentials).await;
        let Landed { response, detour } = sent.map_err(|error| match error {
            Failure::Lost(lost) => Cause::Redirect(lost),
            Failure::Request(error) => match self.options.blame(error) {
                Ok(proxy) => Cause::Proxy(proxy),
                Err(error) => failure(error),
            },
        })?;
        if let Some(refusal) = self.options.refusal(&response) {
            return Err(Cause::Proxy(refusal));
        }
        match response.status() {
            StatusCode::OK => Ok(response),
            status @ (StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN) => {
                let scheme = response.headers().get(WWW_AUTHENTICATE);
                let scheme = scheme.and_then(|value| value.to_str().ok()?.split(' ').next());
                let mut text = format!("HTTP status {}", status.as_u16());
                if let Some(scheme) = scheme {
                    text.push_str(&format!(", the server asks for {scheme}"));
                }
                text.push_str(&detour);
                Err(match &self.authorization {
                    Some(_) => Cause::Authentication(text),
                    None => Cause::Anonymous(text),
                })
            }
            StatusCode::NOT_FOUND | StatusCode::GONE => Err(Cause::NotFound),
            status => Err(Cause::Status(status.as_u16())),
        }
    }
}

fn expect_type(response: &Response, expected: &str) -> Result<(), Cause> {
    let found = response
        .headers()
        .get(CONTENT_TYPE)
        .and_then(|value| value.to_str().ok());
    let found = found.unwrap_or_default();
    if found
        .split(';')
        .next()
        .is_some_and(|found| found.trim() == expected)
    {
        return Ok(());
    }
    Err(Cause::protocol(format!(
        "the content type is {found:?}, not {expected:?}"
    )))
}

/// An answer.
pub(super) struct Answer(Response);

impl Chunks for Answer {
    fn chunk(&mut self) -> BoxFuture<'_, Result<Option<Bytes>, Cause>> {
        Box::pin(async { self.0.chunk().await.map_err(failure) })
    }
}

fn failure(error: reqwest::Error) -> Cause {
    let error = error.without_url();
    let (connecting, tls) = (error.is_connect(), tls_failure(&error).is_some());
    let error: Source = Box::new(error);
    match (tls, connecting) {
        (true, _) => Cause::Tls(error),
        (false, true) => Cause::Connect(error),
        (false, false) => Cause::Disconnected(Some(error)),
    }
}
