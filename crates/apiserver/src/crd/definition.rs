//! A definition in the form the server works with.

use std::sync::Arc;

use model::{Str, Value};
use smd::Schema;

use super::cel::Functions;
use super::check;
use super::columns;
use super::embedded::MetadataType;
use super::scale::Scale;
use super::schema::Node;
use crate::error::{Error, Result};
use crate::field;
use crate::jsonpath::JsonPath;
use crate::table::CustomColumn;
use smd::go::GoTypes;

/// What all definitions share: the functions of rules and the type of metadata.
#[derive(Clone, Debug)]
pub struct Shared {
    pub(super) functions: Arc<Functions>,
    pub(super) metadata: MetadataType,
}

impl Shared {
    /// Takes the type of metadata from `schema`, the types of Kubernetes itself, and `types`, which reads them. `None`
    /// where `schema` does not have that type.
    pub fn new(schema: &Schema, types: Arc<GoTypes>) -> Option<Self> {
        let metadata = MetadataType::new(schema, types)?;
        Some(Shared {
            functions: Arc::new(Functions::new()),
            metadata,
        })
    }
}

/// A CustomResourceDefinition that was read.
#[derive(Debug)]
pub struct Definition {
    /// API group.
    pub group: Str,
    /// Names of the resource.
    pub names: Names,
    /// Whether objects live in namespaces.
    pub namespaced: bool,
    /// How objects get from one version to another.
    pub conversion: Conversion,
    /// The versions, in the order of the definition.
    pub versions: Vec<Arc<Version>>,
}

/// Names of a resource.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Names {
    /// Name in paths.
    pub plural: Str,
    /// Name of one object.
    pub singular: Str,
    /// Kind of the objects.
    pub kind: Str,
    /// Kind of the lists.
    pub list_kind: Str,
    /// Abbreviations.
    pub short_names: Vec<Str>,
    /// Groups of resources it belongs to.
    pub categories: Vec<Str>,
}

/// How objects get from one version to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Conversion {
    /// Only `apiVersion` changes.
    None,
    /// A webhook would have to be called, which this server does not do.
    Webhook,
}

/// One version of a definition. It is the [`Strategy`](crate::strategy::Strategy) of its objects.
#[derive(Debug)]
pub struct Version {
    /// Its name.
    pub name: Str,
    /// Group of the definition.
    pub group: Str,
    /// Kind of the objects.
    pub kind: Str,
    /// Whether objects live in namespaces.
    pub namespaced: bool,
    /// Whether clients can use it.
    pub served: bool,
    /// Whether objects are stored in it.
    pub storage: bool,
    /// What to warn clients of; `None` where the version is not deprecated.
    pub deprecation_warning: Option<String>,
    /// Whether there is a `status` subresource.
    pub status: bool,
    /// The `scale` subresource.
    pub scale: Option<Scale>,
    /// Columns of tables besides the name.
    pub columns: Vec<CustomColumn>,
    /// Fields that can be selected by, with the names selectors use.
    pub selectable: Vec<(Str, JsonPath)>,
    pub(super) schema: Node,
    pub(super) shared: Shared,
}

impl Definition {
    /// Checks a new definition, which was defaulted, and reads it.
    ///
    /// # Errors
    /// All that is wrong with it.
    pub fn compile(crd: &Value, shared: &Shared) -> std::result::Result<Definition, Vec<field::Error>> {
        match check::create(crd) {
            errors if errors.is_empty() => Ok(Definition::read(crd, shared)),
            errors => Err(errors),
        }
    }

    /// Reads a definition that was checked.
    pub fn read(crd: &Value, shared: &Shared) -> Definition {
        let spec = crd.get("spec").unwrap_or(&Value::Null);
        let name = |field| Str::from(spec.str_at(&["names", field]));
        let names = |field| {
            spec.list_at(&["names", field])
                .iter()
                .filter_map(Value::as_str)
                .map(Str::from)
                .collect()
        };
        let mut definition = Definition {
            group: spec.str_at(&["group"]).into(),
            names: Names {
                plural: name("plural"),
                singular: name("singular"),
                kind: name("kind"),
                list_kind: name("listKind"),
                short_names: names("shortNames"),
                categories: names("categories"),
            },
            namespaced: spec.str_at(&["scope"]) == "Namespaced",
            conversion: match spec.str_at(&["conversion", "strategy"]) {
                "Webhook" => Conversion::Webhook,
                _ => Conversion::None,
            },
            versions: Vec::new(),
        };
        let versions = spec.list_at(&["versions"]).iter();
        definition.versions = versions
            .map(|version| Arc::new(Version::read(version, &definition, shared)))
            .collect();
        definition
    }

