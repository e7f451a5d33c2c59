//! Claims that only an inventory speaks for are proven before another unit prunes the object.
//!
//! A unit whose source cannot be built, or that skips an object, has no dry run that shows what it may do. Its inventory records the
//! object, but an inventory is part of a status, which the owner of the unit may be able to write. So the server is asked whether it
//! would let the unit write the object: an empty patch, as a dry run, with the identity of the unit. Where the server does not answer,
//! the object stays for now, and nothing else waits for it.
//!
//! A refusal is remembered for a minute. It counts for the same claim of the same unit, with the same source and the same access to the
//! cluster: whoever lists many objects in an inventory does not have each look of others send a request for each of them. Of the claims of
//! one unit to what goes with one object, such as all that is in a namespace, a bounded number is asked about. Who may write none of
//! these has no claim.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use futures::StreamExt;
use futures::stream;
use model::convert::from_serde;
use model::{Digest, ObjectKey, value};
use tokio::time::{Instant, timeout_at};

use crate::cluster::{Error, Write};
use crate::observe::verdict;
use crate::plan::{self, Action, Plan, Verdict};
use crate::unit::SyncUnit;

use super::Shared;
use super::UnitEventKind;
use super::claims::DOUBT;
use super::clusters::Handle;

/// How many requests are under way at a time.
const AT_ONCE: usize = 8;

/// How long all answers together may take.
const LIMIT: Duration = Duration::from_secs(60);

/// How many claims of one unit to what goes with one object are asked about, and how many of them to objects of one kind.
const MOST: usize = 256;
const MOST_OF_KIND: usize = 32;

/// The longest name that the server accepts.
const LONGEST_NAME: usize = 253;

/// Units with the objects that they claim.
type Claims = Vec<(Arc<str>, ObjectKey)>;

/// The server did not say whether a unit may write an object.
#[derive(Debug, thiserror::Error)]
#[error("{pruned} is not pruned for now: it is not known whether unit {unit:?} may write {key}: {why}")]
struct Unproven {
    pruned: ObjectKey,
    unit: Arc<str>,
    key: ObjectKey,
    why: String,
}

impl Shared {
    /// Proves the claims of other units to what a plan prunes. Objects whose claims cannot be proven in time are left alone for now.
    pub(super) async fn prove_claims(self: &Arc<Self>, plan: &Plan) {
        let deadline = Instant::now() + LIMIT;
        let prunes = plan
            .steps()
            .filter(|step| matches!(step.action, Action::Prune { .. }));
        let unproven = prunes.map(|step| {
            (
                step.key.clone(),
                self.known.claims.unproven(&plan.unit, &step.key),
            )
        });
        let unproven: Vec<_> = unproven.filter(|(_, claims)| !claims.is_empty()).collect();
        if unproven.is_empty() {
            return;
        }
        // One list instead of a question for each claim: it waits for nobody.
        let units = match timeout_at(deadline, self.units.list()).await {
            Ok(Ok(units)) => units.into_iter().map(|unit| (unit.id.clone(), unit)).collect(),
            Ok(Err(error)) => return self.doubt_all(plan, unproven, &error.to_string()),
            Err(_) => return self.doubt_all(plan, unproven, &format!("no answer within {LIMIT:?}")),
        };
        let units: &HashMap<String, SyncUnit> = &units;
        let proofs = unproven
            .into_iter()
            .map(|(pruned, claims)| self.prove(units, pruned, claims, deadline));
        let mut proofs = stream::iter(proofs).buffer_unordered(AT_ONCE);
        while let Some(proof) = proofs.next().await {
            match proof {
                Ok(pruned) => self.known.claims.end_doubt(&plan.unit, &pruned),
                Err(unproven) => self.doubt(plan, unproven),
            }
        }
    }

    /// Keeps an object for now, unless its claims have been in doubt for too long.
    fn doubt(&self, plan: &Plan, unproven: Unproven) {
        let text = unproven.to_string();
        let Unproven { pruned, unit, .. } = unproven;
        match self.known.claims.doubt(&plan.unit, pruned, unit) {
            true => {
                self.tell(&plan.unit, UnitEventKind::Failed, text);
                self.status.add_after(plan.unit.clone(), DOUBT);
            }
            false => tracing::warn!("the claim counts no more: {text}"),
        }
    }

    fn doubt_all(&self, plan: &Plan, unproven: Vec<(ObjectKey, Claims)>, why: &str) {
        for (pruned, claims) in unproven {
            let Some((unit, key)) = claims.into_iter().next() else {
                continue;
            };
            let why = why.to_owned();
            self.doubt(
                plan,
                Unproven {
                    pruned,
                    unit,
                    key,
                    why,
                },
            );
        }
    }

