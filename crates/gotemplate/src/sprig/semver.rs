//! Versions, as `github.com/Masterminds/semver/v3` has them.

use std::any::Any;
use std::sync::LazyLock;

use model::semver::{Constraint, Version};

use super::STR;
use crate::error::Error;
use crate::function::{Call, Function, Functions};
use crate::value::{ArcStr, IntType, Kind, Object, Type, Value};

pub(super) fn add(functions: &mut Functions) {
    functions
        .insert(
            "semver",
            Function::new(&[STR], |call| Ok(Value::object(SemVer(parse(&call.str(0))?)))),
        )
        .insert(
            "semverCompare",
            Function::new(&[STR, STR], |call| {
                let constraint: Constraint = call
                    .str(0)
                    .parse()
                    .map_err(|error| Error::new(format!("{error}")))?;
                Ok(Value::Bool(constraint.matches(&parse(&call.str(1))?)))
            }),
        );
}

fn parse(text: &str) -> Result<Version, Error> {
    Version::parse(text).map_err(|error| Error::new(error.to_string()))
}

/// A `*semver.Version`.
struct SemVer(Version);

impl SemVer {
    fn of<'c>(call: &Call<'c, '_>) -> Result<&'c Version, Error> {
        let receiver = call.receiver().and_then(Value::downcast::<SemVer>);
        Ok(&receiver.ok_or("not a version")?.0)
    }

    fn next(&self, major: u64, minor: u64, patch: u64) -> Result<Value, Error> {
        let prefix = if self.0.original().starts_with('v') {
            "v"
        } else {
            ""
        };
        Ok(Value::object(SemVer(parse(&format!(
            "{prefix}{major}.{minor}.{patch}"
        ))?)))
    }
}

/// The name of a method and what it does.
type Methods = [(&'static str, Function); 17];

fn number(get: fn(&Version) -> u64) -> Function {
    Function::new(&[], move |call| {
        let number = get(SemVer::of(call)?).cast_signed();
        Ok(Value::Int(IntType::Uint64, number))
    })
}

fn text(get: fn(&Version) -> String) -> Function {
    Function::new(&[], move |call| Ok(Value::str(get(SemVer::of(call)?))))
}

const VERSION: Type = Type::Named("*semver.Version");

fn compared(test: fn(std::cmp::Ordering) -> Value) -> Function {
    Function::new(&[VERSION], move |call| {
        let other = call.arg(0).downcast::<SemVer>().ok_or("not a version")?;
        Ok(test(SemVer::of(call)?.cmp(&other.0)))
    })
}

fn increased(next: fn(&SemVer) -> Result<Value, Error>) -> Function {
    Function::new(&[], move |call| {
        let receiver = call.receiver().and_then(Value::downcast::<SemVer>);
        next(receiver.ok_or("not a version")?)
    })
}

static METHODS: LazyLock<Methods> = LazyLock::new(|| {
    use std::cmp::Ordering;
    [
        ("Major", number(Version::major)),
        ("Minor", number(Version::minor)),
        ("Patch", number(Version::patch)),
        ("Prerelease", text(|version| version.prerelease().to_owned())),
        ("Metadata", text(|version| version.metadata().to_owned())),
        ("Original", text(|version| version.original().to_owned())),
        ("String", text(ToString::to_string)),
        ("Compare", compared(|ordering| Value::int(ordering as i64))),
        (
            "Equal",
            compared(|ordering| Value::Bool(ordering == Ordering::Equal)),
        ),
        (
            "LessThan",
            compared(|ordering| Value::Bool(ordering == Ordering::Less)),
        ),
        (
            "LessThanEqual",
            compared(|ordering| Value::Bool(ordering != Ordering::Greater)),
        ),
        (
            "GreaterThan",
            compared(|ordering| Value::Bool(ordering == Ordering::Greater)),
        ),
        (
            "GreaterThanEqual",
            compared(|ordering| Value::Bool(ordering != Ordering::Less)),
        ),
        (
            "IncMajor",
            increased(|version| version.next(version.0.major() + 1, 0, 0)),
        ),
        (
            "IncMinor",
            increased(|version| version.next(version.0.major(), version.0.minor() + 1, 0)),
        ),
        (
            "IncPatch",
            increased(|version| {
                // A version before a release is followed by that release.
                let patch = version.0.patch() + u64::from(version.0.prerelease().is_empty());
                version.next(version.0.major(), version.0.minor(), patch)
            }),
        ),
        ("MarshalText", text(ToString::to_string)),
    ]
});

impl Object for SemVer {
    fn type_name(&self) -> &'static str {
        "*semver.Version"
    }

    fn kind(&self) -> Kind {
        Kind::Pointer
    }

    fn method(&self, name: &str) -> Option<&Function> {
        METHODS
            .iter()
            .find(|(known, _)| *known == name)
            .map(|(_, method)| method)
    }

    /// They are not for templates to read, but Go prints them.
    fn fields(&self) -> Vec<(ArcStr, Value)> {
        let number = |number: u64| Value::Int(IntType::Uint64, number.cast_signed());
        vec![
            (arcstr::literal!("major"), number(self.0.major())),
            (arcstr::literal!("minor"), number(self.0.minor())),
            (arcstr::literal!("patch"), number(self.0.patch())),
            (arcstr::literal!("pre"), Value::str(self.0.prerelease())),
            (arcstr::literal!("metadata"), Value::str(self.0.metadata())),
            (arcstr::literal!("original"), Value::str(self.0.original())),
        ]
    }

    fn text(&self) -> Option<String> {
        Some(self.0.to_string())
    }

    fn json(&self) -> Option<Value> {
        Some(Value::str(self.0.to_string()))
    }

    fn equals(&self, other: &dyn Object) -> bool {
        other
            .as_any()
            .downcast_ref::<SemVer>()
            .is_some_and(|other| self.0 == other.0)
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}
