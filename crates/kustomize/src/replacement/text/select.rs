//! Reaching all fields of a text that a path means, and making what is missing; see [`crate::field::select`].

use model::regexp::Regexp;

use super::{Body, Document, Item, write};
use crate::field::{Created, is_list_step, key_and_value};

type Visit<'v> = &'v mut dyn FnMut(&mut Item) -> Result<(), String>;

/// Calls `visit` for each field that the path means, and says how many there were.
pub(in crate::replacement) fn select(
    item: &mut Item,
    path: &[String],
    created: Created,
    visit: Visit<'_>,
) -> Result<usize, String> {
    let Some((part, rest)) = path.split_first() else {
        visit(item)?;
        return Ok(1);
    };
    if let Ok(index) = part.parse::<usize>() {
        return by_index(item, index, rest, created, visit);
    }
    if part.starts_with('[') && part.ends_with(']') {
        return by_expression(item, part, rest, created, visit);
    }
    if part == "*" {
        let mut count = 0;
        for item in elements(item)? {
            count += select(item, rest, created, visit)?;
        }
        return Ok(count);
    }
    if item.is_null() {
        // What is made inside of it is lost, as it stays what it is.
        return match created {
            Created::Nothing => Ok(0),
            _ => select(&mut made(created, rest), rest, created, visit),
        };
    }
    let kind = item.kind_name();
    let Body::Map { pairs, .. } = &mut item.body else {
        return Err(format!("wrong node kind: expected MappingNode but got {kind}"));
    };
    let at = match pairs.iter().position(|(key, _)| key.text() == part) {
        Some(at) => at,
        None if created == Created::Nothing => return Ok(0),
        None => {
            pairs.push((Item::made(part), made(created, rest)));
            pairs.len() - 1
        }
    };
    let field = &mut pairs[at].1;
    if let (Body::Scalar(scalar), false) = (&field.body, rest.is_empty()) {
        // A text in the text: it is found, but what is set in it is lost.
        let mut inner = super::read(&scalar.text)?.ok_or("an empty text has no fields")?;
        return select(&mut inner.root, rest, created, visit);
    }
    select(field, rest, created, visit)
}

/// What is made for a part of a path, by what follows it.
fn made(created: Created, rest: &[String]) -> Item {
    let list = || {
        Item::of(Body::List {
            items: Vec::new(),
            flow: false,
        })
    };
    let map = || {
        Item::of(Body::Map {
            pairs: Vec::new(),
            flow: false,
        })
    };
    match (rest.first(), created) {
        (Some(next), _) if is_list_step(next) => list(),
        (Some(_), _) | (None, Created::Map) => map(),
        (None, Created::List) => list(),
        (None, _) => Item::made(""),
    }
}

fn elements(item: &mut Item) -> Result<&mut Vec<Item>, String> {
    let kind = item.kind_name();
    match &mut item.body {
        Body::List { items, .. } => Ok(items),
        _ => Err(format!("wrong node kind: expected SequenceNode but got {kind}")),
    }
}

fn by_index(
    item: &mut Item,
    index: usize,
    rest: &[String],
    created: Created,
    visit: Visit<'_>,
) -> Result<usize, String> {
    let items = elements(item)?;
    if items.len() == index && created != Created::Nothing {
        items.push(made(created, rest));
    }
    let count = items.len();
    let item = items
        .get_mut(index)
        .ok_or_else(|| format!("index {index} specified but only {count} elements found"))?;
    select(item, rest, created, visit)
}

fn by_expression(
    item: &mut Item,
    part: &str,
    rest: &[String],
    created: Created,
    visit: Visit<'_>,
) -> Result<usize, String> {
    let (key, expression) = key_and_value(part)?;
    let regex = Regexp::new(expression).map_err(|error| error.to_string())?;
    let items = elements(item)?;
    let fits = |item: &Item| {
        let field = match &item.body {
            _ if key.is_empty() => Some(item),
            Body::Map { pairs, .. } => pairs
                .iter()
                .find(|(name, _)| name.text() == key)
                .map(|(_, value)| value),
            _ => None,
        };
        field.is_some_and(|field| regex.is_match(written(field).trim()))
    };
    let mut count = 0;
    for item in items.iter_mut().filter(|item| fits(item)) {
        count += match key.is_empty() {
            true => visit(item).map(|()| 1)?,
            false => select(item, rest, created, visit)?,
        };
    }
    if count > 0 || created == Created::Nothing {
        return Ok(count);
    }
    let value = Item::made(expression);
    items.push(match key.is_empty() {
        true => value,
        false => Item::of(Body::Map {
            pairs: vec![(Item::made(key), value)],
            flow: false,
        }),
    });
    match items.last_mut() {
        Some(item) if key.is_empty() => visit(item).map(|()| 1),
        Some(item) if fits(item) => select(item, rest, created, visit),
        _ => Ok(0),
    }
}

/// An item as it is written, which is what expressions are matched against.
fn written(item: &Item) -> String {
    write(&Document {
        root: item.clone(),
        ..Document::default()
    })
}
