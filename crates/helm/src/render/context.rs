//! What templates see: one map for each chart.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use gotemplate::{ArcStr, Class, Function, List, Map, Type, Value};

use super::Release;
use super::functions::yaml;
use crate::chart::{Chart, Metadata};

/// Values as templates have them. Whole numbers are those of `--set`.
pub(super) fn value(value: &model::Value) -> Value {
    match value {
        model::Value::Int(number) => Value::int64(*number),
        model::Value::Array(items) => items.iter().map(self::value).collect::<List>().into(),
        model::Value::Object(map) => Value::Map(entries(map).into_iter().collect()),
        other => Value::from(other),
    }
}

fn entries(map: &model::Map) -> BTreeMap<ArcStr, Value> {
    map.iter()
        .map(|(key, value)| (key.into(), self::value(value)))
        .collect()
}

/// A map of Go's type `common.Values`.
pub(super) fn values(map: BTreeMap<ArcStr, Value>) -> Map {
    Map::with_class(&VALUES, map)
}

/// Values of the top chart.
pub(super) fn top_values(map: &model::Map) -> Map {
    values(entries(map))
}

static VALUES: Values = Values;

/// The type of `.Values`, of the dot itself and of `.Template`.
struct Values;

impl Class for Values {
    fn type_name(&self) -> &'static str {
        "common.Values"
    }

    fn method(&self, name: &str) -> Option<&Function> {
        // A plain map of the same entries: functions that want one do not take the named type.
        static AS_MAP: LazyLock<Function> = LazyLock::new(|| {
            Function::new(&[], |call| {
                let values = call.receiver().and_then(Value::as_map);
                let count = values.map_or(0, Map::len);
                call.session.charge(Map::size(count))?;
                let plain = values.map(|map| map.entries().into_iter().collect::<Map>());
                Ok(Value::Map(plain.unwrap_or_default()))
            })
        });
        static YAML: LazyLock<Function> = LazyLock::new(|| {
            Function::new(&[], |call| {
                let values = call.receiver().cloned().unwrap_or_default();
                let text = yaml::written(call, &values)??;
                yaml::made(call, text)
            })
        });
        static TABLE: LazyLock<Function> = LazyLock::new(|| {
            Function::new(&[Type::String], |call| {
                let path = call.str(0);
                let mut table = call.receiver().cloned().unwrap_or_default();
                for part in path.split('.') {
                    let next = table.as_map().and_then(|map| map.get(part));
                    table = match next {
                        Some(next @ Value::Map(_)) => next,
                        _ => return Err(format!("{} is not a table", model::quote::quote(part)).into()),
                    };
                }
                Ok(table)
            })
        });
        match name {
            "AsMap" => Some(&AS_MAP),
            "YAML" => Some(&YAML),
            "Table" => Some(&TABLE),
            _ => None,
        }
    }
}

/// `.Release`
pub(super) fn release(release: &Release) -> Value {
    Value::Map(Map::from_iter([
        ("Name", Value::str(release.name.as_str())),
        ("Namespace", Value::str(release.namespace.as_str())),
        ("IsUpgrade", Value::Bool(release.is_upgrade)),
        ("IsInstall", Value::Bool(!release.is_upgrade)),
        ("Revision", Value::int(release.revision)),
        ("Service", Value::str("Helm")),
    ]))
}

/// `.Chart`
pub(super) fn chart(chart: &Chart, is_root: bool) -> Value {
    let metadata: &Metadata = &chart.metadata;
    let text = |text: &str| Value::str(text);
    let texts = |texts: &[String]| Value::list(texts.iter().map(|text| Value::str(text.as_str())).collect());
    let annotations = if metadata.annotations.is_empty() {
        Map::nil(Type::String)
    } else {
        let map = Map::of(Type::String);
        for (key, value) in &metadata.annotations {
            map.insert(key.as_str(), Value::str(value.0.as_str()));
        }
        map
    };
    let maintainers = metadata.maintainers.iter().flatten().map(|maintainer| {
        Value::Map(Map::from_iter([
            ("Name", text(&maintainer.name)),
            ("Email", text(&maintainer.email)),
            ("URL", text(&maintainer.url)),
        ]))
    });
    let dependencies = metadata.dependencies.iter().flatten().map(|dependency| {
        let imports = dependency.import_values.iter().map(self::value).collect();
        Value::Map(Map::from_iter([
            ("Name", text(&dependency.name)),
            ("Version", text(&dependency.version)),
            ("Repository", text(&dependency.repository)),
            ("Condition", text(&dependency.condition)),
            ("Tags", texts(&dependency.tags)),
            ("Enabled", Value::Bool(dependency.enabled)),
            ("ImportValues", Value::list(imports)),
            ("Alias", text(&dependency.alias)),
        ]))
    });
    Value::Map(Map::from_iter([
        ("Name", text(&metadata.name)),
        ("Home", text(&metadata.home)),
        ("Sources", texts(&metadata.sources)),
        ("Version", text(&metadata.version)),
        ("Description", text(&metadata.description)),
        ("Keywords", texts(&metadata.keywords)),
        ("Maintainers", Value::list(maintainers.collect())),
        ("Icon", text(&metadata.icon)),
        ("APIVersion", text(&metadata.api_version)),
        ("Condition", text(&metadata.condition)),
        ("Tags", text(&metadata.tags)),
        ("AppVersion", text(&metadata.app_version)),
        ("Deprecated", Value::Bool(metadata.deprecated)),
        ("Annotations", Value::Map(annotations)),
        ("KubeVersion", text(&metadata.kube_version)),
        ("Dependencies", Value::list(dependencies.collect())),
        ("Type", text(&metadata.kind)),
        ("IsRoot", Value::Bool(is_root)),
    ]))
}
