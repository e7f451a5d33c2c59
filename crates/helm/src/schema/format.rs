//! `format`: what texts look like. Formats that are not known allow everything, and so do durations, times without a date,
//! relative JSON pointers and templates of addresses.

use std::net::Ipv6Addr;

use model::regexp::Regexp;
use model::semver::Version;

/// Whether a text is of a format; if not, why.
pub(super) fn check(format: &str, text: &str) -> Result<(), String> {
    match format {
        "regex" => Regexp::new(text).map(drop).map_err(|error| error.to_string()),
        "ipv4" => ipv4(text),
        "ipv6" => ipv6(text),
        "hostname" => hostname(text),
        "email" => email(text),
        "uuid" => uuid(text),
        "date" => date(text),
        "date-time" => date_time(text),
        "uri" | "iri" => uri(text),
        "json-pointer" => json_pointer(text),
        "semver" => Version::parse_strict(text)
            .map(drop)
            .map_err(|error| error.to_string()),
        _ => Ok(()),
    }
}

fn refuse(problem: impl Into<String>) -> Result<(), String> {
    Err(problem.into())
}

fn ipv4(text: &str) -> Result<(), String> {
    let groups: Vec<&str> = text.split('.').collect();
    if groups.len() != 4 {
        return refuse("expected four decimals");
    }
    for group in groups {
        if group.len() > 1 && group.starts_with('0') {
            return refuse("leading zeros");
        }
        match group.parse::<i64>() {
            Ok(0..=255) => {}
            Ok(_) => return refuse("decimal must be between 0 and 255"),
            Err(_) => {
                let quoted = model::quote::quote(group);
                return refuse(format!("strconv.Atoi: parsing {quoted}: invalid syntax"));
            }
        }
    }
    Ok(())
}

fn ipv6(text: &str) -> Result<(), String> {
    if !text.contains(':') {
        return refuse("missing colon");
    }
    if text.contains('%') {
        return refuse("zone id is not a part of ipv6 address");
    }
    match text.parse::<Ipv6Addr>() {
        Ok(_) => Ok(()),
        Err(_) => refuse(format!("ParseAddr({}): no address", model::quote::quote(text))),
    }
}

fn hostname(text: &str) -> Result<(), String> {
    let text = text.strip_suffix('.').unwrap_or(text);
    if text.len() > 253 {
        return refuse("more than 253 characters long");
    }
    for label in text.split('.') {
        if label.is_empty() || label.len() > 63 {
            return refuse("label must be 1 to 63 characters long");
        }
        if label.starts_with('-') {
            return refuse("label starts with hyphen");
        }
        if label.ends_with('-') {
            return refuse("label ends with hyphen");
        }
        if let Some(other) = label.chars().find(|c| !c.is_ascii_alphanumeric() && *c != '-') {
            return refuse(format!("invalid character {other:?}"));
        }
    }
    Ok(())
}

fn email(text: &str) -> Result<(), String> {
    if text.len() > 254 {
        return refuse("more than 255 characters long");
    }
    let Some((local, domain)) = text.rsplit_once('@') else {
        return refuse("missing @");
    };
    if local.len() > 64 {
        return refuse("local part more than 64 characters long");
    }
    if local.len() > 1 && local.starts_with('"') {
        let inner = local.get(1..local.len() - 1).unwrap_or_default();
        if inner.contains(['\\', '"']) {
            return refuse("backslash and quote are not allowed within quoted local part");
        }
    } else {
        unquoted(local)?;
    }
    if let Some(address) = domain
        .strip_prefix('[')
        .and_then(|domain| domain.strip_suffix(']'))
    {
        return match address.strip_prefix("IPv6:") {
            Some(address) => ipv6(address).map_err(|problem| format!("invalid ipv6 address: {problem}")),
            None => ipv4(address).map_err(|problem| format!("invalid ipv4 address: {problem}")),
        };
    }
    hostname(domain).map_err(|problem| format!("invalid domain: {problem}"))
}

fn unquoted(local: &str) -> Result<(), String> {
    if local.starts_with('.') {
        return refuse("starts with dot");
    }
    if local.ends_with('.') {
        return refuse("ends with dot");
    }
    if local.contains("..") {
        return refuse("consecutive dots");
    }
    let allowed = |c: char| c.is_ascii_alphanumeric() || ".!#$%&'*+-/=?^_`{|}~".contains(c);
    match local.chars().find(|c| !allowed(*c)) {
        Some(other) => refuse(format!("invalid character {other:?}")),
        None => Ok(()),
    }
}

