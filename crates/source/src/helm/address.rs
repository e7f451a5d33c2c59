//! Addresses of repositories and of what is in them.

use url::Url;

/// Why an address cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AddressError {
    /// It is none.
    #[error("'{text}' is not a valid URL")]
    Parse {
        /// The address, without user and query.
        text: String,
        /// What is wrong.
        source: url::ParseError,
    },
    /// A dependency names a repository by an alias, which only the machine of its author knows.
    #[error("aliased repository dependency is not supported: {0}: write the URL of the repository instead")]
    Alias(String),
    /// A dependency names a repository in another way than by `http`, `https` or `oci`.
    #[error("invalid dependency repository URL: {0}: it must begin with http://, https:// or oci://")]
    Dependency(String),
}

/// Reads an address.
pub fn parse(text: &str) -> Result<Url, AddressError> {
    Url::parse(text).map_err(|source| AddressError::Parse {
        text: without_secrets(text),
        source,
    })
}

/// The address as messages may show it: without user, password and query.
pub fn without_secrets(text: &str) -> String {
    let text = text.split(['?', '#']).next().unwrap_or_default();
    match text.split_once("://") {
        Some((scheme, rest)) => {
            let (host, path) = match rest.split_once('/') {
                Some((host, path)) => (host, Some(path)),
                None => (rest, None),
            };
            let host = host.rsplit_once('@').map_or(host, |(_, host)| host);
            let path = path.map(|path| format!("/{path}")).unwrap_or_default();
            format!("{scheme}://{host}{path}")
        }
        None => text.to_owned(),
    }
}

/// The form in which addresses of repositories are compared: with one slash at the end, or none for `oci`. Nothing stays
/// nothing.
pub fn normalise(text: &str) -> Result<String, AddressError> {
    if text.is_empty() {
        return Ok(String::new());
    }
    let mut url = parse(text)?;
    let path = url.path().trim_end_matches('/').to_owned();
    if url.scheme() == "oci" {
        url.set_path(&path);
        let text = url.to_string();
        return Ok(match url.query() {
            None => text.trim_end_matches('/').to_owned(),
            Some(_) => text,
        });
    }
    url.set_path(&format!("{path}/"));
    Ok(url.to_string())
}

/// Checks that a dependency names its repository in a way that can be followed.
pub fn check_dependency(repository: &str) -> Result<(), AddressError> {
    if ["oci://", "https://", "http://"]
        .iter()
        .any(|scheme| repository.starts_with(scheme))
    {
        return Ok(());
    }
    Err(
        match repository.starts_with('@') || repository.starts_with("alias:") {
            true => AddressError::Alias(repository.to_owned()),
            false => AddressError::Dependency(without_secrets(repository)),
        },
    )
}

/// The address of the index of a repository. A query stays.
pub fn of_index(repository: &Url) -> Url {
    let mut url = repository.clone();
    let parts: Vec<&str> = repository
        .path()
        .split('/')
        .filter(|part| !part.is_empty())
        .collect();
    let path = parts.iter().map(|part| format!("/{part}")).collect::<String>();
    url.set_path(&format!("{path}/index.yaml"));
    url
}

/// The address of an archive that the index of a repository names: whole, or from the repository on, and then with the
/// query of the repository.
pub fn of_chart(repository: &Url, reference: &str) -> Result<Url, AddressError> {
    if let Ok(url) = Url::parse(reference) {
        return Ok(url);
    }
    let mut base = repository.clone();
    base.set_path(&format!("{}/", repository.path().trim_end_matches('/')));
    let mut url = base.join(reference).map_err(|source| AddressError::Parse {
        text: without_secrets(reference),
        source,
    })?;
    url.set_query(repository.query());
    Ok(url)
}

/// Whether both are on the same server: only then are credentials sent along.
pub fn same_server(a: &Url, b: &Url) -> bool {
    (a.scheme(), a.host(), a.port_or_known_default()) == (b.scheme(), b.host(), b.port_or_known_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn repositories_are_compared_with_one_slash_at_the_end() {
        for (text, normal) in [
            ("https://a.example", "https://a.example/"),
            ("https://a.example/charts///", "https://a.example/charts/"),
            ("https://a.example/charts?x=1", "https://a.example/charts/?x=1"),
            ("oci://a.example/charts/", "oci://a.example/charts"),
            ("oci://a.example/", "oci://a.example"),
            ("", ""),
        ] {
            assert_eq!(normalise(text).unwrap(), normal);
        }
        assert!(normalise("no url").is_err());
    }

    #[test]
    fn index_and_charts_are_found_from_the_repository_on() {
        let base = parse("https://a.example//charts/?token=x").unwrap();
        assert_eq!(
            of_index(&base).as_str(),
            "https://a.example/charts/index.yaml?token=x"
        );
        let base = parse("https://a.example/charts?token=x").unwrap();
        for (reference, url) in [
            ("a-1.tgz", "https://a.example/charts/a-1.tgz?token=x"),
            ("sub/a-1.tgz?y=1", "https://a.example/charts/sub/a-1.tgz?token=x"),
            ("/a-1.tgz", "https://a.example/a-1.tgz?token=x"),
            ("https://b.example/a-1.tgz", "https://b.example/a-1.tgz"),
        ] {
            assert_eq!(of_chart(&base, reference).unwrap().as_str(), url);
        }
    }

    #[test]
    fn another_port_or_scheme_is_another_server() {
        let same = |a, b| same_server(&parse(a).unwrap(), &parse(b).unwrap());
        assert!(same("https://a.example/x", "https://a.example:443/y"));
        assert!(!same("https://a.example", "http://a.example"));
        assert!(!same("https://a.example", "https://a.example:8443"));
        assert!(!same("https://a.example", "https://b.a.example"));
    }

    #[test]
    fn messages_show_no_user_and_no_query() {
        assert_eq!(
            without_secrets("https://me:geheim@a.example/x?token=y"),
            "https://a.example/x"
        );
        assert_eq!(without_secrets("me"), "me");
    }

    #[test]
    fn dependencies_by_alias_are_refused() {
        assert!(check_dependency("oci://a.example").is_ok());
        assert!(matches!(check_dependency("@stable"), Err(AddressError::Alias(_))));
        assert!(matches!(
            check_dependency("s3://b"),
            Err(AddressError::Dependency(_))
        ));
    }
}
