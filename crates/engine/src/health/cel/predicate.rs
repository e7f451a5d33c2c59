//! One expression over several objects, such as the `readyExpr` of a dependency.

use kube_cel::cel::Context;
use model::Value;

use super::{Expression, prepare, value};

/// An expression that is true or false of what it is given.
pub struct Predicate {
    expression: Expression,
    functions: Context<'static>,
}

impl Predicate {
    /// Reads an expression.
    ///
    /// # Errors
    /// What is wrong with it, in Flux's words.
    pub fn new(text: &str) -> Result<Self, String> {
        let expression = Expression::read(text);
        Ok(Predicate {
            expression: expression
                .map_err(|problem| format!("failed to parse the CEL expression '{text}': {problem}"))?,
            functions: prepare::functions(),
        })
    }

    /// Whether it holds of these variables: a map of their names and values.
    ///
    /// # Errors
    /// Why that cannot be told, in Flux's words.
    pub fn holds(&self, variables: &Value) -> Result<bool, String> {
        let mut scope = self.functions.new_inner_scope();
        for (name, value) in variables.as_object().into_iter().flat_map(|all| all.iter()) {
            scope.add_variable_from_value(name, value::cel(value));
        }
        self.expression.holds(variables, &scope)
    }
}

impl std::fmt::Debug for Predicate {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.debug_tuple("Predicate").field(&self.expression.text).finish()
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
        assert_eq!(predicate.holds(&of("a", "a")), Ok(true));
        assert_eq!(predicate.holds(&of("a", "b")), Ok(false));
        let missing = predicate.holds(&value!({ "self": {}, "dep": {} })).unwrap_err();
        assert!(
            missing.starts_with("failed to evaluate the CEL expression"),
            "{missing}"
        );
        assert!(Predicate::new("self.").unwrap_err().contains("'self.'"));
        let no_boolean = Predicate::new("1").unwrap().holds(&value!({})).unwrap_err();
        assert!(no_boolean.contains("as boolean"), "{no_boolean}");
    }
}
