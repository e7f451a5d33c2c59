//! What to do about a server that was not reached.

use std::error::Error as StdError;
use std::io;

use rustls::{AlertDescription, CertificateError, Error};

use reach::guard::Refused;

/// What to do about this, to be put after what happened; nothing, where that is not known.
pub(crate) fn remedy(error: &(dyn StdError + 'static)) -> &'static str {
    if is_refused(error) {
        return ": the address is refused: use a server that is neither link-local nor a metadata server";
    }
    let mut cause = Some(error);
    while let Some(error) = cause {
        if let Some(known) = of_one(error) {
            return known;
        }
        cause = error.source();
    }
    ""
}

/// Whether the destination was refused before a connection was made.
pub(super) fn is_refused(error: &(dyn StdError + 'static)) -> bool {
    let mut cause = Some(error);
    while let Some(error) = cause {
        let inner = error
            .downcast_ref::<io::Error>()
            .and_then(|error| error.get_ref());
        if error.is::<Refused>() || inner.is_some_and(|inner| is_refused(inner)) {
            return true;
        }
        cause = error.source();
    }
    false
}

fn of_one(error: &(dyn StdError + 'static)) -> Option<&'static str> {
    if let Some(error) = error.downcast_ref::<Error>() {
        return of_tls(error);
    }
    if let Some(error) = error.downcast_ref::<io::Error>() {
        // What is inside of it is passed over by `source`.
        let inner = error.get_ref().and_then(|inner| of_one(inner));
        return inner.or(match error.kind() {
            io::ErrorKind::ConnectionRefused => Some(": nobody listens there: check host and port"),
            io::ErrorKind::TimedOut => Some(TIMED_OUT),
            _ => None,
        });
    }
    if error.downcast_ref().is_some_and(reqwest::Error::is_timeout) {
        return Some(TIMED_OUT);
    }
    let text = error.to_string();
    // Who knows which proxy it was has told of it by name before: see `Options::blame`.
    if text.starts_with("tunnel error: ") || text.starts_with("SOCKS error: ") {
        return Some(": the proxy does not lead there: check its address and login, and that it runs");
    }
    let unknown = text == "dns error" || text.starts_with("failed to lookup address");
    unknown.then_some(": the name of the host is not known: check it")
}

const TIMED_OUT: &str =
    ": the server did not answer in time: check that it can be reached from here, or raise the timeout";

fn of_tls(error: &Error) -> Option<&'static str> {
    use AlertDescription as Alert;
    use CertificateError as Bad;
    Some(match error {
        Error::InvalidCertificate(Bad::UnknownIssuer) => {
            ": nobody who is trusted issued the server's certificate: add it or its CA certificate to 'ca.crt', or to those that the system trusts"
        }
        Error::InvalidCertificate(Bad::NotValidForName | Bad::NotValidForNameContext { .. }) => {
            ": the server's certificate is for other hosts: check the host, or give the server a certificate for it"
        }
        Error::InvalidCertificate(Bad::Expired | Bad::ExpiredContext { .. }) => {
            ": the server's certificate has expired: renew it"
        }
        Error::InvalidCertificate(_) => ": the server's certificate cannot be accepted: replace it",
        Error::AlertReceived(
            Alert::CertificateRequired
            | Alert::BadCertificate
            | Alert::UnsupportedCertificate
            | Alert::CertificateExpired
            | Alert::CertificateUnknown
            | Alert::UnknownCA
            | Alert::AccessDenied
            | Alert::HandshakeFailure,
        ) => ": the server refuses the client certificate, or wants one: check 'tls.crt' and 'tls.key'",
        Error::InvalidMessage(_) => ": the server does not speak TLS there: check the scheme and the port",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn remedies_are_found_however_deep_the_cause_is() {
        let tls = || Error::InvalidCertificate(CertificateError::UnknownIssuer);
        let nested = io::Error::other(io::Error::other(tls()));
        assert!(remedy(&nested).contains("'ca.crt'"));
        assert!(remedy(&tls()).contains("'ca.crt'"));
        let refused = io::Error::from(io::ErrorKind::ConnectionRefused);
        assert!(remedy(&io::Error::other(refused)).contains("check host and port"));
        assert_eq!(remedy(&io::Error::other("something else")), "");
    }

    /// A server is not to blame for the proxy before it, whoever asks.
    #[tokio::test]
    async fn proxies_that_nobody_has_are_told_as_such() {
        for scheme in ["http", "socks5"] {
            let options = crate::http::Options {
                proxy: Some(crate::http::Proxy {
                    address: format!("{scheme}://127.0.0.1:1"),
                    login: None,
                }),
                ..crate::http::Options::default()
            };
            let asked = options.client().unwrap().get("https://sts.invalid/").send();
            let error = asked.await.unwrap_err();
            assert!(
                remedy(&error).contains("the proxy does not lead there"),
                "{error:?}"
            );
        }
    }

    #[tokio::test]
    async fn hosts_and_ports_that_nobody_has_are_told() {
        let client = crate::http::Options::default().client().unwrap();
        let error = client.get("http://127.0.0.1:1/").send().await.unwrap_err();
        assert!(remedy(&error).contains("nobody listens there"), "{error:?}");
    }
}