    /// Asks about the claims to an object. One that is proven is enough to keep it; of a definition, all are asked about, as each kind of
    /// its group is another matter.
    async fn prove(
        self: &Arc<Self>,
        units: &HashMap<String, SyncUnit>,
        pruned: ObjectKey,
        claims: Claims,
        deadline: Instant,
    ) -> Result<ObjectKey, Unproven> {
        let asked = bounded(claims).into_iter().map(|(unit, key)| async move {
            let answer = match units.get(&*unit) {
                Some(found) => timeout_at(deadline, self.may_write(found, &key)).await,
                None => Ok(Ok(Verdict::Refused)),
            };
            let answer = answer.unwrap_or_else(|_| Err(format!("no answer within {LIMIT:?}")));
            (unit, key, answer)
        });
        let mut asked = stream::iter(asked).buffer_unordered(AT_ONCE);
        let mut unanswered = None;
        while let Some((unit, key, answer)) = asked.next().await {
            match answer {
                Ok(Verdict::Accepted) => {
                    for other in self.known.claims.may_write(&unit, key) {
                        self.status.add(other.to_string());
                    }
                    if pruned.kind != "CustomResourceDefinition" {
                        return Ok(pruned);
                    }
                }
                Ok(_) => {}
                Err(why) => {
                    let pruned = pruned.clone();
                    unanswered = Some(Unproven {
                        pruned,
                        unit,
                        key,
                        why,
                    });
                }
            }
        }
        unanswered.map_or(Ok(pruned), Err)
    }

    /// Asks the server whether a unit may write an object that is there. A unit that is gone, or whose cluster cannot be opened, may not.
    async fn may_write(self: &Arc<Self>, unit: &SyncUnit, key: &ObjectKey) -> Result<Verdict, String> {
        if key.name.len() > LONGEST_NAME || key.namespace.len() > LONGEST_NAME {
            return Ok(Verdict::Refused);
        }
        let there = self.clusters.there(&unit.destination.cluster);
        let claims = &self.known.claims;
        if claims.is_refused(&unit.id, key, basis(unit, there.as_ref())) {
            return Ok(Verdict::Refused);
        }
        let opened = match there {
            Some(there) => Ok(there),
            None => self.cluster(unit).await,
        };
        let Ok(cluster) = opened else {
            claims.refuse(&unit.id, key, basis(unit, None));
            return Ok(Verdict::Refused);
        };
        // It may be in another one by now.
        if !claims.is_in(&unit.id, cluster.realm()) {
            return Ok(Verdict::Refused);
        }
        let error = match patched(unit, &cluster, key).await {
            Ok(verdict) => return Ok(verdict),
            Err(error) => error,
        };
        match verdict(&error) {
            Verdict::Unanswered => Err(error.to_string()),
            Verdict::Refused => {
                claims.refuse(&unit.id, key, basis(unit, Some(&cluster)));
                Ok(Verdict::Refused)
            }
            verdict => Ok(verdict),
        }
    }
}

/// The claims that are asked about.
fn bounded(claims: Claims) -> Claims {
    let mut counts: HashMap<Arc<str>, (usize, HashMap<String, usize>)> = HashMap::new();
    let is_within = |(unit, key): &(Arc<str>, ObjectKey)| {
        let (all, kinds) = counts.entry(Arc::clone(unit)).or_default();
        let of_kind = kinds.entry(key.kind.to_string()).or_default();
        *of_kind += 1;
        if *of_kind > MOST_OF_KIND {
            return false;
        }
        *all += 1;
        *all <= MOST
    };
    claims.into_iter().filter(is_within).collect()
}

/// Who asks, and for what: an answer counts as long as that is the same. A cluster that is opened anew may be reached with other
/// credentials.
fn basis(unit: &SyncUnit, cluster: Option<&Handle>) -> Digest {
    let opened = cluster.map_or(0, |cluster| cluster.number());
    let asks = (&unit.source, &unit.destination, &unit.policy.manager, opened);
    let asks = from_serde(&asks).expect("a unit can be stored");
    plan::objects::digest(&asks)
}

async fn patched(unit: &SyncUnit, cluster: &Handle, key: &ObjectKey) -> Result<Verdict, Error> {
    let cluster = cluster.cluster();
    let resource = cluster.preferred(&key.group, &key.kind).await?;
    if !resource.namespaced && !key.namespace.is_empty() {
        // There is no such object: the path would be that of another.
        return Ok(Verdict::Refused);
    }
    let options = Write {
        dry_run: true,
        ..Write::by(unit.policy.manager.as_str())
    };
    let (nothing, place) = (value!({}), (&key.namespace, &key.name));
    let patched = cluster.merge_patch(&resource, place.0, place.1, &nothing, &options);
    patched.await.map(|_| Verdict::Accepted)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_a_forged_inventory_a_bounded_number_is_asked_about() {
        let claim = |unit: &str, kind: &str, number: usize| {
            let key = ObjectKey {
                group: "".into(),
                kind: kind.into(),
                namespace: "shop".into(),
                name: number.to_string().into(),
            };
            (Arc::from(unit), key)
        };
        let many = |kind: &'static str| (0..1000).map(move |number| claim("forged", kind, number));
        let kinds: Vec<String> = (0..100).map(|number| format!("Kind{number}")).collect();
        let few = kinds
            .iter()
            .flat_map(|kind| (0..20).map(move |number| claim("kinds", kind, number)));
        let mut claims: Claims = many("ConfigMap").chain(many("Secret")).chain(few).collect();
        claims.push(claim("honest", "ConfigMap", 1));
        let asked = bounded(claims);
        let of = |unit: &str| asked.iter().filter(|(one, _)| &**one == unit).count();
        assert_eq!(of("forged"), 2 * MOST_OF_KIND);
        assert_eq!(of("kinds"), MOST);
        assert_eq!(of("honest"), 1);
    }
}
