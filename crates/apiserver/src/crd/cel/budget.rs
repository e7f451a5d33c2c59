//! How much work rules may make.

use std::cell::Cell;

/// The work that is left for the rules of one object. One unit is about one step of the evaluator, or ten bytes of text.
#[derive(Debug)]
pub(crate) struct Budget {
    left: Cell<i64>,
    /// What is left for the expression that is being evaluated.
    call: Cell<i64>,
}

/// What one evaluation may cost: the real server's limit, whose units are about the same.
const PER_CALL: i64 = 1_000_000;

/// What all evaluations for one object may cost.
const PER_OBJECT: i64 = 10_000_000;

impl Budget {
    /// A full budget.
    pub(crate) fn new() -> Self {
        Budget {
            left: Cell::new(PER_OBJECT),
            call: Cell::new(PER_CALL),
        }
    }

    /// Begins an evaluation; `false` where nothing is left.
    pub(super) fn begin(&self) -> bool {
        self.call.set(PER_CALL);
        self.left.get() > 0
    }

    /// Takes `cost` off; `false` where that is more than is left.
    pub(super) fn spend(&self, cost: usize) -> bool {
        let cost = i64::try_from(cost).unwrap_or(i64::MAX);
        self.left.set(self.left.get().saturating_sub(cost));
        self.call.set(self.call.get().saturating_sub(cost));
        self.call.get() >= 0 && self.left.get() >= 0
    }

    /// Whether the object's budget, not only that of one evaluation, is used up.
    pub(super) fn is_exhausted(&self) -> bool {
        self.left.get() < 0
    }
}

impl Default for Budget {
    fn default() -> Self {
        Budget::new()
    }
}
