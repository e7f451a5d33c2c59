//! Names of hosts.

use super::STR;
use crate::error::Error;
use crate::function::{Function, Functions};
use crate::value::Value;

pub(super) fn add(functions: &mut Functions) {
    functions.insert(
        "getHostByName",
        Function::new(&[STR], |call| {
            let name = call.str(0);
            let addresses = call.session.world().host_addresses(&name);
            let index = super::random::below(call.session, addresses.len() as u64)
                .ok_or_else(|| Error::new("invalid argument to Intn"))?;
            Ok(addresses
                .get(index as usize)
                .map_or(Value::Nil, |address| Value::str(address.as_str())))
        }),
    );
}
