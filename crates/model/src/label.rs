//! What labels may look like, with the real server's words for what is wrong.

/// What is wrong with `key` as the key of a label, an annotation or a taint: an optional DNS prefix with a slash, and a
/// name. Nothing, if it is right.
pub fn key_problems(key: &str) -> Vec<String> {
    let mut problems = Vec::new();
    let name = match key.split('/').collect::<Vec<_>>().as_slice() {
        [name] => *name,
        [prefix, name] => {
            if prefix.is_empty() {
                problems.push("prefix part must be non-empty".to_owned());
            } else {
                problems.extend(
                    subdomain_problems(prefix)
                        .iter()
                        .map(|problem| format!("prefix part {problem}")),
                );
            }
            *name
        }
        _ => {
            let rule = format!("a valid label key {NAME_RULE}");
            return vec![rule + " with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')"];
        }
    };
    if name.is_empty() {
        problems.push("name part must be non-empty".to_owned());
    } else if name.len() > MAX_NAME {
        problems.push(format!("name part {}", too_long(MAX_NAME)));
    }
    if !is_name(name) {
        problems.push(format!("name part {NAME_RULE}"));
    }
    problems
}

/// What is wrong with `value` as the value of a label. Nothing, if it is right.
pub fn value_problems(value: &str) -> Vec<String> {
    let mut problems = Vec::new();
    if value.len() > MAX_NAME {
        problems.push(too_long(MAX_NAME));
    }
    if !value.is_empty() && !is_name(value) {
        problems.push(VALUE_RULE.to_owned());
    }
    problems
}

/// What is wrong with `name` as a DNS subdomain, which the names of most objects must be. Nothing, if it is right.
pub fn subdomain_problems(name: &str) -> Vec<String> {
    let mut problems = Vec::new();
    if name.len() > MAX_SUBDOMAIN {
        problems.push(too_long(MAX_SUBDOMAIN));
    }
    if !name.split('.').all(is_dns_label) {
        problems.push(SUBDOMAIN_RULE.to_owned());
    }
    problems
}

const MAX_NAME: usize = 63;
const MAX_SUBDOMAIN: usize = 253;

const NAME_RULE: &str = "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an \
    alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is \
    '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')";

const VALUE_RULE: &str = "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or \
    '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex \
    used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')";

const SUBDOMAIN_RULE: &str = "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' \
    or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is \
    '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";

fn too_long(limit: usize) -> String {
    format!("must be no more than {limit} bytes")
}

fn is_name(text: &str) -> bool {
    let inner = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.');
    has_ends(text, |byte| byte.is_ascii_alphanumeric()) && text.bytes().all(inner)
}

fn is_dns_label(text: &str) -> bool {
    let end = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
    has_ends(text, end) && text.bytes().all(|byte| end(byte) || byte == b'-')
}

/// Whether there is a first and a last byte and both are such.
fn has_ends(text: &str, such: impl Fn(u8) -> bool) -> bool {
    text.bytes().next().is_some_and(&such) && text.bytes().next_back().is_some_and(&such)
}
