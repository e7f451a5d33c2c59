//! How many requests may be in flight, as the server's answers have it. Pure: times are handed in.
//!
//! The limit grows while requests queue for it and answers stay quick, doubling at first and by a tenth later. A server
//! that is at its limit answers later the more it is asked (Little's law), so answers that take [`SLOW`] times as long as
//! in quiet times make it shrink by a fifth, though never below [`FLOOR`] for that alone. A server that says that it has
//! too much to do halves it, once for all requests that were under way at that time.
//!
//! What is quick is learned for each verb: the quickest answers, forgotten within a minute or so, as a server may become a
//! slower one for good.

use std::time::Duration;

use tokio::time::Instant;

use super::counts::Verb;

/// Where it starts.
const START: f64 = 8.0;
/// Slowness alone neither keeps it below this nor pushes it there: with so few in flight it has other reasons, as a machine that
/// others use as well, and on such a one more in flight get more done. What is too much for a server it refuses.
const FLOOR: f64 = 24.0;
/// It never goes beyond this.
const MOST: f64 = 256.0;
/// So many times the usual time is slow.
const SLOW: f64 = 3.0;
/// The limit is looked at again after so many answers, or as many as it allows if that is more.
const WINDOW: usize = 8;
/// In this time a quick answer is forgotten.
const MEMORY: Duration = Duration::from_secs(60);

/// How a request ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Outcome {
    /// With an answer.
    Answered,
    /// The server said that it has too much to do, or nothing at all.
    Overload,
    /// In a way that tells nothing about the server's load.
    Other,
}

/// The limit and what it is learned from.
#[derive(Debug)]
pub(super) struct Limit {
    limit: f64,
    /// Nothing has been too much yet.
    doubling: bool,
    usual: [Option<Usual>; Verb::COUNT],
    /// How many times the usual time the answers of this window took.
    ratios: Vec<f64>,
    /// Whether requests had to wait for the limit in this window.
    wanted: bool,
    last_cut: Option<Instant>,
}

/// How long a request takes in quiet times.
#[derive(Clone, Copy, Debug)]
struct Usual {
    seconds: f64,
    at: Instant,
}

/// One request that has ended.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sample {
    pub(super) verb: Verb,
    pub(super) started: Instant,
    pub(super) ended: Instant,
    pub(super) outcome: Outcome,
    /// Whether all that the limit allows was in flight when it started.
    pub(super) full: bool,
}

impl Limit {
    pub(super) fn new() -> Limit {
        Limit {
            limit: START,
            doubling: true,
            usual: [None; Verb::COUNT],
            ratios: Vec::new(),
            wanted: false,
            last_cut: None,
        }
    }

    /// How many requests may be in flight.
    pub(super) fn get(&self) -> usize {
        // It is between 1 and MOST.
        self.limit as usize
    }

    /// Learns from a request that has ended.
    pub(super) fn observe(&mut self, sample: Sample) {
        match sample.outcome {
            Outcome::Overload => self.halve(&sample),
            Outcome::Answered if sample.verb.is_even() => self.answered(&sample),
            Outcome::Answered | Outcome::Other => {}
        }
    }

    fn halve(&mut self, sample: &Sample) {
        if self.last_cut.is_some_and(|cut| sample.started <= cut) {
            return;
        }
        self.limit = (self.limit / 2.0).max(1.0);
        self.last_cut = Some(sample.ended);
        self.doubling = false;
        self.next_window();
    }

    fn answered(&mut self, sample: &Sample) {
        let took = sample
            .ended
            .duration_since(sample.started)
            .as_secs_f64()
            .max(1e-6);
        let usual = self.usual[sample.verb as usize].get_or_insert(Usual {
            seconds: took,
            at: sample.ended,
        });
        usual.learn(took, sample.ended);
        self.ratios.push(took / usual.seconds);
        self.wanted |= sample.full;
        if self.ratios.len() >= WINDOW.max(self.get()) {
            self.look();
        }
    }

    fn look(&mut self) {
        let middle = self.ratios.len() / 2;
        let (_, median, _) = self.ratios.select_nth_unstable_by(middle, f64::total_cmp);
        if *median > SLOW && self.limit >= FLOOR {
            self.doubling = false;
            self.limit = (self.limit * 0.8).max(FLOOR);
        } else if self.wanted {
            let more = match self.doubling {
                true => self.limit,
                false => (self.limit / 10.0).max(1.0),
            };
            self.limit = (self.limit + more).min(MOST);
        }
        self.next_window();
    }

    fn next_window(&mut self) {
        self.ratios.clear();
        self.wanted = false;
    }
}

