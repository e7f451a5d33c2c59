//! What a server says first: its references (versions 0 and 1) or its abilities (version 2).

use crate::object::Id;
use crate::pktline::{flush, line};
use crate::store::Store;

pub(crate) const AGENT: &str = concat!("agent=sluice/", env!("CARGO_PKG_VERSION"));

const ABILITIES: &str = "multi_ack multi_ack_detailed no-done thin-pack side-band side-band-64k ofs-delta shallow \
    deepen-since deepen-not no-progress include-tag allow-tip-sha1-in-want allow-reachable-sha1-in-want filter \
    object-format=sha1";

/// The version of the protocol.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Version {
    /// References first, at once.
    #[default]
    V0,
    /// As 0, and says so.
    V1,
    /// Commands, each with all that is needed to answer it.
    V2,
}

impl Version {
    /// The highest version that a `Git-Protocol` header or variable asks for, such as `version=2`.
    pub fn requested(text: &str) -> Self {
        let mut version = Self::V0;
        for item in text.split(':') {
            version = match (item.trim(), version) {
                ("version=2", _) => Self::V2,
                ("version=1", Self::V0) => Self::V1,
                _ => version,
            };
        }
        version
    }
}

/// The greeting of an upload-pack.
pub(crate) fn advertise(store: &mut Store, version: Version, out: &mut Vec<u8>) {
    match version {
        Version::V2 => {
            line(out, "version 2\n");
            line(out, format!("{AGENT}\n"));
            line(out, "ls-refs=unborn\n");
            line(out, "fetch=shallow filter\n");
            line(out, "server-option\n");
            line(out, "object-format=sha1\n");
            flush(out);
        }
        Version::V0 | Version::V1 => {
            store.stats.listings += 1;
            let symref = store
                .head_id()
                .map(|_| format!(" symref=HEAD:{}", store.head))
                .unwrap_or_default();
            let mut refs: Vec<_> = store
                .head_id()
                .map(|id| ("HEAD".to_string(), id))
                .into_iter()
                .collect();
            for (name, id) in &store.refs {
                refs.push((name.clone(), *id));
                refs.extend(store.peel(*id).map(|peeled| (format!("{name}^{{}}"), peeled)));
            }
            advertise_refs(&refs, &format!("{ABILITIES}{symref} {AGENT}"), version, out);
        }
    }
}

/// References with the server's abilities after the first of them.
pub(crate) fn advertise_refs(refs: &[(String, Id)], abilities: &str, version: Version, out: &mut Vec<u8>) {
    if version == Version::V1 {
        line(out, "version 1\n");
    }
    let none = [("capabilities^{}".to_string(), Id::ZERO)];
    let refs = if refs.is_empty() { &none[..] } else { refs };
    for (index, (name, id)) in refs.iter().enumerate() {
        match index {
            0 => line(out, format!("{id} {name}\0{abilities}\n")),
            _ => line(out, format!("{id} {name}\n")),
        }
    }
    flush(out);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_highest_version_asked_for_is_spoken() {
        assert_eq!(Version::requested(""), Version::V0);
        assert_eq!(Version::requested("version=1"), Version::V1);
        assert_eq!(Version::requested("version=1:version=2:key=value"), Version::V2);
        assert_eq!(Version::requested("version=9"), Version::V0);
    }
}
