//! The templates of a chart and of all below it, with what each sees.

use std::collections::BTreeMap;

use bytes::Bytes;
use gotemplate::{ArcStr, Map, Value};

use super::context;
use super::files::Files;
use crate::chart::Chart;

/// One template.
pub(super) struct Template {
    /// Where it is, from the name of the top chart on.
    pub(super) path: String,
    /// Its text.
    pub(super) text: Bytes,
    /// What it sees; the other templates of its chart see the same map.
    pub(super) context: Map,
    /// Where the templates of its chart are.
    base: String,
}

impl Template {
    /// `.Template`
    pub(super) fn place(&self) -> Map {
        context::values(BTreeMap::from([
            ("Name".into(), Value::str(self.path.as_str())),
            ("BasePath".into(), Value::str(self.base.as_str())),
        ]))
    }
}

/// What all charts see, and the values of the top one.
pub(super) struct Top {
    pub(super) release: Value,
    pub(super) capabilities: Value,
    pub(super) values: Map,
}

/// All templates, in the order in which they are read and rendered: deepest paths first, and backwards by name.
pub(super) fn templates(chart: &Chart, top: &Top) -> Vec<Template> {
    let mut found = BTreeMap::new();
    let name = chart.metadata.name.clone();
    descend(chart, name, Value::Map(top.values.clone()), true, top, &mut found);
    let mut found: Vec<Template> = found.into_values().collect();
    found.sort_by(|a, b| {
        let slashes = |path: &str| path.matches('/').count();
        let by_depth = slashes(&b.path).cmp(&slashes(&a.path));
        by_depth.then_with(|| b.path.cmp(&a.path))
    });
    found
}

/// Collects the templates of a chart; gives what they see.
fn descend(
    chart: &Chart,
    path: String,
    values: Value,
    is_root: bool,
    top: &Top,
    found: &mut BTreeMap<String, Template>,
) -> Map {
    let below = Map::new();
    let files = chart
        .plain_files()
        .map(|file| (ArcStr::from(&file.path), file.content.clone()));
    let context = context::values(BTreeMap::from([
        ("Chart".into(), context::chart(chart, is_root)),
        ("Files".into(), Value::object(Files::new(files))),
        ("Release".into(), top.release.clone()),
        ("Capabilities".into(), top.capabilities.clone()),
        ("Values".into(), values.clone()),
        ("Subcharts".into(), Value::Map(below.clone())),
    ]));
    for child in &chart.dependencies {
        let name = &child.metadata.name;
        // It is the very map that the parent sees: what one changes the other sees.
        let own = match values.as_map().and_then(|map| map.get(name)) {
            Some(own @ Value::Map(_)) => own,
            _ => Value::Map(context::values(BTreeMap::new())),
        };
        let path = format!("{path}/charts/{name}");
        let context = descend(child, path, own, false, top, found);
        below.insert(name.as_str(), Value::Map(context));
    }
    let is_library = chart.metadata.kind.eq_ignore_ascii_case("library");
    let base = format!("{path}/templates");
    for file in chart.templates() {
        let name = file.path.rsplit('/').next().unwrap_or_default();
        if is_library && !name.starts_with('_') {
            continue;
        }
        let path = format!("{path}/{}", file.path);
        let template = Template {
            path: path.clone(),
            text: file.content.clone(),
            context: context.clone(),
            base: base.clone(),
        };
        found.insert(path, template);
    }
    context
}
