//! Everybody is heard before something is deleted: an object that one unit does not want any more may be wanted by another that
//! was not looked at since.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use tokio::time::Instant;

/// How long others are waited for at most. One whose source hangs must not keep everybody else from deleting.
const PATIENCE: Duration = Duration::from_secs(30);

/// When which unit was looked at, and who waits for others to be.
#[derive(Default)]
pub(super) struct Heard {
    looks: Mutex<Looks>,
}

#[derive(Default)]
struct Looks {
    /// How many looks have begun.
    count: u64,
    /// Which of them was the last of each unit; 0 if there was none yet.
    last: HashMap<Arc<str>, u64>,
    order: BTreeSet<(u64, Arc<str>)>,
    waiting: HashMap<Arc<str>, Waiting>,
}

struct Waiting {
    /// What is about to be deleted is of this revision.
    revision: String,
    /// All others have to be looked at since this look.
    since: u64,
    until: Instant,
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

    /// A look at a unit begins.
    pub(super) fn begins(&self, unit: &str) -> u64 {
        self.expect(unit);
        let mut looks = self.looks.lock();
        looks.count += 1;
        looks.count
    }

    /// A look at a unit has ended. Those that have waited for it and for nobody else are returned.
    pub(super) fn ends(&self, unit: &str, look: u64) -> Vec<Arc<str>> {
        let mut looks = self.looks.lock();
        looks.set(unit, look);
        looks.let_go()
    }

    /// A unit is gone. Those that have waited for it and for nobody else are returned.
    pub(super) fn forget(&self, unit: &str) -> Vec<Arc<str>> {
        let mut looks = self.looks.lock();
        looks.waiting.remove(unit);
        if let Some((unit, look)) = looks.last.remove_entry(unit) {
            looks.order.remove(&(look, unit));
        }
        looks.let_go()
    }

    /// A unit that is being looked at is about to delete something.
    pub(super) fn hear(&self, unit: &str, revision: &str) -> Hearing {
        let mut looks = self.looks.lock();
        let now = Instant::now();
        let until = match looks.waiting.get(unit) {
            Some(waiting) if waiting.until <= now => {
                looks.waiting.remove(unit);
                return Hearing::Over;
            }
            Some(waiting) if waiting.revision == revision => {
                if looks.is_heard(unit, waiting.since) {
                    looks.waiting.remove(unit);
                    return Hearing::Over;
                }
                return Hearing::Wait(Vec::new(), waiting.until);
            }
            Some(waiting) => waiting.until,
            None => now + PATIENCE,
        };
        let others: Vec<_> = looks
            .last
            .keys()
            .filter(|other| &***other != unit)
            .cloned()
            .collect();
        if others.is_empty() {
            return Hearing::Over;
        }
        let waiting = Waiting {
            revision: revision.to_owned(),
            since: looks.count + 1,
            until,
        };
        looks.waiting.insert(Arc::from(unit), waiting);
        Hearing::Wait(others, until)
    }

    /// A unit has nothing to delete.
    pub(super) fn pass(&self, unit: &str) {
        self.looks.lock().waiting.remove(unit);
    }
}

impl Looks {
    fn set(&mut self, unit: &str, look: u64) {
        let (unit, before) = match self.last.remove_entry(unit) {
            Some((unit, before)) => (unit, Some(before)),
            None => (Arc::from(unit), None),
        };
        if let Some(before) = before {
            self.order.remove(&(before, Arc::clone(&unit)));
        }
        self.order.insert((look, Arc::clone(&unit)));
        self.last.insert(unit, look);
    }

    /// Whether all units but this one were looked at since.
    fn is_heard(&self, unit: &str, since: u64) -> bool {
        let mut others = self.order.iter().filter(|(_, other)| &**other != unit);
        others.next().is_none_or(|(look, _)| *look >= since)
    }

    fn let_go(&self) -> Vec<Arc<str>> {
        let waiting = self.waiting.iter();
        let heard = waiting.filter(|(unit, waiting)| self.is_heard(unit, waiting.since));
        heard.map(|(unit, _)| Arc::clone(unit)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn look(heard: &Heard, unit: &str) -> Vec<Arc<str>> {
        let look = heard.begins(unit);
        heard.ends(unit, look)
    }

    #[tokio::test(start_paused = true)]
    async fn whoever_is_about_to_delete_waits_until_all_others_were_looked_at_since() {
        let heard = Heard::default();
        heard.expect("b");
        let early = heard.begins("b");
        let own = heard.begins("a");
        let Hearing::Wait(others, until) = heard.hear("a", "v2") else {
            panic!("b was not heard");
        };
        assert_eq!(others, [Arc::from("b")]);
        assert!(heard.ends("a", own).is_empty());
        assert!(heard.ends("b", early).is_empty(), "that look had begun before");
        assert_eq!(look(&heard, "b"), [Arc::from("a")]);
        assert_eq!(heard.hear("a", "v2"), Hearing::Over);
        assert_eq!(heard.hear("a", "v2"), Hearing::Wait(vec![Arc::from("b")], until));
        tokio::time::advance(PATIENCE).await;
        assert_eq!(
            heard.hear("a", "v2"),
            Hearing::Over,
            "one that hangs is not waited for"
        );
    }

    #[tokio::test(start_paused = true)]
    async fn two_that_wait_for_each_other_both_go_on() {
        let heard = Heard::default();
        heard.expect("a");
        heard.expect("b");
        let begun = heard.begins("a");
        assert!(matches!(heard.hear("a", "v2"), Hearing::Wait(..)));
        heard.ends("a", begun);
        let begun = heard.begins("b");
        assert!(matches!(heard.hear("b", "v2"), Hearing::Wait(..)));
        assert_eq!(heard.ends("b", begun), [Arc::from("a")]);
        let begun = heard.begins("a");
        assert_eq!(heard.hear("a", "v2"), Hearing::Over);
        assert_eq!(heard.ends("a", begun), [Arc::from("b")]);
        assert_eq!(heard.hear("b", "v2"), Hearing::Over);
    }

    #[tokio::test(start_paused = true)]
    async fn who_is_gone_or_alone_holds_nobody_up() {
        let heard = Heard::default();
        heard.begins("a");
        assert_eq!(heard.hear("a", "v2"), Hearing::Over);
        heard.expect("b");
        assert!(matches!(heard.hear("a", "v2"), Hearing::Wait(..)));
        assert_eq!(heard.forget("b"), [Arc::from("a")]);
    }
}
