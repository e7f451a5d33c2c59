//! Everybody in the same cluster is heard before something is deleted: an object that one unit does not want any more may be wanted by
//! another that was not looked at since. A unit is heard when it is known what it wants; a look that fails before that says nothing.
//!
//! # Which units are heard
//!
//! Only units of the same realm: the address of the API server, with the owner of the kubeconfig that names it. Claims have the same
//! border: a claim in one realm never keeps an object of another realm (see [`Claims`](super::claims::Claims)). So whatever a unit of
//! another realm would say, the prune would go on.
//!
//! - Two kubeconfigs may lead to the same server. If one namespace has written both, with the same address, they are one realm, and
//!   their units wait for each other. If the addresses or the namespaces differ, they are two realms. Their claims were never compared,
//!   as an address proves nothing: a kubeconfig can name any address, and a proxy behind it. Whoever owns the object by a label in the
//!   cluster is checked right before each deletion, in either case.
//! - The realm of a unit is known once a look has opened its cluster. It counts for as long as that cluster stays open and the store has
//!   the same destination for the unit; the store is asked when a hearing begins. A unit whose realm is unknown is heard like one of the
//!   same realm: it may turn out to be in it.
//! - A look that began before a destination changed has read the old one. It says nothing of the realm.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use tokio::time::Instant;

/// How long each of the others is waited for at most, from when a look at it begins: how long it stands in the queue is no matter of its
/// own. One whose source hangs or is broken must not keep everybody else from deleting: what it has, and what it was known to want, is not
/// deleted anyway.
const PATIENCE: Duration = Duration::from_secs(30);

/// How long all others together are waited for at most, however long the queue is. Whoever fills the queue, or has looks hang until
/// nobody else has a turn, must not keep others from deleting.
const LONGEST: Duration = Duration::from_secs(5 * 60);

/// How long it counts that they were heard, or waited for in vain: whoever has waited may have to queue itself.
const GRACE: Duration = Duration::from_secs(60);

/// How long others are waited for at least, whatever was waited for before, and how often it is seen whether those in the queue had their
/// turn.
const SHORTLY: Duration = Duration::from_secs(5);

/// When which unit was looked at, and who waits for others to be.
#[derive(Default)]
pub(super) struct Heard {
    looks: Mutex<Looks>,
}

#[derive(Default)]
struct Looks {
    /// How many looks have begun.
    count: u64,
    /// Which of them was the last of each unit.
    begun: HashMap<Arc<str>, u64>,
    /// By which of them it was last known what each unit wants; 0 if by none yet.
    last: HashMap<Arc<str>, u64>,
    /// The units of each realm by that look, those of an unknown realm under `None`.
    order: HashMap<Option<Arc<str>>, Order>,
    /// The realms of units, as far as anything was found out about them.
    located: HashMap<Arc<str>, Located>,
    /// Since when it was tried to find out what each unit wants, if it was not found out yet.
    tried: HashMap<Arc<str>, Instant>,
    /// Which units are being looked at.
    looking: HashSet<Arc<str>>,
    /// Since when looks at a unit have failed.
    failing: HashMap<Arc<str>, Instant>,
    waiting: HashMap<Arc<str>, Waiting>,
}

/// Units by the look by which it was last known what they want.
type Order = BTreeSet<(u64, Arc<str>)>;

/// The realm of a unit.
#[derive(Default)]
struct Located {
    /// Nothing if it is unknown.
    realm: Option<Arc<str>>,
    /// Looks up to this one have read a destination that is out of date.
    after: u64,
}

struct Waiting {
    /// Where it is about to be deleted.
    realm: Arc<str>,
    /// What is about to be deleted is of this revision.
    revision: String,
    /// All others have to be looked at since this look.
    since: u64,
    /// When the first revision had something to delete.
    asked: Instant,
    /// When it is looked at again.
    until: Instant,
    /// When it was told that all others were heard. That is told once: what keeps it from going on then is no matter of theirs.
    told: Option<Instant>,
}

/// Whether a unit may delete something.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Hearing {
    /// All others were heard.
    Over,
    /// These have to be looked at first. It is looked at again when they were, or then.
    Wait(Vec<Arc<str>>, Instant),
}

