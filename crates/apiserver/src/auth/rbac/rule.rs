//! One rule of a role.

use std::fmt;

use model::{Map, Str, Value};

use crate::auth::attributes::{Attributes, Resource, Target};
use crate::auth::quote::quote_list;

const ALL: &str = "*";

/// One rule of a role: these verbs on these resources, or on these paths.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Rule {
    /// Verbs; `*` for all.
    pub verbs: Vec<Str>,
    /// API groups; `*` for all.
    pub groups: Vec<Str>,
    /// `pods`, `pods/log`, `*/scale` or `*`.
    pub resources: Vec<Str>,
    /// Names of objects; empty for all.
    pub names: Vec<Str>,
    /// Paths, with `*` at the end for all that begin so.
    pub urls: Vec<Str>,
}

impl Rule {
    /// Reads a rule of a `Role` or `ClusterRole`.
    pub fn from_value(rule: &Value) -> Self {
        let texts = |key| {
            rule.list_at(&[key])
                .iter()
                .filter_map(Value::as_str)
                .map(Str::new)
                .collect()
        };
        Rule {
            verbs: texts("verbs"),
            groups: texts("apiGroups"),
            resources: texts("resources"),
            names: texts("resourceNames"),
            urls: texts("nonResourceURLs"),
        }
    }

    /// All rules of a `Role` or `ClusterRole`.
    pub fn all_of(role: &Value) -> Vec<Self> {
        role.list_at(&["rules"]).iter().map(Rule::from_value).collect()
    }

    /// The rule as it stands in `SelfSubjectRulesReview`, for resources.
    pub fn to_resource_rule(&self) -> Value {
        parts([
            ("verbs", &self.verbs),
            ("apiGroups", &self.groups),
            ("resources", &self.resources),
            ("resourceNames", &self.names),
        ])
    }

    /// The rule as it stands in `SelfSubjectRulesReview`, for paths.
    pub fn to_path_rule(&self) -> Value {
        parts([("verbs", &self.verbs), ("nonResourceURLs", &self.urls)])
    }

    /// Whether the rule allows the request.
    pub fn allows(&self, request: &Attributes<'_>) -> bool {
        if !has(&self.verbs, request.verb) && !has(&self.verbs, ALL) {
            return false;
        }
        match request.target {
            Target::Resource(target) => self.allows_resource(&target),
            Target::Path(path) => self.urls.iter().any(|url| url_covers(url, path)),
        }
    }

    fn allows_resource(&self, target: &Resource<'_>) -> bool {
        (has(&self.groups, target.group) || has(&self.groups, ALL))
            && self.resources.iter().any(|rule| resource_matches(rule, target))
            && (self.names.is_empty() || has(&self.names, target.name))
    }
}

fn parts<const N: usize>(lists: [(&str, &Vec<Str>); N]) -> Value {
    let filled = lists.into_iter().filter(|(_, list)| !list.is_empty());
    Value::Object(
        filled
            .map(|(key, list)| (key, list.iter().cloned().collect::<Value>()))
            .collect::<Map>(),
    )
}

pub(super) fn has(list: &[Str], text: &str) -> bool {
    list.iter().any(|item| item == text)
}

fn resource_matches(rule: &str, target: &Resource<'_>) -> bool {
    if rule == ALL {
        return true;
    }
    if target.subresource.is_empty() {
        return rule == target.resource;
    }
    match rule
        .strip_suffix(target.subresource)
        .and_then(|rest| rest.strip_suffix('/'))
    {
        Some(resource) => resource == ALL || resource == target.resource,
        None => false,
    }
}

/// Whether a path of a rule covers another path, which may itself end with a star.
pub(super) fn url_covers(rule: &str, path: &str) -> bool {
    rule == path || (rule.ends_with('*') && path.starts_with(rule.trim_end_matches('*')))
}

/// The form that messages about missing rights use.
impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let lists = [
            ("APIGroups", &self.groups),
            ("Resources", &self.resources),
            ("NonResourceURLs", &self.urls),
            ("ResourceNames", &self.names),
            ("Verbs", &self.verbs),
        ];
        let filled = lists.iter().filter(|(_, list)| !list.is_empty());
        let parts: Vec<String> = filled
            .map(|(name, list)| format!("{name}:{}", quote_list(list)))
            .collect();
        write!(f, "{{{}}}", parts.join(", "))
    }
}

#[cfg(test)]
mod tests {
    use model::value;

    use super::*;
    use crate::auth::user::User;

    fn on(resource: &'static str, subresource: &'static str, name: &'static str) -> Resource<'static> {
        Resource {
            resource,
            subresource,
            name,
            ..Resource::default()
        }
    }

    fn allows(resources: &[&str], target: Resource<'_>) -> bool {
        let rule = Rule {
            verbs: vec!["get".into()],
            groups: vec!["".into()],
            resources: resources.iter().map(Str::new).collect(),
            ..Rule::default()
        };
        rule.allows(&Attributes::resource(&User::default(), "get", target))
    }

    #[test]
    fn a_resource_does_not_include_its_subresources() {
        assert!(allows(&["pods"], on("pods", "", "")));
        assert!(!allows(&["pods"], on("pods", "log", "")));
        assert!(allows(&["pods/log"], on("pods", "log", "")));
        assert!(!allows(&["pods/log"], on("pods", "", "")));
        assert!(!allows(&["xpods/log"], on("pods", "log", "")));
    }

    #[test]
    fn stars_stand_for_all_resources_or_for_one_subresource_of_all() {
        assert!(allows(&["*"], on("pods", "log", "")));
        assert!(allows(&["*/scale"], on("deployments", "scale", "")));
        assert!(!allows(&["*/scale"], on("deployments", "", "")));
        assert!(!allows(&["*/scale"], on("deployments", "status", "")));
        assert!(!allows(&["pods/*"], on("pods", "log", "")));
    }

    #[test]
    fn a_review_may_name_resource_and_subresource_in_one_word() {
        assert!(allows(&["pods/log"], on("pods/log", "", "")));
    }

    #[test]
    fn names_restrict_also_requests_that_name_nothing() {
        let rule = Rule::from_value(&value!({
            "verbs": ["*"], "apiGroups": ["*"], "resources": ["*"], "resourceNames": ["a"],
        }));
        let user = User::default();
        assert!(rule.allows(&Attributes::resource(&user, "delete", on("pods", "", "a"))));
        assert!(!rule.allows(&Attributes::resource(&user, "delete", on("pods", "", "b"))));
        assert!(!rule.allows(&Attributes::resource(&user, "list", on("pods", "", ""))));
    }

    #[test]
    fn paths_may_end_with_a_star() {
        let rule =
            Rule::from_value(&value!({ "verbs": ["get"], "nonResourceURLs": ["/apis/*", "/version"] }));
        let user = User::default();
        let allowed = |path| rule.allows(&Attributes::path(&user, "get", path));
        assert!(allowed("/apis/apps") && allowed("/apis/") && allowed("/version"));
        assert!(!allowed("/apis") && !allowed("/version/"));
        assert!(!rule.allows(&Attributes::path(&user, "post", "/version")));
        let all = Rule::from_value(&value!({ "verbs": ["*"], "nonResourceURLs": ["*"] }));
        assert!(all.allows(&Attributes::path(&user, "get", "/")));
        assert!(!all.allows(&Attributes::resource(&user, "get", on("pods", "", ""))));
    }
}
