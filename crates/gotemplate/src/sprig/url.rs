//! URLs, taken apart and put together as Go's `net/url` does it.

use super::{MAP, STR, made};
use crate::error::Error;
use crate::function::{Call, Function, Functions};
use crate::value::{Kind, Map, Value};

pub(super) fn add(functions: &mut Functions) {
    functions
        .insert(
            "urlParse",
            Function::new(&[STR], |call| {
                let text = call.str(0);
                let url = Url::parse(&text).map_err(|error| format!("unable to parse url: {error}"))?;
                call.session.charge(text.len() + 512)?;
                Ok(Value::Map(url.parts()))
            }),
        )
        .insert("urlJoin", Function::new(&[MAP], join));
}

/// Which part of a URL a text is for: what may stand there as it is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    Path,
    User,
    Host,
    Zone,
    Fragment,
}

fn is_plain(byte: u8, place: Place) -> bool {
    let others: &[u8] = match place {
        Place::Path => b"$&+,/:;=@",
        Place::User => b"$&+,;=",
        Place::Host | Place::Zone => b"!$&'()*+,;=:[]<>\"",
        Place::Fragment => b"$&+,/:;=?@!()*",
    };
    byte.is_ascii_alphanumeric() || b"-_.~".contains(&byte) || others.contains(&byte)
}

fn escape(text: &[u8], place: Place) -> String {
    let mut out = String::with_capacity(text.len());
    for byte in text {
        match is_plain(*byte, place) {
            true => out.push(char::from(*byte)),
            false => out.push_str(&format!("%{byte:02X}")),
        }
    }
    out
}

fn unescape(text: &str, place: Place) -> Result<Vec<u8>, String> {
    let bytes = text.as_bytes();
    let bad = |part: &str| format!("invalid URL escape {}", model::quote::quote(part));
    let is_host = matches!(place, Place::Host | Place::Zone);
    let mut out = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while let Some(byte) = bytes.get(at) {
        if *byte != b'%' {
            if is_host && byte.is_ascii() && !is_plain(*byte, place) {
                let shown = model::quote::quote(&char::from(*byte).to_string());
                return Err(format!("invalid character {shown} in host name"));
            }
            out.push(*byte);
            at += 1;
            continue;
        }
        let code = text
            .get(at + 1..at + 3)
            .filter(|code| code.bytes().all(|byte| byte.is_ascii_hexdigit()));
        let code = code.and_then(|code| u8::from_str_radix(code, 16).ok());
        let Some(code) = code else {
            let mut end = text.len().min(at + 3);
            while !text.is_char_boundary(end) {
                end += 1;
            }
            return Err(bad(&text[at..end]));
        };
        let refused = match place {
            Place::Host => code < 0x80 && code != b'%',
            Place::Zone => code != b'%' && code != b' ' && !is_plain(code, Place::Host),
            _ => false,
        };
        if refused {
            return Err(bad(&text[at..at + 3]));
        }
        out.push(code);
        at += 3;
    }
    Ok(out)
}

#[derive(Default)]
struct Url {
    scheme: String,
    opaque: String,
    /// The user and, if there is one, the password.
    user: Option<(Vec<u8>, Option<Vec<u8>>)>,
    host: Vec<u8>,
    path: Vec<u8>,
    /// The path as it was written, where that is another than we would write.
    raw_path: String,
    omit_host: bool,
    query: String,
    fragment: Vec<u8>,
}

impl Url {
    fn parse(text: &str) -> Result<Url, String> {
        let (before, fragment) = text.split_once('#').unwrap_or((text, ""));
        let named = |of: &str, error: String| format!("parse {}: {error}", model::quote::quote(of));
        let mut url = Url::parse_plain(before).map_err(|error| named(before, error))?;
        url.fragment = unescape(fragment, Place::Fragment).map_err(|error| named(text, error))?;
        Ok(url)
    }

