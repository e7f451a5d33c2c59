//! Addresses and names of the network, as Go's standard library reads them.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// An IP address. Parts of IPv4 addresses may start with zeros.
pub(super) fn parse_ip(text: &str) -> Option<IpAddr> {
    if !text.contains(':') {
        return sloppy_ipv4(text).map(IpAddr::V4);
    }
    let plain = text.parse::<Ipv6Addr>().ok();
    let with_sloppy_tail = || {
        let (head, tail) = text.rsplit_once(':')?;
        let v4 = sloppy_ipv4(tail)?;
        format!("{head}:{v4}").parse().ok()
    };
    plain.or_else(with_sloppy_tail).map(IpAddr::V6)
}

fn sloppy_ipv4(text: &str) -> Option<Ipv4Addr> {
    let part = |part: &str| {
        let digits = !part.is_empty() && part.len() <= 20 && part.bytes().all(|byte| byte.is_ascii_digit());
        if digits { part.parse::<u8>().ok() } else { None }
    };
    let parts: Option<Vec<u8>> = text.split('.').map(part).collect();
    <[u8; 4]>::try_from(parts?).ok().map(Ipv4Addr::from)
}

pub(super) fn is_cidr(text: &str) -> bool {
    let Some((address, length)) = text.split_once('/') else {
        return false;
    };
    let bits = match parse_ip(address) {
        Some(IpAddr::V4(_)) => 32,
        Some(IpAddr::V6(_)) => 128,
        None => return false,
    };
    length.bytes().all(|byte| byte.is_ascii_digit())
        && length.parse::<u32>().is_ok_and(|length| length <= bits)
}

/// A hardware address of 6, 8 or 20 bytes, written with colons, dashes or dots.
pub(super) fn is_mac(text: &str) -> bool {
    let (separator, width) = match text.as_bytes().get(2) {
        Some(b':') => (':', 2),
        Some(b'-') => ('-', 2),
        _ => ('.', 4),
    };
    let parts: Vec<&str> = text.split(separator).collect();
    let bytes = parts.len() * width / 2;
    matches!(bytes, 6 | 8 | 20)
        && parts
            .iter()
            .all(|part| part.len() == width && part.bytes().all(|byte| byte.is_ascii_hexdigit()))
}

/// Labels of letters, digits, symbols and inner dashes. A name of several labels ends with one of letters only.
pub(super) fn is_hostname(text: &str) -> bool {
    let labels: Vec<&str> = text.split('.').collect();
    let is_inner = |char: char| char.is_alphanumeric() || is_symbol(char);
    let is_label = |label: &&str| {
        let dashed = label.starts_with('-') || label.ends_with('-');
        !label.is_empty() && !dashed && label.chars().all(|char| is_inner(char) || char == '-')
    };
    let fits = match labels.as_slice() {
        // A single label may have a dash after its first character only.
        [one] => {
            let tail: String = one.chars().skip(1).collect();
            let tail = tail.strip_prefix('-').unwrap_or(&tail);
            one.chars().next().is_some_and(is_inner) && tail.chars().all(is_inner)
        }
        [labels @ .., last] => {
            labels.iter().all(is_label) && last.chars().count() >= 2 && last.chars().all(char::is_alphabetic)
        }
        [] => false,
    };
    fits && text.len() <= 255 && labels.iter().all(|label| label.len() <= 63)
}

/// Roughly Unicode's symbols, which the real pattern allows in host names.
fn is_symbol(char: char) -> bool {
    "$+<=>^`|~".contains(char)
        || !char.is_ascii() && !char.is_alphanumeric() && !char.is_whitespace() && !char.is_control()
}

/// What a request can be sent to: an absolute path or a URI with a scheme.
pub(super) fn is_request_uri(text: &str) -> bool {
    if text.is_empty() || text.bytes().any(|byte| byte < b' ' || byte == 0x7f) {
        return false;
    }
    if text == "*" {
        return true;
    }
    let Some((scheme, rest)) = split_scheme(text) else {
        return false;
    };
    let rest = rest.split_once('?').map_or(rest, |(rest, _)| rest);
    if !rest.starts_with('/') {
        return !scheme.is_empty();
    }
    let (authority, path) = match rest.strip_prefix("//") {
        Some(rest) if !scheme.is_empty() => rest.split_at(rest.find('/').unwrap_or(rest.len())),
        _ => ("", rest),
    };
    is_authority(authority) && escapes_are_right(path)
}

