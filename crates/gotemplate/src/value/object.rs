//! Things with methods and fields that embedders bring: `.Files`, `.Capabilities`, times, versions.

use std::any::Any;

use arcstr::ArcStr;

use super::{Kind, Type, Value};
use crate::function::Function;

/// A Go value that is neither a plain scalar nor a plain list or map.
///
/// Templates look a name up among the methods first, then among the fields (of a struct) or keys (of a map), as Go does.
pub trait Object: Send + Sync + 'static {
    /// The type as `%T` prints it: `time.Time`, `*semver.Version`, `engine.files`.
    fn type_name(&self) -> &'static str;

    /// What it is to Go: decides on truth, on ranging, on what a missing name means.
    fn kind(&self) -> Kind {
        Kind::Struct
    }

    /// The method of that name. It finds the object in [`Call::receiver`](crate::Call::receiver).
    fn method(&self, name: &str) -> Option<&Function> {
        let _ = name;
        None
    }

    /// The field of a struct, or the key of a map.
    fn field(&self, name: &str) -> Option<Value> {
        let _ = name;
        None
    }

    /// The fields of a struct in the order in which Go has them, or the entries of a map in the order of their keys.
    fn fields(&self) -> Vec<(ArcStr, Value)> {
        Vec::new()
    }

    /// The items of a slice.
    fn items(&self) -> Vec<Value> {
        Vec::new()
    }

    /// The number of fields or items, of a map or slice.
    fn count(&self) -> usize {
        match self.kind() {
            Kind::Slice => self.items().len(),
            _ => self.fields().len(),
        }
    }

    /// The bytes of text that [`Object::fields`] and [`Object::items`] copy: they are work for each function that is given the object.
    fn weight(&self) -> usize {
        0
    }

    /// The type of the elements, of a map or slice.
    fn element(&self) -> Type {
        Type::Any
    }

    /// Whether Go lets it be given to a function that takes that type: a named type may be given where the map or slice type
    /// is expected that it is made of.
    fn is_assignable_to(&self, expected: Type) -> bool {
        match (self.kind(), expected) {
            (Kind::Map, Type::Map(element)) | (Kind::Slice, Type::List(element)) => {
                self.element() == *element
            }
            _ => false,
        }
    }

    /// What its `String` or `Error` method gives, where the type has one: `%v` and `%s` print that.
    fn text(&self) -> Option<String> {
        None
    }

    /// The plain value below it, for kinds that are scalars (`time.Duration` is an `int64`).
    fn scalar(&self) -> Option<Value> {
        None
    }

    /// What Go's JSON encoder writes in its place, where that is neither its fields nor its items nor its scalar: a
    /// `time.Time` is a string. `None` takes [`Object::fields`], [`Object::items`] or [`Object::scalar`].
    fn json(&self) -> Option<Value> {
        None
    }

    /// Whether it is equal to another object, for Go's `==` and `reflect.DeepEqual`.
    fn equals(&self, other: &dyn Object) -> bool {
        let _ = other;
        false
    }

    /// For those that know the type.
    fn as_any(&self) -> &dyn Any;
}
