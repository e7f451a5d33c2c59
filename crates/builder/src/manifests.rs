//! What a build makes.

use model::{Digest, Value};
use sha2::{Digest as _, Sha256};
use yaml::Step;
use yaml::node::Node;

use crate::error::{Error, Errors, Origin};
use crate::generate::Source;

/// The objects of a build, in order.
#[derive(Debug)]
pub struct Manifests {
    objects: Vec<Node>,
    /// What is deprecated or looks like a mistake.
    pub warnings: Vec<String>,
}

impl Manifests {
    /// Takes what kustomize made; everything must be an object with a name.
    pub(crate) fn new<'t>(
        mut output: kustomize::Output<'t>,
        source: &'t Source,
    ) -> Result<(Self, Origins<'t>), Errors> {
        let warnings = std::mem::take(&mut output.warnings);
        let (objects, origins) = output.into_objects_and_origins();
        let origins = Origins { origins, source };
        let mut errors = Vec::new();
        for (number, object) in objects.iter().enumerate() {
            if !is_complete(object) {
                errors.push(Error::Incomplete(name(object), origins.of(number)));
            }
        }
        Errors::check(errors)?;
        Ok((Manifests { objects, warnings }, origins))
    }

    /// The number of objects, lists counted as one.
    pub fn len(&self) -> usize {
        self.objects.len()
    }

    /// Whether nothing was built.
    pub fn is_empty(&self) -> bool {
        self.objects.is_empty()
    }

    /// The objects as they will be written, for changes.
    pub fn objects_mut(&mut self) -> &mut [Node] {
        &mut self.objects
    }

    /// The text of the manifests.
    ///
    /// # Errors
    /// Names what YAML has no form for.
    pub fn to_yaml(&self) -> Result<String, Errors> {
        let mut all = String::new();
        self.each_text(|text| all.push_str(text))?;
        Ok(all)
    }

    /// The digest of the text, by which histories know a build.
    ///
    /// # Errors
    /// Names what YAML has no form for.
    pub fn digest(&self) -> Result<Digest, Errors> {
        let mut hasher = Sha256::new();
        self.each_text(|text| hasher.update(text))?;
        Ok(Digest::sha256(hasher.finalize().into()))
    }

    fn each_text(&self, mut sink: impl FnMut(&str)) -> Result<(), Errors> {
        let (mut text, mut errors) = (String::new(), Vec::new());
        for (index, object) in self.objects.iter().enumerate() {
            text.clear();
            match yaml::go::write(object, &mut text) {
                Ok(()) if index > 0 => {
                    sink("---\n");
                    sink(&text);
                }
                Ok(()) => sink(&text),
                Err(message) => errors.push(Error::Write {
                    object: name(object),
                    origin: Origin::default(),
                    message,
                }),
            }
        }
        Errors::check(errors)
    }

    /// The objects to apply: lists are taken apart, and kustomizations of kustomize itself left out.
    ///
    /// # Errors
    /// Names what JSON has no form for, and lists with something else than objects in them.
    pub fn into_objects(self) -> Result<Vec<Value>, Errors> {
        let (mut objects, mut errors) = (Vec::with_capacity(self.objects.len()), Vec::new());
        for node in self.objects {
            match kustomize::to_value(&node) {
                Ok(value) if is_kustomization(&value) => {}
                Ok(value) => add(value, &mut objects, &mut errors),
                Err(message) => errors.push(Error::Write {
                    object: name(&node),
                    origin: Origin::default(),
                    message,
                }),
            }
        }
        Errors::check(errors)?;
        Ok(objects)
    }
}

/// Adds an object, or the items of a list.
fn add(mut value: Value, objects: &mut Vec<Value>, errors: &mut Vec<Error>) {
    let items = value.get_mut("items").and_then(Value::as_array_mut);
    let Some(items) = items.map(std::mem::take) else {
        return objects.push(value);
    };
    for item in items {
        if item.as_object().is_some() {
            objects.push(item);
            continue;
        }
        errors.push(Error::Write {
            object: name(&kustomize::from_value(&value)),
            origin: Origin::default(),
            message: format!(
                "items member should be an object, instead got {}",
                item.type_name()
            ),
        });
    }
}

fn is_kustomization(object: &Value) -> bool {
    object.str_at(&["kind"]).eq_ignore_ascii_case("kustomization")
        && object
            .str_at(&["apiVersion"])
            .starts_with("kustomize.config.k8s.io/")
}

fn text<'n>(object: &'n Node, path: &[&str]) -> &'n str {
    let found = path.iter().try_fold(object, |node, key| node.get(key));
    found.map_or("", Node::text)
}

fn is_complete(object: &Node) -> bool {
    let fields: [&[&str]; 3] = [&["apiVersion"], &["kind"], &["metadata", "name"]];
    fields.iter().all(|path| !text(object, path).is_empty())
}

/// Where objects come from, as people know it.
pub(crate) struct Origins<'t> {
    origins: kustomize::Origins<'t>,
    source: &'t Source,
}

impl Origins<'_> {
    pub(crate) fn of(&self, object: usize) -> Origin {
        self.source.origin(self.origins.of(object))
    }

    /// The place of a field in whose text `part` stands.
    pub(crate) fn of_field(&self, object: usize, path: &[Step], part: &str) -> Origin {
        self.source.origin(self.origins.of_field(object, path, part))
    }
}

/// What an object is called in messages: `apps/v1/Deployment/namespace/name`, as far as it is known.
pub(crate) fn name(object: &Node) -> String {
    let fields: [&[&str]; 4] = [
        &["apiVersion"],
        &["kind"],
        &["metadata", "namespace"],
        &["metadata", "name"],
    ];
    let known = fields.iter().map(|path| text(object, path));
    let known: Vec<&str> = known.filter(|part| !part.is_empty()).collect();
    if known.is_empty() {
        return "an object without any of them".to_owned();
    }
    known.join("/")
}