/// The scheme, empty where there is none, and what follows. `None` where the text starts with a colon.
fn split_scheme(text: &str) -> Option<(&str, &str)> {
    for (at, char) in text.char_indices() {
        match char {
            'a'..='z' | 'A'..='Z' => {}
            '0'..='9' | '+' | '-' | '.' if at > 0 => {}
            ':' if at == 0 => return None,
            ':' => return Some((&text[..at], &text[at + 1..])),
            _ => break,
        }
    }
    Some(("", text))
}

fn is_authority(text: &str) -> bool {
    let (user, host) = match text.rsplit_once('@') {
        Some((user, host)) => (user, host),
        None => ("", text),
    };
    let user_fits = user
        .chars()
        .all(|char| char.is_ascii_alphanumeric() || "-._:~!$&'()*+,;=%@".contains(char));
    user_fits && escapes_are_right(user) && is_host(host)
}

fn is_host(host: &str) -> bool {
    let is_port = |port: &str| {
        port.is_empty()
            || port
                .strip_prefix(':')
                .is_some_and(|port| port.bytes().all(|byte| byte.is_ascii_digit()))
    };
    if let Some(inner) = host.strip_prefix('[') {
        let Some((address, port)) = inner.rsplit_once(']') else {
            return false;
        };
        let address = address.split_once("%25").map_or(address, |(address, _)| address);
        return is_port(port) && address.contains(':') && parse_ip(address).is_some();
    }
    let (name, port) = host.split_at(host.rfind(':').unwrap_or(host.len()));
    let mut rest = name;
    while let Some(at) = rest.find('%') {
        // Only bytes beyond ASCII may be escaped.
        let fits = rest.as_bytes().get(at + 1..at + 3).is_some_and(|pair| {
            pair == b"25" || pair.iter().all(u8::is_ascii_hexdigit) && !(b'0'..=b'7').contains(&pair[0])
        });
        if !fits {
            return false;
        }
        rest = &rest[at + 3..];
    }
    let plain = |char: char| {
        !char.is_ascii() || char.is_ascii_alphanumeric() || "-_.~!$&'()*+,;=:[]<>\"%".contains(char)
    };
    is_port(port) && name.chars().all(plain)
}

fn escapes_are_right(text: &str) -> bool {
    let bytes = text.as_bytes();
    let is_right = |at: usize| {
        bytes
            .get(at + 1..at + 3)
            .is_some_and(|pair| pair.iter().all(u8::is_ascii_hexdigit))
    };
    bytes
        .iter()
        .enumerate()
        .all(|(at, byte)| *byte != b'%' || is_right(at))
}

/// A mail address, with or without the name of a person before it.
pub(super) fn is_email(text: &str) -> bool {
    let text = text.trim();
    match text.strip_suffix('>') {
        Some(rest) => rest
            .rsplit_once('<')
            .is_some_and(|(name, address)| is_phrase(name.trim()) && is_address(address)),
        None => is_address(text),
    }
}

fn is_address(text: &str) -> bool {
    let Some((local, domain)) = text.rsplit_once('@') else {
        return false;
    };
    let quoted = local.len() >= 2 && local.starts_with('"') && local.ends_with('"');
    let literal = domain
        .strip_prefix('[')
        .and_then(|rest| rest.strip_suffix(']'))
        .is_some_and(|address| parse_ip(address.strip_prefix("IPv6:").unwrap_or(address)).is_some());
    (quoted || is_dot_atom(local)) && (literal || is_dot_atom(domain))
}

fn is_phrase(text: &str) -> bool {
    let quoted = text.len() >= 2 && text.starts_with('"') && text.ends_with('"');
    quoted
        || text
            .chars()
            .all(|char| is_atom_char(char) || matches!(char, ' ' | '.'))
}

fn is_dot_atom(text: &str) -> bool {
    !text.is_empty()
        && text
            .split('.')
            .all(|atom| !atom.is_empty() && atom.chars().all(is_atom_char))
}

fn is_atom_char(char: char) -> bool {
    !char.is_ascii() || char.is_ascii_alphanumeric() || "!#$%&'*+-/=?^_`{|}~".contains(char)
}
