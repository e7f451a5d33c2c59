//! How each served resource is handled: its strategy, its types, and how its stored form relates to it.

use std::collections::HashMap;
use std::sync::Arc;

use bytes::{BufMut, Bytes, BytesMut};
use model::{Str, Value, json};
use smd::schema::Gvk;
use smd::{Schema, TypeId};

use crate::builtin::{self, convert};
use crate::catalog::{Catalog, Origin, Resource};
use crate::custom::Custom;
use crate::ownership::Resets;
use crate::store::{Meta, Object};
use crate::strategy::Strategy;
use crate::table::CustomColumn;

/// What is served whatever definitions there are.
pub(crate) struct Builtins {
    pub catalog: Catalog,
    pub kinds: builtin::Kinds,
}

/// A snapshot of everything served. It never changes; a new or changed CustomResourceDefinition makes a new one.
pub(crate) struct Kinds {
    pub catalog: Catalog,
    served: HashMap<(Str, Str, Str), Arc<Served>>,
}

/// One version of a resource.
pub(crate) struct Served {
    pub resource: Arc<Resource>,
    pub strategy: Arc<dyn Strategy>,
    pub schema: Arc<Schema>,
    pub ty: TypeId,
    /// The types of the kind's other versions.
    pub others: Vec<OtherVersion>,
    /// What writes set back.
    pub resets: Resets,
    /// `apps/v1`.
    pub api_version: Str,
    /// The definition, for custom resources.
    pub definition: Option<Arc<Custom>>,
    /// The kind in the version it is served in.
    pub gvk: Gvk,
    /// The version of a built-in kind that its objects are stored in. Custom resources have one form for all versions.
    stored_as: Gvk,
    /// `{"apiVersion":"apps/v1","kind":"Deployment",`: what turns stored bytes into an answer.
    prefix: Bytes,
}

/// A kind's type in another version than the one that is served.
pub(crate) struct OtherVersion {
    pub api_version: Str,
    pub schema: Arc<Schema>,
    pub ty: TypeId,
}

impl Kinds {
    /// The built-in resources and those of `definitions`.
    pub(crate) fn new(
        schema: &Arc<Schema>,
        builtins: &Builtins,
        definitions: HashMap<Str, Arc<Custom>>,
    ) -> Self {
        let custom = definitions.values().map(|definition| definition.catalog_entry());
        let catalog = builtins.catalog.with_custom(custom);
        let mut served = HashMap::new();
        // Reviews and the like are answered, not stored.
        for resource in catalog.iter().filter(|resource| resource.allows("get")) {
            let entry = match resource.origin {
                Origin::Builtin => Served::builtin(schema, &builtins.kinds, resource),
                Origin::Custom => Served::custom(resource, &definitions),
            };
            if let Some(entry) = entry {
                let key = (
                    resource.group.clone(),
                    resource.version.clone(),
                    resource.plural.clone(),
                );
                served.insert(key, Arc::new(entry));
            }
        }
        Kinds { catalog, served }
    }

    /// How the resource at this path is handled.
    pub(crate) fn get(&self, group: &str, version: &str, plural: &str) -> Option<&Arc<Served>> {
        self.served.get(&(group.into(), version.into(), plural.into()))
    }

    /// How objects of this `apiVersion` and kind are handled.
    pub(crate) fn by_kind(&self, api_version: &str, kind: &str) -> Option<&Arc<Served>> {
        let (group, version) = split_api_version(api_version);
        let resource = self.catalog.by_kind(group, version, kind)?;
        self.get(group, version, &resource.plural)
    }

    /// One version of each stored resource: the one its objects are stored in.
    pub(crate) fn stored(&self) -> impl Iterator<Item = &Arc<Served>> {
        self.catalog.iter().filter_map(|resource| {
            let served = self.get(&resource.group, &resource.version, &resource.plural)?;
            served.stands_for_storage().then_some(served)
        })
    }
}

/// `apps/v1` as group and version; the core group is empty.
pub(crate) fn split_api_version(api_version: &str) -> (&str, &str) {
    api_version.split_once('/').unwrap_or(("", api_version))
}

impl Served {
    fn builtin(schema: &Arc<Schema>, kinds: &builtin::Kinds, resource: &Arc<Resource>) -> Option<Self> {
        let Resource {
            group, version, kind, ..
        } = &**resource;
        let strategy = kinds.strategy(group, version, kind)?;
        let ty = schema.kind(group, version, kind)?;
        let mut served = Served::new(resource, strategy, Arc::clone(schema), ty, None);
        let others = schema
            .kinds
            .iter()
            .filter(|(gvk, _)| gvk.group == *group && gvk.kind == *kind && gvk.version != *version);
        served.others = others
            .map(|(gvk, ty)| OtherVersion {
                api_version: crate::catalog::api_version(&gvk.group, &gvk.version),
                schema: Arc::clone(schema),
                ty: *ty,
            })
            .collect();
        Some(served)
    }

    fn custom(resource: &Arc<Resource>, definitions: &HashMap<Str, Arc<Custom>>) -> Option<Self> {
        let name = format!("{}.{}", resource.plural, resource.group);
        let custom = definitions.get(name.as_str())?;
        let typed = custom.version(&resource.version)?;
        let strategy: Arc<dyn Strategy> = Arc::clone(&typed.version) as Arc<dyn Strategy>;
        let schema = Arc::clone(&typed.schema);
        let mut served = Served::new(resource, strategy, schema, typed.ty, Some(Arc::clone(custom)));
        let others = custom
            .other_versions(&resource.version)
            .map(|other| OtherVersion {
                api_version: other.api_version.clone(),
                schema: Arc::clone(&other.schema),
                ty: other.ty,
            });
        served.others = others.collect();
        Some(served)
    }