impl Heard {
    /// There is a unit, which was not looked at yet.
    pub(super) fn expect(&self, unit: &str) {
        let mut looks = self.looks.lock();
        if !looks.last.contains_key(unit) {
            looks.set(unit, 0);
        }
    }

    /// The look at a unit that goes on has found its realm. Those that have waited for it and for nobody else are returned.
    pub(super) fn locate(&self, unit: &str, realm: &str) -> Vec<Arc<str>> {
        let mut looks = self.looks.lock();
        let begun = looks.begun.get(unit).copied().unwrap_or_default();
        let located = looks.located.entry(Arc::from(unit)).or_default();
        if begun <= located.after || located.realm.as_deref() == Some(realm) {
            return Vec::new();
        }
        looks.put(unit, Some(Arc::from(realm)));
        looks.let_go()
    }

    /// The realm of a unit is not known any more: its destination or its cluster has changed.
    pub(super) fn moves(&self, unit: &str) {
        let mut looks = self.looks.lock();
        let after = looks.count;
        looks.put(unit, None);
        looks.located.entry(Arc::from(unit)).or_default().after = after;
    }

    /// A look at a unit begins.
    pub(super) fn begins(&self, unit: &str) {
        self.expect(unit);
        let mut looks = self.looks.lock();
        looks.count += 1;
        let look = looks.count;
        looks.begun.insert(Arc::from(unit), look);
        looks.looking.insert(Arc::from(unit));
        looks.tried.entry(Arc::from(unit)).or_insert_with(Instant::now);
    }

    /// The look at a unit that goes on has shown what it wants. Those that have waited for it and for nobody else are returned.
    pub(super) fn told(&self, unit: &str) -> Vec<Arc<str>> {
        let mut looks = self.looks.lock();
        looks.failing.remove(unit);
        looks.tried.remove(unit);
        let Some(look) = looks.begun.get(unit).copied() else {
            return Vec::new();
        };
        looks.set(unit, look);
        looks.let_go()
    }

    /// A look at a unit has ended. If it has not shown what the unit wants, it counts all the same once that has been so for a while.
    /// Those that have waited for it and for nobody else are returned.
    pub(super) fn ends(&self, unit: &str) -> Vec<Arc<str>> {
        let mut looks = self.looks.lock();
        looks.looking.remove(unit);
        let Some(look) = looks.begun.get(unit).copied() else {
            return Vec::new();
        };
        if looks.last.get(unit).is_some_and(|last| *last >= look) {
            return Vec::new();
        }
        let now = Instant::now();
        let since = *looks.failing.entry(Arc::from(unit)).or_insert(now);
        if now < since + PATIENCE {
            return Vec::new();
        }
        looks.set(unit, look);
        looks.let_go()
    }

    /// A unit is gone. Those that have waited for it and for nobody else are returned.
    pub(super) fn forget(&self, unit: &str) -> Vec<Arc<str>> {
        let mut looks = self.looks.lock();
        looks.waiting.remove(unit);
        looks.begun.remove(unit);
        looks.failing.remove(unit);
        looks.tried.remove(unit);
        looks.take_out(unit);
        looks.located.remove(unit);
        looks.let_go()
    }

    /// Whether a unit waits already for others, to delete something of this revision, or has heard them a moment ago.
    pub(super) fn is_waiting(&self, unit: &str, revision: &str) -> bool {
        let looks = self.looks.lock();
        let now = Instant::now();
        let waiting = looks.waiting.get(unit);
        waiting.is_some_and(|waiting| {
            let over = looks.wait_on(unit, waiting, now);
            waiting.revision == revision && over.map_or(true, |over| over + GRACE >= now)
        })
    }

    /// Since when a unit waits for others.
    pub(super) fn asked(&self, unit: &str) -> Option<Instant> {
        self.looks.lock().waiting.get(unit).map(|waiting| waiting.asked)
    }

