//! What the URL of a remote base means: a repository, a directory in it and a revision.

use crate::tree::path;

/// A directory in a Git repository.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RepoSpec {
    /// As it was written.
    pub raw: String,
    /// Scheme, user and host, with the separator after it.
    pub host: String,
    /// The repository on the host.
    pub repository: String,
    /// The directory in the repository; empty for its root.
    pub path: String,
    /// The branch, tag or commit; `None` for the default branch.
    pub reference: Option<String>,
    /// Whether submodules are wanted too.
    pub submodules: bool,
}

const SCHEMES: [&str; 4] = ["ssh://", "https://", "http://", "file://"];

impl RepoSpec {
    /// Takes a URL apart; `None` if it is none of a repository.
    pub fn parse(raw: &str) -> Option<RepoSpec> {
        if raw.starts_with('/') {
            return None;
        }
        let (location, query) = raw.split_once('?').unwrap_or((raw, ""));
        let (host, rest) = host(location)?;
        let (repository, inner) = split_path(rest, host.starts_with("file://"))?;
        let inner = path::clean(inner);
        if repository.is_empty() || path::escapes(&inner) {
            return None;
        }
        let parameter = |name: &str| {
            let pairs = query.split('&').filter_map(|pair| pair.split_once('='));
            let mut values = pairs.filter(|(key, value)| *key == name && !value.is_empty());
            values.next().map(|(_, value)| value.to_owned())
        };
        Some(RepoSpec {
            raw: raw.to_owned(),
            host,
            repository: repository.to_owned(),
            path: inner,
            reference: parameter("ref").or_else(|| parameter("version")),
            submodules: !matches!(
                parameter("submodules").as_deref(),
                Some("0" | "f" | "F" | "false" | "FALSE" | "False")
            ),
        })
    }

    /// What is to be cloned.
    pub fn clone_url(&self) -> String {
        format!("{}{}", self.host, self.repository)
    }
}

/// The host of a location, normalised, and what follows it.
fn host(location: &str) -> Option<(String, &str)> {
    let location = without_prefix(location, "git::").unwrap_or(location);
    let scheme = SCHEMES
        .into_iter()
        .find(|scheme| without_prefix(location, scheme).is_some());
    let rest = &location[scheme.map_or(0, str::len)..];
    let user = rest.split_once('@').map(|(user, _)| user).filter(|user| {
        user.starts_with(|first: char| first.is_ascii_alphabetic())
            && user
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
    });
    let after_user = &rest[user.map_or(0, |user| user.len() + 1)..];
    let is_github = ["github.com/", "github.com:"]
        .into_iter()
        .any(|host| without_prefix(after_user, host).is_some());
    let scp_style = scheme.is_none() && (user.is_some() || is_github);
    if scheme.is_none() && !scp_style {
        return None;
    }
    if scheme == Some("file://") {
        return Some(("file://".to_owned(), rest));
    }
    let slash = after_user.find('/');
    let colon = after_user.find(':').filter(|_| scp_style);
    let separator = match (slash, colon) {
        (None, colon) => colon,
        (Some(slash), Some(colon)) if colon > 0 && colon < slash => Some(colon),
        (slash, _) => slash,
    };
    let (name, path) = separator.map_or((after_user, ""), |at| after_user.split_at(at + 1));
    let user = user.map(|user| format!("{user}@")).unwrap_or_default();
    if is_github {
        let host = if scheme == Some("ssh://") || !user.is_empty() {
            format!("{user}github.com:")
        } else {
            "https://github.com/".to_owned()
        };
        return Some((host, path));
    }
    (!name.is_empty()).then(|| (format!("{}{user}{name}", scheme.unwrap_or_default()), path))
}

fn without_prefix<'t>(text: &'t str, prefix: &str) -> Option<&'t str> {
    let start = text.get(..prefix.len())?;
    start.eq_ignore_ascii_case(prefix).then(|| &text[prefix.len()..])
}

/// The repository and the directory in it.
fn split_path(text: &str, whole: bool) -> Option<(&str, &str)> {
    if let Some(at) = text.find("_git/") {
        let start = at + "_git/".len();
        let end = text[start..].find('/').map_or(text.len(), |end| start + end);
        return Some((&text[..end], text.get(end + 1..).unwrap_or_default()));
    }
    if let Some((repository, inner)) = text.split_once("//") {
        return Some((repository, inner));
    }
    if let Some(at) = text.find(".git") {
        return Some(text.split_at(at + ".git".len()));
    }
    if whole {
        return Some((text, ""));
    }
    let first = text.find('/')?;
    let end = text[first + 1..]
        .find('/')
        .map_or(text.len(), |end| first + 1 + end);
    Some((&text[..end], text.get(end + 1..).unwrap_or_default()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urls_of_repositories_are_taken_apart() {
        for (url, clone, inner, reference) in [
            (
                "https://github.com/org/repo//base/x?ref=v1",
                "https://github.com/org/repo",
                "base/x",
                Some("v1"),
            ),
            (
                "github.com/org/repo/base?version=v2",
                "https://github.com/org/repo",
                "base",
                Some("v2"),
            ),
            (
                "git@github.com:org/repo.git/a",
                "git@github.com:org/repo.git",
                "a",
                None,
            ),
            (
                "ssh://git@host.example/org/repo",
                "ssh://git@host.example/org/repo",
                "",
                None,
            ),
            ("file:///srv/repo.git", "file:///srv/repo.git", "", None),
            (
                "https://dev.azure.com/o/p/_git/r/a/b",
                "https://dev.azure.com/o/p/_git/r",
                "a/b",
                None,
            ),
        ] {
            let spec = RepoSpec::parse(url).unwrap();
            assert_eq!(spec.clone_url(), clone, "{url}");
            assert_eq!(spec.path, inner, "{url}");
            assert_eq!(spec.reference.as_deref(), reference, "{url}");
        }
    }

    #[test]
    fn local_paths_and_ways_out_are_no_repositories() {
        for path in [
            "../base",
            "base",
            "/abs",
            "a/b/c.yaml",
            "https://github.com/org/repo//../x",
        ] {
            assert_eq!(RepoSpec::parse(path), None, "{path}");
        }
    }
}
