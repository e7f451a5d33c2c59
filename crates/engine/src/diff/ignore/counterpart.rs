//! The same field in another object, whose lists may be in another order.

use std::fmt::Write as _;

use model::Value;

use super::super::owner::Owners;
use super::super::path::Step;
use super::super::pointer::{Pointer, escape};

/// Where in `to` is what `pointer` leads to in `from`; nothing where it is in one of them only. Elements of lists are matched by
/// the keys that `owners` tell, or by name, else by value or place.
pub(super) fn counterpart(
    pointer: &Pointer,
    from: &Value,
    to: &Value,
    owners: &Owners<'_>,
) -> Option<Pointer> {
    let mut steps = Vec::new();
    let mut text = String::new();
    let (mut from, mut to) = (from, to);
    for name in pointer.steps() {
        let Value::Array(items) = from else {
            (from, to) = (from.get(name)?, to.get(name)?);
            steps.push(Step::Field(name));
            text.extend(["/", escape(name).as_str()]);
            continue;
        };
        let index: usize = name.parse().ok()?;
        let (item, others) = (items.get(index)?, to.as_array()?);
        let at = place(item, index, others, owners.keys(&steps))?;
        (from, to) = (item, &others[at]);
        steps.push(Step::Item { index, item });
        write!(text, "/{at}").ok()?;
    }
    Pointer::read(&text).ok()
}

fn place(item: &Value, index: usize, others: &[Value], keys: Option<Vec<String>>) -> Option<usize> {
    let keys = keys.unwrap_or_else(|| vec!["name".to_owned()]);
    if keys.iter().any(|key| item.get(key).is_some()) {
        return others
            .iter()
            .position(|other| keys.iter().all(|key| item.get(key) == other.get(key)));
    }
    let same = others.iter().position(|other| other == item);
    same.or((index < others.len()).then_some(index))
}
