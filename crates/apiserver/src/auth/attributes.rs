//! What a request wants to do, as far as authorization looks at it.

use model::quote::quote;

use super::user::User;
use crate::error::Error;

/// Who wants to do what to which thing.
#[derive(Clone, Copy, Debug)]
pub struct Attributes<'a> {
    /// Who is asking.
    pub user: &'a User,
    /// `get`, `list`, `impersonate`, ... or for paths the HTTP method in lower case.
    pub verb: &'a str,
    /// What it is about.
    pub target: Target<'a>,
}

/// What a request is about.
#[derive(Clone, Copy, Debug)]
pub enum Target<'a> {
    /// A resource of the API.
    Resource(Resource<'a>),
    /// Any other path: `/version`.
    Path(&'a str),
}

/// A resource of the API. The version is not part of it: roles do not look at versions.
#[derive(Clone, Copy, Debug, Default)]
pub struct Resource<'a> {
    /// Group; empty for the core group.
    pub group: &'a str,
    /// Plural name: `pods`.
    pub resource: &'a str,
    /// `log`; may be empty.
    pub subresource: &'a str,
    /// Empty for the cluster scope, and for requests about all namespaces.
    pub namespace: &'a str,
    /// Empty where the request names no object.
    pub name: &'a str,
}

impl<'a> Attributes<'a> {
    /// A request about a resource.
    pub fn resource(user: &'a User, verb: &'a str, resource: Resource<'a>) -> Self {
        Attributes {
            user,
            verb,
            target: Target::Resource(resource),
        }
    }

    /// A request about a path that belongs to no resource.
    pub fn path(user: &'a User, verb: &'a str, path: &'a str) -> Self {
        Attributes {
            user,
            verb,
            target: Target::Path(path),
        }
    }

    /// The namespace; empty for the cluster scope and for paths.
    pub fn namespace(&self) -> &'a str {
        match self.target {
            Target::Resource(resource) => resource.namespace,
            Target::Path(_) => "",
        }
    }

    /// The answer to a request that is not allowed. `reason` comes from the decision and may be empty.
    pub fn forbidden(&self, reason: &str) -> Error {
        let mut why = sanitize(&self.refusal());
        if !reason.is_empty() {
            why.push_str(": ");
            why.push_str(reason);
        }
        match self.target {
            Target::Resource(target) => Error::forbidden(target.group, target.resource, target.name, &why),
            Target::Path(_) => Error::forbidden("", "", "", &why),
        }
    }

    fn refusal(&self) -> String {
        let (user, verb) = (quote(&self.user.name), self.verb);
        let target = match self.target {
            Target::Path(path) => return format!("User {user} cannot {verb} path {}", quote(path)),
            Target::Resource(target) => target,
        };
        let resource = match target.subresource {
            "" => quote(target.resource),
            subresource => quote(&format!("{}/{subresource}", target.resource)),
        };
        let scope = match target.namespace {
            "" => "at the cluster scope".to_owned(),
            namespace => format!("in the namespace {}", quote(namespace)),
        };
        format!(
            "User {user} cannot {verb} resource {resource} in API group {} {scope}",
            quote(target.group)
        )
    }
}

/// Escapes what a browser could take for HTML: parts of the text come from the request.
fn sanitize(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use model::value;

    use super::*;

    fn message(verb: &str, target: Target<'_>, reason: &str) -> String {
        let user = User::new("nobody-yet", &[]);
        Attributes {
            user: &user,
            verb,
            target,
        }
        .forbidden(reason)
        .message
    }

    // All expected texts of this module were returned by kube-apiserver v1.35.8.
    #[test]
    fn refusals_name_user_verb_resource_and_scope() {
        let pods = Resource {
            resource: "pods",
            ..Resource::default()
        };
        assert_eq!(
            message("list", Target::Resource(pods), ""),
            r#"pods is forbidden: User "nobody-yet" cannot list resource "pods" in API group "" at the cluster scope"#
        );
        let log = Resource {
            namespace: "default",
            name: "x",
            subresource: "log",
            ..pods
        };
        assert_eq!(
            message("get", Target::Resource(log), ""),
            r#"pods "x" is forbidden: User "nobody-yet" cannot get resource "pods/log" in API group "" in the namespace "default""#
        );
        let deployments = Resource {
            group: "apps",
            resource: "deployments",
            namespace: "default",
            ..Resource::default()
        };
        assert_eq!(
            message("list", Target::Resource(deployments), ""),
            r#"deployments.apps is forbidden: User "nobody-yet" cannot list resource "deployments" in API group "apps" in the namespace "default""#
        );
    }

    #[test]
    fn refusals_give_the_reason_at_the_end() {
        let secrets = Resource {
            resource: "secrets",
            namespace: "auth",
            ..Resource::default()
        };
        assert_eq!(
            message(
                "list",
                Target::Resource(secrets),
                "RBAC: role.rbac.authorization.k8s.io \"none\" not found"
            ),
            r#"secrets is forbidden: User "nobody-yet" cannot list resource "secrets" in API group "" in the namespace "auth": RBAC: role.rbac.authorization.k8s.io "none" not found"#
        );
    }

    #[test]
    fn refusals_of_paths_have_empty_details_and_no_html() {
        assert_eq!(
            message("get", Target::Path("/a<b>&\"x"), ""),
            r#"forbidden: User "nobody-yet" cannot get path "/a&lt;b&gt;&amp;\"x""#
        );
        let user = User::anonymous();
        assert_eq!(
            Attributes::path(&user, "get", "/api").forbidden("").to_status(),
            value!({
                "kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure",
                "message": "forbidden: User \"system:anonymous\" cannot get path \"/api\"",
                "reason": "Forbidden", "details": {}, "code": 403,
            })
        );
    }
}
