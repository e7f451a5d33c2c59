//! Which proxy the environment names for a server, by the rules of Go's `http.ProxyFromEnvironment`.

use std::fmt;
use std::net::IpAddr;

use url::{Host, Url};

/// The proxies of an environment.
#[derive(Clone, Default)]
pub struct Proxies {
    http: Option<Url>,
    https: Option<Url>,
    direct: Vec<Direct>,
}

/// Who is reached without a proxy.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Direct {
    Everyone,
    /// The addresses that begin with so many bits of this one.
    Network(IpAddr, u32),
    Address(IpAddr, Option<u16>),
    Name {
        /// What names below it end with: a dot before it.
        below: String,
        /// Whether it is meant itself.
        itself: bool,
        port: Option<u16>,
    },
}

impl Proxies {
    /// Those of this process.
    pub fn of_environment() -> Self {
        Self::of(|name| std::env::var(name).ok())
    }

    /// Those that these variables name. Capitals count more; an empty variable is as none.
    pub fn of(variable: impl Fn(&str) -> Option<String>) -> Self {
        let set = |name: &str| variable(name).filter(|value| !value.is_empty());
        let get = |name: &str| set(name).or_else(|| set(&name.to_ascii_lowercase()));
        // In a CGI program the variable would come from a header that clients send.
        let is_cgi = set("REQUEST_METHOD").is_some();
        let direct = get("NO_PROXY").unwrap_or_default();
        Proxies {
            http: get("HTTP_PROXY")
                .filter(|_| !is_cgi)
                .and_then(|text| parse(&text)),
            https: get("HTTPS_PROXY").and_then(|text| parse(&text)),
            direct: direct.split(',').filter_map(Direct::read).collect(),
        }
    }

    /// Whether one of them is this.
    pub fn names(&self, proxy: &Url) -> bool {
        [&self.http, &self.https]
            .into_iter()
            .flatten()
            .any(|known| known == proxy)
    }

    /// The proxy that leads to a server; none if it is reached directly.
    pub fn to(&self, server: &Url) -> Option<&Url> {
        let proxy = match server.scheme() {
            "http" => self.http.as_ref(),
            "https" => self.https.as_ref(),
            _ => None,
        }?;
        let host = server.host()?;
        let port = server.port_or_known_default();
        let is_here = match &host {
            Host::Domain(name) => name.eq_ignore_ascii_case("localhost"),
            Host::Ipv4(address) => address.is_loopback(),
            Host::Ipv6(address) => IpAddr::V6(*address).to_canonical().is_loopback(),
        };
        let is_direct = is_here || self.direct.iter().any(|direct| direct.covers(&host, port));
        (!is_direct).then_some(proxy)
    }
}

/// A proxy without a scheme is one of HTTP.
fn parse(text: &str) -> Option<Url> {
    let whole = Url::parse(text).ok().filter(Url::has_host);
    whole.or_else(|| Url::parse(&format!("http://{text}")).ok())
}

impl Direct {
    fn read(text: &str) -> Option<Self> {
        let text = text.trim().to_ascii_lowercase();
        if text == "*" {
            return Some(Direct::Everyone);
        }
        if let Some((address, bits)) = text.split_once('/')
            && let (Ok(address), Ok(bits)) = (address.parse::<IpAddr>(), bits.parse::<u32>())
            && bits <= width(address)
        {
            return Some(Direct::Network(address, bits));
        }
        let (host, port) = split(&text);
        if let Ok(address) = host.parse() {
            return Some(Direct::Address(address, port));
        }
        let name = host.strip_prefix('*').filter(|rest| rest.starts_with('.'));
        let name = name.unwrap_or(host);
        let (itself, below) = match name.strip_prefix('.') {
            Some("") | None if name.is_empty() || name == "." => return None,
            Some(_) => (false, name.to_owned()),
            None => (true, format!(".{name}")),
        };
        Some(Direct::Name { below, itself, port })
    }

    fn covers(&self, host: &Host<&str>, at: Option<u16>) -> bool {
        let address = match host {
            Host::Domain(_) => None,
            Host::Ipv4(address) => Some(IpAddr::V4(*address)),
            Host::Ipv6(address) => Some(IpAddr::V6(*address).to_canonical()),
        };
        let same_port = |port: &Option<u16>| port.is_none() || *port == at;
        match (self, host) {
            (Direct::Everyone, _) => true,
            (Direct::Network(network, bits), _) => {
                address.is_some_and(|address| is_within(address, *network, *bits))
            }
            (Direct::Address(direct, port), _) => address == Some(direct.to_canonical()) && same_port(port),
            (Direct::Name { below, itself, port }, Host::Domain(name)) => {
                let name = name.to_ascii_lowercase();
                (name.ends_with(below) || *itself && name == below[1..]) && same_port(port)
            }
            (Direct::Name { .. }, _) => false,
        }
    }
}

/// Host and port. An address of IPv6 has colons of its own, and brackets where a port follows.
fn split(text: &str) -> (&str, Option<u16>) {
    let unbracketed = |host: &'_ str| host.len() >= 2 && host.starts_with('[') && host.ends_with(']');
    match text.rsplit_once(':') {
        Some((host, port)) if unbracketed(host) => (&text[1..host.len() - 1], port.parse().ok()),
        Some((host, port)) if !host.contains(':') => (host, port.parse().ok()),
        _ => (text, None),
    }
}

