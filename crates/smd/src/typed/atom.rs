//! What a type makes of one value: a scalar, a list or a map.

use model::{Str, Value};

use crate::schema::{Field, Fields, Relation, Scalar, Schema, Shape, Type, TypeId};

/// A type of a schema.
#[derive(Clone, Copy, Debug)]
pub struct TypeRef<'s> {
    pub(crate) schema: &'s Schema,
    pub(crate) ty: &'s Type,
}

/// The type of fields that no schema describes: maps merge key by key, lists are atomic.
static DEDUCED: Type = untyped(Shape::Deduced);

/// The type of what is inside of lists and maps that are owned as a whole.
static OPAQUE: Type = untyped(Shape::Atomic);

static NO_FIELDS: Fields = Fields::none();

static ATOMIC: Relation = Relation::Atomic;

const fn untyped(shape: Shape) -> Type {
    Type {
        name: Str::const_new(""),
        shape,
        format: Str::const_new(""),
        values: Vec::new(),
    }
}

/// A value's kind with what the type says about that kind.
#[derive(Clone, Copy)]
pub(crate) enum Atom<'s> {
    Scalar(ScalarKind),
    List(ListAtom<'s>),
    Map(MapAtom<'s>),
}

/// The scalars that structured merge tells apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ScalarKind {
    Numeric,
    String,
    Boolean,
    Untyped,
}

#[derive(Clone, Copy)]
pub(crate) struct ListAtom<'s> {
    pub(crate) item: TypeRef<'s>,
    pub(crate) relation: &'s Relation,
}

#[derive(Clone, Copy)]
pub(crate) struct MapAtom<'s> {
    schema: &'s Schema,
    fields: &'s Fields,
    /// The type of what is no declared field; `None` where there can be no other.
    pub(crate) element: Option<TypeRef<'s>>,
    pub(crate) atomic: bool,
}

impl<'s> TypeRef<'s> {
    /// The type at `id`.
    pub fn new(schema: &'s Schema, id: TypeId) -> Self {
        TypeRef {
            schema,
            ty: schema.get(id),
        }
    }

    /// The type that is deduced from the value.
    pub(crate) fn deduced(schema: &'s Schema) -> Self {
        TypeRef { schema, ty: &DEDUCED }
    }

    fn opaque(self) -> Self {
        TypeRef {
            schema: self.schema,
            ty: &OPAQUE,
        }
    }

    /// What this type makes of `value`. Where the type allows several kinds, null and no value count as maps.
    pub(crate) fn atom(self, value: Option<&Value>) -> Atom<'s> {
        match &self.ty.shape {
            // OpenAPI describes these without a type, so that the API server takes them for anything.
            Shape::Scalar(Scalar::IntOrString) | Shape::Deduced => self.any(value, false),
            Shape::Atomic => self.any(value, true),
            Shape::Scalar(scalar) => Atom::Scalar(self.scalar(*scalar)),
            Shape::List(list) => Atom::List(ListAtom {
                item: TypeRef::new(self.schema, list.item),
                relation: &list.relation,
            }),
            Shape::Map { item, atomic } => {
                Atom::Map(self.map(&NO_FIELDS, Some(TypeRef::new(self.schema, *item)), *atomic))
            }
            Shape::Struct(fields) => {
                let element = fields.open.then(|| TypeRef::deduced(self.schema));
                Atom::Map(self.map(&fields.fields, element, fields.atomic))
            }
        }
    }

    fn any(self, value: Option<&Value>, atomic: bool) -> Atom<'s> {
        match value {
            None | Some(Value::Null | Value::Object(_)) => {
                let element = if atomic {
                    self.opaque()
                } else {
                    TypeRef::deduced(self.schema)
                };
                Atom::Map(self.map(&NO_FIELDS, Some(element), atomic))
            }
            Some(Value::Array(_)) => Atom::List(ListAtom {
                item: self.opaque(),
                relation: &ATOMIC,
            }),
            Some(_) => Atom::Scalar(ScalarKind::Untyped),
        }
    }

    fn map(self, fields: &'s Fields, element: Option<TypeRef<'s>>, atomic: bool) -> MapAtom<'s> {
        MapAtom {
            schema: self.schema,
            fields,
            element,
            atomic,
        }
    }

    fn scalar(self, scalar: Scalar) -> ScalarKind {
        match scalar {
            Scalar::Integer | Scalar::Number => ScalarKind::Numeric,
            Scalar::Boolean => ScalarKind::Boolean,
            Scalar::String if matches!(self.ty.format.as_str(), "" | "byte") => ScalarKind::String,
            Scalar::String | Scalar::Quantity | Scalar::IntOrString => ScalarKind::Untyped,
        }
    }
}

impl Atom<'_> {
    pub(crate) fn is_same_kind(&self, other: &Atom<'_>) -> bool {
        std::mem::discriminant(self) == std::mem::discriminant(other)
    }
}

impl<'s> MapAtom<'s> {
    /// The declared field called `name`.
    pub(crate) fn field(&self, name: &str) -> Option<&'s Field> {
        self.fields.find(name)
    }

    /// The type of the declared field called `name`.
    pub(crate) fn declared(&self, name: &str) -> Option<TypeRef<'s>> {
        self.field(name).map(|field| TypeRef::new(self.schema, field.ty))
    }

    /// The type of what stands under `name`; `None` where nothing may stand there.
    pub(crate) fn type_of(&self, name: &str) -> Option<TypeRef<'s>> {
        self.declared(name).or(self.element)
    }

    /// The type of what stands under `name`, in a value that may hold what the type does not know.
    pub(crate) fn type_or_deduced(&self, name: &str) -> TypeRef<'s> {
        self.type_of(name)
            .unwrap_or_else(|| TypeRef::deduced(self.schema))
    }

    /// Whether nothing is known about what is in the map.
    pub(crate) fn is_deduced(&self) -> bool {
        self.fields.is_empty()
            && self
                .element
                .is_some_and(|element| matches!(element.ty.shape, Shape::Deduced))
    }
}
