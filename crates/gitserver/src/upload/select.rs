//! What a fetch is answered with: where the history ends, and a pack.

use std::collections::{BTreeSet, HashSet};

use super::{Error, request::Request};
use crate::object::{Id, Kind};
use crate::pack;
use crate::pktline::{Band, line};
use crate::reach::{Collector, Filter, commits, shallow_commits};
use crate::store::Store;

/// Appends a line for each commit where the client's history will end and for each where it ends no more.
pub(super) fn shallow_info(store: &Store, request: &Request, out: &mut Vec<u8>) {
    let (included, boundary) = shallow_commits(store, &request.wants, &request.depth);
    for id in &boundary {
        // The client knows already about those that it has told us.
        if !request.shallow.contains(id) {
            line(out, format!("shallow {id}"));
        }
    }
    let included: BTreeSet<_> = included.into_iter().collect();
    for id in included
        .difference(&boundary)
        .filter(|id| request.shallow.contains(id))
    {
        line(out, format!("unshallow {id}"));
    }
}

/// Appends the pack that brings a client with these commits what it wants.
pub(super) fn send_pack(
    store: &mut Store,
    request: &Request,
    common: &[Id],
    out: &mut Vec<u8>,
) -> Result<(), Error> {
    let ids = objects(store, request, common);
    let pack = pack::write(
        ids.iter()
            .filter_map(|id| store.get(*id))
            .collect::<Vec<_>>()
            .into_iter(),
    );
    store.stats.fetches += 1;
    store.stats.objects_sent = ids.len();
    store.stats.bytes_sent = pack.len();
    let fault = if store.broken_packs.is_empty() {
        None
    } else {
        Some(store.broken_packs.remove(0))
    };
    let pack = match fault {
        Some(fault) => fault.apply(pack),
        None => Ok(pack),
    };
    let band = request.side_band;
    match pack {
        Ok(pack) => {
            if request.progress {
                let progress = format!("Enumerating objects: {}, done.\n", ids.len());
                band.write(out, Band::Progress, progress.as_bytes());
            }
            band.write(out, Band::Data, &pack);
            band.end(out);
            Ok(())
        }
        Err(message) => {
            band.write(out, Band::Error, format!("{message}\n").as_bytes());
            Err(Error::Failed(message))
        }
    }
}

fn objects(store: &Store, request: &Request, common: &[Id]) -> Vec<Id> {
    let mut had = Collector::new(store, Filter::None, HashSet::new());
    commits(store, common, &request.shallow)
        .into_iter()
        .for_each(|id| had.commit(id));
    common.iter().for_each(|id| had.wanted(*id));
    let mut collector = Collector::new(store, request.filter, had.into_seen());
    let history = match request.depth.is_limited() {
        true => shallow_commits(store, &request.wants, &request.depth).0,
        false => commits(store, &request.wants, &request.shallow),
    };
    history.into_iter().for_each(|id| collector.commit(id));
    request.wants.iter().for_each(|id| collector.wanted(*id));
    if request.include_tag {
        for id in store.refs.values() {
            let is_tag = store.get(*id).is_some_and(|object| object.kind == Kind::Tag);
            if is_tag && store.peel(*id).is_some_and(|target| collector.contains(target)) {
                collector.wanted(*id);
            }
        }
    }
    collector.into_found()
}

/// Whether enough is known: from each wanted commit something can be reached that both sides have.
pub(super) fn is_ready(store: &Store, wants: &[Id], common: &[Id]) -> bool {
    let common: HashSet<_> = common.iter().copied().collect();
    let reaches = |want: &Id| {
        commits(store, &[*want], &HashSet::new())
            .iter()
            .any(|id| common.contains(id))
    };
    !common.is_empty() && wants.iter().all(reaches)
}
