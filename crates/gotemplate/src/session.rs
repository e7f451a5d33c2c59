//! What one rendering has at hand and what it may use up.

use std::any::Any;
use std::collections::HashMap;
use std::sync::Arc;

use model::regexp::Regexp;

use crate::error::Error;
use crate::value::{Map, Value, WeakMap};
use crate::world::World;

/// How much a rendering may ask for, over all templates in it.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// How many templates may be inside of one another, through `template`, `include` and `tpl` together.
    pub depth: u32,
    /// How many nodes are executed. A million takes about a tenth of a second.
    pub steps: u64,
    /// How many bytes all templates write, those counted too that others take up with `include`.
    pub output: u64,
    /// How many bytes functions make: lists, maps and texts on the way to what is written.
    pub memory: u64,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits {
            depth: 1_000,
            steps: 50_000_000,
            output: 256 << 20,
            memory: 1 << 30,
        }
    }
}

/// One rendering: the counters of its limits, its surroundings, and what the embedder has brought.
///
/// It outlives single templates: Helm renders all templates of a chart in one. At its end, maps that templates have put
/// values into by `set` or `merge` are emptied if they would otherwise keep themselves alive.
pub struct Session<'a> {
    limits: Limits,
    pub(crate) depth: u32,
    steps: u64,
    output: u64,
    memory: u64,
    world: &'a mut dyn World,
    host: Option<&'a dyn Any>,
    /// Maps that were changed in place, and so may contain themselves.
    changed: HashMap<usize, WeakMap>,
    expressions: HashMap<Box<str>, Arc<Regexp>>,
}

/// How many compiled regular expressions a session keeps.
const EXPRESSIONS: usize = 256;

impl<'a> Session<'a> {
    /// A session with nothing used up yet.
    pub fn new(limits: Limits, world: &'a mut dyn World) -> Session<'a> {
        Session {
            limits,
            depth: 0,
            steps: 0,
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

    #[inline]
    pub(crate) fn step(&mut self) -> Result<(), Error> {
        self.steps += 1;
        if self.steps > self.limits.steps {
            return Err(Error::limit(format!(
                "the templates take more than {} steps",
                self.limits.steps
            )));
        }
        Ok(())
    }

    #[inline]
    pub(crate) fn wrote(&mut self, bytes: usize) -> Result<(), Error> {
        self.output += bytes as u64;
        if self.output > self.limits.output {
            return Err(Error::limit(format!(
                "the templates write more than {} bytes",
                self.limits.output
            )));
        }
        Ok(())
    }

    /// Counts bytes that a function is about to make; functions ask before they make much.
    ///
    /// # Errors
    /// More would be made than the limits allow.
    pub fn charge(&mut self, bytes: usize) -> Result<(), Error> {
        self.memory = self.memory.saturating_add(bytes as u64);
        if self.memory > self.limits.memory {
            return Err(Error::limit(format!(
                "the functions of the templates make more than {} bytes",
                self.limits.memory
            )));
        }
        Ok(())
    }

    /// How much may still be charged.
    pub(crate) fn memory_left(&self) -> usize {
        usize::try_from(self.limits.memory.saturating_sub(self.memory)).unwrap_or(usize::MAX)
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
        self.charge(key.len() + 64)?;
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
    /// It is none, in Go's words.
    pub fn regexp(&mut self, text: &str) -> Result<Arc<Regexp>, Error> {
        if let Some(known) = self.expressions.get(text) {
            return Ok(known.clone());
        }
        let compiled = Arc::new(Regexp::new(text).map_err(|error| Error::new(error.to_string()))?);
        if self.expressions.len() == EXPRESSIONS {
            self.expressions.clear();
        }
        self.expressions.insert(text.into(), compiled.clone());
        Ok(compiled)
    }
}

/// Breaks circles of maps, which nothing else would free. Other maps are left alone: the embedder may go on with them.
impl Drop for Session<'_> {
    fn drop(&mut self) {
        crate::value::break_circles(self.changed.values().filter_map(WeakMap::upgrade));
    }
}
