//! What one rendering has at hand and what it may use up.

use std::any::Any;
use std::collections::HashMap;
use std::sync::Arc;

use model::regexp::Regexp;

use crate::error::Error;
use crate::value::{Map, Value, WeakMap};
use crate::world::World;

/// How much a rendering may ask for, over all templates in it.
///
/// All counters only grow: what a template makes and drops counts. So `output` and `memory` together bound the bytes that a
/// rendering holds at any time.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// The templates inside of one another, through `template`, `include` and `tpl` together.
    pub depth: u32,
    /// The work: one step for each node that is executed and for each 64 bytes that a function reads or makes, and more for
    /// functions that take longer, such as those that make keys. A million steps takes about a tenth of a second.
    pub steps: u64,
    /// The bytes that all templates write, those counted too that others take up with `include`.
    pub output: u64,
    /// The bytes that functions make: lists, maps and texts on the way to what is written.
    pub memory: u64,
}

impl Limits {
    /// Limits for templates that whoever runs the program has chosen, rather than a stranger.
    pub fn generous() -> Limits {
        Limits {
            depth: 1_000,
            steps: 2_000_000_000,
            output: 2 << 30,
            memory: 4 << 30,
        }
    }
}

/// The blocks and parentheses inside of one another, over all templates that call each other. Each takes stack.
const LEVELS: u32 = 50_000;

/// The units that steps are counted in: going through one byte is one unit.
const STEP: u64 = 64;

/// The session asks whether to stop each time after that many units.
const CHECK_EVERY: u64 = 4_096 * STEP;

/// The text that a function may be given, whatever memory is left.
const SMALL_TEXT: usize = 1 << 20;

/// The part of the memory left that the texts of one call may take: some functions make eight bytes of one.
const TEXT_SHARE: usize = 8;

/// The bytes that a tree takes at most for each byte of the document that it is read from, and the work of reading it.
const DOCUMENT: usize = 8;

/// Tells a rendering to stop, by the reason, which becomes its error.
pub type Stop<'a> = &'a dyn Fn() -> Option<String>;

impl Default for Limits {
    fn default() -> Limits {
        Limits {
            depth: 1_000,
            steps: 50_000_000,
            output: 64 << 20,
            memory: 192 << 20,
        }
    }
}

/// Whether what functions may make of so many bytes of text is more than there is room for.
pub(crate) fn exceeds(texts: usize, room: usize) -> bool {
    texts > SMALL_TEXT && texts.saturating_mul(TEXT_SHARE) > room
}

/// One rendering: the counters of its limits, its surroundings, and what the embedder has brought.
///
/// It outlives single templates: Helm renders all templates of a chart in one. At its end, maps that templates have put
/// values into by `set` or `merge` are emptied if they would otherwise keep themselves alive.
pub struct Session<'a> {
    limits: Limits,
    pub(crate) depth: u32,
    /// The blocks and parentheses inside of one another, over all templates.
    level: u32,
    /// The units of work done so far.
    worked: u64,
    /// The units after which the session looks whether it may go on.
    checkpoint: u64,
    stop: Option<Stop<'a>>,
    output: u64,
    memory: u64,
    world: &'a mut dyn World,
    host: Option<&'a dyn Any>,
    /// Maps that were changed in place, and so may contain themselves.
    changed: HashMap<usize, WeakMap>,
    expressions: HashMap<Box<str>, Arc<Regexp>>,
}

/// The compiled regular expressions that a session keeps. What each takes to search with is not counted as memory.
const EXPRESSIONS: usize = 64;

/// The steps for each byte of a regular expression that is compiled.
const COMPILING: u64 = 8;

/// What each byte of a compiled regular expression counts, in bytes that are gone through.
const COMPILED: usize = 8;

/// The steps that an expression counts that cannot be compiled.
const REFUSED: u64 = 200_000;

/// The bytes of a compiled regular expression for which each byte of the searched text is one unit: searching takes the product
/// of both at worst.
const SEARCHING: usize = 64;

