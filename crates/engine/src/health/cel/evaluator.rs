//! Evaluates expressions, with an end to the work that they may do.

use std::sync::Arc;

use kube_cel::cel::Context;
use model::Value;
use parking_lot::Mutex;

use super::budget::{Budget, Work, weight_of};
use super::expression::Expression;
use super::{prepare, value};
use crate::panics::caught;

const TOO_LONG: &str = "it would take too long for an object of this size";

/// What expressions are evaluated with. One evaluation goes on at a time: they pay from one purse.
pub(super) struct Evaluator {
    functions: Context<'static>,
    budget: Arc<Budget>,
    turn: Mutex<()>,
}

impl Default for Evaluator {
    fn default() -> Self {
        let budget = Arc::new(Budget::default());
        Evaluator {
            functions: prepare::context(&budget),
            budget,
            turn: Mutex::default(),
        }
    }
}

impl Evaluator {
    /// Makes the fields of an object the variables of expressions. That is paid for, and left out where nothing is left.
    pub(super) fn about<'e>(&'e self, object: &'e Value, work: &mut Work) -> About<'e> {
        let mut scope = self.functions.new_inner_scope();
        let (is_paid, _) = self.paying(work, || self.budget.spend(weight_of(object)));
        for (name, value) in object.as_object().into_iter().flat_map(|object| object.iter()) {
            if is_paid {
                scope.add_variable_from_value(name, value::cel(value));
            }
        }
        About {
            evaluator: self,
            object,
            scope,
        }
    }

    fn paying<T>(&self, work: &mut Work, evaluate: impl FnOnce() -> T) -> (bool, T) {
        let _turn = self.turn.lock();
        self.budget.within(work, evaluate)
    }
}

/// An object whose fields are the variables of expressions.
pub(super) struct About<'e> {
    evaluator: &'e Evaluator,
    object: &'e Value,
    scope: Context<'e>,
}

impl About<'_> {
    /// Whether an expression holds; else why that cannot be told, in Flux's words.
    pub(super) fn holds(&self, expression: &Expression, work: &mut Work) -> Result<bool, String> {
        expression.check(self.object)?;
        if work.is_spent() {
            return Err(expression.failure(TOO_LONG));
        }
        let (is_paid, result) = self.evaluator.paying(work, || {
            // What a panic says may hold values.
            caught(|| expression.resolve(&self.scope))
                .unwrap_or_else(|_| Err(expression.failure("the evaluator panicked")))
        });
        match is_paid {
            true => result,
            false => Err(expression.failure(TOO_LONG)),
        }
    }
}
