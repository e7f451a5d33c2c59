//! The types that merges, defaulting and validation work against, as one table.

mod compact;
mod fields;
mod structural;

use std::collections::HashMap;

pub use compact::Error;
pub use fields::Fields;
pub use structural::UnknownFields;

use model::{Str, Value};

/// A type's place in its [`Schema`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TypeId(pub u32);

/// A table of types that refer to one another by [`TypeId`].
#[derive(Clone, Debug, Default)]
pub struct Schema {
    /// The types; a [`TypeId`] is an index into it.
    pub types: Vec<Type>,
    /// The type of an object by group, version and kind.
    pub kinds: HashMap<Gvk, TypeId>,
    /// The types that have a name, by it. A [`Type`] that has a name but is not the one listed here is a variant of
    /// that type in one place (a reference with `x-kubernetes-map-type`).
    pub names: HashMap<Str, TypeId>,
}

/// Group, version and kind; the core group is empty.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Gvk {
    /// API group, empty for the core group.
    pub group: Str,
    /// Version in the group.
    pub version: Str,
    /// Kind.
    pub kind: Str,
}

/// One type.
#[derive(Clone, Debug, Default)]
pub struct Type {
    /// Its name in OpenAPI (`io.k8s.api.apps.v1.Deployment`); empty for types that stand inline.
    pub name: Str,
    /// What values of it look like.
    pub shape: Shape,
    /// OpenAPI `format`: `int32`, `date-time`, `byte`, `quantity`, ...
    pub format: Str,
    /// Allowed values; empty where any is.
    pub values: Vec<Str>,
}

/// What values of a type look like.
#[derive(Clone, Debug, Default)]
pub enum Shape {
    /// Anything, typed by what is found: maps merge key by key, lists are atomic.
    #[default]
    Deduced,
    /// Anything, owned as a whole.
    Atomic,
    /// A single value.
    Scalar(Scalar),
    /// A list.
    List(ListType),
    /// A map from any string to one type.
    Map {
        /// Type of the values.
        item: TypeId,
        /// Owned as a whole (`x-kubernetes-map-type: atomic`).
        atomic: bool,
    },
    /// A map with known fields.
    Struct(StructType),
}

/// The kinds of single values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scalar {
    /// A string.
    String,
    /// A whole number.
    Integer,
    /// Any number.
    Number,
    /// A boolean.
    Boolean,
    /// A whole number or a string (`x-kubernetes-int-or-string`).
    IntOrString,
    /// A string or a number that is an amount (`resource.Quantity`).
    Quantity,
}

/// A list and how its elements are told apart.
#[derive(Clone, Debug)]
pub struct ListType {
    /// Type of the elements.
    pub item: TypeId,
    /// How two lists are merged by server-side apply.
    pub relation: Relation,
    /// `x-kubernetes-patch-merge-key`: how strategic merge tells elements apart; empty where it does not.
    pub merge_key: Str,
}

/// How server-side apply merges lists.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Relation {
    /// Owned as a whole.
    Atomic,
    /// Elements are told apart by their value.
    Set,
    /// Elements are maps told apart by these fields.
    Keys(Vec<Str>),
}

/// A map with known fields.
#[derive(Clone, Debug, Default)]
pub struct StructType {
    /// The fields, sorted by name.
    pub fields: Fields,
    /// Owned as a whole (`x-kubernetes-map-type: atomic`).
    pub atomic: bool,
    /// Fields that are not listed are kept (`x-kubernetes-preserve-unknown-fields`) and typed by what is found.
    pub open: bool,
}

/// A field of a [`StructType`].
#[derive(Clone, Debug)]
pub struct Field {
    /// Its JSON name.
    pub name: Str,
    /// Its type.
    pub ty: TypeId,
    /// It must be there.
    pub required: bool,
    /// What OpenAPI says it is when missing. Server-side apply needs it for list keys (`protocol: TCP`). An empty map
    /// tells that the real server always writes this struct, even when nothing is set in it.
    pub default: Option<Value>,
    /// `x-kubernetes-patch-strategy`.
    pub strategy: Strategy,
}

/// How strategic merge treats a field.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Strategy {
    /// Lists are merged by their key or value.
    pub merge: bool,
    /// Keys missing from `$retainKeys` are dropped.
    pub retain_keys: bool,
    /// The value is replaced as a whole, also where it is a map.
    pub replace: bool,
}

impl Schema {
    /// The types of Kubernetes' own groups.
    pub fn builtin() -> Schema {
        compact::parse(include_bytes!("../../data/kubernetes.json")).expect("a test reads the embedded table")
    }

    /// The type called `name` in OpenAPI.
    pub fn named(&self, name: &str) -> Option<TypeId> {
        self.names.get(name).copied()
    }

    /// The type at `id`.
    pub fn get(&self, id: TypeId) -> &Type {
        &self.types[id.0 as usize]
    }

    /// The type of objects of `group`, `version` and `kind`.
    pub fn kind(&self, group: &str, version: &str, kind: &str) -> Option<TypeId> {
        let gvk = Gvk {
            group: group.into(),
            version: version.into(),
            kind: kind.into(),
        };
        self.kinds.get(&gvk).copied()
    }
}

impl StructType {
    /// The field called `name`.
    pub fn field(&self, name: &str) -> Option<&Field> {
        self.fields.find(name)
    }
}
