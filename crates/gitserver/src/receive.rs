//! What `git receive-pack` does: taking pushes.

use std::fmt;
use std::sync::Arc;

use super::object::Id;
use super::pack::{self, Scanner};
use super::pktline::{Band, Packet, SideBand, flush, line};
use super::reach::{commits, missing};
use super::repository::Repository;
use super::store::Store;
use super::upload::{self, Next, Version, advertise_refs};

const ABILITIES: &str =
    "report-status delete-refs side-band-64k quiet atomic ofs-delta push-options object-format=sha1";

/// What a push wants to do to one reference.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Push {
    /// The full name, such as `refs/heads/main`.
    pub reference: String,
    /// What the client believes it points to; nothing if it is to be created.
    pub old: Option<Id>,
    /// What it shall point to; nothing if it is to be deleted.
    pub new: Option<Id>,
    /// What the client said with `--push-option`.
    pub options: Vec<String>,
}

/// The signature of a hook.
pub type Hook = Arc<dyn Fn(&Push) -> Result<(), String> + Send + Sync>;

/// Which pushes are refused.
#[derive(Clone, Default)]
pub struct Policy {
    /// Refuses to move a branch to a commit that does not have the present one behind it.
    pub refuse_non_fast_forward: bool,
    /// Refuses to delete references.
    pub refuse_delete: bool,
    /// Is asked about each reference. What it says against it is shown to the client. The objects are there already.
    pub hook: Option<Hook>,
}

impl fmt::Debug for Policy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Policy")
            .field("refuse_non_fast_forward", &self.refuse_non_fast_forward)
            .field("refuse_delete", &self.refuse_delete)
            .finish_non_exhaustive()
    }
}

