//! Versions 0 and 1: the client says what it wants and what it has, the server acknowledges, then sends the pack.
//!
//! Over SSH this is one conversation. Over HTTP each request repeats what was agreed before, and a flush ends it.

use super::select::{is_ready, send_pack, shallow_info};
use super::{Error, Next, request::Request};
use crate::object::Id;
use crate::pktline::{Packet, flush, line};
use crate::store::Store;

/// How much the client wants to hear about what it has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd)]
enum Acknowledge {
    /// Only the first that both have.
    First,
    /// Each (`multi_ack`).
    Each,
    /// Each, and whether it is enough (`multi_ack_detailed`).
    Detailed,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    Wants,
    Haves,
}

/// The conversation.
#[derive(Clone, Debug)]
pub(crate) struct Negotiation {
    request: Request,
    stage: Stage,
    acknowledge: Acknowledge,
    /// The pack may follow as soon as the server is ready, without waiting for `done`.
    no_done: bool,
    stateless: bool,
    common: Vec<Id>,
    sent_ready: bool,
    /// Whether so many common commits were enough, so that the history is not walked again for each line.
    ready: Option<(usize, bool)>,
    /// Of the haves since the last flush: whether any was ours, whether any was not.
    got_common: bool,
    got_other: bool,
}

impl Negotiation {
    /// A conversation; `stateless` as over HTTP.
    pub(crate) fn new(stateless: bool) -> Self {
        Self {
            request: Request::default(),
            stage: Stage::Wants,
            acknowledge: Acknowledge::First,
            no_done: false,
            stateless,
            common: Vec::new(),
            sent_ready: false,
            ready: None,
            got_common: false,
            got_other: false,
        }
    }

    /// Takes a packet and appends what is to be said to it.
    pub(crate) fn packet(
        &mut self,
        store: &mut Store,
        packet: Packet<'_>,
        out: &mut Vec<u8>,
    ) -> Result<Next, Error> {
        match (self.stage, packet) {
            (Stage::Wants, Packet::Data(_)) => self.want(store, packet.text().unwrap_or_default()),
            (Stage::Wants, Packet::Flush) if self.request.wants.is_empty() => Ok(Next::Finished),
            (Stage::Wants, Packet::Flush) => {
                if self.request.depth.is_limited() {
                    shallow_info(store, &self.request, out);
                    flush(out);
                }
                self.stage = Stage::Haves;
                Ok(Next::More)
            }
            (Stage::Haves, Packet::Data(_)) => self.have(store, packet.text().unwrap_or_default(), out),
            (Stage::Haves, Packet::Flush) => self.round_ends(store, out),
            (_, other) => Err(Error::Unexpected(format!("{other:?}"))),
        }
    }

    fn want(&mut self, store: &Store, text: &str) -> Result<Next, Error> {
        let mut text = text;
        if self.request.wants.is_empty()
            && let Some(after) = text.strip_prefix("want ")
            && let Some((id, words)) = after.split_once(' ')
        {
            words.split(' ').for_each(|word| self.ability(word));
            text = &text[..5 + id.len()];
        }
        match self.request.line(text, store)? {
            true => Ok(Next::More),
            false => Err(Error::Unexpected(text.to_string())),
        }
    }

    fn ability(&mut self, word: &str) {
        match word {
            "multi_ack_detailed" => self.acknowledge = Acknowledge::Detailed,
            "multi_ack" if self.acknowledge == Acknowledge::First => self.acknowledge = Acknowledge::Each,
            "no-done" => self.no_done = true,
            other => self.request.ability(other),
        }
    }

    fn have(&mut self, store: &mut Store, text: &str, out: &mut Vec<u8>) -> Result<Next, Error> {
        if text == "done" {
            match self.common.last() {
                None => line(out, "NAK\n"),
                Some(last) if self.acknowledge > Acknowledge::First => line(out, format!("ACK {last}\n")),
                Some(_) => {}
            }
            return self.finish(store, out);
        }
        let id = text.strip_prefix("have ").and_then(|id| id.parse().ok());
        let id: Id = id.ok_or_else(|| Error::Unexpected(text.to_string()))?;
        if store.contains(id) {
            self.got_common = true;
            self.common.push(id);
            match self.acknowledge {
                Acknowledge::Detailed => line(out, format!("ACK {id} common\n")),
                Acknowledge::Each => line(out, format!("ACK {id} continue\n")),
                Acknowledge::First if self.common.len() == 1 => line(out, format!("ACK {id}\n")),
                Acknowledge::First => {}
            }
            return Ok(Next::More);
        }
        self.got_other = true;
        if self.acknowledge > Acknowledge::First && self.is_ready(store) {
            // The client may stop listing what it has.
            match self.acknowledge {
                Acknowledge::Detailed => {
                    self.sent_ready = true;
                    line(out, format!("ACK {id} ready\n"));
                }
                _ => line(out, format!("ACK {id} continue\n")),
            }
        }
        Ok(Next::More)
    }

    /// A flush after a number of haves.
    fn round_ends(&mut self, store: &mut Store, out: &mut Vec<u8>) -> Result<Next, Error> {
        let last = self.common.last().copied();
        if let Some(last) = last
            && self.acknowledge == Acknowledge::Detailed
            && self.got_common
            && !self.got_other
            && self.is_ready(store)
        {
            self.sent_ready = true;
            line(out, format!("ACK {last} ready\n"));
        }
        if last.is_none() || self.acknowledge > Acknowledge::First {
            line(out, "NAK\n");
        }
        if let Some(last) = last.filter(|_| self.no_done && self.sent_ready) {
            line(out, format!("ACK {last}\n"));
            return self.finish(store, out);
        }
        (self.got_common, self.got_other) = (false, false);
        Ok(if self.stateless {
            Next::Finished
        } else {
            Next::More
        })
    }

    fn is_ready(&mut self, store: &Store) -> bool {
        let count = self.common.len();
        if let Some((known, ready)) = self.ready
            && known == count
        {
            return ready;
        }
        let ready = is_ready(store, &self.request.wants, &self.common);
        self.ready = Some((count, ready));
        ready
    }

    fn finish(&mut self, store: &mut Store, out: &mut Vec<u8>) -> Result<Next, Error> {
        send_pack(store, &self.request, &self.common, out)?;
        Ok(Next::Finished)
    }
}