    fn new(
        resource: &Arc<Resource>,
        strategy: Arc<dyn Strategy>,
        schema: Arc<Schema>,
        ty: TypeId,
        definition: Option<Arc<Custom>>,
    ) -> Self {
        let (version, kind) = (resource.api_version(), &resource.kind);
        // Go writes the fields of built-in types in their order, and maps, as which it has custom resources, sorted.
        let prefix = match resource.origin {
            Origin::Builtin => format!("{{\"kind\":\"{kind}\",\"apiVersion\":\"{version}\","),
            Origin::Custom => format!("{{\"apiVersion\":\"{version}\",\"kind\":\"{kind}\","),
        };
        let Resource {
            group, version, kind, ..
        } = &**resource;
        let gvk = Gvk {
            group: group.clone(),
            version: version.clone(),
            kind: kind.clone(),
        };
        let stored_as = if definition.is_some() {
            gvk.clone()
        } else {
            convert::stored_as(&gvk)
        };
        let resets = match definition.is_some() {
            true => Resets::custom(resource.subresource("status").is_some()),
            false => Resets::builtin(&gvk),
        };
        Served {
            resource: Arc::clone(resource),
            strategy,
            schema,
            ty,
            others: Vec::new(),
            resets,
            api_version: resource.api_version(),
            definition,
            gvk,
            stored_as,
            prefix: prefix.into(),
        }
    }

    /// Whether objects are stored in this version's form, byte for byte.
    fn is_stored_form(&self) -> bool {
        self.gvk == self.stored_as
            && !self
                .definition
                .as_ref()
                .is_some_and(|custom| custom.has_several_versions())
    }

    /// Whether this is the version by which the stored resource is known: one for each.
    fn stands_for_storage(&self) -> bool {
        match &self.definition {
            Some(custom) => custom.first_served() == Some(&self.resource.version),
            None => self.gvk == self.stored_as,
        }
    }

    /// A stored object as this version shows it, with `apiVersion` and `kind`.
    pub(crate) fn show(&self, object: &Object) -> Value {
        self.dress(object.value())
    }

    /// Gives a value in stored form this version's form, `apiVersion` and `kind`.
    pub(crate) fn dress(&self, mut value: Value) -> Value {
        if self.gvk != self.stored_as {
            convert::convert(&mut value, &self.stored_as, &self.gvk);
        }
        let map = value.make_object();
        map.insert("apiVersion", self.api_version.clone());
        map.insert("kind", self.resource.kind.clone());
        if let Some(custom) = self
            .definition
            .as_ref()
            .filter(|custom| custom.has_several_versions())
            && let Some(typed) = custom.version(&self.resource.version)
        {
            // What another version wrote has the defaults of the stored one, and only what this one knows.
            custom.show(&mut value, &typed.version);
        }
        value
    }

    /// The bytes of [`Served::show`].
    pub(crate) fn bytes(&self, object: &Object) -> Bytes {
        if !self.is_stored_form() {
            return json::to_vec(&self.show(object)).into();
        }
        let mut bytes = BytesMut::with_capacity(self.prefix.len() + object.bytes.len() + 1);
        self.append(object, &mut bytes);
        bytes.freeze()
    }

    /// Appends the bytes of [`Served::show`].
    pub(crate) fn append(&self, object: &Object, out: &mut BytesMut) {
        if !self.is_stored_form() {
            out.put_slice(&json::to_vec(&self.show(object)));
            return;
        }
        out.put_slice(&self.prefix);
        out.put_slice(&object.bytes[1..]);
    }

    /// Appends an element of a list: built-in kinds leave `apiVersion` and `kind` out there.
    pub(crate) fn append_item(&self, object: &Object, out: &mut BytesMut) {
        if self.definition.is_some() || !self.is_stored_form() {
            return self.append(object, out);
        }
        out.put_slice(&object.bytes);
    }

    /// The stored form of an object of this version, and what is kept beside it.
    pub(crate) fn stored(&self, mut value: Value) -> (Value, Meta) {
        if let Some(custom) = &self.definition
            && let Some(typed) = custom.version(&self.resource.version)
        {
            custom.store(&mut value, &typed.version);
        }
        if self.gvk == self.stored_as {
            let meta = Meta::of(&value, self.strategy.selectable(&value));
            return (value, meta);
        }
        convert::convert(&mut value, &self.gvk, &self.stored_as);
        let meta = Meta::of(&value, builtin::select::values(&self.stored_as, &value));
        (value, meta)
    }

    /// Where the number of wanted replicas is.
    pub(crate) fn replicas_path(&self) -> Vec<&str> {
        match &self.definition {
            Some(definition) => definition.replicas_path(&self.resource.version),
            None => vec!["spec", "replicas"],
        }
    }

    /// The columns a custom resource is printed with.
    pub(crate) fn columns(&self) -> Option<&[CustomColumn]> {
        let typed = self.definition.as_ref()?.version(&self.resource.version)?;
        Some(&typed.version.columns)
            .filter(|columns| !columns.is_empty())
            .map(Vec::as_slice)
    }

    /// What clients of a deprecated version are told.
    pub(crate) fn deprecation(&self) -> Option<String> {
        self.definition.as_ref()?.deprecation(&self.resource.version)
    }
}
