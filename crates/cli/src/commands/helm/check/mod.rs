//! Whether a cluster would take what was rendered: one that is made up for the question (`--validate`), or a real one (`--dry-run=server`).

pub(super) mod offline;
pub(super) mod server;

use anyhow::Context as _;
use helm::print;
use helm::release::Rendered;
use model::{ObjectKey, Value};

/// An object of a release.
struct Object {
    /// The path of the file that it comes from, beginning with the chart.
    path: String,
    value: Value,
}

impl Object {
    fn api_version(&self) -> &str {
        self.value.str_at(&["apiVersion"])
    }

    fn kind(&self) -> &str {
        self.value.str_at(&["kind"])
    }

    fn name(&self) -> &str {
        self.value.str_at(&["metadata", "name"])
    }

    fn namespace(&self) -> &str {
        self.value.str_at(&["metadata", "namespace"])
    }

    fn is_definition(&self) -> bool {
        let key = ObjectKey::of(&self.value);
        key.group == "apiextensions.k8s.io" && key.kind == "CustomResourceDefinition"
    }
}

/// The objects of `crds/`.
fn definitions(rendered: &Rendered) -> anyhow::Result<Vec<Object>> {
    let mut objects = Vec::new();
    for (path, content) in &rendered.crds {
        add(path, &String::from_utf8_lossy(content), &mut objects)?;
    }
    Ok(objects)
}

/// The objects that are no hooks.
fn manifests(rendered: &Rendered) -> anyhow::Result<Vec<Object>> {
    let mut objects = Vec::new();
    for manifest in &rendered.manifests {
        add(&manifest.path, &manifest.content, &mut objects)?;
    }
    Ok(objects)
}

/// The hooks that are printed.
fn hooks(rendered: &Rendered, options: &print::Options) -> anyhow::Result<Vec<Object>> {
    let mut objects = Vec::new();
    for hook in rendered.hooks.iter().filter(|_| !options.no_hooks) {
        if !(options.skip_tests && hook.is_test()) {
            add(&hook.path, &hook.manifest, &mut objects)?;
        }
    }
    Ok(objects)
}

/// Adds the objects of a text, those of lists one by one.
fn add(path: &str, text: &str, objects: &mut Vec<Object>) -> anyhow::Result<()> {
    let mut push = |value: Value| {
        objects.push(Object {
            path: path.to_owned(),
            value,
        })
    };
    for document in yaml::documents(text) {
        let value = document.with_context(|| format!("{path} is no YAML"))?.value;
        if value.str_at(&["kind"]).ends_with("List") && value.get("items").is_some() {
            value.list_at(&["items"]).iter().cloned().for_each(&mut push);
        } else if value != Value::Null {
            push(value);
        }
    }
    Ok(())
}
