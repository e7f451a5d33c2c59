//! Version 2: commands, each with all that is needed to answer it.

use super::select::{is_ready, send_pack, shallow_info};
use super::{Error, Next, request::Request};
use crate::object::Id;
use crate::pktline::{Packet, SideBand, delimiter, flush, line};
use crate::store::Store;

/// The commands of one connection. Each is collected until its end and then answered.
#[derive(Clone, Debug, Default)]
pub(crate) struct Commands {
    lines: Vec<String>,
    arguments: Vec<String>,
    in_arguments: bool,
}

impl Commands {
    /// Takes a packet and appends what is to be said to it.
    pub(crate) fn packet(
        &mut self,
        store: &mut Store,
        packet: Packet<'_>,
        out: &mut Vec<u8>,
    ) -> Result<Next, Error> {
        match packet {
            Packet::Data(data) => {
                let text = packet
                    .text()
                    .ok_or_else(|| Error::Unexpected(String::from_utf8_lossy(data).into_owned()))?;
                let list = if self.in_arguments {
                    &mut self.arguments
                } else {
                    &mut self.lines
                };
                list.push(text.to_string());
                Ok(Next::More)
            }
            Packet::Delimiter if !self.in_arguments => {
                self.in_arguments = true;
                Ok(Next::More)
            }
            Packet::Flush if self.lines.is_empty() => Ok(Next::Finished),
            Packet::Flush => {
                let Self { lines, arguments, .. } = std::mem::take(self);
                command(store, &lines, &arguments, out)?;
                Ok(Next::More)
            }
            other => Err(Error::Unexpected(format!("{other:?}"))),
        }
    }
}

fn command(
    store: &mut Store,
    lines: &[String],
    arguments: &[String],
    out: &mut Vec<u8>,
) -> Result<(), Error> {
    let format = lines.iter().find_map(|line| line.strip_prefix("object-format="));
    if let Some(format) = format.filter(|format| *format != "sha1") {
        return Err(Error::Unsupported(format!("object-format={format}")));
    }
    match lines.iter().find_map(|line| line.strip_prefix("command=")) {
        Some("ls-refs") => {
            list_refs(store, arguments, out);
            Ok(())
        }
        Some("fetch") => fetch(store, arguments, out),
        other => Err(Error::Unsupported(format!(
            "command={}",
            other.unwrap_or_default()
        ))),
    }
}

fn list_refs(store: &mut Store, arguments: &[String], out: &mut Vec<u8>) {
    store.stats.listings += 1;
    let has = |word: &str| arguments.iter().any(|argument| argument == word);
    let prefixes: Vec<_> = arguments
        .iter()
        .filter_map(|argument| argument.strip_prefix("ref-prefix "))
        .collect();
    let is_wanted =
        |name: &str| prefixes.is_empty() || prefixes.iter().any(|prefix| name.starts_with(prefix));
    if is_wanted("HEAD") {
        let symref = if has("symrefs") {
            format!(" symref-target:{}", store.head)
        } else {
            String::new()
        };
        match store.head_id() {
            Some(id) => line(out, format!("{id} HEAD{symref}\n")),
            None if has("unborn") => line(out, format!("unborn HEAD{symref}\n")),
            None => {}
        }
    }
    for (name, id) in store.refs.iter().filter(|(name, _)| is_wanted(name)) {
        let peeled = store.peel(*id).filter(|_| has("peel"));
        let peeled = peeled
            .map(|peeled| format!(" peeled:{peeled}"))
            .unwrap_or_default();
        line(out, format!("{id} {name}{peeled}\n"));
    }
    flush(out);
}

fn fetch(store: &mut Store, arguments: &[String], out: &mut Vec<u8>) -> Result<(), Error> {
    let mut request = Request {
        side_band: SideBand::Large,
        ..Request::default()
    };
    let mut haves: Vec<Id> = Vec::new();
    let mut done = false;
    for argument in arguments {
        if request.line(argument, store)? {
            continue;
        }
        match argument.split_once(' ') {
            Some(("have", id)) => haves.push(id.parse().map_err(|_| Error::Unexpected(argument.clone()))?),
            None if argument == "done" => done = true,
            None if matches!(argument.as_str(), "thin-pack" | "ofs-delta") => {}
            None if matches!(argument.as_str(), "include-tag" | "no-progress") => request.ability(argument),
            _ => return Err(Error::Unexpected(argument.clone())),
        }
    }
    if request.wants.is_empty() {
        flush(out);
        return Ok(());
    }
    let common: Vec<Id> = haves.iter().copied().filter(|id| store.contains(*id)).collect();
    if !done && !haves.is_empty() {
        line(out, "acknowledgments\n");
        common.iter().for_each(|id| line(out, format!("ACK {id}\n")));
        if common.is_empty() {
            line(out, "NAK\n");
        }
        if !is_ready(store, &request.wants, &common) {
            flush(out);
            return Ok(());
        }
        line(out, "ready\n");
        delimiter(out);
    }
    if request.depth.is_limited() {
        line(out, "shallow-info\n");
        shallow_info(store, &request, out);
        delimiter(out);
    }
    line(out, "packfile\n");
    send_pack(store, &request, &common, out)
}
