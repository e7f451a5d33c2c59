//! IP addresses and networks, in the lenient form that old fields take: numbers of IPv4 may have leading zeros.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use super::at::At;
use super::errors::Errors;

/// An address in an old field. Returns whether it is one.
pub(super) fn address(at: &At, errors: &mut Errors) -> bool {
    let known = parse(at.text()).is_some();
    if !known {
        errors.invalid(
            at,
            "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)",
        );
    }
    known
}

/// An address in a new field: in its shortest form. Returns whether it is.
pub(super) fn strict_address(at: &At, errors: &mut Errors) -> bool {
    let before = errors.len();
    let text = at.text();
    match parse(text) {
        None => return address(at, errors),
        Some(address) => {
            if text.parse::<IpAddr>().is_err() {
                errors.invalid(at, "must not have leading 0s");
            }
            if text.contains(':') && address.is_ipv4() {
                errors.invalid(at, "must not be an IPv4-mapped IPv6 address");
            }
            let canonical = address.to_string();
            if errors.len() == before && canonical != text {
                errors.invalid(at, format!("must be in canonical form ({canonical:?})"));
            }
        }
    }
    errors.len() == before
}

/// A network in an old field.
pub(super) fn network(at: &At, errors: &mut Errors) {
    if Network::parse(at.text()).is_none() {
        errors.invalid(
            at,
            "must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)",
        );
    }
}

/// An address that endpoints may have.
pub(super) fn endpoint(at: &At, errors: &mut Errors) {
    let Some(address) = parse(at.text()) else {
        errors.invalid(at, "must be a valid IP address");
        return;
    };
    let (loopback, local, multicast) = match address {
        IpAddr::V4(v4) => (
            v4.is_loopback(),
            v4.is_link_local(),
            v4.octets()[..3] == [224, 0, 0],
        ),
        IpAddr::V6(v6) => (
            v6.is_loopback(),
            v6.segments()[0] & 0xffc0 == 0xfe80,
            v6.segments()[0] & 0xff0f == 0xff02,
        ),
    };
    if address.is_unspecified() {
        errors.invalid(at, format!("may not be unspecified ({})", at.text()));
    }
    if loopback {
        errors.invalid(at, "may not be in the loopback range (127.0.0.0/8, ::1/128)");
    }
    if local {
        errors.invalid(
            at,
            "may not be in the link-local range (169.254.0.0/16, fe80::/10)",
        );
    }
    if multicast {
        errors.invalid(
            at,
            "may not be in the link-local multicast range (224.0.0.0/24, ff02::/10)",
        );
    }
}

/// Reads an address. One of IPv4 that is written as IPv6 counts as IPv4, as in Go.
pub(super) fn parse(text: &str) -> Option<IpAddr> {
    if text.contains(':') {
        let address: Ipv6Addr = text.parse().ok()?;
        return Some(address.to_ipv4_mapped().map_or(IpAddr::V6(address), IpAddr::V4));
    }
    let mut octets = [0u8; 4];
    let mut parts = text.split('.');
    for octet in &mut octets {
        let part = parts.next()?;
        let digits = !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
        *octet = digits
            .then(|| part.trim_start_matches('0'))?
            .parse()
            .or_else(|error| match part.bytes().all(|byte| byte == b'0') {
                true => Ok(0),
                false => Err(error),
            })
            .ok()?;
    }
    parts.next().is_none().then(|| Ipv4Addr::from(octets).into())
}

/// Whether the addresses are one of each family.
pub(super) fn is_dual<'t>(addresses: impl Iterator<Item = &'t str>) -> bool {
    let (mut v4, mut v6) = (false, false);
    for address in addresses {
        match parse(address) {
            Some(IpAddr::V4(_)) => v4 = true,
            Some(IpAddr::V6(_)) => v6 = true,
            None => return false,
        }
    }
    v4 && v6
}

/// A range of addresses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Network {
    /// Its first address.
    pub(super) address: IpAddr,
    /// How many bits of it all its addresses share.
    pub(super) bits: u8,
}

impl Network {
    /// Reads a network; bits beyond its prefix may be set.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let (address, bits) = text.split_once('/')?;
        let address = match address.contains(':') {
            true => IpAddr::V6(address.parse().ok()?),
            false => parse(address)?,
        };
        let short = !bits.is_empty() && bits.len() <= 3 && bits.bytes().all(|byte| byte.is_ascii_digit());
        let bits: u8 = short.then_some(bits)?.parse().ok()?;
        let network = Network { address, bits };
        (bits <= network.width()).then(|| network.masked())
    }

    fn width(&self) -> u8 {
        if self.address.is_ipv4() { 32 } else { 128 }
    }

    fn masked(self) -> Self {
        let keep = |number: u128, width: u32| match u32::from(self.bits) {
            0 => 0,
            bits => number & (u128::MAX << (width - bits)),
        };
        let address = match self.address {
            IpAddr::V4(v4) => Ipv4Addr::from(keep(u128::from(u32::from(v4)), 32) as u32).into(),
            IpAddr::V6(v6) => Ipv6Addr::from(keep(u128::from(v6), 128)).into(),
        };
        Network { address, ..self }
    }

    /// Whether `other` is a smaller network inside of this one.
    pub(super) fn is_larger_than(&self, other: &Network) -> bool {
        let same_family = self.address.is_ipv4() == other.address.is_ipv4();
        let outer = Network {
            bits: self.bits,
            ..*other
        };
        same_family && self.bits < other.bits && outer.masked() == *self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn old_fields_take_leading_zeros() {
        assert_eq!(parse("010.0.00.1"), Some(Ipv4Addr::new(10, 0, 0, 1).into()));
        for bad in [
            "",
            "1.2.3",
            "1.2.3.4.5",
            "256.0.0.1",
            "a.b.c.d",
            "1.2.3.+4",
            "1..2.3",
            "::g",
        ] {
            assert_eq!(parse(bad), None, "{bad}");
        }
        assert!(parse("::ffff:1.2.3.4").is_some_and(|address| address.is_ipv4()));
    }

    #[test]
    fn networks_hold_smaller_ones() {
        let network = |text| Network::parse(text).unwrap();
        assert!(network("10.0.0.0/8").is_larger_than(&network("10.1.0.0/16")));
        assert!(!network("10.0.0.0/8").is_larger_than(&network("11.1.0.0/16")));
        assert!(!network("10.0.0.0/8").is_larger_than(&network("10.0.0.0/8")));
        assert!(network("0.0.0.0/0").is_larger_than(&network("10.0.0.0/8")));
        assert!(!network("::/0").is_larger_than(&network("10.0.0.0/8")));
        assert_eq!(network("10.1.2.3/8"), network("10.0.0.0/8"));
        assert_eq!(Network::parse("10.0.0.0/33"), None);
        assert_eq!(Network::parse("10.0.0.0"), None);
    }

    #[test]
    fn families_are_told_apart() {
        assert!(is_dual(["10.0.0.1", "::1"].into_iter()));
        assert!(!is_dual(["10.0.0.1", "10.0.0.2"].into_iter()));
    }
}