    /// The version called `name`.
    pub fn version(&self, name: &str) -> Option<&Version> {
        self.versions
            .iter()
            .find(|version| version.name == name)
            .map(|version| &**version)
    }

    /// The version that objects are stored in.
    pub fn storage(&self) -> Option<&Version> {
        self.versions
            .iter()
            .find(|version| version.storage)
            .map(|version| &**version)
    }

    /// Makes a stored object one of `version`: with the defaults of the version that objects are stored in, without
    /// what `version` does not know.
    pub fn show(&self, object: &mut Value, version: &Version) {
        if let Some(storage) = self.storage() {
            storage.complete(object);
        }
        if !version.storage {
            version.prune(object);
        }
    }

    /// Makes an object of one of the versions one that can be stored: without what the stored version does not know. Its
    /// defaults are not filled in, as the real server fills in those of the version an object comes in.
    pub fn store(&self, object: &mut Value, version: &Version) {
        if let Some(storage) = self.storage().filter(|_| !version.storage) {
            storage.prune(object);
        }
    }

    /// Holds against the use of a version that only a webhook can make of the stored objects.
    ///
    /// # Errors
    /// The real server's answer when the webhook cannot be reached.
    pub fn check_conversion(&self, version: &Version) -> Result<()> {
        match (&self.conversion, self.storage()) {
            (Conversion::Webhook, Some(storage)) if storage.name != version.name => {
                let (group, stored, kind) = (&self.group, &storage.name, &self.names.kind);
                let why = format!(
                    "conversion webhook for {group}/{stored}, Kind={kind} failed: this server calls no webhooks; \
                     use version {stored}"
                );
                Err(Error::new(500, "", why))
            }
            _ => Ok(()),
        }
    }
}

impl Version {
    fn read(version: &Value, definition: &Definition, shared: &Shared) -> Version {
        let flag = |name| version.get(name).and_then(Value::as_bool).unwrap_or_default();
        let name = version.str_at(&["name"]);
        let (group, kind) = (&definition.group, &definition.names.kind);
        let warning = match version.str_at(&["deprecationWarning"]) {
            "" => format!("{group}/{name} {kind} is deprecated"),
            text => text.to_owned(),
        };
        let selectable = version.list_at(&["selectableFields"]).iter().filter_map(|field| {
            let path = field.str_at(&["jsonPath"]);
            let name = path.strip_prefix('.').unwrap_or(path);
            Some((name.into(), JsonPath::parse(&format!("{{{path}}}")).ok()?))
        });
        Version {
            name: name.into(),
            group: group.clone(),
            kind: kind.clone(),
            namespaced: definition.namespaced,
            served: flag("served"),
            storage: flag("storage"),
            deprecation_warning: flag("deprecated").then_some(warning),
            status: version
                .at(&["subresources", "status"])
                .is_some_and(|status| !status.is_null()),
            scale: version.at(&["subresources", "scale"]).and_then(Scale::read),
            columns: version
                .list_at(&["additionalPrinterColumns"])
                .iter()
                .map(columns::read)
                .collect(),
            selectable: selectable.collect(),
            schema: version
                .at(&["schema", "openAPIV3Schema"])
                .map(Node::read)
                .unwrap_or_default(),
            shared: shared.clone(),
        }
    }

    /// Drops what the schema does not know and fills in defaults, as for an object that was read from the store.
    pub fn complete(&self, object: &mut Value) {
        self.prune(object);
        super::default::fill(object, &self.schema);
    }

    fn prune(&self, object: &mut Value) {
        super::prune::prune(object, &self.schema);
        super::default::drop_nulls(object, Some(&self.schema));
    }
}
