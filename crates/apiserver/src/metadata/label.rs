//! The rules for label keys and values, with the messages of the real server.

use crate::builtin::validate::name;

const KEY: &str = "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an \
                   alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is \
                   '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')";
const VALUE: &str = "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', \
                     and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or \
                     '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')";

/// What is wrong with a label key, an annotation key or the name of a finalizer.
pub(crate) fn key_problems(key: &str) -> Vec<String> {
    let mut problems = Vec::new();
    let name = match key.split('/').collect::<Vec<_>>().as_slice() {
        [name] => *name,
        [prefix, name] => {
            match prefix.is_empty() {
                true => problems.push("prefix part must be non-empty".into()),
                false => problems.extend(
                    name::subdomain(prefix)
                        .into_iter()
                        .map(|text| format!("prefix part {text}")),
                ),
            }
            *name
        }
        _ => {
            let tail = " with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')";
            return vec![format!("a valid label key {KEY}{tail}")];
        }
    };
    if name.is_empty() {
        problems.push("name part must be non-empty".into());
    } else if name.len() > 63 {
        problems.push("name part must be no more than 63 bytes".into());
    }
    if !is_label_text(name) {
        problems.push(format!("name part {KEY}"));
    }
    problems
}

/// What is wrong with the value of a label.
pub(crate) fn value_problems(value: &str) -> Vec<String> {
    let mut problems = Vec::new();
    if value.len() > 63 {
        problems.push("must be no more than 63 bytes".into());
    }
    if !value.is_empty() && !is_label_text(value) {
        problems.push(VALUE.into());
    }
    problems
}

fn is_label_text(text: &str) -> bool {
    let bytes = text.as_bytes();
    let ends = bytes.first().zip(bytes.last());
    ends.is_some_and(|(first, last)| first.is_ascii_alphanumeric() && last.is_ascii_alphanumeric())
        && bytes
            .iter()
            .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_have_an_optional_domain_before_a_name() {
        for good in ["a", "app.kubernetes.io/name", "A_b.c-1", "x/y"] {
            assert!(key_problems(good).is_empty(), "{good}");
        }
        for bad in ["", "/a", "a/", "a/b/c", "-a", "a b", "UPPER/a", &"a".repeat(64)] {
            assert!(!key_problems(bad).is_empty(), "{bad}");
        }
    }

    #[test]
    fn values_may_be_empty() {
        assert!(value_problems("").is_empty());
        assert!(value_problems("v1.2_3-x").is_empty());
        assert_eq!(value_problems("a b").len(), 1);
        assert_eq!(value_problems(&"-".repeat(70)).len(), 2);
    }
}
