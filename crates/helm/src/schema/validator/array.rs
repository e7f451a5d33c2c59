//! Keywords about lists.

use model::value::List;
use model::{Map, Value};

use super::super::draft::Draft;
use super::super::number::grouped;
use super::{Findings, Schema, Validator, count};

impl<'d> Validator<'d> {
    pub(super) fn array(
        &mut self,
        schema: Schema<'d>,
        map: &'d Map,
        draft: Draft,
        items: &List,
        found: &mut Findings,
    ) {
        let got = grouped(items.len());
        if let Some(least) = count(map, "minItems").filter(|least| items.len() < *least) {
            let text = format!("minItems: got {got}, want {}", grouped(least));
            found.failures.push(self.problem(text));
        }
        if let Some(most) = count(map, "maxItems").filter(|most| items.len() > *most) {
            let text = format!("maxItems: got {got}, want {}", grouped(most));
            found.failures.push(self.problem(text));
        }
        if map.get("uniqueItems") == Some(&Value::Bool(true))
            && let Some((first, second)) = equal_pair(items)
        {
            let text = format!("items at {} and {} are equal", grouped(first), grouped(second));
            found.failures.push(self.problem(text));
        }
        if draft < Draft::Draft2020 {
            self.items(schema, map, items, found);
        } else {
            self.items_2020(schema, map, items, found);
        }
        if draft >= Draft::Draft6
            && let Some(below) = map.get("contains")
        {
            self.contains(schema, map, below, draft, items, found);
        }
    }

    fn items(&mut self, schema: Schema<'d>, map: &'d Map, items: &List, found: &mut Findings) {
        let first = match map.get("items") {
            None => return,
            Some(Value::Array(schemas)) => schemas,
            Some(below) => {
                self.each(schema, below, items, 0, found);
                return;
            }
        };
        for (at, (below, item)) in first.iter().zip(items).enumerate() {
            let done = self.part(schema, below, item, &at.to_string());
            found.note(done);
        }
        let known = first.len().min(items.len());
        match map.get("additionalItems") {
            Some(Value::Bool(false)) if known < items.len() => {
                let left = grouped(items.len() - known);
                let text = format!("last {left} additionalItem(s) not allowed");
                found.failures.push(self.problem(text));
            }
            None | Some(Value::Bool(_)) => {}
            Some(below) => self.each(schema, below, items, known, found),
        }
    }

    fn items_2020(&mut self, schema: Schema<'d>, map: &'d Map, items: &List, found: &mut Findings) {
        let first = map.get("prefixItems").and_then(Value::as_array);
        let first = first.map_or(&[][..], |first| first);
        for (at, (below, item)) in first.iter().zip(items).enumerate() {
            let done = self.part(schema, below, item, &at.to_string());
            found.note(done);
        }
        if let Some(below) = map.get("items") {
            self.each(schema, below, items, first.len().min(items.len()), found);
        }
    }

    /// The library counts places of these from the first of them on, and so does this.
    fn each(
        &mut self,
        schema: Schema<'d>,
        below: &'d Value,
        items: &List,
        from: usize,
        found: &mut Findings,
    ) {
        for (at, item) in items[from..].iter().enumerate() {
            let done = self.part(schema, below, item, &at.to_string());
            found.note(done);
        }
    }

    fn contains(
        &mut self,
        schema: Schema<'d>,
        map: &Map,
        below: &'d Value,
        draft: Draft,
        items: &List,
        found: &mut Findings,
    ) {
        let mut failures = Vec::new();
        let mut matched = Vec::new();
        for (at, item) in items.iter().enumerate() {
            match self.part(schema, below, item, &at.to_string()) {
                Ok(()) => {
                    matched.push(at.to_string());
                    if draft >= Draft::Draft2020 {
                        found.unevaluated.items.remove(&at);
                    }
                }
                Err(failure) => failures.push(failure),
            }
        }
        let limit = |keyword| count(map, keyword).filter(|_| draft >= Draft::Draft2019);
        let shown = format!(
            "matched {} items at {}",
            grouped(matched.len()),
            matched.join(" ")
        );
        match limit("minContains") {
            Some(least) if matched.len() < least => {
                let got = if matched.is_empty() {
                    "none matched"
                } else {
                    &shown
                };
                let text = format!(
                    "min {} items required to match contains schema, but {got}",
                    grouped(least)
                );
                found.failures.push(self.problem_with(text, failures));
            }
            None if matched.is_empty() => {
                let text = "no items match contains schema";
                found.failures.push(self.problem_with(text, failures));
            }
            _ => {}
        }
        if let Some(most) = limit("maxContains").filter(|most| matched.len() > *most) {
            let text = format!(
                "max {} items required to match contains schema, but {shown}",
                grouped(most)
            );
            found.failures.push(self.problem(text));
        }
    }
}

/// The first two items that are equal. Long lists are sorted by their text first, so that this stays quick.
fn equal_pair(items: &List) -> Option<(usize, usize)> {
    if items.len() <= 20 {
        for (second, item) in items.iter().enumerate() {
            if let Some(first) = items[..second].iter().position(|other| other == item) {
                return Some((first, second));
            }
        }
        return None;
    }
    let mut texts: Vec<(String, usize)> = items
        .iter()
        .enumerate()
        .map(|(at, item)| {
            let mut item = item.clone();
            crate::values::floats(&mut item);
            (model::json::to_string(&item), at)
        })
        .collect();
    texts.sort();
    let equal = texts.windows(2).filter(|pair| pair[0].0 == pair[1].0);
    equal.map(|pair| (pair[0].1, pair[1].1)).min_by_key(|pair| pair.1)
}
