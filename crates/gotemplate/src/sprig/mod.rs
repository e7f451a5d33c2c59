//! The functions of `github.com/Masterminds/sprig/v3` (3.3.0) that Helm offers: all but `env` and `expandenv`.
//!
//! One file per chapter of Sprig's own documentation. What Go panics with is an error here, with the same words, as the template
//! engine of Go makes it one.

mod case;
mod cast;
mod crypto;
mod date;
mod decimal;
mod defaults;
mod dicts;
mod encoding;
pub mod json;
mod lists;
mod math;
mod merge;
mod network;
mod paths;
mod random;
mod reflection;
mod regex;
mod semver;
mod strings;
mod time;
mod url;
mod wrap;

use crate::error::Error;
use crate::function::{Call, Functions};
use crate::value::{Type, Value};

pub use time::{Duration, Time};

const ANY: Type = Type::Any;
const STR: Type = Type::String;
const INT: Type = Type::INT;
const MAP: Type = Type::MAP;

/// Adds them all.
pub(crate) fn add(functions: &mut Functions) {
    strings::add(functions);
    case::add(functions);
    math::add(functions);
    lists::add(functions);
    dicts::add(functions);
    merge::add(functions);
    defaults::add(functions);
    json::add(functions);
    encoding::add(functions);
    reflection::add(functions);
    regex::add(functions);
    paths::add(functions);
    semver::add(functions);
    date::add(functions);
    url::add(functions);
    random::add(functions);
    network::add(functions);
    crypto::add(functions);
}

/// A string that was made, after it was counted.
fn made(call: &mut Call<'_, '_>, bytes: Vec<u8>) -> Result<Value, Error> {
    call.session.charge(bytes.len())?;
    Ok(Value::string_of_vec(bytes))
}
