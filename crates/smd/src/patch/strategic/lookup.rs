//! What the schema says about a field.

use super::failed;
use crate::patch::Error;
use crate::schema::{Field, Shape, Strategy};
use crate::{Schema, TypeId};

/// A list field: the type of its elements and how they are told apart.
pub(super) struct ListField<'s> {
    pub(super) item: TypeId,
    pub(super) merge_key: &'s str,
    pub(super) strategy: Strategy,
}

/// The field `key` of the type `ty`.
pub(super) fn field<'s>(schema: &'s Schema, ty: TypeId, key: &str) -> Result<&'s Field, Error> {
    let ty = schema.get(ty);
    match &ty.shape {
        Shape::Struct(fields) => fields
            .field(key)
            // Go matches names whatever their case when there is no exact match.
            .or_else(|| {
                fields
                    .fields
                    .iter()
                    .find(|field| field.name.eq_ignore_ascii_case(key))
            })
            .ok_or_else(|| unknown(&ty.name, key)),
        Shape::Map { .. } => Err(failed(
            "merging an object in json but data type is not struct, instead is: map",
        )),
        Shape::List(_) => Err(failed(
            "merging an object in json but data type is not struct, instead is: slice",
        )),
        Shape::Scalar(_) | Shape::Deduced | Shape::Atomic => Err(unknown(&ty.name, key)),
    }
}

/// The list field `key` of the type `ty`.
pub(super) fn list<'s>(schema: &'s Schema, ty: TypeId, key: &str) -> Result<ListField<'s>, Error> {
    let field = field(schema, ty, key)?;
    let Shape::List(list) = &schema.get(field.ty).shape else {
        return Err(failed("expected slice or array type, but got: struct"));
    };
    if matches!(schema.get(list.item).shape, Shape::List(_)) {
        return Err(failed("unexpected slice of slice"));
    }
    Ok(ListField {
        item: list.item,
        merge_key: &list.merge_key,
        strategy: field.strategy,
    })
}

/// Go's name for the kind of the type, for messages.
pub(super) fn kind_name(schema: &Schema, ty: TypeId) -> &'static str {
    match schema.get(ty).shape {
        Shape::Struct(_) | Shape::Deduced | Shape::Atomic => "struct",
        Shape::Map { .. } => "map",
        Shape::List(_) => "slice",
        Shape::Scalar(_) => "string",
    }
}

fn unknown(type_name: &str, key: &str) -> Error {
    let name = type_name.rsplit('.').next().unwrap_or_default();
    failed(format!(
        "unable to find api field in struct {name} for the json field {key:?}"
    ))
}
