//! `/healthz`, `/livez` and `/readyz`. A server that answers is well: it has no parts that could fail on their own.

/// The checks that can be asked for one by one.
const CHECKS: &[&str] = &["ping"];

/// The paths of all checks.
pub(super) fn paths() -> impl Iterator<Item = String> {
    ["/healthz", "/livez", "/readyz"].into_iter().flat_map(|root| {
        std::iter::once(root.to_owned()).chain(CHECKS.iter().map(move |check| format!("{root}/{check}")))
    })
}

/// The text at `path`, if that is a health path. `query` is the part behind the question mark.
pub(super) fn text(path: &str, query: &str) -> Option<String> {
    let mut parts = path.strip_prefix('/')?.splitn(2, '/');
    let endpoint = parts
        .next()
        .filter(|name| matches!(*name, "healthz" | "livez" | "readyz"))?;
    match parts.next() {
        Some(check) => CHECKS.contains(&check).then(|| "ok".to_owned()),
        None => Some(summary(endpoint, query)),
    }
}

fn summary(endpoint: &str, query: &str) -> String {
    let pairs = || {
        query
            .split('&')
            .map(|pair| pair.split_once('=').unwrap_or((pair, "")))
    };
    if !pairs().any(|(key, _)| key == "verbose") {
        return "ok".to_owned();
    }
    let excluded = |check: &str| pairs().any(|pair| pair == ("exclude", check));
    let mut text = String::new();
    for check in CHECKS {
        text.push_str(&match excluded(check) {
            true => format!("[+]{check} excluded: ok\n"),
            false => format!("[+]{check} ok\n"),
        });
    }
    let mut unknown: Vec<String> = pairs()
        .filter(|(key, check)| *key == "exclude" && !CHECKS.contains(check))
        .map(|(_, check)| format!("{check:?}"))
        .collect();
    if !unknown.is_empty() {
        unknown.sort();
        unknown.dedup();
        let names = unknown.join(",");
        text.push_str(&format!(
            "warn: some health checks cannot be excluded: no matches for {names}\n"
        ));
    }
    text.push_str(&format!("{endpoint} check passed\n"));
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_health_path_says_ok() {
        for path in ["/healthz", "/livez", "/readyz", "/healthz/ping", "/readyz/ping"] {
            assert_eq!(text(path, "").as_deref(), Some("ok"), "{path}");
        }
    }

    #[test]
    fn unknown_checks_are_not_found() {
        for path in ["/healthz/", "/livez/etcd", "/health", "healthz"] {
            assert_eq!(text(path, ""), None, "{path}");
        }
    }

    #[test]
    fn a_verbose_answer_lists_the_checks() {
        assert_eq!(
            text("/livez", "verbose").unwrap(),
            "[+]ping ok\nlivez check passed\n"
        );
        assert_eq!(
            text("/readyz", "verbose=1&exclude=ping&exclude=x&exclude=a").unwrap(),
            "[+]ping excluded: ok\nwarn: some health checks cannot be excluded: no matches for \"a\",\"x\"\n\
             readyz check passed\n"
        );
    }
}
