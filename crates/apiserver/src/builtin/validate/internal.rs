//! Values as messages of the real server show them.
//!
//! The server checks objects in Go types of its own and shows their JSON: all fields, in the order in which they are
//! declared, under their Go names. The table of these types is made by `cargo xtask generate internal-types`, whose
//! documentation tells its form. It is read when there is something to show, which is seldom.
//!
//! **Deviation**: Go tells a list that is empty (`[]`) from one that is not there (`null`); both are `null` here, as
//! empty lists do not outlive decoding.

use std::collections::HashMap;

use model::{Map, Str, Value, json};

/// `value` as the server's own type `ty`, in one line.
pub(super) fn compact(ty: &str, value: &Value) -> String {
    json::to_string(&Types::read().convert(ty, value))
}

/// `value` as the server's own type `ty`, over several lines.
pub(super) fn pretty(ty: &str, value: &Value) -> String {
    let mut out = Vec::new();
    json::write_pretty(&Types::read().convert(ty, value), 1, &mut out);
    String::from_utf8(out).expect("JSON is text")
}

/// The fields of each struct, as they stand in the table.
struct Types(HashMap<&'static str, &'static str>);

impl Types {
    fn read() -> Self {
        let table = include_str!("../../../data/internal-types.txt");
        Types(table.lines().filter_map(|line| line.split_once(' ')).collect())
    }

    fn convert(&self, ty: &str, value: &Value) -> Value {
        if let Some(inner) = ty.strip_prefix('*') {
            return match value {
                Value::Null => Value::Null,
                value => self.convert(inner, value),
            };
        }
        if let Some(item) = ty.strip_prefix("[]") {
            let items = value.as_array().filter(|items| !items.is_empty());
            return items.map_or(Value::Null, |items| {
                items.iter().map(|value| self.convert(item, value)).collect()
            });
        }
        if let Some(item) = ty.strip_prefix("{}") {
            return value.as_object().map_or(Value::Null, |map| {
                let entries = map.iter().map(|(key, value)| (key, self.convert(item, value)));
                entries.collect::<Map>().into()
            });
        }
        match (ty, value) {
            ("s", Value::Null) => Value::str(""),
            ("i" | "x", Value::Null) => Value::Int(0),
            ("b", Value::Null) => Value::Bool(false),
            ("q", Value::Null) => Value::str("0"),
            ("s" | "i" | "x" | "b" | "q" | "t" | "y" | "r", value) => value.clone(),
            (name, value) => {
                let mut out = Map::new();
                self.fields(name, value, &mut out);
                out.into()
            }
        }
    }

    fn fields(&self, name: &str, value: &Value, out: &mut Map) {
        let moved;
        let value = match name {
            "core.PodSpec" => {
                moved = with_host_settings(value);
                &moved
            }
            _ => value,
        };
        let fields = self.0.get(name).copied().unwrap_or_default();
        for field in fields.split(' ') {
            if let Some(embedded) = field.strip_prefix('+') {
                match embedded.split_once('@') {
                    Some((ty, place)) => self.fields(ty, value.get(place).unwrap_or(&Value::Null), out),
                    None => self.fields(embedded, value, out),
                }
                continue;
            }
            let Some((names, ty)) = field.split_once(':') else {
                continue;
            };
            let (shown, source) = names.split_once('=').unwrap_or((names, names));
            let (source, optional) = match source.strip_suffix('?') {
                Some(source) => (source, true),
                None => (source, false),
            };
            let found = value.get(source).unwrap_or(&Value::Null);
            if !optional || !found.is_null() {
                out.push(Str::new(shown.trim_end_matches('?')), self.convert(ty, found));
            }
        }
    }
}

/// The server keeps what a pod shares with its host in the security context.
fn with_host_settings(spec: &Value) -> Value {
    let mut spec = spec.clone();
    for name in [
        "hostNetwork",
        "hostPID",
        "hostIPC",
        "shareProcessNamespace",
        "hostUsers",
    ] {
        if let Some(value) = spec.get(name).cloned() {
            spec.set_at(&["securityContext", name], value);
        }
    }
    spec
}

#[cfg(test)]
mod tests {
    use model::value;

    use super::*;

    #[test]
    fn all_fields_are_shown_in_their_order() {
        assert_eq!(
            compact("core.ServicePort", &value!({ "protocol": "TCP", "port": 80 })),
            r#"{"Name":"","Protocol":"TCP","AppProtocol":null,"Port":80,"TargetPort":0,"NodePort":0}"#
        );
        assert_eq!(
            compact(
                "*apps.DeploymentStrategy",
                &value!({ "type": "X", "rollingUpdate": { "maxSurge": "1%" } })
            ),
            r#"{"Type":"X","RollingUpdate":{"MaxUnavailable":0,"MaxSurge":"1%"}}"#
        );
    }

    #[test]
    fn tagged_structs_leave_out_what_is_empty() {
        let selector = value!({ "matchExpressions": [{ "key": "a", "operator": "Exists" }], "matchLabels": { "b": "c" } });
        assert_eq!(
            compact("meta.LabelSelector", &selector),
            r#"{"matchLabels":{"b":"c"},"matchExpressions":[{"key":"a","operator":"Exists"}]}"#
        );
    }

    #[test]
    fn every_type_of_the_table_can_be_shown() {
        let types = Types::read();
        for name in types.0.keys() {
            let shown = types.convert(name, &Value::object());
            assert!(
                shown.as_object().is_some_and(|map| !map.is_empty()) || name.starts_with("meta."),
                "{name}"
            );
        }
    }
}
