//! What the loop of every controller reads and writes in a status.

use crate::Condition;

/// The part of a status that all reconciled kinds have.
pub trait ReconcileStatus {
    /// The conditions.
    fn conditions(&self) -> &[Condition];

    /// The conditions, to be changed.
    fn conditions_mut(&mut self) -> &mut Vec<Condition>;

    /// The last generation that was dealt with, if the kind keeps it.
    fn observed_generation(&self) -> Option<i64>;

    /// Notes the generation that was dealt with, if the kind keeps it.
    fn set_observed_generation(&mut self, generation: i64);

    /// The value of `reconcile.fluxcd.io/requestedAt` that was last dealt with.
    fn last_handled_reconcile_at(&self) -> Option<&str>;

    /// Notes the value of `reconcile.fluxcd.io/requestedAt` that was dealt with.
    fn set_last_handled_reconcile_at(&mut self, token: &str);

    /// The condition of that type.
    fn condition(&self, kind: crate::ConditionType) -> Option<&Condition> {
        self.conditions()
            .iter()
            .find(|condition| condition.kind == kind.as_str())
    }
}

/// Implements [`ReconcileStatus`] for a status with all of its fields, or with only the conditions and the token.
macro_rules! reconcile_status {
    (@common) => {
        fn conditions(&self) -> &[$crate::Condition] {
            &self.conditions
        }

        fn conditions_mut(&mut self) -> &mut Vec<$crate::Condition> {
            &mut self.conditions
        }

        fn last_handled_reconcile_at(&self) -> Option<&str> {
            self.last_handled_reconcile_at.as_deref()
        }

        fn set_last_handled_reconcile_at(&mut self, token: &str) {
            self.last_handled_reconcile_at = Some(token.to_owned());
        }
    };
    ($status:ident) => {
        impl $crate::ReconcileStatus for $status {
            reconcile_status!(@common);

            fn observed_generation(&self) -> Option<i64> {
                self.observed_generation
            }

            fn set_observed_generation(&mut self, generation: i64) {
                self.observed_generation = Some(generation);
            }
        }
    };
    ($status:ident without generation) => {
        impl $crate::ReconcileStatus for $status {
            reconcile_status!(@common);

            fn observed_generation(&self) -> Option<i64> {
                None
            }

            fn set_observed_generation(&mut self, _: i64) {}
        }
    };
}

/// The status of a kind that has none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct NoStatus {}

impl crate::schema::Described for NoStatus {
    fn schema() -> crate::schema::Schema {
        crate::schema::Schema::object(Vec::new())
    }
}
