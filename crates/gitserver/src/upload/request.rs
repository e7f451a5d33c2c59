//! What a client asks for when it fetches; the same words in all versions of the protocol.

use std::collections::HashSet;

use super::Error;
use crate::object::Id;
use crate::pktline::SideBand;
use crate::reach::{Depth, Filter};
use crate::store::Store;

/// A fetch.
#[derive(Clone, Debug)]
pub(crate) struct Request {
    pub(crate) wants: Vec<Id>,
    pub(crate) depth: Depth,
    /// Where the client's own history ends.
    pub(crate) shallow: HashSet<Id>,
    pub(crate) filter: Filter,
    pub(crate) include_tag: bool,
    pub(crate) progress: bool,
    pub(crate) side_band: SideBand,
}

impl Default for Request {
    fn default() -> Self {
        Self {
            wants: Vec::new(),
            depth: Depth::default(),
            shallow: HashSet::new(),
            filter: Filter::None,
            include_tag: false,
            progress: true,
            side_band: SideBand::None,
        }
    }
}

impl Request {
    /// Takes a line such as `want <id>` or `deepen 1`. Says whether it is one of those that a request is made of.
    pub(crate) fn line(&mut self, line: &str, store: &Store) -> Result<bool, Error> {
        let (word, value) = line.split_once(' ').unwrap_or((line, ""));
        let unexpected = || Error::Unexpected(line.to_string());
        match word {
            "want" => {
                let id = value.parse().map_err(|_| unexpected())?;
                if !store.contains(id) {
                    return Err(Error::NotOurs(id));
                }
                self.wants.push(id);
            }
            "shallow" => drop(self.shallow.insert(value.parse().map_err(|_| unexpected())?)),
            "deepen" => {
                let commits: u32 = value.parse().map_err(|_| unexpected())?;
                // This number stands for everything.
                let everything = i32::MAX as u32;
                match commits {
                    0 => return Err(unexpected()),
                    _ => self.depth.commits = Some(if commits >= everything { u32::MAX } else { commits }),
                }
            }
            "deepen-since" => self.depth.since = Some(value.parse().map_err(|_| unexpected())?),
            "deepen-not" => {
                let id = store
                    .resolve(value)
                    .ok_or_else(|| Error::NotARef(value.to_string()))?;
                self.depth.not.push(id);
            }
            "filter" => self.filter = filter(value).ok_or_else(|| Error::Unsupported(line.to_string()))?,
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// Takes a word that a client of version 0 writes after its first want, or a line of version 2. Words that change
    /// nothing for us (thin packs and offset deltas are allowed to us, not asked of us) are ignored.
    pub(crate) fn ability(&mut self, word: &str) {
        match word {
            "include-tag" => self.include_tag = true,
            "no-progress" => self.progress = false,
            "side-band-64k" => self.side_band = SideBand::Large,
            "side-band" if self.side_band == SideBand::None => self.side_band = SideBand::Small,
            _ => {}
        }
    }
}

fn filter(spec: &str) -> Option<Filter> {
    if spec == "blob:none" {
        return Some(Filter::BlobLimit(0));
    }
    let limit = spec.strip_prefix("blob:limit=")?;
    let (digits, factor) = match limit.as_bytes().last()? {
        b'k' | b'K' => (&limit[..limit.len() - 1], 1 << 10),
        b'm' | b'M' => (&limit[..limit.len() - 1], 1 << 20),
        b'g' | b'G' => (&limit[..limit.len() - 1], 1 << 30),
        _ => (limit, 1),
    };
    digits
        .parse::<u64>()
        .ok()?
        .checked_mul(factor)
        .map(Filter::BlobLimit)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn filters_are_read() {
        assert_eq!(filter("blob:none"), Some(Filter::BlobLimit(0)));
        assert_eq!(filter("blob:limit=2k"), Some(Filter::BlobLimit(2048)));
        for wrong in [
            "tree:0",
            "blob:limit=",
            "blob:limit=k",
            "blob:limit=99999999999999999999",
        ] {
            assert_eq!(filter(wrong), None, "{wrong}");
        }
    }
}