    fn parse_plain(text: &str) -> Result<Url, String> {
        let mut url = Url::default();
        if text.bytes().any(|byte| byte < b' ' || byte == 0x7f) {
            return Err("net/url: invalid control character in URL".to_owned());
        }
        if text == "*" {
            url.path = b"*".to_vec();
            return Ok(url);
        }
        let (scheme, rest) = scheme_of(text)?;
        url.scheme = scheme.to_ascii_lowercase();
        let (mut rest, query) = rest.split_once('?').unwrap_or((rest, ""));
        url.query = query.to_owned();
        if !rest.starts_with('/') {
            if !url.scheme.is_empty() {
                url.opaque = rest.to_owned();
                return Ok(url);
            }
            if rest
                .split('/')
                .next()
                .is_some_and(|segment| segment.contains(':'))
            {
                return Err("first path segment in URL cannot contain colon".to_owned());
            }
        }
        let is_authority = rest.starts_with("//") && (!url.scheme.is_empty() || !rest.starts_with("///"));
        if is_authority {
            let end = rest[2..].find('/').map_or(rest.len(), |at| at + 2);
            url.set_authority(&rest[2..end])?;
            rest = &rest[end..];
        } else if !url.scheme.is_empty() && rest.starts_with('/') {
            url.omit_host = true;
        }
        url.path = unescape(rest, Place::Path)?;
        if escape(&url.path, Place::Path) != rest {
            url.raw_path = rest.to_owned();
        }
        Ok(url)
    }

    fn set_authority(&mut self, authority: &str) -> Result<(), String> {
        let (user, host) = match authority.rsplit_once('@') {
            Some((user, host)) => (Some(user), host),
            None => (None, authority),
        };
        self.host = host_of(&self.scheme, host)?;
        let Some(user) = user else {
            return Ok(());
        };
        if !user
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || b"-._:~!$&'()*+,;=%@".contains(&byte))
        {
            return Err("net/url: invalid userinfo".to_owned());
        }
        self.user = Some(match user.split_once(':') {
            Some((name, password)) => (
                unescape(name, Place::User)?,
                Some(unescape(password, Place::User)?),
            ),
            None => (unescape(user, Place::User)?, None),
        });
        Ok(())
    }

    fn user_text(&self) -> String {
        match &self.user {
            Some((name, Some(password))) => {
                format!("{}:{}", escape(name, Place::User), escape(password, Place::User))
            }
            Some((name, None)) => escape(name, Place::User),
            None => String::new(),
        }
    }

    /// The host without its port and brackets.
    fn host_name(&self) -> &[u8] {
        let host = &self.host;
        let colon = host.iter().rposition(|byte| *byte == b':');
        let host = match colon {
            Some(at) if host[at + 1..].iter().all(u8::is_ascii_digit) => &host[..at],
            _ => host,
        };
        match host {
            [b'[', inner @ .., b']'] => inner,
            _ => host,
        }
    }

    fn parts(&self) -> Map {
        Map::from_iter([
            ("scheme", Value::str(self.scheme.as_str())),
            ("host", Value::string_of_bytes(&self.host)),
            ("hostname", Value::string_of_bytes(self.host_name())),
            ("path", Value::string_of_bytes(&self.path)),
            ("query", Value::str(self.query.as_str())),
            ("opaque", Value::str(self.opaque.as_str())),
            ("fragment", Value::string_of_bytes(&self.fragment)),
            ("userinfo", Value::str(self.user_text())),
        ])
    }

    fn escaped_path(&self) -> String {
        match self.path.as_slice() {
            b"*" => "*".to_owned(),
            path if self.raw_path.is_empty() => escape(path, Place::Path),
            _ => self.raw_path.clone(),
        }
    }

    fn text(&self) -> String {
        let mut out = String::new();
        if !self.scheme.is_empty() {
            out.push_str(&self.scheme);
            out.push(':');
        }
        if self.opaque.is_empty() {
            self.push_hierarchy(&mut out);
        } else {
            out.push_str(&self.opaque);
        }
        if !self.query.is_empty() {
            out.push('?');
            out.push_str(&self.query);
        }
        if !self.fragment.is_empty() {
            out.push('#');
            out.push_str(&escape(&self.fragment, Place::Fragment));
        }
        out
    }

    fn push_hierarchy(&self, out: &mut String) {
        let has_host = !self.host.is_empty() || self.user.is_some();
        if has_host || (!self.scheme.is_empty() && !self.omit_host) {
            if has_host || !self.path.is_empty() {
                out.push_str("//");
            }
            if self.user.is_some() {
                out.push_str(&self.user_text());
                out.push('@');
            }
            out.push_str(&escape(&self.host, Place::Host));
        }
        let path = self.escaped_path();
        if !path.is_empty() && !path.starts_with('/') && !self.host.is_empty() {
            out.push('/');
        }
        if out.is_empty()
            && path
                .split('/')
                .next()
                .is_some_and(|segment| segment.contains(':'))
        {
            out.push_str("./");
        }
        out.push_str(&path);
    }
}