    /// A unit is about to delete something in a realm.
    pub(super) fn hear(&self, unit: &str, realm: &str, revision: &str) -> Hearing {
        let mut looks = self.looks.lock();
        let now = Instant::now();
        let waiting = looks.waiting.get(unit).filter(|waiting| &*waiting.realm == realm);
        let (asked, until) = match waiting {
            Some(waiting) if waiting.revision == revision => match looks.wait_on(unit, waiting, now) {
                Ok(over) => {
                    looks.waiting.remove(unit);
                    match over + GRACE < now {
                        // That was long ago, and says nothing of what is wanted now.
                        true => (now, now + PATIENCE),
                        false => return Hearing::Over,
                    }
                }
                Err((queued, until)) => {
                    looks
                        .waiting
                        .entry(Arc::from(unit))
                        .and_modify(|waiting| waiting.until = until);
                    return Hearing::Wait(queued, until);
                }
            },
            Some(waiting) if waiting.until + GRACE < now => (now, now + PATIENCE),
            // Revisions that follow each other closely do not keep it waiting for longer and longer.
            Some(waiting) => (waiting.asked, waiting.until.max(now + SHORTLY)),
            None => (now, now + PATIENCE),
        };
        let realm: Arc<str> = Arc::from(realm);
        let others = looks.in_realm(&realm).flatten().map(|(_, other)| other);
        let others: Vec<_> = others.filter(|other| &***other != unit).cloned().collect();
        if others.is_empty() {
            return Hearing::Over;
        }
        let waiting = Waiting {
            realm,
            revision: revision.to_owned(),
            since: looks.count + 1,
            asked,
            until,
            told: None,
        };
        looks.waiting.insert(Arc::from(unit), waiting);
        Hearing::Wait(others, until)
    }

    /// How much is kept, over all units.
    #[cfg(test)]
    pub(super) fn kept(&self) -> usize {
        let looks = self.looks.lock();
        let units = looks.begun.len() + looks.last.len() + looks.order.len() + looks.tried.len();
        let units = units + looks.located.len();
        units + looks.looking.len() + looks.failing.len() + looks.waiting.len()
    }

    /// A unit has nothing to delete any more.
    pub(super) fn pass(&self, unit: &str) {
        self.looks.lock().waiting.remove(unit);
    }
}

impl Looks {
    /// It was last known by this look what a unit wants.
    fn set(&mut self, unit: &str, look: u64) {
        let unit = self
            .take_out(unit)
            .map_or_else(|| Arc::from(unit), |(unit, _)| unit);
        self.put_in(unit, look);
    }

    /// A unit is in this realm from now on.
    fn put(&mut self, unit: &str, realm: Option<Arc<str>>) {
        let before = self.take_out(unit);
        self.located.entry(Arc::from(unit)).or_default().realm = realm;
        if let Some((unit, look)) = before {
            self.put_in(unit, look);
        }
    }

    fn put_in(&mut self, unit: Arc<str>, look: u64) {
        let realm = self.realm_of(&unit);
        self.order
            .entry(realm)
            .or_default()
            .insert((look, Arc::clone(&unit)));
        self.last.insert(unit, look);
    }

    fn take_out(&mut self, unit: &str) -> Option<(Arc<str>, u64)> {
        let (unit, look) = self.last.remove_entry(unit)?;
        let realm = self.realm_of(&unit);
        if let Some(order) = self.order.get_mut(&realm) {
            order.remove(&(look, Arc::clone(&unit)));
            if order.is_empty() {
                self.order.remove(&realm);
            }
        }
        Some((unit, look))
    }

    fn realm_of(&self, unit: &str) -> Option<Arc<str>> {
        self.located.get(unit)?.realm.clone()
    }

    /// The units that are in a realm, and those that may be.
    fn in_realm(&self, realm: &Arc<str>) -> impl Iterator<Item = &BTreeSet<(u64, Arc<str>)>> {
        let realms = [Some(Arc::clone(realm)), None];
        realms.into_iter().filter_map(|realm| self.order.get(&realm))
    }

