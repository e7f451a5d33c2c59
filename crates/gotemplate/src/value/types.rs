//! The Go types that values have.

use std::fmt;

/// The integer types of Go. A value keeps its own, as functions and messages tell them apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum IntType {
    /// `int`, which has 64 bits.
    Int,
    /// `int8`
    Int8,
    /// `int16`
    Int16,
    /// `int32`, which is also `rune`.
    Int32,
    /// `int64`
    Int64,
    /// `uint`, which has 64 bits.
    Uint,
    /// `uint8`, which is also `byte`.
    Uint8,
    /// `uint16`
    Uint16,
    /// `uint32`
    Uint32,
    /// `uint64`
    Uint64,
}

impl IntType {
    /// The name in Go.
    pub fn name(self) -> &'static str {
        match self {
            IntType::Int => "int",
            IntType::Int8 => "int8",
            IntType::Int16 => "int16",
            IntType::Int32 => "int32",
            IntType::Int64 => "int64",
            IntType::Uint => "uint",
            IntType::Uint8 => "uint8",
            IntType::Uint16 => "uint16",
            IntType::Uint32 => "uint32",
            IntType::Uint64 => "uint64",
        }
    }

    /// Whether it has negative numbers.
    pub fn is_signed(self) -> bool {
        matches!(
            self,
            IntType::Int | IntType::Int8 | IntType::Int16 | IntType::Int32 | IntType::Int64
        )
    }

    /// The kind, which is the type itself.
    pub fn kind(self) -> Kind {
        match self {
            IntType::Int => Kind::Int,
            IntType::Int8 => Kind::Int8,
            IntType::Int16 => Kind::Int16,
            IntType::Int32 => Kind::Int32,
            IntType::Int64 => Kind::Int64,
            IntType::Uint => Kind::Uint,
            IntType::Uint8 => Kind::Uint8,
            IntType::Uint16 => Kind::Uint16,
            IntType::Uint32 => Kind::Uint32,
            IntType::Uint64 => Kind::Uint64,
        }
    }
}

/// What Go's `reflect` calls the kind of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "they are Go's words")]
pub enum Kind {
    Invalid,
    Bool,
    Int,
    Int8,
    Int16,
    Int32,
    Int64,
    Uint,
    Uint8,
    Uint16,
    Uint32,
    Uint64,
    Float64,
    Complex128,
    Interface,
    Map,
    Pointer,
    Slice,
    String,
    Struct,
}

impl Kind {
    /// The name that `kindOf` gives.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Invalid => "invalid",
            Kind::Bool => "bool",
            Kind::Int => "int",
            Kind::Int8 => "int8",
            Kind::Int16 => "int16",
            Kind::Int32 => "int32",
            Kind::Int64 => "int64",
            Kind::Uint => "uint",
            Kind::Uint8 => "uint8",
            Kind::Uint16 => "uint16",
            Kind::Uint32 => "uint32",
            Kind::Uint64 => "uint64",
            Kind::Float64 => "float64",
            Kind::Complex128 => "complex128",
            Kind::Interface => "interface",
            Kind::Map => "map",
            Kind::Pointer => "ptr",
            Kind::Slice => "slice",
            Kind::String => "string",
            Kind::Struct => "struct",
        }
    }
}

/// A Go type: of a parameter, or of the elements of a list or map.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Type {
    /// `interface {}`: anything, and `nil`.
    Any,
    /// `reflect.Value`, as the functions take that are part of the language: anything, and also what is no value at all.
    Reflect,
    /// `bool`
    Bool,
    /// One of the integer types.
    Int(IntType),
    /// `float64`
    Float,
    /// `string`
    String,
    /// A slice of elements of a type.
    List(&'static Type),
    /// A map from strings to a type.
    Map(&'static Type),
    /// A type that an embedder has brought, by its name in Go.
    Named(&'static str),
}

impl Type {
    /// `int`
    pub const INT: Type = Type::Int(IntType::Int);
    /// `int64`
    pub const INT64: Type = Type::Int(IntType::Int64);
    /// `[]interface {}`
    pub const LIST: Type = Type::List(&Type::Any);
    /// `[]string`
    pub const STRINGS: Type = Type::List(&Type::String);
    /// `[]uint8`
    pub const BYTES: Type = Type::List(&Type::Int(IntType::Uint8));
    /// `map[string]interface {}`
    pub const MAP: Type = Type::Map(&Type::Any);

    /// Whether Go has `nil` of it.
    pub fn can_be_nil(self) -> bool {
        matches!(self, Type::Any | Type::Reflect | Type::List(_) | Type::Map(_))
            || matches!(self, Type::Named(name) if name.starts_with('*'))
    }
}

impl fmt::Display for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Type::Any => f.write_str("interface {}"),
            Type::Reflect => f.write_str("reflect.Value"),
            Type::Bool => f.write_str("bool"),
            Type::Int(int) => f.write_str(int.name()),
            Type::Float => f.write_str("float64"),
            Type::String => f.write_str("string"),
            Type::List(element) => write!(f, "[]{element}"),
            Type::Map(element) => write!(f, "map[string]{element}"),
            Type::Named(name) => f.write_str(name),
        }
    }
}