/// The greeting of a receive-pack. Version 2 has no push: version 0 is spoken.
pub(crate) fn advertise(store: &Store, version: Version, out: &mut Vec<u8>) {
    let refs: Vec<_> = store.refs.iter().map(|(name, id)| (name.clone(), *id)).collect();
    let version = if version == Version::V2 {
        Version::V0
    } else {
        version
    };
    advertise_refs(
        &refs,
        &format!("{ABILITIES} agent=sluice/{}", env!("CARGO_PKG_VERSION")),
        version,
        out,
    );
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Stage {
    #[default]
    Commands,
    Options,
    Pack,
}

/// The conversation of a push.
#[derive(Default)]
pub(crate) struct Receiving {
    stage: Stage,
    pushes: Vec<Push>,
    abilities: Vec<String>,
    options: Vec<String>,
    scanner: Scanner,
}

impl Receiving {
    /// Whether the bytes of the pack come next.
    pub(crate) fn wants_pack(&self) -> bool {
        self.stage == Stage::Pack
    }

    /// Takes a packet and appends what is to be said to it.
    pub(crate) fn packet(
        &mut self,
        repository: &Repository,
        packet: Packet<'_>,
        out: &mut Vec<u8>,
    ) -> Result<Next, upload::Error> {
        match (self.stage, packet) {
            (Stage::Commands, Packet::Data(data)) => self.command(&String::from_utf8_lossy(data))?,
            // A client sends nothing but a flush to try its credentials.
            (Stage::Commands, Packet::Flush) if self.pushes.is_empty() => return Ok(Next::Finished),
            (Stage::Commands, Packet::Flush) if self.has("push-options") => self.stage = Stage::Options,
            (Stage::Options, Packet::Data(_)) => self.options.extend(packet.text().map(str::to_string)),
            (Stage::Commands | Stage::Options, Packet::Flush) => {
                self.stage = Stage::Pack;
                // A push that only deletes has no pack.
                if self.pushes.iter().all(|push| push.new.is_none()) {
                    return Ok(self.finish(repository, Ok(()), out));
                }
            }
            (_, other) => return Err(upload::Error::Unexpected(format!("{other:?}"))),
        }
        Ok(Next::More)
    }

    /// Takes bytes of the pack and, when it is complete, does what was asked.
    pub(crate) fn pack(&mut self, repository: &Repository, bytes: &[u8], out: &mut Vec<u8>) -> Next {
        let unpacked = match self.scanner.feed(bytes) {
            Ok(false) => return Next::More,
            Ok(true) => {
                let store = &mut *repository.store();
                let objects = pack::read(std::mem::take(&mut self.scanner), |id| store.get(id).cloned());
                objects.map(|objects| {
                    for object in objects {
                        store.put(object);
                    }
                })
            }
            Err(error) => Err(error),
        };
        self.finish(repository, unpacked, out)
    }

    fn command(&mut self, text: &str) -> Result<(), upload::Error> {
        let text = text.strip_suffix('\n').unwrap_or(text);
        let (command, abilities) = text.split_once('\0').unwrap_or((text, ""));
        self.abilities.extend(abilities.split(' ').map(str::to_string));
        if command.starts_with("shallow ") {
            // Our history is complete, so that where the client's ends does not matter.
            return Ok(());
        }
        let unexpected = || upload::Error::Unexpected(command.to_string());
        let mut words = command.splitn(3, ' ');
        let mut id = || {
            words
                .next()?
                .parse::<Id>()
                .ok()
                .map(|id| Some(id).filter(|id| *id != Id::ZERO))
        };
        let old = id().ok_or_else(unexpected)?;
        let new = id().ok_or_else(unexpected)?;
        let reference = words.next().ok_or_else(unexpected)?.to_string();
        self.pushes.push(Push {
            reference,
            old,
            new,
            options: Vec::new(),
        });
        Ok(())
    }

    fn has(&self, ability: &str) -> bool {
        self.abilities.iter().any(|word| word == ability)
    }

    fn finish(
        &mut self,
        repository: &Repository,
        unpacked: Result<(), pack::Error>,
        out: &mut Vec<u8>,
    ) -> Next {
        self.pushes
            .iter_mut()
            .for_each(|push| push.options.clone_from(&self.options));
        let mut messages = String::new();
        let hook = {
            let mut store = repository.store();
            store.stats.pushes += 1;
            store.policy.hook.clone()
        };
        // The hook runs while the repository is not locked, so that it may use it.
        let mut verdicts: Vec<Result<(), String>> = Vec::new();
        for push in &self.pushes {
            let verdict = hook.as_ref().map_or(Ok(()), |hook| hook(push));
            verdicts.push(verdict.map_err(|message| {
                messages.push_str(&format!("{message}\n"));
                "hook declined".to_string()
            }));
        }
        if unpacked.is_err() {
            verdicts.fill(Err("unpacker error".to_string()));
        }
        let store = &mut *repository.store();
        for (push, verdict) in self.pushes.iter().zip(&mut verdicts) {
            *verdict = verdict.clone().and_then(|()| check(store, push));
        }
        if self.has("atomic") && verdicts.iter().any(Result::is_err) {
            for verdict in verdicts.iter_mut().filter(|verdict| verdict.is_ok()) {
                *verdict = Err("atomic push failure".to_string());
            }
        }
        for (push, _) in self
            .pushes
            .iter()
            .zip(&verdicts)
            .filter(|(_, verdict)| verdict.is_ok())
        {
            match push.new {
                Some(new) => store.refs.insert(push.reference.clone(), new),
                None => store.refs.remove(&push.reference),
            };
        }
        self.report(&unpacked, &verdicts, &messages, out);
        Next::Finished
    }

    fn report(
        &self,
        unpacked: &Result<(), pack::Error>,
        verdicts: &[Result<(), String>],
        messages: &str,
        out: &mut Vec<u8>,
    ) {
        let band = if self.has("side-band-64k") {
            SideBand::Large
        } else {
            SideBand::None
        };
        band.write(out, Band::Progress, messages.as_bytes());
        if self.has("report-status") {
            let mut report = Vec::new();
            match unpacked {
                Ok(()) => line(&mut report, "unpack ok\n"),
                Err(error) => line(&mut report, format!("unpack {error}\n")),
            }
            for (push, verdict) in self.pushes.iter().zip(verdicts) {
                match verdict {
                    Ok(()) => line(&mut report, format!("ok {}\n", push.reference)),
                    Err(reason) => line(&mut report, format!("ng {} {reason}\n", push.reference)),
                }
            }
            flush(&mut report);
            band.write(out, Band::Data, &report);
        }
        band.end(out);
    }
}

/// Whether a reference may be moved as wanted.
fn check(store: &Store, push: &Push) -> Result<(), String> {
    let fail = |reason: &str| Err(reason.to_string());
    if !is_reference_name(&push.reference) {
        return fail("funny refname");
    }
    let present = store.refs.get(&push.reference).copied();
    if push.old != present && !(push.new.is_none() && present.is_none()) {
        return fail("failed to update ref");
    }
    let Some(new) = push.new else {
        return if store.policy.refuse_delete {
            fail("deletion prohibited")
        } else {
            Ok(())
        };
    };
    if missing(store, new).is_some() {
        return fail("missing necessary objects");
    }
    let keeps = |old: Id| commits(store, &[new], &Default::default()).contains(&old);
    let is_branch = push.reference.starts_with("refs/heads/");
    match present.filter(|_| store.policy.refuse_non_fast_forward && is_branch) {
        Some(old) if !keeps(old) => fail("non-fast-forward"),
        _ => Ok(()),
    }
}

/// The rules of `git check-ref-format`.
fn is_reference_name(name: &str) -> bool {
    let bad = |character: char| character.is_ascii_control() || " ~^:?*[\\".contains(character);
    let fine = |part: &str| !part.is_empty() && !part.starts_with('.') && !part.ends_with(".lock");
    name.starts_with("refs/")
        && name.split('/').count() > 2
        && name.split('/').all(fine)
        && !name.contains(bad)
        && !name.contains("..")
        && !name.contains("@{")
        && !name.ends_with('.')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reference_names_follow_the_rules_of_git() {
        for good in [
            "refs/heads/main",
            "refs/heads/a/b.c",
            "refs/tags/v1.0",
            "refs/heads/@",
        ] {
            assert!(is_reference_name(good), "{good}");
        }
        for bad in [
            "main",
            "refs/heads",
            "refs/heads/",
            "refs/heads/.a",
            "refs/heads/a..b",
            "refs/heads/a b",
            "refs/heads/a.lock",
        ] {
            assert!(!is_reference_name(bad), "{bad}");
        }
    }
}
