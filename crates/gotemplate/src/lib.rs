//! Go's `text/template` and the Sprig functions, to the byte.
//!
//! Texts are read once into [`Templates`], which know one another, and executed as often as one likes, each time in a
//! [`Session`]: it counts what its [`Limits`] allow, and has the [`World`] for time and randomness. Functions come in tables
//! ([`Functions`]) that embedders add to; data are [`Value`]s, which share instead of being copied.
//!
//! ```
//! use std::sync::Arc;
//! use gotemplate::{FixedWorld, Function, Functions, Limits, Map, Session, Templates, Type, Value};
//!
//! let mut functions = Functions::builtin();
//! functions.insert("include", Function::new(&[Type::String, Type::Any], |call| {
//!     let text = call.render(&call.str(0), call.arg(1))?;
//!     Ok(Value::string_of_vec(text))
//! }));
//! let mut templates = Templates::new(Arc::new(functions));
//! templates.parse("hello", "{{ define \"name\" }}<{{ .name }}>{{ end }}Hello {{ include \"name\" . }}!").unwrap();
//!
//! let data = Value::Map(Map::from_iter([("name", Value::str("world"))]));
//! let mut world = FixedWorld::new("2026-01-02T03:04:05Z".parse().unwrap(), 1);
//! let mut session = Session::new(Limits::default(), &mut world);
//! assert_eq!(templates.execute("hello", &data, &mut session).unwrap(), b"Hello <world>!");
//! ```

mod error;
mod exec;
mod funcs;
mod function;
mod lex;
mod parse;
pub mod print;
mod session;
pub mod sprig;
mod strconv;
mod templates;
mod unicode;
mod utf8;
mod value;
mod world;

pub use error::{Error, ErrorKind};
pub use function::{Call, Function, Functions};
pub use session::{Limits, Session, Stop};
pub use sprig::{Duration, Time};
pub use templates::{MissingKey, Parsed, Templates};
pub use value::{ArcStr, Class, IntType, Kind, List, Map, Object, Type, Value};
pub use world::{FixedWorld, World};
