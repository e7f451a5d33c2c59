//! Destinations that addresses of tenants must not lead to.
//!
//! A controller reaches servers that a tenant cannot: the metadata server of the machine hands out its credentials. Link-local
//! addresses and those of metadata servers are therefore refused before a connection is made, as the host of an address and as an
//! address of a name.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use url::{Host, Url};

/// The metadata server of Alibaba Cloud, which is outside of the link-local range.
const ALIBABA: Ipv4Addr = Ipv4Addr::new(100, 100, 100, 200);
/// The server of Azure's virtual machines, which hands out their configuration.
const AZURE: Ipv4Addr = Ipv4Addr::new(168, 63, 129, 16);
/// The metadata server of Google Cloud over IPv6.
const GOOGLE: Ipv6Addr = Ipv6Addr::new(0xfd20, 0xce, 0, 0, 0, 0, 0, 0x254);
/// The beginnings of the IPv6 addresses of metadata and identity servers outside of the link-local range: EC2, Scaleway, Oracle.
const UNIQUE_LOCAL: [[u16; 2]; 3] = [[0xfd00, 0x0ec2], [0xfd00, 0x0042], [0xfd00, 0x00c1]];

/// A host that is not reached.
#[derive(Debug, thiserror::Error)]
#[error("refusing to connect to {host}: link-local addresses and metadata servers are not reached")]
pub struct Refused {
    host: String,
}

impl Refused {
    /// A refused host, by its name or address.
    pub fn new(host: impl Into<String>) -> Self {
        Refused { host: host.into() }
    }
}

/// The address that a URL has as its host, if it is refused. Names are not looked up.
pub fn refused_address(url: &Url) -> Option<IpAddr> {
    let address: IpAddr = match url.host()? {
        Host::Ipv4(address) => address.into(),
        Host::Ipv6(address) => address.into(),
        // Hosts of schemes that are not those of the web, such as `socks5`, are not parsed.
        Host::Domain(name) => name.parse().ok()?,
    };
    is_refused(address).then_some(address)
}

/// Refuses a URL whose host is a refused address. Names are not looked up.
///
/// # Errors
/// When the address is refused.
pub fn check(url: &Url) -> Result<(), Refused> {
    match refused_address(url) {
        Some(address) => Err(Refused::new(address.to_string())),
        None => Ok(()),
    }
}

/// Refuses a host that a proxy is to connect to, if it is a refused address. Names are left to the proxy.
///
/// # Errors
/// When the address is refused.
pub fn check_host(host: &str) -> Result<(), Refused> {
    let address: Option<IpAddr> = host.parse().ok();
    match address.is_some_and(is_refused) {
        true => Err(Refused::new(host)),
        false => Ok(()),
    }
}

/// The addresses of a name that may be reached.
///
/// # Errors
/// When the name has addresses and all of them are refused.
pub fn permitted(name: &str, found: impl Iterator<Item = SocketAddr>) -> Result<Vec<SocketAddr>, Refused> {
    let (refused, permitted): (Vec<_>, Vec<_>) = found.partition(|address| is_refused(address.ip()));
    if permitted.is_empty()
        && let Some(address) = refused.first()
    {
        return Err(Refused::new(format!("{name} ({})", address.ip())));
    }
    Ok(permitted)
}

fn is_refused(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => {
            // Oracle's metadata server is in 192.0.0.0/24, which is reserved (RFC 6890).
            address.is_link_local()
                || address.octets()[..3] == [192, 0, 0]
                || [ALIBABA, AZURE].contains(&address)
        }
        IpAddr::V6(address) => {
            address.is_unicast_link_local()
                || UNIQUE_LOCAL
                    .iter()
                    .any(|start| address.segments().starts_with(start))
                || address == GOOGLE
                || embedded(address).is_some_and(|address| is_refused(address.into()))
        }
    }
}

/// The IPv4 address that an IPv6 address leads to: mapped, compatible, through NAT64 (RFC 6052, RFC 8215) or 6to4 (RFC 3056).
fn embedded(address: Ipv6Addr) -> Option<Ipv4Addr> {
    let (high, low) = match address.segments() {
        [0x2002, high, low, ..] => (high, low),
        [0, 0, 0, 0, 0, 0 | 0xffff, high, low]
        | [0x64, 0xff9b, 0, 0, 0, 0, high, low]
        | [0x64, 0xff9b, 1, _, _, _, high, low] => (high, low),
        _ => return None,
    };
    let [a, b] = high.to_be_bytes();
    let [c, d] = low.to_be_bytes();
    Some(Ipv4Addr::new(a, b, c, d))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn link_local_addresses_and_metadata_servers_are_refused() {
        let refused = |url: &str| refused_address(&url.parse().unwrap()).is_some();
        for url in [
            "http://169.254.169.254/latest/meta-data/",
            "http://169.254.170.2",
            "http://0xA9FEA9FE/",
            "http://2852039166/",
            "http://[fe80::1]/",
            "http://[febf::1]/",
            "http://[fd00:ec2::254]/",
            "http://[fd00:ec2::23]/",
            "http://[fd20:ce::254]/",
            "http://168.63.129.16/",
            "http://[::ffff:169.254.169.254]/",
            "http://[::169.254.169.254]/",
            "http://[64:ff9b::a9fe:a9fe]/",
            "http://[64:ff9b:1::a9fe:a9fe]/",
            "http://[2002:a9fe:a9fe::]/",
            "http://[fd00:42::42]/",
            "http://[fd00:c1::a9fe:a9fe]/",
            "http://192.0.0.192/",
            "https://100.100.100.200/",
            "socks5://169.254.169.254:80",
        ] {
            assert!(refused(url), "{url}");
        }
        for url in [
            "http://127.0.0.1/",
            "http://[::1]/",
            "http://10.0.0.1/",
            "http://192.168.1.1/",
            "http://100.100.100.201/",
            "http://[fd00::1]/",
            "https://example.com/",
        ] {
            assert!(!refused(url), "{url}");
        }
    }

    #[test]
    fn a_name_leads_only_to_addresses_that_are_permitted() {
        let addresses = |text: &[&str]| -> Vec<SocketAddr> {
            text.iter().map(|address| address.parse().unwrap()).collect()
        };
        let mixed = addresses(&["[fe80::1]:0", "10.0.0.1:0"]);
        assert_eq!(
            permitted("printer.local", mixed.into_iter()).unwrap(),
            addresses(&["10.0.0.1:0"])
        );
        let rebound = addresses(&["169.254.169.254:0"]);
        let error = permitted("rebound.example", rebound.into_iter()).unwrap_err();
        assert!(
            error.to_string().contains("rebound.example (169.254.169.254)"),
            "{error}"
        );
    }
}
