//! Redirects, followed by hand.
//!
//! The library under us takes credentials along only to the same port, so that a server which leads from `http` to `https`
//! would be asked without them. They go where Go's client lets them go: to the host they are for and to hosts below it, on
//! whatever port. Unlike there they never leave TLS, and once they were kept back they stay back.

use reqwest::header::{AUTHORIZATION, CONTENT_LENGTH, CONTENT_TYPE, HeaderValue, LOCATION};
use reqwest::{Body, Client, ClientBuilder, Method, Request, Response, StatusCode, redirect};
use url::{Host, Url};

/// How often a server may lead elsewhere.
const MOST: usize = 10;

/// What is shown where.
#[derive(Clone, Copy)]
pub(crate) struct Shown<'a> {
    /// The address that the credentials were given for.
    pub(crate) home: &'a Url,
    /// The credentials.
    pub(crate) authorization: Option<&'a HeaderValue>,
    /// Whether a server with TLS may lead to one without.
    pub(crate) may_leave_tls: bool,
}

/// An answer, and how we came to it.
pub(crate) struct Landed {
    pub(crate) response: Response,
    /// To be put into messages after what was asked for: nothing, or where we were led to.
    pub(crate) detour: String,
}

/// Why there is no answer.
pub(crate) enum Failure {
    Request(reqwest::Error),
    Lost(Lost),
}

/// A server led nowhere.
#[derive(Debug, thiserror::Error)]
pub enum Lost {
    /// There is no end to it.
    #[error("the server redirects more than {MOST} times, the last time to {0}: check the URL")]
    TooOften(String),
    /// It leads to something else than a web server.
    #[error("the server redirects to {0}, which is no http:// or https:// address: check the URL")]
    Scheme(String),
    /// It leads out of TLS.
    #[error("the server redirects from https:// to {0}, where anyone could answer: check the URL")]
    OutOfTls(String),
}

/// Has a client leave redirects to [`send`].
pub(crate) fn by_hand(builder: ClientBuilder) -> ClientBuilder {
    builder.redirect(redirect::Policy::none())
}

/// Sends a request with credentials and follows where it leads. The client must be one of [`by_hand`].
pub(crate) async fn send(
    client: &Client,
    mut request: Request,
    credentials: Shown<'_>,
) -> Result<Landed, Failure> {
    let mut authorization = credentials.authorization;
    for hop in 0..=MOST {
        authorization = authorization.filter(|_| may_show(credentials.home, request.url()));
        if let Some(authorization) = authorization {
            request.headers_mut().insert(AUTHORIZATION, authorization.clone());
        }
        let repeated = request.try_clone();
        let response = client.execute(request).await.map_err(Failure::Request)?;
        let next = repeated.and_then(|asked| Some((led_to(&response)?, asked)));
        let Some((url, asked)) = next else {
            let is_kept_back = credentials.authorization.is_some() && authorization.is_none();
            let detour = match (hop, is_kept_back) {
                (0, _) => String::new(),
                (_, false) => format!(", redirected to {}", without_secrets(response.url())),
                (_, true) => format!(
                    ", redirected to {} without the credentials (they are for another host)",
                    without_secrets(response.url())
                ),
            };
            return Ok(Landed { response, detour });
        };
        if !matches!(url.scheme(), "http" | "https") {
            return Err(Failure::Lost(Lost::Scheme(without_secrets(&url))));
        }
        let leaves_tls = response.url().scheme() == "https" && url.scheme() == "http";
        if leaves_tls && !credentials.may_leave_tls {
            return Err(Failure::Lost(Lost::OutOfTls(without_secrets(&url))));
        }
        if hop == MOST {
            return Err(Failure::Lost(Lost::TooOften(without_secrets(&url))));
        }
        request = again(client, asked, url, response.status()).map_err(Failure::Request)?;
    }
    unreachable!("the last round of the loop returns")
}

/// Where an answer leads to, if it does.
fn led_to(response: &Response) -> Option<Url> {
    let is_led = matches!(
        response.status(),
        StatusCode::MOVED_PERMANENTLY
            | StatusCode::FOUND
            | StatusCode::SEE_OTHER
            | StatusCode::TEMPORARY_REDIRECT
            | StatusCode::PERMANENT_REDIRECT
    );
    let location = response.headers().get(LOCATION).filter(|_| is_led)?;
    response.url().join(location.to_str().ok()?).ok()
}

/// The same request for another address. What is sent goes along only where the server says so.
fn again(client: &Client, asked: Request, url: Url, status: StatusCode) -> Result<Request, reqwest::Error> {
    let is_whole = matches!(
        status,
        StatusCode::TEMPORARY_REDIRECT | StatusCode::PERMANENT_REDIRECT
    );
    let is_reading = matches!(*asked.method(), Method::GET | Method::HEAD);
    let method = match is_whole || is_reading {
        true => asked.method().clone(),
        false => Method::GET,
    };
    // Credentials that the address itself has are taken out of it, and into a header, by this.
    let mut request = client.request(method, url).build()?;
    for (name, value) in asked.headers() {
        let is_of_body = matches!(*name, CONTENT_TYPE | CONTENT_LENGTH);
        if *name != AUTHORIZATION && (is_whole || !is_of_body) {
            request.headers_mut().append(name.clone(), value.clone());
        }
    }
    if let Some(body) = asked.body().and_then(Body::as_bytes).filter(|_| is_whole) {
        *request.body_mut() = Some(body.to_vec().into());
    }
    Ok(request)
}

/// Whether credentials that were given for one address may be shown at another.
pub(crate) fn may_show(home: &Url, there: &Url) -> bool {
    if home.scheme() == "https" && there.scheme() != "https" {
        return false;
    }
    match (home.host(), there.host()) {
        (Some(Host::Domain(home)), Some(Host::Domain(there))) => {
            let rest = there.strip_suffix(home);
            rest.is_some_and(|rest| rest.is_empty() || rest.ends_with('.'))
        }
        (home, there) => home.is_some() && home == there,
    }
}

/// An address as messages may show it: without user and query, either of which may be a secret.
fn without_secrets(url: &Url) -> String {
    let mut url = url.clone();
    url.set_query(None);
    url.set_fragment(None);
    // These fail where there can be none.
    let _ = url.set_username("");
    let _ = url.set_password(None);
    url.to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn credentials_go_to_their_host_and_below_it_and_never_out_of_tls() {
        let may = |home: &str, there: &str| may_show(&home.parse().unwrap(), &there.parse().unwrap());
        assert!(may("http://example.com/a", "https://example.com/b"));
        assert!(may("https://example.com", "https://example.com:8443"));
        assert!(may("https://Example.com", "https://charts.example.com"));
        assert!(may("http://10.0.0.1:80", "https://10.0.0.1"));
        assert!(may("http://[::1]:80", "https://[::1]"));
        assert!(!may("https://example.com", "http://example.com"));
        assert!(!may("https://example.com", "https://notexample.com"));
        assert!(!may("https://charts.example.com", "https://example.com"));
        assert!(!may("http://0.0.1", "https://10.0.0.1"));
        assert!(!may("http://[::1]", "https://[::2]"));
    }

    #[test]
    fn what_is_shown_of_an_address_has_no_secret() {
        let url = "https://me:geheim@host/a?X-Signature=geheim#x".parse().unwrap();
        assert_eq!(without_secrets(&url), "https://host/a");
    }
}