    /// Since when a unit does not have to wait any more, or for whom in the queue it does and until when. When the time is up, those that
    /// had their turn and have not said what they want are not waited for; those that are still in the queue are.
    fn wait_on(
        &self,
        unit: &str,
        waiting: &Waiting,
        now: Instant,
    ) -> Result<Instant, (Vec<Arc<str>>, Instant)> {
        if self.is_heard(unit, waiting) {
            return Ok(waiting.told.unwrap_or(now));
        }
        if now < waiting.until {
            return Err((Vec::new(), waiting.until));
        }
        let longest = waiting.asked + LONGEST;
        if longest <= now {
            return Ok(now);
        }
        let (mut queued, mut until) = (Vec::new(), waiting.until);
        let unheard = self.in_realm(&waiting.realm).flat_map(|order| order.iter());
        let unheard = unheard.filter(|(look, _)| *look < waiting.since);
        for (_, other) in unheard.filter(|(_, other)| &**other != unit) {
            let begun = self.begun.get(other).copied().unwrap_or_default();
            if begun < waiting.since && !self.looking.contains(other) {
                queued.push(Arc::clone(other));
                continue;
            }
            let tried = self.tried.get(other).copied().unwrap_or(waiting.asked);
            until = until.max(tried.max(waiting.asked) + PATIENCE);
        }
        match queued.is_empty() {
            true if until <= now => Ok(until),
            true => Err((queued, until.min(longest))),
            false => Err((queued, (now + SHORTLY).min(longest))),
        }
    }

    /// Whether all units but this one that may be in its realm were looked at since.
    fn is_heard(&self, unit: &str, waiting: &Waiting) -> bool {
        self.in_realm(&waiting.realm).all(|order| {
            let mut others = order.iter().filter(|(_, other)| &**other != unit);
            others.next().is_none_or(|(look, _)| *look >= waiting.since)
        })
    }