impl Usual {
    /// Follows quicker answers within a few of them, slower ones only over [`MEMORY`].
    fn learn(&mut self, took: f64, now: Instant) {
        let share = match took < self.seconds {
            true => 0.25,
            false => (now.saturating_duration_since(self.at).as_secs_f64() / MEMORY.as_secs_f64()).min(1.0),
        };
        self.seconds += (took - self.seconds) * share;
        self.at = now;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A server that answers after `quiet` while it can, and at `rate` per second when it is asked for more.
    struct Server {
        quiet: f64,
        rate: f64,
        now: Instant,
    }

    impl Server {
        /// Asks for everything that the limit allows, again and again.
        fn ask(&mut self, limit: &mut Limit, requests: usize) {
            let mut left = requests;
            while left > 0 {
                let many = limit.get().min(left);
                let took = self.quiet.max(many as f64 / self.rate);
                let (started, ended) = (self.now, self.now + Duration::from_secs_f64(took));
                for _ in 0..many {
                    limit.observe(sample(started, ended, Outcome::Answered));
                }
                self.now = ended;
                left -= many;
            }
        }
    }

    fn sample(started: Instant, ended: Instant, outcome: Outcome) -> Sample {
        Sample {
            verb: Verb::Apply,
            started,
            ended,
            outcome,
            full: true,
        }
    }

    #[tokio::test(start_paused = true)]
    async fn it_grows_to_what_the_server_can_do_and_not_much_further() {
        // 20 in flight keep this server busy.
        let (mut limit, now) = (Limit::new(), Instant::now());
        let mut server = Server {
            quiet: 0.01,
            rate: 2000.0,
            now,
        };
        server.ask(&mut limit, 5_000);
        assert!((20..=80).contains(&limit.get()), "{}", limit.get());
    }

    #[tokio::test(start_paused = true)]
    async fn it_shrinks_when_the_server_becomes_slower_and_grows_again() {
        let (mut limit, now) = (Limit::new(), Instant::now());
        let mut server = Server {
            quiet: 0.01,
            rate: 8000.0,
            now,
        };
        server.ask(&mut limit, 20_000);
        assert!((80..=256).contains(&limit.get()), "{}", limit.get());
        server.rate = 1000.0;
        server.ask(&mut limit, 2_000);
        assert!((8..=40).contains(&limit.get()), "{}", limit.get());
        server.rate = 8000.0;
        server.ask(&mut limit, 20_000);
        assert!((80..=256).contains(&limit.get()), "{}", limit.get());
    }

    #[tokio::test(start_paused = true)]
    async fn a_server_that_is_slow_at_times_is_still_given_enough_to_do() {
        let (mut limit, now) = (Limit::new(), Instant::now());
        let mut server = Server {
            quiet: 0.01,
            rate: 8000.0,
            now,
        };
        server.ask(&mut limit, 1);
        // From now on it is slow, however little it is asked.
        server.quiet = 0.1;
        server.ask(&mut limit, 1_000);
        assert!((24..=48).contains(&limit.get()), "{}", limit.get());
    }

    #[tokio::test(start_paused = true)]
    async fn too_many_requests_halve_it_once_for_all_that_were_under_way() {
        let mut limit = Limit::new();
        let started = Instant::now();
        let ended = started + Duration::from_millis(5);
        for _ in 0..8 {
            limit.observe(sample(started, ended, Outcome::Overload));
        }
        assert_eq!(limit.get(), 4);
        let later = ended + Duration::from_millis(1);
        for _ in 0..8 {
            limit.observe(sample(later, later + Duration::from_millis(5), Outcome::Overload));
        }
        assert_eq!(limit.get(), 2);
        // Not below one, and back again step by step.
        for round in 1..8 {
            let at = later + Duration::from_secs(round);
            limit.observe(sample(at, at, Outcome::Overload));
        }
        assert_eq!(limit.get(), 1);
        let mut server = Server {
            quiet: 0.01,
            rate: 2000.0,
            now: later + Duration::from_secs(60),
        };
        server.ask(&mut limit, 8);
        assert_eq!(limit.get(), 2);
        server.ask(&mut limit, 5_000);
        assert!((20..=80).contains(&limit.get()), "{}", limit.get());
    }

    #[tokio::test(start_paused = true)]
    async fn it_stays_where_nobody_wants_more() {
        let mut limit = Limit::new();
        let mut now = Instant::now();
        for _ in 0..1000 {
            let ended = now + Duration::from_millis(10);
            limit.observe(Sample {
                full: false,
                ..sample(now, ended, Outcome::Answered)
            });
            now = ended;
        }
        assert_eq!(limit.get(), 8);
    }

    #[tokio::test(start_paused = true)]
    async fn failures_of_other_kinds_and_lists_tell_nothing() {
        let mut limit = Limit::new();
        let now = Instant::now();
        for round in 0..100 {
            let slow = now + Duration::from_secs(round);
            limit.observe(sample(now, slow, Outcome::Other));
            limit.observe(Sample {
                verb: Verb::List,
                ..sample(now, slow, Outcome::Answered)
            });
        }
        assert_eq!(limit.get(), 8);
    }
}
