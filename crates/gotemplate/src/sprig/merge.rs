//! `merge` and its kin, as `dario.cat/mergo` merges maps.

use super::MAP;
use super::cast::is_empty;
use crate::error::Error;
use crate::function::{Call, Function, Functions};
use crate::session::Session;
use crate::value::{Map, Value};

/// How deep maps are merged.
const DEPTH: usize = 500;

pub(super) fn add(functions: &mut Functions) {
    functions
        .insert(
            "merge",
            Function::variadic(&[MAP], MAP, |call| merge(call, false)),
        )
        .insert(
            "mergeOverwrite",
            Function::variadic(&[MAP], MAP, |call| merge(call, true)),
        );
    functions.alias("mustMerge", "merge");
    functions.alias("mustMergeOverwrite", "mergeOverwrite");
}

fn merge(call: &mut Call<'_, '_>, overwrite: bool) -> Result<Value, Error> {
    let mut into = call.map(0);
    if into.is_nil() && call.args().len() > 1 {
        into = Map::new();
    }
    for index in 1..call.args().len() {
        merge_maps(call.session, &into, &call.map(index), overwrite, 0)?;
    }
    Ok(Value::Map(into))
}

/// Puts into a map what another has: where there is nothing or something empty, or everywhere. Maps that both have are merged
/// in place; all else is shared, not copied.
fn merge_maps(
    session: &mut Session<'_>,
    into: &Map,
    from: &Map,
    overwrite: bool,
    depth: usize,
) -> Result<(), Error> {
    if depth > DEPTH {
        return Err(Error::limit(format!(
            "maps that are nested more than {DEPTH} levels deep, or contain themselves, cannot be merged"
        )));
    }
    if into.same(from) {
        return Ok(());
    }
    for (key, theirs) in from.entries() {
        session.charge(32)?;
        if theirs.is_nothing() {
            if overwrite {
                session.put(into, &key, Value::Nil)?;
            }
            continue;
        }
        let ours = into.get(&key).filter(|ours| !ours.is_nothing());
        if let (Some(Value::Map(ours)), Value::Map(theirs)) = (&ours, &theirs) {
            merge_maps(session, ours, theirs, overwrite, depth + 1)?;
            if !ours.is_empty() {
                continue;
            }
        }
        let is_kept = ours.is_some_and(|ours| !is_empty(&ours));
        if overwrite || !is_kept {
            session.put(into, &key, theirs)?;
        }
    }
    Ok(())
}
