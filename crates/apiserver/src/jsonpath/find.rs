//! Following paths.

use std::cmp::Ordering;

use model::Value;

use super::{Error, Filter, Slice, Step};

/// What a field is that none of the values has.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Missing {
    /// Nothing, and no failure.
    Nothing,
    /// A failure.
    Failure,
}

/// Follows `steps` from each of `values`.
pub(super) fn walk<'v>(
    steps: &[Step],
    mut values: Vec<&'v Value>,
    missing: Missing,
) -> Result<Vec<&'v Value>, Error> {
    for step in steps {
        values = follow(step, &values, missing)?;
        if let Step::Field(name) = step
            && values.is_empty()
            && missing == Missing::Failure
        {
            return Err(Error(format!("{name} is not found")));
        }
    }
    Ok(values)
}

fn follow<'v>(step: &Step, values: &[&'v Value], missing: Missing) -> Result<Vec<&'v Value>, Error> {
    let mut found = Vec::new();
    match step {
        // A value of its own only makes sense in a comparison.
        Step::Literal(_) => {}
        Step::Field(name) => found.extend(values.iter().filter_map(|value| value.get(name))),
        Step::Wildcard => values.iter().for_each(|value| found.extend(children(value))),
        Step::Recursive => values.iter().for_each(|value| descend(value, &mut found)),
        Step::Slice(slice) => {
            for value in values {
                cut(slice, value, &mut found)?;
            }
        }
        Step::Filter(filter) => {
            for value in values {
                let Value::Array(items) = value else {
                    let text = smd::patch::go_text::plain(value);
                    return Err(Error(format!(
                        "{text} is not array or slice and cannot be filtered"
                    )));
                };
                for item in items {
                    if holds(filter, item, missing)? {
                        found.push(item);
                    }
                }
            }
        }
        Step::Union(paths) => {
            for path in paths {
                found.extend(walk(path, values.to_vec(), missing)?);
            }
        }
    }
    Ok(found)
}

fn children(value: &Value) -> Vec<&Value> {
    match value {
        Value::Object(map) => map.values().collect(),
        Value::Array(items) => items.iter().collect(),
        _ => Vec::new(),
    }
}

/// The value and all below it that have something in them.
fn descend<'v>(value: &'v Value, found: &mut Vec<&'v Value>) {
    let below = children(value);
    if !below.is_empty() {
        found.push(value);
        below.into_iter().for_each(|value| descend(value, found));
    }
}

fn cut<'v>(slice: &Slice, value: &'v Value, found: &mut Vec<&'v Value>) -> Result<(), Error> {
    let items = match value {
        Value::Null => return Ok(()),
        Value::Array(items) => items,
        other => return Err(Error(format!("{} is not array or slice", other.type_name()))),
    };
    let length = items.len() as i64;
    let mut start = slice.start.unwrap_or(0);
    if start < 0 {
        start += length;
    }
    let mut end = slice.end.unwrap_or(length);
    if end < 0 || end == 0 && slice.single {
        end += length;
    }
    if start == end {
        return Ok(());
    }
    let out_of_bounds = |index: i64| {
        Error(format!(
            "array index out of bounds: index {index}, length {length}"
        ))
    };
    if start >= length || start < 0 {
        return Err(out_of_bounds(start));
    }
    if end > length || end < 0 {
        return Err(out_of_bounds(end - 1));
    }
    if start > end {
        return Err(Error(format!(
            "starting index {start} is greater than ending index {end}"
        )));
    }
    let step = match slice.step {
        Some(step) if step <= 0 => return Err(Error("step must be > 0".into())),
        Some(step) => usize::try_from(step).unwrap_or(usize::MAX),
        None => 1,
    };
    found.extend(items[start as usize..end as usize].iter().step_by(step));
    Ok(())
}

fn holds(filter: &Filter, item: &Value, missing: Missing) -> Result<bool, Error> {
    let Some((operator, right)) = &filter.comparison else {
        return Ok(walk(&filter.left, vec![item], missing).is_ok_and(|found| !found.is_empty()));
    };
    match (side(&filter.left, item, missing)?, side(right, item, missing)?) {
        (Some(left), Some(right)) => compare(operator, left, right),
        _ => Ok(false),
    }
}

/// The one value of a side of a comparison; `None` where there is none.
fn side<'v>(steps: &'v [Step], item: &'v Value, missing: Missing) -> Result<Option<&'v Value>, Error> {
    if let [Step::Literal(value)] = steps {
        return Ok(Some(value));
    }
    match walk(steps, vec![item], missing)?.as_slice() {
        [] => Ok(None),
        [one] => Ok(Some(one)),
        _ => Err(Error("can only compare one element at a time".into())),
    }
}

fn compare(operator: &str, left: &Value, right: &Value) -> Result<bool, Error> {
    let order = match (left, right) {
        (Value::Bool(a), Value::Bool(b)) if matches!(operator, "==" | "!=") => Some(a.cmp(b)),
        (Value::Int(a), Value::Int(b)) => Some(a.cmp(b)),
        (Value::Float(a), Value::Float(b)) => a.partial_cmp(b),
        (Value::Str(a), Value::Str(b)) => Some(a.cmp(b)),
        _ => return Err(Error("incompatible types for comparison".into())),
    };
    Ok(match operator {
        "==" => order == Some(Ordering::Equal),
        "!=" => order != Some(Ordering::Equal),
        "<" => order.is_some_and(Ordering::is_lt),
        "<=" => order.is_some_and(Ordering::is_le),
        ">" => order.is_some_and(Ordering::is_gt),
        ">=" => order.is_some_and(Ordering::is_ge),
        other => return Err(Error(format!("unrecognized filter operator {other}"))),
    })
}
