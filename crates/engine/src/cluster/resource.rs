//! What the server serves objects of a kind as.

use model::Str;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};

/// What a path segment may hold as it is.
const SEGMENT: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'.')
    .remove(b'_')
    .remove(b'~');

/// A kind in one version, and where its objects are found.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Resource {
    /// The API group; empty for the core group.
    pub group: Str,
    /// The version.
    pub version: Str,
    /// The kind.
    pub kind: Str,
    /// What its objects are called in paths: `deployments`.
    pub plural: Str,
    /// Whether its objects live in namespaces.
    pub namespaced: bool,
    /// Whether its objects can be listed and watched.
    pub watchable: bool,
}

impl Resource {
    /// The `apiVersion` of its objects.
    pub fn api_version(&self) -> String {
        match self.group.as_str() {
            "" => self.version.to_string(),
            group => format!("{group}/{}", self.version),
        }
    }

    /// The path of its objects, in one namespace or, without, in all of them.
    pub(crate) fn collection(&self, namespace: &str) -> String {
        let mut path = match self.group.as_str() {
            "" => format!("/api/{}", encode(&self.version)),
            group => format!("/apis/{}/{}", encode(group), encode(&self.version)),
        };
        if self.namespaced && !namespace.is_empty() {
            path.push_str("/namespaces/");
            path.push_str(&encode(namespace));
        }
        path.push('/');
        path.push_str(&encode(&self.plural));
        path
    }

    /// The path of one object.
    pub(crate) fn path(&self, namespace: &str, name: &str) -> String {
        format!("{}/{}", self.collection(namespace), encode(name))
    }
}

fn encode(segment: &str) -> String {
    // A segment of dots alone would be taken for a step up the path.
    if !segment.is_empty() && segment.bytes().all(|byte| byte == b'.') {
        return segment.replace('.', "%2E");
    }
    utf8_percent_encode(segment, SEGMENT).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn resource(group: &str, plural: &str, namespaced: bool) -> Resource {
        Resource {
            group: group.into(),
            version: "v1".into(),
            kind: "Any".into(),
            plural: plural.into(),
            namespaced,
            watchable: true,
        }
    }

    #[test]
    fn paths_follow_group_and_scope() {
        let deployments = resource("apps", "deployments", true);
        assert_eq!(deployments.collection(""), "/apis/apps/v1/deployments");
        assert_eq!(
            deployments.path("shop", "web"),
            "/apis/apps/v1/namespaces/shop/deployments/web"
        );
        let namespaces = resource("", "namespaces", false);
        assert_eq!(namespaces.path("ignored", "shop"), "/api/v1/namespaces/shop");
        assert_eq!(deployments.api_version(), "apps/v1");
        assert_eq!(namespaces.api_version(), "v1");
    }

    #[test]
    fn a_name_cannot_leave_its_segment() {
        let roles = resource("", "roles", true);
        assert_eq!(
            roles.path("a/b", "system:x?y"),
            "/api/v1/namespaces/a%2Fb/roles/system%3Ax%3Fy"
        );
        assert_eq!(roles.path("..", "."), "/api/v1/namespaces/%2E%2E/roles/%2E");
    }
}
