//! Numbers that may be percentages.

use model::Value;

use super::super::at::At;
use super::super::errors::Errors;
use super::super::text::percent;

/// A number that is not negative, or a percentage.
pub(in super::super) fn number_or_percent(at: &At, errors: &mut Errors) {
    match at.value() {
        Value::Str(text) => errors.each(at, percent(text).into_iter().collect()),
        _ => errors.not_negative(at),
    }
}

/// A percentage of a whole.
pub(in super::super) fn not_above_100_percent(at: &At, errors: &mut Errors) {
    if of_percent(at.value()).is_some_and(|percent| percent > 100) {
        errors.invalid(at, "must not be greater than 100%");
    }
}

/// The number, be it a percentage or not.
pub(super) fn number(at: &At) -> i64 {
    let plain = || at.text().parse().unwrap_or_else(|_| at.int());
    of_percent(at.value()).unwrap_or_else(plain)
}

fn of_percent(value: &Value) -> Option<i64> {
    let text = value.as_str().filter(|text| percent(text).is_none())?;
    Some(text.strip_suffix('%')?.parse().unwrap_or(i64::MAX))
}
