//! Addresses in messages, without what only their owners may know.

/// What stands in the place of a secret.
const HIDDEN: &str = "***";
/// The parameters of addresses that tell which files are meant.
const PLAIN: [&str; 4] = ["ref", "version", "timeout", "submodules"];

/// A text in which the addresses have neither users with passwords nor values of parameters but those that kustomize knows. `None` where
/// there is nothing to hide.
pub(crate) fn without_credentials(text: &str) -> Option<String> {
    let mut out = String::new();
    let mut rest = text;
    // A path that was made of an address has one slash.
    while let Some(at) = rest.find(":/") {
        let start = at + rest[at..].len() - rest[at + 1..].trim_start_matches('/').len();
        out.push_str(&rest[..start]);
        let end = rest[start..].find(|letter: char| letter.is_whitespace() || "'\"`,;)".contains(letter));
        let (address, after) = rest[start..].split_at(end.unwrap_or(rest.len() - start));
        push_address(&mut out, address);
        rest = after;
    }
    out.push_str(rest);
    (out != text).then_some(out)
}

fn push_address(out: &mut String, address: &str) {
    let host_end = address.find(['/', '?']).unwrap_or(address.len());
    let (host, path) = address.split_at(host_end);
    match host.rsplit_once('@') {
        // A user alone says nothing: `git@example.com`.
        Some((user, host)) if user.contains(':') => {
            out.push_str(HIDDEN);
            out.push('@');
            out.push_str(host);
        }
        _ => out.push_str(host),
    }
    let Some((path, query)) = path.split_once('?') else {
        out.push_str(path);
        return;
    };
    out.push_str(path);
    let pairs = query.split('&').map(|pair| match pair.split_once('=') {
        Some((name, _)) if !PLAIN.contains(&name) => format!("{name}={HIDDEN}"),
        _ => pair.to_owned(),
    });
    out.push('?');
    out.push_str(&pairs.collect::<Vec<_>>().join("&"));
}

#[cfg(test)]
mod tests {
    use super::without_credentials;

    #[test]
    fn nothing_is_told_that_lets_others_in() {
        for (text, hidden) in [
            (
                "from 'https://user:S3CR3T@host:1/x.yaml': no",
                "from 'https://***@host:1/x.yaml': no",
            ),
            (
                "'/tmp/https:/user:S3CR3T@host/x', ssh://u:S3CR3T@h",
                "'/tmp/https:/***@host/x', ssh://***@h",
            ),
            (
                "https://h/x?token=S3CR3T&ref=v1 and https://h?ref=a",
                "https://h/x?token=***&ref=v1 and https://h?ref=a",
            ),
        ] {
            assert_eq!(without_credentials(text).as_deref(), Some(hidden));
        }
    }

    #[test]
    fn what_says_nothing_stays() {
        for text in [
            "ssh://git@example.com/a/b?ref=v1",
            "https://example.com/a@b:c",
            "a: /b/c",
            "",
        ] {
            assert_eq!(without_credentials(text), None, "{text}");
        }
    }
}
