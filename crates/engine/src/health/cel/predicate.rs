//! One expression over several objects, such as the `readyExpr` of a dependency.

use model::Value;

use super::budget::Work;
use super::evaluator::Evaluator;
use super::expression::Expression;
use super::limits::on_large_stack;

/// An expression that is true or false of what it is given.
pub struct Predicate {
    expression: Expression,
    evaluator: Evaluator,
}

impl Predicate {
    /// Reads an expression.
    ///
    /// # Errors
    /// What is wrong with it, in Flux's words.
    pub fn new(text: &str) -> Result<Self, String> {
        let expression = on_large_stack(|| Expression::read(text));
        Ok(Predicate {
            expression: expression
                .map_err(|problem| format!("failed to parse the CEL expression '{text}': {problem}"))?,
            evaluator: Evaluator::default(),
        })
    }

    /// Whether it holds of these variables: a map of their names and values. What that takes is paid from the work that is left for the
    /// object whose expression it is.
    ///
    /// # Errors
    /// Why that cannot be told, in Flux's words. No value of the variables is in them.
    pub fn holds(&self, variables: &Value, work: &mut Work) -> Result<bool, String> {
        on_large_stack(|| {
            let about = self.evaluator.about(variables, work);
            about.holds(&self.expression, work)
        })
    }
}

impl std::fmt::Debug for Predicate {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.debug_tuple("Predicate")
            .field(&self.expression.text())
            .finish()
    }
}

#[cfg(test)]
mod tests {
    use model::value;

    use super::*;

    #[test]
    fn several_objects_are_compared_with_each_other() {
        let predicate = Predicate::new("self.metadata.labels.app == dep.metadata.labels.app").unwrap();
        let of = |one: &str, other: &str| {
            value!({
                "self": { "metadata": { "labels": { "app": one } } },
                "dep": { "metadata": { "labels": { "app": other } } },
            })
        };
        let holds = |variables: &Value| predicate.holds(variables, &mut Work::default());
        assert_eq!(holds(&of("a", "a")), Ok(true));
        assert_eq!(holds(&of("a", "b")), Ok(false));
        let missing = holds(&value!({ "self": {}, "dep": {} })).unwrap_err();
        assert!(
            missing.starts_with("failed to evaluate the CEL expression"),
            "{missing}"
        );
        assert!(Predicate::new("self.").unwrap_err().contains("'self.'"));
        let no_boolean = Predicate::new("1").unwrap();
        let no_boolean = no_boolean.holds(&value!({}), &mut Work::default()).unwrap_err();
        assert!(no_boolean.contains("as boolean"), "{no_boolean}");
    }
}
