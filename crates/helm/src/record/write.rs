//! Records to JSON, with the fields in the order and the omissions of Helm's Go types.

use model::{Map, Str, Value};

use super::{Execution, Hook, Info, Record, StoredChart, StoredFile, Time};
use crate::chart::metadata::{DEPENDENCY_FIELDS, FIELDS, MAINTAINER_FIELDS};
use crate::chart::{Lock, Metadata};

impl Record {
    /// The JSON that Helm 4 would write.
    pub fn to_json(&self) -> Vec<u8> {
        model::json::to_vec(&self.to_value())
    }

    fn to_value(&self) -> Value {
        let mut fields = Fields::default();
        fields.text("name", &self.name);
        fields.put("info", info(&self.info));
        if let Some(stored) = &self.chart {
            fields.put("chart", chart(stored));
        }
        if let Some(config) = self.config.as_ref().filter(|config| !config.is_empty()) {
            fields.put("config", values(config));
        }
        fields.text("manifest", &self.manifest);
        if !self.hooks.is_empty() {
            fields.put("hooks", self.hooks.iter().map(hook).collect());
        }
        fields.number("version", self.version);
        fields.text("namespace", &self.namespace);
        fields.text("apply_method", &self.apply_method);
        fields.value()
    }
}

pub(crate) fn info(info: &Info) -> Value {
    let mut fields = Fields::default();
    fields.time("first_deployed", info.first_deployed);
    fields.time("last_deployed", info.last_deployed);
    fields.time("deleted", info.deleted);
    fields.text("description", &info.description);
    fields.text("status", info.status.as_str());
    fields.text("notes", &info.notes);
    fields.value()
}

pub(crate) fn hook(hook: &Hook) -> Value {
    let mut fields = Fields::default();
    fields.text("name", &hook.name);
    fields.text("kind", &hook.kind);
    fields.text("path", &hook.path);
    fields.text("manifest", &hook.manifest);
    fields.texts("events", &hook.events);
    fields.put("last_run", execution(&hook.last_run));
    fields.number("weight", hook.weight);
    fields.texts("delete_policies", &hook.delete_policies);
    fields.texts("output_log_policies", &hook.output_log_policies);
    fields.value()
}

fn execution(execution: &Execution) -> Value {
    let mut fields = Fields::default();
    fields.time("started_at", execution.started_at);
    fields.time("completed_at", execution.completed_at);
    fields.put("phase", Value::str(&execution.phase));
    fields.value()
}

fn chart(chart: &StoredChart) -> Value {
    let files = |files: &Option<Vec<StoredFile>>| match files {
        None => Value::Null,
        Some(files) => files.iter().map(file).collect(),
    };
    let mut fields = Fields::default();
    fields.put("metadata", chart.metadata.as_ref().map_or(Value::Null, metadata));
    fields.put("lock", chart.lock.as_ref().map_or(Value::Null, lock));
    fields.put("templates", files(&chart.templates));
    fields.put("values", chart.values.as_ref().map_or(Value::Null, values));
    fields.put("schema", optional(chart.schema.as_deref()));
    // The one time that is written even if there is none.
    fields.put("schemamodtime", written(chart.schema_modified));
    fields.put("files", files(&chart.files));
    fields.time("modtime", chart.modified);
    fields.value()
}

fn file(file: &StoredFile) -> Value {
    let mut fields = Fields::default();
    fields.put("name", Value::str(&file.name));
    fields.put("data", optional(file.data.as_deref()));
    fields.time("modtime", file.modified);
    fields.value()
}

fn lock(lock: &Lock) -> Value {
    let generated = Time::read(&lock.generated).ok().flatten();
    let dependencies = lock.dependencies.iter().map(|dependency| match dependency {
        None => Value::Null,
        Some(dependency) => in_order(serde(dependency), DEPENDENCY_FIELDS),
    });
    let mut fields = Fields::default();
    fields.put("generated", written(generated));
    fields.put("digest", Value::str(&lock.digest));
    fields.put("dependencies", dependencies.collect());
    fields.value()
}

/// What `Chart.yaml` said, in the order of Helm's fields.
pub(crate) fn metadata(metadata: &Metadata) -> Value {
    let mut value = in_order(serde(metadata), FIELDS);
    for (key, order) in [
        ("maintainers", MAINTAINER_FIELDS),
        ("dependencies", DEPENDENCY_FIELDS),
    ] {
        let items = value.get_mut(key).and_then(Value::as_array_mut);
        for item in items.into_iter().flat_map(|items| items.iter_mut()) {
            *item = in_order(item.take(), order);
        }
    }
    value
}

fn serde<T: serde::Serialize>(source: &T) -> Value {
    model::convert::from_serde(source).expect("metadata is strings, lists and maps")
}

/// The map with its keys in this order.
pub(crate) fn in_order(value: Value, order: &[&str]) -> Value {
    let Value::Object(mut map) = value else {
        return value;
    };
    let mut fields = Fields::default();
    for key in order {
        if let Some(value) = map.remove(key) {
            fields.put(key, value);
        }
    }
    fields.value()
}

/// Values as Go writes maps: sorted by key.
pub(crate) fn values(values: &Map) -> Value {
    fn sort(value: &mut Value) {
        match value {
            Value::Array(items) => items.iter_mut().for_each(sort),
            Value::Object(map) => {
                map.sort();
                map.iter_mut().for_each(|(_, value)| sort(value));
            }
            _ => {}
        }
    }
    let mut value = Value::Object(values.clone());
    sort(&mut value);
    value
}

fn optional(text: Option<&str>) -> Value {
    text.map_or(Value::Null, Value::str)
}

fn written(time: Option<Time>) -> Value {
    match time {
        Some(time) => Value::str(time.to_string()),
        None => Value::str("0001-01-01T00:00:00Z"),
    }
}

/// A map whose keys stay in the order they are put in. What is empty is left out, as Go's `omitempty` does.
#[derive(Default)]
pub(crate) struct Fields(Map);

impl Fields {
    pub(crate) fn put(&mut self, key: &str, value: Value) {
        self.0.push(Str::new(key), value);
    }

    pub(crate) fn text(&mut self, key: &str, text: &str) {
        if !text.is_empty() {
            self.put(key, Value::str(text));
        }
    }

    fn texts(&mut self, key: &str, texts: &[String]) {
        if !texts.is_empty() {
            self.put(key, texts.iter().map(Value::str).collect());
        }
    }

    fn number(&mut self, key: &str, number: i64) {
        if number != 0 {
            self.put(key, Value::Int(number));
        }
    }

    fn time(&mut self, key: &str, time: Option<Time>) {
        if let Some(time) = time {
            self.put(key, Value::str(time.to_string()));
        }
    }

    pub(crate) fn value(self) -> Value {
        Value::Object(self.0)
    }
}
