//! Whether the rights somebody has include those a role would give.

use model::Str;

use super::rule::{Rule, has, url_covers};

/// More single rights than this are not looked at one by one: a short role can stand for billions of them.
const LIMIT: usize = 20_000;

/// The rights of `wanted` that are not among those of `owned`, one by one, or `None` where there are too many to tell.
pub(super) fn missing(owned: &[&Rule], wanted: &[Rule]) -> Option<Vec<Rule>> {
    let open: Vec<&Rule> = wanted
        .iter()
        .filter(|rule| !owned.iter().any(|owner| covers_whole(owner, rule)))
        .collect();
    let count = open
        .iter()
        .fold(0usize, |sum, rule| sum.saturating_add(size(rule)));
    if count > LIMIT {
        return None;
    }
    let singles = open.into_iter().flat_map(break_down);
    Some(
        singles
            .filter(|single| !owned.iter().any(|owner| covers(owner, single)))
            .collect(),
    )
}

/// Joins single rights that differ only in the verb, and prints them in order.
pub(super) fn describe(missing: Vec<Rule>) -> Vec<String> {
    let mut joined: Vec<Rule> = Vec::new();
    let mut places = std::collections::HashMap::new();
    for rule in missing {
        if !rule.urls.is_empty() {
            joined.push(rule);
            continue;
        }
        let key = (rule.groups.clone(), rule.resources.clone(), rule.names.clone());
        match places.get(&key) {
            Some(&at) => {
                let earlier: &mut Rule = &mut joined[at];
                earlier.verbs.extend(rule.verbs);
            }
            None => {
                places.insert(key, joined.len());
                joined.push(rule);
            }
        }
    }
    let mut texts: Vec<String> = joined.iter().map(Rule::to_string).collect();
    texts.sort_unstable();
    texts.dedup();
    texts
}

fn size(rule: &Rule) -> usize {
    let on_resources = [rule.groups.len(), rule.resources.len(), rule.names.len().max(1)];
    let on_resources = on_resources
        .into_iter()
        .fold(rule.verbs.len(), usize::saturating_mul);
    on_resources.saturating_add(rule.urls.len().saturating_mul(rule.verbs.len()))
}

/// Takes a rule apart: each part has one verb and one resource of one group (with at most one name), or one path.
fn break_down(rule: &Rule) -> Vec<Rule> {
    let one = |text: &Str| vec![text.clone()];
    let names: Vec<Vec<Str>> = match rule.names.is_empty() {
        true => vec![Vec::new()],
        false => rule.names.iter().map(one).collect(),
    };
    let mut singles = Vec::with_capacity(size(rule));
    for group in &rule.groups {
        for resource in &rule.resources {
            for verb in &rule.verbs {
                singles.extend(names.iter().map(|name| Rule {
                    verbs: one(verb),
                    groups: one(group),
                    resources: one(resource),
                    names: name.clone(),
                    urls: Vec::new(),
                }));
            }
        }
    }
    for url in &rule.urls {
        singles.extend(rule.verbs.iter().map(|verb| Rule {
            verbs: one(verb),
            urls: one(url),
            ..Rule::default()
        }));
    }
    singles
}

/// Whether one owned rule covers all single rights of another rule. A rule on resources and paths at once is left to
/// the slow way: no valid rule is one.
fn covers_whole(owner: &Rule, rule: &Rule) -> bool {
    let mixed = !rule.urls.is_empty() && !rule.resources.is_empty();
    !mixed && covers(owner, rule)
}

fn covers(owner: &Rule, rule: &Rule) -> bool {
    let all = |owned: &[Str], wanted: &[Str]| has(owned, "*") || wanted.iter().all(|text| has(owned, text));
    let names = match rule.names.is_empty() {
        true => owner.names.is_empty(),
        false => owner.names.is_empty() || rule.names.iter().all(|name| has(&owner.names, name)),
    };
    names
        && all(&owner.verbs, &rule.verbs)
        && all(&owner.groups, &rule.groups)
        && rule
            .resources
            .iter()
            .all(|resource| covers_resource(&owner.resources, resource))
        && rule
            .urls
            .iter()
            .all(|url| owner.urls.iter().any(|owned| url_covers(owned, url)))
}