fn width(address: IpAddr) -> u32 {
    if address.is_ipv4() { 32 } else { 128 }
}

fn is_within(address: IpAddr, network: IpAddr, bits: u32) -> bool {
    match (address, network) {
        (IpAddr::V4(address), IpAddr::V4(network)) => {
            let mask = u32::MAX.checked_shl(32 - bits).unwrap_or(0);
            address.to_bits() & mask == network.to_bits() & mask
        }
        (IpAddr::V6(address), IpAddr::V6(network)) => {
            let mask = u128::MAX.checked_shl(128 - bits).unwrap_or(0);
            address.to_bits() & mask == network.to_bits() & mask
        }
        _ => false,
    }
}

/// Host and port of a proxy, without its login.
pub fn shown(proxy: &Url) -> String {
    let usual = match proxy.scheme() {
        "http" => 80,
        "https" => 443,
        _ => 1080,
    };
    let host = proxy.host_str().unwrap_or_default();
    format!("{host}:{}", proxy.port().unwrap_or(usual))
}

impl fmt::Debug for Proxies {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Proxies")
            .field("http", &self.http.as_ref().map(shown))
            .field("https", &self.https.as_ref().map(shown))
            .field("direct", &self.direct)
            .finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn proxies(variables: &[(&str, &str)]) -> Proxies {
        let find = |name: &str| variables.iter().find(|(known, _)| *known == name);
        Proxies::of(|name| find(name).map(|(_, value)| (*value).to_owned()))
    }

    fn to(proxies: &Proxies, server: &str) -> Option<String> {
        proxies.to(&server.parse().unwrap()).map(shown)
    }

    #[test]
    fn each_scheme_has_its_proxy_and_capitals_count_more() {
        let found = proxies(&[
            ("HTTP_PROXY", "http://ada:geheim@plain:8080"),
            ("http_proxy", "http://other"),
            ("https_proxy", "secure"),
            ("HTTPS_PROXY", ""),
            ("ALL_PROXY", "http://all"),
        ]);
        assert_eq!(to(&found, "http://git.test/a").as_deref(), Some("plain:8080"));
        assert_eq!(to(&found, "https://git.test/a").as_deref(), Some("secure:80"));
        assert!(!format!("{found:?}").contains("geheim"));
        let socks = proxies(&[("HTTPS_PROXY", "socks5://proxy")]);
        assert_eq!(to(&socks, "https://git.test").as_deref(), Some("proxy:1080"));
        assert_eq!(to(&socks, "http://git.test"), None);
        let cgi = proxies(&[("HTTP_PROXY", "http://proxy"), ("REQUEST_METHOD", "GET")]);
        assert_eq!(to(&cgi, "http://git.test"), None);
    }

    #[test]
    fn this_machine_is_never_reached_through_a_proxy() {
        let found = proxies(&[("HTTP_PROXY", "http://proxy")]);
        for server in [
            "http://localhost:1",
            "http://LOCALHOST",
            "http://127.8.0.1:80",
            "http://[::1]:1",
        ] {
            assert_eq!(to(&found, server), None, "{server}");
        }
        assert!(to(&found, "http://localhost.test").is_some());
    }

    #[test]
    fn no_proxy_has_names_addresses_and_ranges() {
        for (direct, reached, proxied) in [
            (
                "a.test",
                "https://a.test https://x.a.test https://A.TEST:8443",
                "https://ba.test https://b.test",
            ),
            (".a.test", "https://x.a.test", "https://a.test"),
            ("*.a.test", "https://x.y.a.test", "https://a.test"),
            (
                "a.test:8443",
                "https://a.test:8443 https://x.a.test:8443",
                "https://a.test",
            ),
            ("a.test:443", "https://a.test", "https://a.test:8443"),
            (
                " b.test , ,a.test",
                "https://a.test https://b.test",
                "https://c.test",
            ),
            (
                "10.1.2.3",
                "https://10.1.2.3 https://10.1.2.3:6443",
                "https://10.1.2.4",
            ),
            ("10.1.2.3:6443", "https://10.1.2.3:6443", "https://10.1.2.3"),
            (
                "10.0.0.0/8",
                "https://10.255.1.1",
                "https://11.0.0.1 https://a.test",
            ),
            ("10.1.2.3/0", "https://1.1.1.1", "https://[fd00::1]"),
            (
                "fd00::/8",
                "https://[fd12::1]:6443",
                "https://[fe80::1] https://10.0.0.1",
            ),
            ("[fd00::1]:6443", "https://[fd00::1]:6443", "https://[fd00::1]"),
            ("fd00::1", "https://[fd00::1]:6443", "https://[fd00::2]"),
            (
                "a.test,*",
                "https://a.test https://b.test https://1.1.1.1 https://[fd00::1]",
                "",
            ),
            (".,:80,10.0.0.0/33", "", "https://10.0.0.1 https://a.test"),
        ] {
            let found = proxies(&[("HTTPS_PROXY", "http://proxy"), ("no_proxy", direct)]);
            for server in reached.split_whitespace() {
                assert_eq!(to(&found, server), None, "{direct}: {server}");
            }
            for server in proxied.split_whitespace() {
                assert!(to(&found, server).is_some(), "{direct}: {server}");
            }
        }
    }
}
