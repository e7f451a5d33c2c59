//! The forms that strings must have, with the real server's words for what is wrong.

/// At most `most` characters, in the words of most fields.
pub(super) fn too_long(text: &str, most: usize) -> Option<String> {
    (text.len() > most).then(|| format!("must be no more than {most} characters"))
}

/// A range of numbers in the server's words.
pub(super) fn range(low: i64, high: i64) -> String {
    format!("must be between {low} and {high}, inclusive")
}

/// What is wrong with the number of a port.
pub(super) fn port_number(port: i64) -> Option<String> {
    (!(1..=65535).contains(&port)).then(|| range(1, 65535))
}

/// What is wrong with the name of a port.
pub(super) fn port_name(name: &str) -> Vec<String> {
    let mut problems: Vec<String> = too_long(name, 15).into_iter().collect();
    let bytes = name.as_bytes();
    let fits = |byte: &u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || *byte == b'-';
    if bytes.is_empty() || !bytes.iter().all(fits) {
        problems.push("must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)".into());
    }
    if !bytes.iter().any(u8::is_ascii_lowercase) {
        problems.push("must contain at least one letter (a-z)".into());
    }
    if name.contains("--") {
        problems.push("must not contain consecutive hyphens".into());
    }
    if name.starts_with('-') || name.ends_with('-') {
        problems.push("must not begin or end with a hyphen".into());
    }
    problems
}

/// What is wrong with a percentage.
pub(super) fn percent(text: &str) -> Option<String> {
    let number = text.strip_suffix('%').unwrap_or_default();
    let right = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
    (!right).then(|| {
        "a valid percent string must be a numeric string followed by an ending '%' (e.g. '1%',  or '93%', regex used \
         for validation is '[0-9]+%')"
            .into()
    })
}

/// What is wrong with the name of an HTTP header.
pub(super) fn http_header(name: &str) -> Option<String> {
    let fits = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-';
    (name.is_empty() || !name.bytes().all(fits)).then(|| {
        "a valid HTTP header must consist of alphanumeric characters or '-' (e.g. 'X-Header-Name', regex used for \
         validation is '[-A-Za-z0-9]+')"
            .into()
    })
}

/// What is wrong with the name of an environment variable.
pub(super) fn variable(name: &str) -> Option<String> {
    if name.is_empty() {
        return Some("environment variable name must be non-empty".into());
    }
    let fits = |byte: u8| matches!(byte, b' '..=b'~') && byte != b'=';
    (!name.bytes().all(fits)).then(|| {
        "a valid environment variable name must consist only of printable ASCII characters other than '='"
            .into()
    })
}

/// What is wrong with a key of a `ConfigMap` or a `Secret`.
pub(super) fn config_key(key: &str) -> Vec<String> {
    let mut problems: Vec<String> = too_long(key, 253).into_iter().collect();
    let fits = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_');
    if key.is_empty() || !key.bytes().all(fits) {
        problems.push(
            "a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. 'key.name',  or \
             'KEY_NAME',  or 'key-name', regex used for validation is '[-._a-zA-Z0-9]+')"
                .into(),
        );
    }
    match key {
        "." => problems.push("must not be '.'".into()),
        ".." => problems.push("must not be '..'".into()),
        _ if key.starts_with("..") => problems.push("must not start with '..'".into()),
        _ => {}
    }
    problems
}

/// Whether a path starts at the root.
pub(super) fn is_absolute(path: &str) -> bool {
    path.starts_with('/')
}

/// Whether a path goes up somewhere.
pub(super) fn goes_up(path: &str) -> bool {
    path.split('/').any(|part| part == "..")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_ports_are_short_and_have_a_letter() {
        assert!(port_name("http-2").is_empty());
        assert_eq!(port_name("80"), ["must contain at least one letter (a-z)"]);
        assert_eq!(port_name("").len(), 2);
        assert_eq!(port_name("-a--b").len(), 2);
        assert_eq!(port_name("a-very-long-name").len(), 1);
    }

    #[test]
    fn keys_of_configs_are_file_names() {
        assert!(config_key("..data").len() == 1);
        assert!(config_key(".hidden").is_empty());
        assert_eq!(config_key("a b").len(), 1);
        assert_eq!(config_key("..").len(), 1);
    }

    #[test]
    fn percentages_have_digits_and_a_sign() {
        assert!(percent("10%").is_none());
        assert!(percent("%").is_some() && percent("10").is_some() && percent("-1%").is_some());
    }
}
