//! Cluster roles whose rules are gathered from other cluster roles by label.

use std::collections::HashSet;

use model::Value;
use model::selector::LabelSelector;

use super::rule::Rule;

/// The rules of an aggregated cluster role, gathered from `all` cluster roles (itself left out) in the order of the
/// selectors and of names, each once.
///
/// `None` for a role that aggregates nothing, and for one with a selector that makes no sense.
pub fn aggregate<'a>(role: &Value, all: impl IntoIterator<Item = &'a Value>) -> Option<Value> {
    let selectors = role.at(&["aggregationRule"])?.list_at(&["clusterRoleSelectors"]);
    let own_name = name(role);
    let mut others: Vec<&Value> = all.into_iter().filter(|other| name(other) != own_name).collect();
    others.sort_by(|a, b| name(a).cmp(name(b)));

    let mut seen = HashSet::new();
    let mut rules = Vec::new();
    for selector in selectors {
        let selector = LabelSelector::from_value(selector).ok()?;
        for other in others.iter().filter(|other| selector.matches_object(other)) {
            let new = other
                .list_at(&["rules"])
                .iter()
                .filter(|rule| seen.insert(Rule::from_value(rule)));
            rules.extend(new.cloned());
        }
    }
    Some(Value::from(rules))
}

fn name(role: &Value) -> &str {
    role.str_at(&["metadata", "name"])
}

#[cfg(test)]
mod tests {
    use model::value;

    use super::*;

    fn part(name: &str, label: &str, resource: &str) -> Value {
        value!({
            "metadata": { "name": name, "labels": { label: "true" } },
            "rules": [{ "verbs": ["get"], "apiGroups": [""], "resources": [resource] }],
        })
    }

    fn resources(rules: Option<Value>) -> Vec<String> {
        let rules = rules.expect("the role aggregates");
        let rules = rules.as_array().expect("rules are a list").clone();
        rules
            .iter()
            .map(|rule| rule.list_at(&["resources"])[0].as_str().unwrap().to_owned())
            .collect()
    }

    #[test]
    fn rules_come_in_the_order_of_selectors_then_names_and_each_once() {
        let role = value!({
            "metadata": { "name": "sum", "labels": { "b": "true" } },
            "aggregationRule": { "clusterRoleSelectors": [
                { "matchLabels": { "b": "true" } },
                { "matchExpressions": [{ "key": "a", "operator": "In", "values": ["true", "yes"] }] },
            ] },
            "rules": [{ "verbs": ["get"], "apiGroups": [""], "resources": ["own"] }],
        });
        let all = [
            part("z", "a", "pods"),
            part("y", "b", "secrets"),
            part("x", "b", "nodes"),
            part("w", "a", "nodes"),
            role.clone(),
        ];
        assert_eq!(resources(aggregate(&role, &all)), ["nodes", "secrets", "pods"]);
    }

    #[test]
    fn a_role_without_an_aggregation_rule_is_left_alone() {
        assert_eq!(aggregate(&part("a", "b", "pods"), []), None);
        let nonsense = value!({
            "aggregationRule": { "clusterRoleSelectors": [{ "matchExpressions": [{ "key": "a", "operator": "Is" }] }] },
        });
        assert_eq!(aggregate(&nonsense, []), None);
    }

    #[test]
    fn an_empty_selector_takes_every_role() {
        let role =
            value!({ "metadata": { "name": "sum" }, "aggregationRule": { "clusterRoleSelectors": [{}] } });
        assert_eq!(resources(aggregate(&role, &[part("a", "b", "pods")])), ["pods"]);
    }
}