fn scheme_of(text: &str) -> Result<(&str, &str), String> {
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' => {}
            b'0'..=b'9' | b'+' | b'-' | b'.' if at > 0 => {}
            b':' if at == 0 => return Err("missing protocol scheme".to_owned()),
            b':' => return Ok((&text[..at], &text[at + 1..])),
            _ => break,
        }
    }
    Ok(("", text))
}

fn check_port(port: &str) -> Result<(), String> {
    let fits = port.is_empty()
        || port
            .strip_prefix(':')
            .is_some_and(|port| port.bytes().all(|byte| byte.is_ascii_digit()));
    match fits {
        true => Ok(()),
        false => Err(format!("invalid port {} after host", model::quote::quote(port))),
    }
}

fn host_of(scheme: &str, host: &str) -> Result<Vec<u8>, String> {
    match host.rfind('[') {
        Some(0) => return literal_host(host),
        Some(_) => return Err("invalid IP-literal".to_owned()),
        None => {}
    }
    if let (Some(first), Some(last)) = (host.find(':'), host.rfind(':')) {
        let strict = matches!(scheme, "http" | "https");
        check_port(&host[if strict { first } else { last }..])?;
    }
    unescape(host, Place::Host)
}

/// An address of version 6 in brackets.
fn literal_host(host: &str) -> Result<Vec<u8>, String> {
    let close = host.rfind(']').ok_or("missing ']' in host")?;
    check_port(&host[close + 1..])?;
    let name = &host[1..close];
    let mut literal = match name.find("%25") {
        Some(zone) => {
            let mut address = unescape(&name[..zone], Place::Host)?;
            address.extend(unescape(&name[zone..], Place::Zone)?);
            address
        }
        None => unescape(name, Place::Host)?,
    };
    let address = String::from_utf8_lossy(&literal).into_owned();
    let plain = address.split('%').next().unwrap_or_default();
    match plain.parse::<std::net::IpAddr>() {
        Ok(std::net::IpAddr::V6(_)) => {}
        Ok(std::net::IpAddr::V4(_)) => return Err("invalid IP-literal".to_owned()),
        Err(_) => {
            let shown = model::quote::quote(&address);
            return Err(format!("invalid host: ParseAddr({shown}): unable to parse IP"));
        }
    }
    literal.insert(0, b'[');
    literal.push(b']');
    literal.extend_from_slice(&host.as_bytes()[close + 1..]);
    Ok(literal)
}

fn join(call: &mut Call<'_, '_>) -> Result<Value, Error> {
    let map = call.map(0);
    let get = |key: &str| -> Result<Vec<u8>, Error> {
        match map.get(key) {
            None => Ok(Vec::new()),
            Some(Value::Nil | Value::None) => Err(super::lists::nil_dereference()),
            Some(value) if value.kind() == Kind::String => Ok(value.as_bytes().unwrap_or_default().to_vec()),
            Some(value) => Err(Error::new(format!(
                "unable to parse {key} key, must be of type string, but {} found",
                value.kind().name()
            ))),
        }
    };
    let text = |key: &str| get(key).map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
    let mut url = Url {
        scheme: text("scheme")?,
        host: get("host")?,
        path: get("path")?,
        query: text("query")?,
        opaque: text("opaque")?,
        fragment: get("fragment")?,
        ..Url::default()
    };
    let user = text("userinfo")?;
    if !user.is_empty() {
        let parsed = Url::parse(&format!("proto://{user}@host"))
            .map_err(|error| format!("unable to parse userinfo in dict: {error}"))?;
        url.user = parsed.user;
    }
    made(call, url.text().into_bytes())
}
