//! Limits of numbers.

use model::Value;
use smd::patch::go_text;

use super::failure::Failure;
use super::{Validation, is_whole};
use crate::crd::schema::Checks;

impl Validation {
    /// All limits that the number is beyond.
    pub(super) fn number(&self, value: &Value, checks: &Checks) -> Vec<Failure> {
        let multiple = checks.multiple_of.and_then(|factor| self.multiple(value, factor));
        let minimum = checks.minimum.and_then(|(least, exclusive)| {
            let word = if exclusive {
                "should be greater than"
            } else {
                "should be greater than or equal to"
            };
            let beyond =
                compare(value, least).is_some_and(|order| order.is_lt() || exclusive && order.is_eq());
            beyond.then(|| Failure::invalid(&self.path, value, &format!("{word} {}", limit(value, least))))
        });
        let maximum = checks.maximum.and_then(|(most, exclusive)| {
            let word = if exclusive {
                "should be less than"
            } else {
                "should be less than or equal to"
            };
            let beyond =
                compare(value, most).is_some_and(|order| order.is_gt() || exclusive && order.is_eq());
            beyond.then(|| Failure::invalid(&self.path, value, &format!("{word} {}", limit(value, most))))
        });
        multiple.into_iter().chain(minimum).chain(maximum).collect()
    }

    fn multiple(&self, value: &Value, factor: f64) -> Option<Failure> {
        let positive = |shown: &Value| {
            let path = &self.path;
            let text = format!(
                "factor MultipleOf declared for {path} must be positive: {}",
                go_text::plain(shown)
            );
            Some(Failure::worded(path, shown, text))
        };
        let fits = match value {
            Value::Int(number) => match factor as i64 {
                whole if whole <= 0 => return positive(&Value::Int(whole)),
                whole => number % whole == 0,
            },
            _ if factor <= 0.0 => return positive(&Value::Float(factor)),
            _ => {
                let number = value.as_f64().unwrap_or_default();
                is_whole(if factor < 1.0 {
                    1.0 / factor * number
                } else {
                    number / factor
                })
            }
        };
        let problem = || format!("should be a multiple of {}", limit(value, factor));
        (!fits).then(|| Failure::invalid(&self.path, value, &problem()))
    }
}

/// Whole numbers are compared with the whole part of the limit, as the real server does.
fn compare(value: &Value, limit: f64) -> Option<std::cmp::Ordering> {
    match value {
        Value::Int(number) => Some(number.cmp(&(limit as i64))),
        _ => value.as_f64()?.partial_cmp(&limit),
    }
}

/// The limit as messages write it.
fn limit(value: &Value, limit: f64) -> String {
    match value {
        Value::Int(_) => (limit as i64).to_string(),
        _ => go_text::float(limit),
    }
}