fn uuid(text: &str) -> Result<(), String> {
    let lengths = [8, 4, 4, 4, 12];
    let groups: Vec<&str> = text.split('-').collect();
    if groups.len() != lengths.len() {
        return refuse("must have 5 elements");
    }
    for (at, (group, length)) in groups.iter().zip(lengths).enumerate() {
        if group.len() != length {
            return refuse(format!("element {} must be {length} characters long", at + 1));
        }
        if let Some(other) = group.chars().find(|c| !c.is_ascii_hexdigit()) {
            return refuse(format!("non-hex character {other:?}"));
        }
    }
    Ok(())
}

fn date(text: &str) -> Result<(), String> {
    let bytes = text.as_bytes();
    let number = |range: std::ops::Range<usize>| text.get(range)?.parse::<u32>().ok();
    let is_date = || {
        if bytes.len() != 10 || bytes[4] != b'-' || bytes[7] != b'-' {
            return None;
        }
        let (year, month, day) = (number(0..4)?, number(5..7)?, number(8..10)?);
        let is_leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
        let days = match month {
            2 if is_leap => 29,
            2 => 28,
            4 | 6 | 9 | 11 => 30,
            1..=12 => 31,
            _ => return None,
        };
        (1..=days).contains(&day).then_some(())
    };
    match is_date() {
        Some(()) => Ok(()),
        None => refuse(format!(
            "parsing time {} as \"2006-01-02\": no such day",
            model::quote::quote(text)
        )),
    }
}

fn date_time(text: &str) -> Result<(), String> {
    if text.len() < 20 {
        return refuse("less than 20 characters long");
    }
    let (Some(day), Some(sign), Some(clock)) = (text.get(..10), text.get(10..11), text.get(11..)) else {
        return refuse("11th character must be t or T");
    };
    if !sign.eq_ignore_ascii_case("t") {
        return refuse("11th character must be t or T");
    }
    date(day).map_err(|problem| format!("invalid date element: {problem}"))?;
    time(clock).map_err(|problem| format!("invalid time element: {problem}"))
}

fn time(text: &str) -> Result<(), String> {
    let bytes = text.as_bytes();
    if !text.is_ascii() || bytes.len() < 9 || bytes[2] != b':' || bytes[5] != b':' {
        return refuse("missing colon in correct place");
    }
    let number = |range: std::ops::Range<usize>| text[range].parse::<u32>().ok();
    match (number(0..2), number(3..5), number(6..8)) {
        (Some(0..=23), Some(0..=59), Some(0..=60)) => {}
        (Some(_), Some(_), Some(_)) => return refuse("hour/min/sec out of range"),
        _ => return refuse("invalid hour/min/sec"),
    }
    let mut rest = &text[8..];
    if let Some(fraction) = rest.strip_prefix('.') {
        rest = fraction.trim_start_matches(|c: char| c.is_ascii_digit());
        if rest.len() == fraction.len() {
            return refuse("no digits in second fraction");
        }
    }
    if rest.eq_ignore_ascii_case("z") {
        return Ok(());
    }
    if rest.len() != 6 {
        return refuse("offset must be 6 characters long");
    }
    if !rest.starts_with(['+', '-']) {
        return refuse("offset must begin with plus/minus");
    }
    match (rest[1..3].parse::<u32>(), &rest[3..4], rest[4..6].parse::<u32>()) {
        (Ok(0..=23), ":", Ok(0..=59)) => Ok(()),
        (_, ":", _) => refuse("hour/min in offset out of range"),
        _ => refuse("missing colon in offset in correct place"),
    }
}

fn uri(text: &str) -> Result<(), String> {
    let scheme = text.split(':').next().filter(|scheme| scheme.len() < text.len());
    let is_scheme = scheme.is_some_and(|scheme| {
        scheme.starts_with(|c: char| c.is_ascii_alphabetic())
            && scheme
                .chars()
                .all(|c| c.is_ascii_alphanumeric() || "+-.".contains(c))
    });
    if is_scheme { Ok(()) } else { refuse("relative url") }
}

fn json_pointer(text: &str) -> Result<(), String> {
    if text.is_empty() {
        return Ok(());
    }
    if !text.starts_with('/') {
        return refuse("not starting with /");
    }
    let mut parts = text.split('~').skip(1);
    if parts.any(|part| !part.starts_with(['0', '1'])) {
        return refuse("~ must be followed by 0 or 1");
    }
    Ok(())
}
