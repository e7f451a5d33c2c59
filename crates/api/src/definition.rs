//! What a cluster is told to serve a kind: a CustomResourceDefinition.

use model::{Map, Value};

use crate::schema::{Described, Edition, Schema};
use crate::{Names, Spec};

/// The version that definitions are labelled with, in the form of Flux's.
const VERSION: &str = concat!("v", env!("CARGO_PKG_VERSION"));

/// A kind with its versions, as a CustomResourceDefinition is made of it.
#[derive(Clone, Debug)]
pub struct Definition {
    names: Names,
    description: &'static str,
    categories: &'static [&'static str],
    spec: Schema,
    status: Option<Schema>,
    columns: Vec<Column>,
    older: &'static [&'static str],
}

/// A column of `kubectl get`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Column {
    /// The heading.
    pub name: &'static str,
    /// Where in the object.
    pub path: &'static str,
    /// `string` or `date`
    pub kind: &'static str,
    /// Whether it is shown with `-o wide` only.
    pub wide: bool,
}

impl Column {
    /// How old the object is.
    pub const AGE: Column = Column::new("Age", ".metadata.creationTimestamp").of("date");
    /// Whether the object is ready.
    pub const READY: Column = Column::new("Ready", r#".status.conditions[?(@.type=="Ready")].status"#);
    /// Why it is ready or not.
    pub const STATUS: Column = Column::new("Status", r#".status.conditions[?(@.type=="Ready")].message"#);

    /// A text in the object.
    pub const fn new(name: &'static str, path: &'static str) -> Self {
        Column {
            name,
            path,
            kind: "string",
            wide: false,
        }
    }

    /// Of another type.
    pub const fn of(self, kind: &'static str) -> Self {
        Column { kind, ..self }
    }

    /// With `-o wide` only.
    pub const fn wide(self) -> Self {
        Column { wide: true, ..self }
    }

    fn to_value(self) -> Value {
        let mut column = Map::new();
        column.insert("jsonPath", self.path);
        column.insert("name", self.name);
        if self.wide {
            column.insert("priority", 1);
        }
        column.insert("type", self.kind);
        Value::from(column)
    }
}

impl Definition {
    /// A kind whose status is reported apart from its spec.
    pub fn of<S: Spec>(description: &'static str, categories: &'static [&'static str]) -> Self {
        let status = S::Status::schema();
        Definition {
            names: S::NAMES,
            description,
            categories,
            spec: S::schema().described(&["What is wanted."]),
            status: Some(status.described(&["What is, as the controller last saw it."])),
            columns: Vec::new(),
            older: &[],
        }
    }

    /// The status that an object has before a controller saw it, so that nothing waits in vain for a missing one.
    #[must_use]
    pub fn unobserved_at_first(mut self) -> Self {
        let mut default = Map::new();
        default.insert("observedGeneration", -1);
        self.status = self.status.map(|status| status.default_to(default));
        self
    }

    /// The columns of `kubectl get`, from left to right.
    #[must_use]
    pub fn columns(mut self, columns: impl Into<Vec<Column>>) -> Self {
        self.columns = columns.into();
        self
    }

    /// The versions that are served for manifests which still use them, the oldest first.
    #[must_use]
    pub fn older(mut self, versions: &'static [&'static str]) -> Self {
        self.older = versions;
        self
    }

    /// A kind without a status.
    #[must_use]
    pub fn stateless(mut self) -> Self {
        self.status = None;
        self
    }

    /// What the kind is called.
    pub fn names(&self) -> &Names {
        &self.names
    }

    /// The older versions that are served.
    pub fn older_versions(&self) -> &'static [&'static str] {
        self.older
    }

    /// The CustomResourceDefinition.
    pub fn to_value(&self) -> Value {
        let mut definition = Value::object();
        definition.set_at(&["apiVersion"], "apiextensions.k8s.io/v1");
        definition.set_at(&["kind"], "CustomResourceDefinition");
        definition.set_at(
            &["metadata", "name"],
            format!("{}.{}", self.names.plural, self.names.group),
        );
        // The schemas hold `${…}` in texts; a Kustomization that applies this must leave them alone.
        definition.set_at(
            &[
                "metadata",
                "annotations",
                "kustomize.toolkit.fluxcd.io/substitute",
            ],
            "disabled",
        );
        // The flux program finds the definitions by this.
        definition.set_at(&["metadata", "labels", "app.kubernetes.io/part-of"], "flux");
        // What `flux check` and `flux version` call the version of the distribution.
        definition.set_at(&["metadata", "labels", "app.kubernetes.io/version"], VERSION);
        definition.set_at(&["spec", "group"], self.names.group);
        definition.set_at(&["spec", "names"], self.names_value());
        definition.set_at(&["spec", "scope"], "Namespaced");
        let older = self
            .older
            .iter()
            .map(|version| self.version(version, Edition::Older));
        let versions = std::iter::once(self.version(self.names.version, Edition::Current)).chain(older);
        definition.set_at(&["spec", "versions"], versions.collect::<Value>());
        definition
    }

    fn names_value(&self) -> Value {
        let mut names = Map::new();
        names.insert("categories", self.categories.iter().copied().collect::<Value>());
        names.insert("kind", self.names.kind);
        names.insert("listKind", format!("{}List", self.names.kind));
        names.insert("plural", self.names.plural);
        if !self.names.short.is_empty() {
            names.insert("shortNames", self.names.short.iter().copied().collect::<Value>());
        }
        names.insert("singular", self.names.kind.to_lowercase());
        Value::from(names)
    }

    fn version(&self, version: &str, edition: Edition) -> Value {
        let mut value = Value::object();
        if !self.columns.is_empty() {
            let columns = self.columns.iter().map(|column| column.to_value());
            value.set_at(&["additionalPrinterColumns"], columns.collect::<Value>());
        }
        if edition == Edition::Older {
            let Names {
                kind,
                version: current,
                ..
            } = self.names;
            let warning = format!("{version} {kind} is deprecated, upgrade to {current}");
            value.set_at(&["deprecated"], true);
            value.set_at(&["deprecationWarning"], warning);
        }
        value.set_at(&["name"], version);
        value.set_at(&["schema", "openAPIV3Schema"], self.schema(edition));
        value.set_at(&["served"], true);
        value.set_at(&["storage"], edition == Edition::Current);
        value.set_at(&["subresources"], Map::new());
        if self.status.is_some() {
            value.set_at(&["subresources", "status"], Map::new());
        }
        value
    }

    fn schema(&self, edition: Edition) -> Value {
        let mut schema = Value::object();
        schema.set_at(&["description"], self.description);
        for (name, about) in [
            (
                "apiVersion",
                "The group and version that this object is written in.",
            ),
            ("kind", "The kind of the object."),
        ] {
            schema.set_at(&["properties", name, "description"], about);
            schema.set_at(&["properties", name, "type"], "string");
        }
        schema.set_at(&["properties", "metadata", "type"], "object");
        schema.set_at(&["properties", "spec"], self.spec.render(edition));
        if let Some(status) = &self.status {
            schema.set_at(&["properties", "status"], status.render(edition));
        }
        schema.set_at(&["type"], "object");
        schema
    }
}
