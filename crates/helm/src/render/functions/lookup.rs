//! `lookup`.

use gotemplate::{Call, Error, Function, Functions, Map, Type, Value};

use super::Host;

/// Looks objects up in a cluster.
pub trait Lookup: Send + Sync {
    /// The object of that name, or the list of all where the name is empty. An empty map where there is none.
    ///
    /// # Errors
    /// Why that is not known.
    fn lookup(
        &self,
        api_version: &str,
        kind: &str,
        namespace: &str,
        name: &str,
    ) -> Result<model::Value, String>;
}

/// The steps that looking up an object counts.
const LOOKUP: u64 = 10_000;

pub(super) fn add(functions: &mut Functions) {
    let texts = &[Type::String, Type::String, Type::String, Type::String];
    functions.insert("lookup", Function::new(texts, lookup));
}

fn lookup(call: &mut Call<'_, '_>) -> Result<Value, Error> {
    let host = call.session.host::<Host>().filter(|host| !host.lint);
    let Some(lookup) = host.and_then(|host| host.lookup.as_deref()) else {
        return Ok(Value::Map(Map::new()));
    };
    // A server may take long to answer, so whether to stop is asked before each.
    call.session.price(LOOKUP)?;
    let found = lookup.lookup(&call.str(0), &call.str(1), &call.str(2), &call.str(3))?;
    Value::from_tree(&found, call.session)
}