impl<'a> Session<'a> {
    /// A session with nothing used up yet.
    pub fn new(limits: Limits, world: &'a mut dyn World) -> Session<'a> {
        Session {
            limits,
            depth: 0,
            level: 0,
            worked: 0,
            checkpoint: CHECK_EVERY.min(limits.steps.saturating_mul(STEP)),
            stop: None,
            output: 0,
            memory: 0,
            world,
            host: None,
            changed: HashMap::new(),
            expressions: HashMap::new(),
        }
    }

    /// Gives functions of the embedder what they need: they find it by [`Session::host`].
    #[must_use]
    pub fn with_host(mut self, host: &'a dyn Any) -> Session<'a> {
        self.host = Some(host);
        self
    }

    /// Has the session ask every few thousand steps, and before each function that takes long, whether to stop.
    #[must_use]
    pub fn with_stop(mut self, stop: Stop<'a>) -> Session<'a> {
        self.stop = Some(stop);
        self
    }

    /// What the embedder has brought, if it is of that type.
    pub fn host<T: 'static>(&self) -> Option<&'a T> {
        self.host?.downcast_ref()
    }

    /// The time, the randomness and the names of the world outside.
    pub fn world(&mut self) -> &mut dyn World {
        self.world
    }

    /// The limits.
    pub fn limits(&self) -> Limits {
        self.limits
    }

    /// How many bytes of output were written so far.
    pub fn written(&self) -> u64 {
        self.output
    }

    /// The steps taken so far.
    pub fn steps(&self) -> u64 {
        self.worked / STEP
    }

    /// The bytes that functions have made so far.
    pub fn made(&self) -> u64 {
        self.memory
    }

    #[inline]
    pub(crate) fn step(&mut self) -> Result<(), Error> {
        self.spend(STEP)
    }

    /// Counts bytes that a function is about to go through, a step for each 64. The texts that a function is given and what it
    /// [charges](Session::charge) are counted already.
    ///
    /// # Errors
    /// The limit of steps is exceeded, or the embedder stops the rendering.
    #[inline]
    pub fn work(&mut self, bytes: usize) -> Result<(), Error> {
        self.spend(bytes as u64)
    }

    /// Counts the steps of something that takes long, before it begins. A million steps stands for a tenth of a second.
    ///
    /// # Errors
    /// The limit of steps is exceeded, or the embedder stops the rendering.
    pub fn price(&mut self, steps: u64) -> Result<(), Error> {
        self.spend(steps.saturating_mul(STEP))
    }

    #[inline]
    fn spend(&mut self, units: u64) -> Result<(), Error> {
        self.worked = self.worked.saturating_add(units);
        if self.worked > self.checkpoint {
            return self.check();
        }
        Ok(())
    }

    #[cold]
    fn check(&mut self) -> Result<(), Error> {
        let most = self.limits.steps.saturating_mul(STEP);
        if self.worked > most {
            return Err(Error::limit(format!(
                "the templates take more than {} steps: have them loop less, call functions on smaller texts, and make fewer keys",
                self.limits.steps
            )));
        }
        self.checkpoint = self.worked.saturating_add(CHECK_EVERY).min(most);
        match self.stop.and_then(|stop| stop()) {
            Some(reason) => Err(Error::limit(reason)),
            None => Ok(()),
        }
    }

    #[inline]
    pub(crate) fn wrote(&mut self, bytes: usize) -> Result<(), Error> {
        self.output += bytes as u64;
        if self.output > self.limits.output {
            return Err(Error::limit(format!(
                "the templates write more than {} bytes: have them write less, or split the chart",
                self.limits.output
            )));
        }
        self.spend(bytes as u64)
    }

    /// Counts bytes that a function is about to make; functions ask before they make much. Making them is work, too.
    ///
    /// # Errors
    /// More would be made than the limits allow.
    pub fn charge(&mut self, bytes: usize) -> Result<(), Error> {
        self.fits(bytes)?;
        self.memory = self.memory.saturating_add(bytes as u64);
        self.spend(bytes as u64)
    }

    /// Checks that so many bytes may be made, without counting them: for what a function needs only while it runs.
    ///
    /// # Errors
    /// More would be made than the limits allow.
    pub fn fits(&self, bytes: usize) -> Result<(), Error> {
        match bytes > self.memory_left() {
            true => Err(self.too_much_memory()),
            false => Ok(()),
        }
    }

    fn too_much_memory(&self) -> Error {
        Error::limit(format!(
            "the functions of the templates make more than {} bytes: have them make fewer and smaller texts, lists and maps",
            self.limits.memory
        ))
    }

    /// Counts a document that is about to be read, such as JSON, which takes longer than going through a text. What is read is
    /// charged by [`Value::from_tree`].
    ///
    /// # Errors
    /// The limit of steps is exceeded, there is no room for what is read, or the embedder stops the rendering.
    pub fn reads(&mut self, text: usize) -> Result<(), Error> {
        self.fits(text.saturating_mul(DOCUMENT))?;
        self.work(text.saturating_mul(DOCUMENT))
    }

    /// How much may still be charged.
    pub fn memory_left(&self) -> usize {
        usize::try_from(self.limits.memory.saturating_sub(self.memory)).unwrap_or(usize::MAX)
    }

    /// Counts the texts that a function is called with, before it runs.
    #[inline]
    pub(crate) fn given(&mut self, texts: usize) -> Result<(), Error> {
        self.expands(texts)?;
        self.spend(texts as u64)
    }

    /// Checks that there is room for what a function may make of so many bytes of text.
    #[inline]
    pub(crate) fn expands(&self, texts: usize) -> Result<(), Error> {
        match exceeds(texts, self.memory_left()) {
            true => Err(self.too_much_memory()),
            false => Ok(()),
        }
    }

    #[inline]
    pub(crate) fn descend(&mut self) -> Result<(), Error> {
        if self.level >= LEVELS {
            return Err(Error::limit(format!(
                "more than {LEVELS} blocks and parentheses are inside of one another: have templates nest less"
            )));
        }
        self.level += 1;
        Ok(())
    }

    #[inline]
    pub(crate) fn ascend(&mut self) {
        self.level -= 1;
    }

    pub(crate) fn enter(&mut self) -> Result<(), Error> {
        if self.depth >= self.limits.depth {
            return Err(Error::limit(format!(
                "exceeded maximum template depth ({})",
                self.limits.depth
            )));
        }
        self.depth += 1;
        Ok(())
    }

    pub(crate) fn leave(&mut self) {
        self.depth -= 1;
    }

    /// Puts a value into a map that templates share, as `set` does.
    ///
    /// # Errors
    /// The map is nil, in Go's words, or the limits are reached.
    pub fn put(&mut self, map: &Map, key: &str, value: Value) -> Result<(), Error> {
        let first = if map.is_empty() { Map::NODE } else { 0 };
        self.charge(key.len() + 64 + first)?;
        if matches!(value, Value::List(_) | Value::Map(_)) {
            self.changed
                .entry(map.address())
                .and_modify(|known| {
                    // Another map may have stood at that address before.
                    if known.upgrade().is_none() {
                        *known = map.downgrade();
                    }
                })
                .or_insert_with(|| map.downgrade());
        }
        if map.insert(key, value) {
            Ok(())
        } else {
            Err(Error::new("assignment to entry in nil map"))
        }
    }

    /// The expression in Go's syntax, compiled at most once.
    ///
    /// # Errors
    /// It is none, in Go's words, or the limits are reached.
    pub fn regexp(&mut self, text: &str) -> Result<Arc<Regexp>, Error> {
        if let Some(known) = self.expressions.get(text) {
            return Ok(known.clone());
        }
        self.price((text.len() as u64).saturating_mul(COMPILING))?;
        let compiled = match Regexp::new(text) {
            Ok(compiled) => Arc::new(compiled),
            Err(error) => {
                // It may be refused only after most of it was compiled.
                self.price(REFUSED)?;
                return Err(Error::new(error.to_string()));
            }
        };
        self.charge(compiled.size())?;
        self.work(compiled.size().saturating_mul(COMPILED))?;
        if self.expressions.len() == EXPRESSIONS {
            self.expressions.clear();
        }
        self.expressions.insert(text.into(), compiled.clone());
        Ok(compiled)
    }

    /// Counts a search through a text, before it begins.
    ///
    /// # Errors
    /// The limit of steps is exceeded, or the embedder stops the rendering.
    pub fn search(&mut self, regexp: &Regexp, text: &str) -> Result<(), Error> {
        self.work(text.len().saturating_mul(regexp.size()) / SEARCHING)
    }

    /// Counts a match. A search may go far beyond the match that it finds, and the next one begins behind that match: so a part of the
    /// text that is left is counted each time.
    ///
    /// # Errors
    /// The limit of steps is exceeded, or the embedder stops the rendering.
    pub fn found(&mut self, left: usize) -> Result<(), Error> {
        self.work(STEP as usize + left / SEARCHING)
    }
}

/// Breaks circles of maps, which nothing else would free. Other maps are left alone: the embedder may go on with them.
impl Drop for Session<'_> {
    fn drop(&mut self) {
        crate::value::break_circles(self.changed.values().filter_map(WeakMap::upgrade));
    }
}
