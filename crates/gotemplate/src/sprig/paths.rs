//! Paths with slashes. Those of the operating system are the same, as on the machines that Helm runs on.

use super::{STR, made};
use crate::function::{Function, Functions};
use crate::value::Value;

pub(super) fn add(functions: &mut Functions) {
    functions
        .insert(
            "base",
            Function::new(&[STR], |call| {
                let path = base(call.bytes(0)).to_vec();
                made(call, path)
            }),
        )
        .insert(
            "dir",
            Function::new(&[STR], |call| {
                let path = dir(call.bytes(0));
                made(call, path)
            }),
        )
        .insert(
            "clean",
            Function::new(&[STR], |call| {
                let path = clean(call.bytes(0));
                made(call, path)
            }),
        )
        .insert(
            "ext",
            Function::new(&[STR], |call| {
                let path = ext(call.bytes(0)).to_vec();
                made(call, path)
            }),
        )
        .insert(
            "isAbs",
            Function::new(&[STR], |call| Ok(Value::Bool(call.bytes(0).starts_with(b"/")))),
        );
    for (os, name) in [
        ("osBase", "base"),
        ("osDir", "dir"),
        ("osClean", "clean"),
        ("osExt", "ext"),
        ("osIsAbs", "isAbs"),
    ] {
        functions.alias(os, name);
    }
}

fn last_slash(path: &[u8]) -> Option<usize> {
    path.iter().rposition(|byte| *byte == b'/')
}

/// `path.Base`
fn base(path: &[u8]) -> &[u8] {
    if path.is_empty() {
        return b".";
    }
    let end = path.iter().rposition(|byte| *byte != b'/').map_or(0, |at| at + 1);
    if end == 0 {
        return b"/";
    }
    let path = &path[..end];
    &path[last_slash(path).map_or(0, |at| at + 1)..]
}

/// `path.Dir`
fn dir(path: &[u8]) -> Vec<u8> {
    clean(&path[..last_slash(path).map_or(0, |at| at + 1)])
}

/// `path.Ext`
fn ext(path: &[u8]) -> &[u8] {
    let name = last_slash(path).map_or(0, |at| at + 1);
    let dot = path[name..].iter().rposition(|byte| *byte == b'.');
    dot.map_or(b"", |dot| &path[name + dot..])
}

/// `path.Clean`: without empty parts, `.` and what `..` takes back.
fn clean(path: &[u8]) -> Vec<u8> {
    let rooted = path.starts_with(b"/");
    let mut parts: Vec<&[u8]> = Vec::new();
    for part in path.split(|byte| *byte == b'/') {
        match part {
            b"" | b"." => {}
            b".." => match parts.last() {
                Some(last) if *last != b".." => {
                    parts.pop();
                }
                _ if rooted => {}
                _ => parts.push(part),
            },
            _ => parts.push(part),
        }
    }
    let joined = parts.join(&b'/');
    match (rooted, joined.is_empty()) {
        (true, _) => [b"/", joined.as_slice()].concat(),
        (false, true) => b".".to_vec(),
        (false, false) => joined,
    }
}