fn covers_resource(owned: &[Str], resource: &str) -> bool {
    if has(owned, "*") || has(owned, resource) {
        return true;
    }
    let Some((_, subresource)) = resource.split_once('/') else {
        return false;
    };
    owned
        .iter()
        .any(|owned| owned.strip_prefix("*/") == Some(subresource))
}

#[cfg(test)]
mod tests {
    use model::{Value, value};

    use super::*;

    fn rule(value: Value) -> Rule {
        Rule::from_value(&value)
    }

    fn check(owned: &[Rule], wanted: Rule) -> Vec<String> {
        let owned: Vec<&Rule> = owned.iter().collect();
        describe(missing(&owned, &[wanted]).expect("the rules are small"))
    }

    #[test]
    fn rights_may_be_gathered_from_several_rules() {
        let owned = [
            rule(value!({ "verbs": ["get"], "apiGroups": [""], "resources": ["pods"] })),
            rule(value!({ "verbs": ["*"], "apiGroups": [""], "resources": ["secrets"] })),
        ];
        let wanted = rule(value!({ "verbs": ["get"], "apiGroups": [""], "resources": ["pods", "secrets"] }));
        assert!(check(&owned, wanted).is_empty());
        let wanted = rule(
            value!({ "verbs": ["get", "list", "watch"], "apiGroups": [""], "resources": ["pods", "secrets"] }),
        );
        assert_eq!(
            check(&owned, wanted),
            [r#"{APIGroups:[""], Resources:["pods"], Verbs:["list" "watch"]}"#]
        );
    }

    #[test]
    fn a_named_right_does_not_cover_the_right_on_all() {
        let owned = [rule(
            value!({ "verbs": ["get"], "apiGroups": [""], "resources": ["pods"], "resourceNames": ["a"] }),
        )];
        let all = rule(value!({ "verbs": ["get"], "apiGroups": [""], "resources": ["pods"] }));
        assert_eq!(check(&owned, all).len(), 1);
        let two = rule(
            value!({ "verbs": ["get"], "apiGroups": [""], "resources": ["pods"], "resourceNames": ["a", "b"] }),
        );
        assert_eq!(
            check(&owned, two),
            [r#"{APIGroups:[""], Resources:["pods"], ResourceNames:["b"], Verbs:["get"]}"#]
        );
    }

    #[test]
    fn stars_cover_what_they_stand_for_and_are_covered_only_by_stars() {
        let owned = [rule(
            value!({ "verbs": ["*"], "apiGroups": ["*"], "resources": ["*/scale"] }),
        )];
        let scale =
            rule(value!({ "verbs": ["get"], "apiGroups": ["apps"], "resources": ["deployments/scale"] }));
        assert!(check(&owned, scale).is_empty());
        let all = rule(value!({ "verbs": ["get"], "apiGroups": ["apps"], "resources": ["*"] }));
        assert_eq!(check(&owned, all).len(), 1);
        let urls = [rule(value!({ "verbs": ["get"], "nonResourceURLs": ["/apis/*"] }))];
        let narrower = rule(value!({ "verbs": ["get"], "nonResourceURLs": ["/apis/apps/*"] }));
        assert!(check(&urls, narrower).is_empty());
        let wider = rule(value!({ "verbs": ["get"], "nonResourceURLs": ["/*"] }));
        assert_eq!(
            check(&urls, wider),
            [r#"{NonResourceURLs:["/*"], Verbs:["get"]}"#]
        );
    }

    #[test]
    fn a_role_of_billions_of_rights_is_not_taken_apart() {
        let many: Vec<Str> = (0..2000).map(|n| Str::from(format!("x{n}"))).collect();
        let huge = Rule {
            verbs: many.clone(),
            groups: many.clone(),
            resources: many,
            ..Rule::default()
        };
        assert_eq!(missing(&[], std::slice::from_ref(&huge)), None);
        let everything = rule(value!({ "verbs": ["*"], "apiGroups": ["*"], "resources": ["*"] }));
        assert_eq!(missing(&[&everything], &[huge]), Some(Vec::new()));
    }
}
