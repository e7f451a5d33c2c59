//! The types of expressions, as far as they are known before anything is evaluated.

use crate::crd::schema::{Kind, Node};
use crate::crd::validate::Format;

/// Fields that every object has, whatever its schema says.
pub(super) const META: [&str; 3] = ["apiVersion", "kind", "metadata"];

/// The type of an expression.
#[derive(Clone, Debug)]
pub(super) enum Type<'n> {
    /// Not known.
    Dyn,
    Null,
    Bool,
    Int,
    Uint,
    Double,
    Str,
    Bytes,
    Timestamp,
    Duration,
    List(Box<Type<'n>>),
    Map(Box<Type<'n>>),
    /// A map with known fields. The flag tells the root of a resource.
    Object(&'n Node, bool),
    /// The metadata of a resource, of which only the names are to be seen.
    Meta,
    Optional(Box<Type<'n>>),
}

impl<'n> Type<'n> {
    /// The type of values of a schema.
    pub(super) fn of(node: &'n Node, root: bool) -> Type<'n> {
        if node.int_or_string {
            return Type::Dyn;
        }
        let format = node.checks.as_ref().and_then(|checks| checks.format);
        match (node.kind, format) {
            (Kind::Boolean, _) => Type::Bool,
            (Kind::Integer, _) => Type::Int,
            (Kind::Number, _) => Type::Double,
            (Kind::String, Some(Format::Byte)) => Type::Bytes,
            (Kind::String, Some(Format::Date | Format::DateTime)) => Type::Timestamp,
            (Kind::String, Some(Format::Duration)) => Type::Duration,
            (Kind::String, _) => Type::Str,
            (Kind::Array, _) => Type::List(Box::new(
                node.items
                    .as_deref()
                    .map_or(Type::Dyn, |items| Type::of(items, false)),
            )),
            (Kind::Object, _) if !node.fields.is_empty() || root || node.embedded => {
                Type::Object(node, root || node.embedded)
            }
            (Kind::Object, _) => Type::Map(Box::new(
                node.additional
                    .node()
                    .map_or(Type::Dyn, |node| Type::of(node, false)),
            )),
            (Kind::Any, _) => Type::Dyn,
        }
    }

    /// The type of a field; `None` where there is no such field.
    pub(super) fn field(&self, name: &str) -> Option<Type<'n>> {
        match self {
            Type::Object(node, root) => match node.field(name) {
                Some(_) if *root && name == "metadata" => Some(Type::Meta),
                Some(field) => Some(Type::of(field, false)),
                None if *root && name == "metadata" => Some(Type::Meta),
                None if *root && META.contains(&name) => Some(Type::Str),
                None => None,
            },
            Type::Meta => matches!(name, "name" | "generateName").then_some(Type::Str),
            Type::Map(value) => Some(value.as_ref().clone()),
            Type::Optional(inner) => inner.field(name).map(|field| Type::Optional(Box::new(field))),
            Type::Dyn => Some(Type::Dyn),
            _ => None,
        }
    }

    /// The type's name in messages; `None` where it is not known, or is a name that nobody wrote.
    pub(super) fn name(&self) -> Option<String> {
        Some(match self {
            Type::Null => "null".into(),
            Type::Bool => "bool".into(),
            Type::Int => "int".into(),
            Type::Uint => "uint".into(),
            Type::Double => "double".into(),
            Type::Str => "string".into(),
            Type::Bytes => "bytes".into(),
            Type::Timestamp => "timestamp".into(),
            Type::Duration => "duration".into(),
            Type::List(item) => format!("list({})", item.name()?),
            Type::Map(value) => format!("map(string, {})", value.name()?),
            Type::Dyn | Type::Object(..) | Type::Meta | Type::Optional(_) => return None,
        })
    }
}

/// The name of a type that an expression may use as a value.
pub(super) fn named(name: &str) -> Option<&'static str> {
    const NAMES: [&str; 9] = [
        "bool",
        "int",
        "uint",
        "double",
        "string",
        "bytes",
        "list",
        "map",
        "null_type",
    ];
    NAMES.into_iter().find(|known| *known == name)
}

/// Whether `name` stands before a dot as part of a function's name.
pub(super) fn is_namespace(name: &str) -> bool {
    matches!(
        name,
        "lists" | "sets" | "format" | "ip" | "jsonpatch" | "optional"
    )
}

/// Functions that are true or false.
const TRUTHS: &str = "startsWith endsWith contains matches isURL isIP isCIDR isQuantity isSemver bool isSorted \
    hasValue containsIP containsCIDR isGreaterThan isLessThan isInteger isUnspecified isLoopback \
    isLinkLocalMulticast isLinkLocalUnicast isGlobalUnicast sets.contains sets.equivalent sets.intersects \
    ip.isCanonical all exists existsOne exists_one";

/// Functions that give whole numbers.
const NUMBERS: &str = "size int lastIndexOf indexOf asInteger compareTo prefixLength family major minor patch \
    getFullYear getMonth getDayOfYear getDayOfMonth getDate getDayOfWeek getHours getMinutes getSeconds";

/// Functions that give texts.
const TEXTS: &str = "string lowerAscii upperAscii trim replace substring join charAt format find getScheme getHost \
    getHostname getPort getEscapedPath jsonpatch.escapeKey";

/// Functions whose result is not known before they are called, and operators.
const OTHERS: &str = "type dyn value or orValue optional.of optional.none optional.ofNonZeroValue optMap optFlatMap \
    min max sum sub add sign quantity semver ip cidr url getQuery findAll masked first last flatten distinct reverse \
    slice sort lists.range asApproximateFloat getMilliseconds bytes uint validate format.named format.byte format.date \
    format.datetime format.dns1035Label format.dns1035LabelPrefix format.dns1123Label format.dns1123LabelPrefix \
    format.dns1123Subdomain format.dns1123SubdomainPrefix format.labelValue format.qualifiedName format.uri \
    format.uuid map filter has _[_] _[?_] _?._ _+_ _-_ _*_ _/_ _%_ -_";

/// What a function gives; `None` where there is no such function.
pub(super) fn result<'n>(function: &str) -> Option<Type<'n>> {
    let is_in = |names: &str| names.split_whitespace().any(|name| name == function);
    match function {
        "double" => Some(Type::Double),
        "timestamp" => Some(Type::Timestamp),
        "duration" => Some(Type::Duration),
        "split" => Some(Type::List(Box::new(Type::Str))),
        _ if is_in(TRUTHS) => Some(Type::Bool),
        _ if is_in(NUMBERS) => Some(Type::Int),
        _ if is_in(TEXTS) => Some(Type::Str),
        _ if is_in(OTHERS) => Some(Type::Dyn),
        _ => None,
    }
}
