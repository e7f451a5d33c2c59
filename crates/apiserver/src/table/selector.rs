//! Labels and label selectors as text.

use model::{Map, Value};

use super::cell::NONE;

/// Labels as `a=1,b=2`.
pub(super) fn labels(labels: Option<&Map>) -> String {
    let mut pairs: Vec<String> = labels
        .iter()
        .flat_map(|labels| labels.iter())
        .map(|(key, value)| format!("{key}={}", value.as_str().unwrap_or_default()))
        .collect();
    if pairs.is_empty() {
        return NONE.to_owned();
    }
    pairs.sort();
    pairs.join(",")
}

/// A selector of labels and expressions as the text clients would send. `None` where it has an unknown operator.
pub(super) fn selector(selector: Option<&Value>) -> Option<String> {
    let Some(selector) = selector else {
        return Some(String::new());
    };
    let mut terms: Vec<(&str, String)> = Vec::new();
    if let Some(labels) = selector.get("matchLabels").and_then(Value::as_object) {
        terms.extend(
            labels
                .iter()
                .map(|(key, value)| (key, format!("{key}={}", value.as_str().unwrap_or_default()))),
        );
    }
    for expression in selector.list_at(&["matchExpressions"]) {
        terms.push((expression.str_at(&["key"]), term(expression)?));
    }
    terms.sort_by_key(|(key, _)| *key);
    let texts: Vec<String> = terms.into_iter().map(|(_, text)| text).collect();
    Some(texts.join(","))
}

/// A selector as text, `<none>` where it selects everything or nothing.
pub(super) fn selector_or_none(object: &Value, path: &[&str]) -> Value {
    Value::from(match selector(object.at(path)) {
        None => "<error>".to_owned(),
        Some(text) if text.is_empty() => NONE.to_owned(),
        Some(text) => text,
    })
}

fn term(expression: &Value) -> Option<String> {
    let key = expression.str_at(&["key"]);
    let mut values: Vec<&str> = expression
        .list_at(&["values"])
        .iter()
        .filter_map(Value::as_str)
        .collect();
    values.sort_unstable();
    let values = values.join(",");
    Some(match expression.str_at(&["operator"]) {
        "In" => format!("{key} in ({values})"),
        "NotIn" => format!("{key} notin ({values})"),
        "Exists" => key.to_owned(),
        "DoesNotExist" => format!("!{key}"),
        _ => return None,
    })
}

/// A selector as Go prints the structure, which is what one column shows.
pub(super) fn structure(selector: &Value) -> String {
    let mut labels = String::new();
    if let Some(map) = selector.get("matchLabels").and_then(Value::as_object) {
        let mut pairs: Vec<_> = map.iter().collect();
        pairs.sort_by_key(|(key, _)| *key);
        for (key, value) in pairs {
            labels.push_str(&format!("{key}: {},", value.as_str().unwrap_or_default()));
        }
    }
    let mut expressions = String::new();
    for expression in selector.list_at(&["matchExpressions"]) {
        let values: Vec<&str> = expression
            .list_at(&["values"])
            .iter()
            .filter_map(Value::as_str)
            .collect();
        expressions.push_str(&format!(
            "LabelSelectorRequirement{{Key:{},Operator:{},Values:[{}],}},",
            expression.str_at(&["key"]),
            expression.str_at(&["operator"]),
            values.join(" "),
        ));
    }
    format!(
        "&LabelSelector{{MatchLabels:map[string]string{{{labels}}},\
         MatchExpressions:[]LabelSelectorRequirement{{{expressions}}},}}"
    )
}

#[cfg(test)]
mod tests {
    use model::value;

    use super::*;

    #[test]
    fn terms_are_ordered_by_key() {
        let object = value!({
            "matchLabels": { "b": "1" },
            "matchExpressions": [
                { "key": "c", "operator": "NotIn", "values": ["z", "y"] },
                { "key": "a", "operator": "Exists" },
                { "key": "d", "operator": "DoesNotExist" },
            ],
        });
        assert_eq!(selector(Some(&object)).as_deref(), Some("a,b=1,c notin (y,z),!d"));
    }

    #[test]
    fn an_unknown_operator_is_an_error() {
        let object = value!({ "selector": { "matchExpressions": [{ "key": "a", "operator": "Like" }] } });
        assert_eq!(selector_or_none(&object, &["selector"]), Value::str("<error>"));
    }

    #[test]
    fn a_structure_is_printed_as_go_does() {
        let object = value!({ "matchExpressions": [{ "key": "k", "operator": "In", "values": ["a", "b"] }] });
        assert_eq!(
            structure(&object),
            "&LabelSelector{MatchLabels:map[string]string{},MatchExpressions:[]LabelSelectorRequirement\
             {LabelSelectorRequirement{Key:k,Operator:In,Values:[a b],},},}"
        );
    }
}