    /// Those that have waited for nobody but those that were heard by now.
    fn let_go(&mut self) -> Vec<Arc<str>> {
        let waiting = self.waiting.iter().filter(|(_, waiting)| waiting.told.is_none());
        let heard = waiting.filter(|(unit, waiting)| self.is_heard(unit, waiting));
        let heard: Vec<_> = heard.map(|(unit, _)| Arc::clone(unit)).collect();
        let now = Instant::now();
        for unit in &heard {
            self.waiting
                .entry(Arc::clone(unit))
                .and_modify(|waiting| waiting.told = Some(now));
        }
        heard
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn look(heard: &Heard, unit: &str) -> Vec<Arc<str>> {
        heard.begins(unit);
        heard.told(unit)
    }

    #[tokio::test(start_paused = true)]
    async fn whoever_is_about_to_delete_waits_until_all_others_were_looked_at_since() {
        let heard = Heard::default();
        heard.expect("b");
        heard.begins("b");
        heard.begins("a");
        assert!(!heard.is_waiting("a", "v2"));
        let Hearing::Wait(others, until) = heard.hear("a", "here", "v2") else {
            panic!("b was not heard");
        };
        assert!(heard.is_waiting("a", "v2") && !heard.is_waiting("a", "v3"));
        assert_eq!(others, [Arc::from("b")]);
        assert!(heard.told("a").is_empty());
        assert!(heard.told("b").is_empty(), "that look had begun before");
        assert_eq!(look(&heard, "b"), [Arc::from("a")]);
        // What it does about it may take a while, and looking at it is no reason to look at it again.
        assert!(look(&heard, "a").is_empty() && look(&heard, "b").is_empty());
        assert_eq!(heard.hear("a", "here", "v2"), Hearing::Over);
        assert_eq!(
            heard.hear("a", "here", "v2"),
            Hearing::Wait(vec![Arc::from("b")], until)
        );
        tokio::time::advance(PATIENCE).await;
        assert_eq!(
            heard.hear("a", "here", "v2"),
            Hearing::Over,
            "one that hangs is not waited for"
        );
    }

    #[tokio::test(start_paused = true)]
    async fn whoever_is_in_the_queue_is_waited_for_and_has_its_own_time_when_it_is_its_turn() {
        let heard = Heard::default();
        heard.expect("b");
        heard.begins("a");
        assert!(matches!(heard.hear("a", "here", "v2"), Hearing::Wait(..)));
        for _ in 0..7 {
            tokio::time::advance(PATIENCE).await;
            let Hearing::Wait(queued, until) = heard.hear("a", "here", "v2") else {
                panic!("it had no turn");
            };
            assert_eq!((queued, until), (vec![Arc::from("b")], Instant::now() + SHORTLY));
            tokio::time::advance(SHORTLY).await;
            assert!(matches!(heard.hear("a", "here", "v2"), Hearing::Wait(..)));
        }
        heard.begins("b");
        let until = Instant::now() + PATIENCE;
        tokio::time::advance(SHORTLY).await;
        assert_eq!(heard.hear("a", "here", "v2"), Hearing::Wait(Vec::new(), until));
        tokio::time::advance(PATIENCE - SHORTLY).await;
        assert_eq!(heard.hear("a", "here", "v2"), Hearing::Over, "it hangs");
    }

    #[tokio::test(start_paused = true)]
    async fn a_queue_that_never_ends_is_waited_for_only_so_long() {
        for is_looked_at in [false, true] {
            let heard = Heard::default();
            heard.expect("b");
            heard.begins("a");
            let asked = Instant::now();
            while let Hearing::Wait(_, until) = heard.hear("a", "here", "v2") {
                tokio::time::advance(until.saturating_duration_since(Instant::now())).await;
                assert!(asked.elapsed() <= LONGEST, "it waits for longer");
                if is_looked_at {
                    // New ones come into the queue all the time.
                    heard.expect(&format!("{:?}", asked.elapsed()));
                }
            }
            assert_eq!(asked.elapsed(), LONGEST);
            // A turn that comes late counts, too.
            assert!(matches!(heard.hear("a", "here", "v3"), Hearing::Wait(..)));
            tokio::time::advance(LONGEST + 3 * GRACE).await;
            assert_eq!(heard.hear("a", "here", "v3"), Hearing::Over);
        }
    }

    #[tokio::test(start_paused = true)]
    async fn whoever_has_heard_all_may_have_to_queue_itself_for_a_while() {
        for (queues, is_over) in [(PATIENCE + Duration::from_secs(20), true), (2 * GRACE, false)] {
            let heard = Heard::default();
            heard.expect("b");
            heard.begins("a");
            assert!(matches!(heard.hear("a", "here", "v2"), Hearing::Wait(..)));
            tokio::time::advance(PATIENCE + GRACE).await;
            assert_eq!(look(&heard, "b"), [Arc::from("a")]);
            tokio::time::advance(queues).await;
            assert_eq!(heard.hear("a", "here", "v2") == Hearing::Over, is_over);
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_hearing_that_was_given_up_counts_for_nothing_later() {
        let heard = Heard::default();
        heard.expect("b");
        heard.begins("a");
        assert!(matches!(heard.hear("a", "here", "v2"), Hearing::Wait(..)));
        tokio::time::advance(PATIENCE + Duration::from_secs(1)).await;
        assert!(
            matches!(heard.hear("a", "here", "v3"), Hearing::Wait(..)),
            "that was for something else"
        );
        tokio::time::advance(PATIENCE + GRACE + Duration::from_secs(1)).await;
        assert!(
            matches!(heard.hear("a", "here", "v3"), Hearing::Wait(..)),
            "that was long ago"
        );
    }

    #[tokio::test(start_paused = true)]
    async fn a_look_that_fails_says_nothing_unless_that_has_been_so_for_a_while() {
        let heard = Heard::default();
        let fails = |unit: &str| {
            heard.begins(unit);
            heard.ends(unit)
        };
        assert!(fails("b").is_empty());
        heard.begins("a");
        assert!(matches!(heard.hear("a", "here", "v2"), Hearing::Wait(..)));
        assert!(fails("b").is_empty());
        assert!(matches!(heard.hear("a", "here", "v2"), Hearing::Wait(..)));
        assert_eq!(look(&heard, "b"), [Arc::from("a")]);
        assert_eq!(heard.hear("a", "here", "v2"), Hearing::Over);
        assert!(fails("b").is_empty(), "it begins anew");
        tokio::time::advance(PATIENCE).await;
        assert!(matches!(heard.hear("a", "here", "v3"), Hearing::Wait(..)));
        assert_eq!(fails("b"), [Arc::from("a")]);
        assert_eq!(heard.hear("a", "here", "v3"), Hearing::Over);
        heard.forget("b");
        assert!(heard.ends("b").is_empty(), "who is gone stays so");
        assert_eq!(heard.hear("a", "here", "v4"), Hearing::Over);
    }

    #[tokio::test(start_paused = true)]
    async fn two_that_wait_for_each_other_both_go_on() {
        let heard = Heard::default();
        heard.expect("a");
        heard.expect("b");
        heard.begins("a");
        assert!(matches!(heard.hear("a", "here", "v2"), Hearing::Wait(..)));
        heard.told("a");
        heard.begins("b");
        assert!(matches!(heard.hear("b", "here", "v2"), Hearing::Wait(..)));
        assert_eq!(heard.told("b"), [Arc::from("a")]);
        heard.begins("a");
        assert_eq!(heard.hear("a", "here", "v2"), Hearing::Over);
        assert_eq!(heard.told("a"), [Arc::from("b")]);
        assert_eq!(heard.hear("b", "here", "v2"), Hearing::Over);
    }

    #[tokio::test(start_paused = true)]
    async fn who_is_gone_or_alone_holds_nobody_up() {
        let heard = Heard::default();
        heard.begins("a");
        assert_eq!(heard.hear("a", "here", "v2"), Hearing::Over);
        heard.expect("b");
        assert!(matches!(heard.hear("a", "here", "v2"), Hearing::Wait(..)));
        assert_eq!(heard.forget("b"), [Arc::from("a")]);
    }

    fn is_over(hearing: &Hearing) -> bool {
        *hearing == Hearing::Over
    }

    #[tokio::test(start_paused = true)]
    async fn a_unit_of_another_realm_holds_nobody_up() {
        let heard = Heard::default();
        for (unit, realm) in [("a", "here"), ("b", "there")] {
            heard.expect(unit);
            heard.begins(unit);
            assert!(heard.locate(unit, realm).is_empty());
        }
        assert!(is_over(&heard.hear("a", "here", "v2")), "b cannot want it");
        heard.expect("c");
        assert_eq!(
            heard.hear("a", "here", "v3"),
            Hearing::Wait(vec![Arc::from("c")], Instant::now() + PATIENCE)
        );
        heard.begins("c");
        assert_eq!(
            heard.locate("c", "there"),
            [Arc::from("a")],
            "it turns out to be elsewhere"
        );
        assert!(is_over(&heard.hear("a", "here", "v3")));
        heard.pass("a");
        assert!(!is_over(&heard.hear("b", "there", "v2")), "c is there too");
    }

    #[tokio::test(start_paused = true)]
    async fn a_unit_whose_realm_may_have_changed_is_heard() {
        let heard = Heard::default();
        for (unit, realm) in [("a", "here"), ("b", "there")] {
            heard.expect(unit);
            heard.begins(unit);
            heard.locate(unit, realm);
        }
        // The look at b that goes on has read the old destination.
        heard.moves("b");
        assert!(heard.locate("b", "there").is_empty());
        assert!(!is_over(&heard.hear("a", "here", "v2")));
        assert!(heard.told("b").is_empty());
        heard.begins("b");
        assert!(
            heard.locate("b", "here").is_empty(),
            "what it wants is not known yet"
        );
        assert!(!is_over(&heard.hear("a", "here", "v2")));
        assert_eq!(heard.told("b"), [Arc::from("a")]);
        assert!(is_over(&heard.hear("a", "here", "v2")));
        for unit in ["a", "b"] {
            heard.ends(unit);
            heard.forget(unit);
        }
        assert_eq!(heard.kept(), 0);
    }

    #[tokio::test(start_paused = true)]
    async fn the_store_is_asked_again_for_a_hearing_that_begins_anew() {
        let heard = Heard::default();
        heard.expect("b");
        heard.begins("a");
        assert!(!is_over(&heard.hear("a", "here", "v2")));
        assert_eq!(look(&heard, "b"), [Arc::from("a")]);
        assert!(heard.is_waiting("a", "v2"));
        tokio::time::advance(GRACE + Duration::from_secs(1)).await;
        assert!(!heard.is_waiting("a", "v2"), "that was long ago");
        assert!(!is_over(&heard.hear("a", "here", "v2")));
    }
}
