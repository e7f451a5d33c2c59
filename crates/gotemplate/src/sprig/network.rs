//! Names of hosts.

use super::STR;
use crate::function::{Function, Functions};
use crate::value::Value;

/// The steps that looking up a name counts.
const LOOKUP: u64 = 10_000;

pub(super) fn add(functions: &mut Functions) {
    functions.insert(
        "getHostByName",
        Function::new(&[STR], |call| {
            let name = call.str(0);
            // The name may be of a server that never answers, so whether to stop is asked before each.
            call.session.price(LOOKUP)?;
            let addresses = call.session.world().host_addresses(&name);
            // Where names are not looked up there is no address.
            let index = super::random::below(call.session, addresses.len() as u64).unwrap_or_default();
            let address = addresses.get(index as usize);
            Ok(Value::str(address.map_or("", String::as_str)))
        }),
    );
}
