//! Names of objects, as Kubernetes wants them.

const LABEL: &str = "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')";
const LABEL_1035: &str = "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')";

/// What is wrong with the name of an object of a kind, if anything.
pub(super) fn problem(kind: &str, name: &str) -> Option<String> {
    let problems = match kind.to_lowercase().as_str() {
        "service" => label(name, LABEL_1035, |first| first.is_ascii_lowercase()),
        "namespace" => label(name, LABEL, |first| {
            first.is_ascii_lowercase() || first.is_ascii_digit()
        }),
        "certificatesigningrequest" => Vec::new(),
        "role" | "clusterrole" | "rolebinding" | "clusterrolebinding" => path_segment(name),
        _ => model::label::subdomain_problems(name),
    };
    let quoted = model::quote::quote(name);
    let problems: Vec<String> = problems
        .iter()
        .map(|problem| format!("metadata.name: Invalid value: {quoted}: {problem}"))
        .collect();
    let text = match problems.as_slice() {
        [] => return None,
        [one] => one.clone(),
        several => format!("[{}]", several.join(", ")),
    };
    Some(format!(
        "object name does not conform to Kubernetes naming requirements: {quoted}: {text}"
    ))
}

fn label(name: &str, rule: &str, may_begin: impl Fn(char) -> bool) -> Vec<String> {
    let mut problems = Vec::new();
    let is_inner = |found: char| found.is_ascii_lowercase() || found.is_ascii_digit() || found == '-';
    if !name.starts_with(may_begin) || name.ends_with('-') || !name.chars().all(is_inner) {
        let only_dots = rule == LABEL && model::label::subdomain_problems(name).is_empty();
        problems.push(if only_dots { "must not contain dots" } else { rule }.to_owned());
    }
    if name.len() > 63 {
        problems.push("must be no more than 63 bytes".to_owned());
    }
    problems
}

fn path_segment(name: &str) -> Vec<String> {
    if matches!(name, "." | "..") {
        return vec![format!("may not be '{name}'")];
    }
    let parts = ["/", "%"].into_iter().filter(|part| name.contains(part));
    parts.map(|part| format!("may not contain '{part}'")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_kind_has_its_rule() {
        for (kind, name) in [
            ("Service", "web-1"),
            ("Namespace", "1-a"),
            ("Role", "system:a_B"),
            ("ConfigMap", "a.b-c"),
            ("CertificateSigningRequest", "A/b"),
        ] {
            assert_eq!(problem(kind, name), None, "{kind}");
        }
        for (kind, name) in [
            ("Service", "1-web"),
            ("Namespace", "a.b"),
            ("Role", "a/b"),
            ("ConfigMap", "A"),
            ("ConfigMap", ""),
        ] {
            assert!(problem(kind, name).is_some(), "{kind}");
        }
    }
}
