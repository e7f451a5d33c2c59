//! What a request asks for, read from its method, path and query.

use bytes::Bytes;
use http::{HeaderMap, Method};
use model::Str;

/// A request with its body read.
pub(crate) struct Request {
    pub method: Method,
    pub path: String,
    pub query: Query,
    /// The query as it came.
    pub query_text: String,
    pub headers: HeaderMap,
    pub body: Bytes,
}

impl Request {
    pub(crate) fn header(&self, name: &str) -> &str {
        self.headers
            .get(name)
            .and_then(|value| value.to_str().ok())
            .unwrap_or_default()
    }
}

/// The query parameters.
#[derive(Clone, Debug, Default)]
pub(crate) struct Query(Vec<(String, String)>);

impl Query {
    pub(crate) fn parse(text: &str) -> Self {
        Query(form_urlencoded::parse(text.as_bytes()).into_owned().collect())
    }

    /// The first value of `name`; empty where it is missing.
    pub(crate) fn get(&self, name: &str) -> &str {
        self.0
            .iter()
            .find(|(key, _)| key == name)
            .map_or("", |(_, value)| value)
    }

    pub(crate) fn has(&self, name: &str) -> bool {
        self.0.iter().any(|(key, _)| key == name)
    }

    /// A flag as Go's decoder reads it: `true` and `1` are true, so is a bare name.
    pub(crate) fn flag(&self, name: &str) -> bool {
        self.has(name) && !matches!(self.get(name).to_ascii_lowercase().as_str(), "false" | "0")
    }

    pub(crate) fn all<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a str> {
        self.0
            .iter()
            .filter(move |(key, _)| key == name)
            .map(|(_, value)| value.as_str())
    }
}

/// The resource a path names.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Target {
    pub group: Str,
    pub version: Str,
    pub namespace: Str,
    pub resource: Str,
    pub name: Str,
    pub subresource: Str,
    /// More path after the subresource: only proxies have it.
    pub rest: bool,
}

impl Target {
    /// Reads a path below `/api/v1` or `/apis/GROUP/VERSION`; `None` for all other paths.
    pub(crate) fn parse(path: &str) -> Option<Target> {
        // As in Go, an encoded slash parts a path like any other.
        let path = percent_encoding::percent_decode_str(path).decode_utf8_lossy();
        let mut parts = path.trim_matches('/').split('/').map(Str::from);
        let (group, version) = match parts.next()?.as_str() {
            "api" => (Str::default(), parts.next()?),
            "apis" => (parts.next()?, parts.next()?),
            _ => return None,
        };
        let mut parts: Vec<Str> = parts.collect();
        let mut target = Target {
            group,
            version,
            ..Target::default()
        };
        // `namespaces/x` is a namespace; `namespaces/x/status` and `/finalize` are its subresources; with anything
        // else behind it, it is where that resource lives.
        let scoped = parts.len() > 2
            && parts[0] == "namespaces"
            && !(parts.len() == 3 && is_namespace_part(&parts[2]));
        if scoped {
            target.namespace = parts.remove(1);
            parts.remove(0);
        }
        let mut parts = parts.into_iter();
        target.resource = parts.next().filter(|resource| !resource.is_empty())?;
        target.name = parts.next().unwrap_or_default();
        target.subresource = parts.next().unwrap_or_default();
        target.rest = parts.next().is_some();
        if target.resource == "namespaces" && target.group.is_empty() && !target.name.is_empty() {
            target.namespace = target.name.clone();
        }
        Some(target)
    }

    /// The verb of the RBAC rules for `method`.
    pub(crate) fn verb(&self, method: &Method, query: &Query) -> &'static str {
        let single = !self.name.is_empty();
        match *method {
            Method::GET | Method::HEAD if query.flag("watch") => "watch",
            Method::GET | Method::HEAD if single => "get",
            Method::GET | Method::HEAD => "list",
            Method::POST => "create",
            Method::PUT => "update",
            Method::PATCH => "patch",
            Method::DELETE if single => "delete",
            Method::DELETE => "deletecollection",
            _ => "",
        }
    }
}

fn is_namespace_part(name: &str) -> bool {
    matches!(name, "status" | "finalize")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn target(path: &str) -> (String, String, String, String, String) {
        let t = Target::parse(path).unwrap();
        (
            t.group.into(),
            t.namespace.into(),
            t.resource.into(),
            t.name.into(),
            t.subresource.into(),
        )
    }

    #[test]
    fn paths_name_their_resource() {
        let expect =
            |a: &str, b: &str, c: &str, d: &str, e: &str| (a.into(), b.into(), c.into(), d.into(), e.into());
        assert_eq!(target("/api/v1/pods"), expect("", "", "pods", "", ""));
        assert_eq!(target("/api/v1/namespaces"), expect("", "", "namespaces", "", ""));
        assert_eq!(
            target("/api/v1/namespaces/a"),
            expect("", "a", "namespaces", "a", "")
        );
        assert_eq!(
            target("/api/v1/namespaces/a/finalize"),
            expect("", "a", "namespaces", "a", "finalize")
        );
        assert_eq!(
            target("/api/v1/namespaces/a/pods/p/log"),
            expect("", "a", "pods", "p", "log")
        );
        assert_eq!(
            target("/apis/apps/v1/namespaces/a/deployments"),
            expect("apps", "a", "deployments", "", "")
        );
        let role = "/apis/rbac.authorization.k8s.io/v1/clusterroles/system%3Anode";
        assert_eq!(
            target(role),
            expect("rbac.authorization.k8s.io", "", "clusterroles", "system:node", "")
        );
        assert_eq!(
            target("/api/v1/namespaces/a/pods/p%2flog"),
            expect("", "a", "pods", "p", "log")
        );
    }

    #[test]
    fn paths_of_documents_name_no_resource() {
        for path in [
            "/",
            "/api",
            "/api/v1",
            "/apis",
            "/apis/apps",
            "/apis/apps/v1",
            "/version",
            "/openapi/v3",
        ] {
            assert_eq!(Target::parse(path), None, "{path}");
        }
    }
}
