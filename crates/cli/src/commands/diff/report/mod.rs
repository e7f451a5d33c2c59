//! What differs between two objects, as flux tells it: each field by its path, with what was there and what will be.
//!
//! ```text
//!    spec.replicas
//!    ± value change
//!    - 1
//!    + 2
//! ```
//!
//! Flux has this from the dyff program: where parts are told apart by name, what stands beside what, and how numbers are
//! spelled follow it, so that both can be read with the same eyes.

mod blocks;
mod compare;
mod neat;

use model::Value;
use similar::{ChangeTag, TextDiff};

use blocks::{beside, table};
use compare::{Detail, Difference, Part};

/// How wide a line may be that has two texts beside each other.
const WIDTH: usize = 80;

/// What differs between two objects; empty lines at either end set it apart from what stands around it.
pub(super) fn report(live: &Value, merged: &Value) -> String {
    let (live, merged) = (sorted(live), sorted(merged));
    let mut text: String = compare::differences(&live, &merged).iter().map(shown).collect();
    text.push('\n');
    text
}

fn sorted(value: &Value) -> Value {
    let mut value = value.clone();
    sort(&mut value);
    value
}

fn sort(value: &mut Value) {
    match value {
        Value::Array(items) => items.iter_mut().for_each(sort),
        Value::Object(map) => {
            map.sort();
            map.iter_mut().for_each(|(_, value)| sort(value));
        }
        _ => {}
    }
}

fn shown(difference: &Difference<'_>) -> String {
    let path = match difference.path.is_empty() {
        true => "(root level)".to_owned(),
        false => difference.path.join("."),
    };
    let blocks: Vec<String> = difference.details.iter().map(block).collect();
    format!("\n{path}\n{}", beside(0, &blocks))
}

fn block(detail: &Detail<'_>) -> String {
    match detail {
        Detail::Added(part) => {
            let yaml = beside(2, &[neat::yaml(&part.value())]);
            format!("+ {} added:\n{yaml}", counted(part))
        }
        Detail::Removed(part) => {
            let yaml = beside(0, &[neat::yaml(&part.value())]);
            format!("- {} removed:\n{yaml}", counted(part))
        }
        Detail::Changed(Value::Str(live), Value::Str(merged)) => text_change(live, merged),
        Detail::Changed(live, merged) => {
            let (was, is) = (compare::type_of(live), compare::type_of(merged));
            let what = match was == is {
                true => "value change".to_owned(),
                false => format!("type change from {was} to {is}"),
            };
            let (live, merged) = (neat::one(live), neat::one(merged));
            format!("± {what}\n{}{}", prefixed("- ", &live), prefixed("+ ", &merged))
        }
        Detail::Reordered(live, merged) => reordered(live, merged),
    }
}

fn counted(part: &Part<'_>) -> String {
    match part {
        Part::Entries(entries) => plural(entries.len(), "map entry", "map entries"),
        Part::Items(items) => plural(items.len(), "list entry", "list entries"),
    }
}

fn text_change(live: &str, merged: &str) -> String {
    let edge: &[char] = &[' ', '\n'];
    if live.trim_matches(edge) == merged.trim_matches(edge) {
        let visible = |text: &str| text.replace('\n', "↵\n").replace(' ', "·");
        let sides = [prefixed("- ", &visible(live)), prefixed("+ ", &visible(merged))];
        return format!("± whitespace only change\n{}", beside(0, &sides));
    }
    if live.contains('\n') || merged.contains('\n') {
        return lines_change(live, merged);
    }
    format!(
        "± value change\n{}{}",
        prefixed("- ", live),
        prefixed("+ ", merged)
    )
}

/// A change in a text of several lines. Lines that are in both are not shown.
fn lines_change(live: &str, merged: &str) -> String {
    let diff = TextDiff::from_lines(live, merged);
    let (mut shown, mut inserts, mut deletions) = (String::new(), 0, 0);
    let mut last = ChangeTag::Equal;
    for change in diff.iter_all_changes() {
        let tag = change.tag();
        let sign = match tag {
            ChangeTag::Equal => "",
            ChangeTag::Insert => "+ ",
            ChangeTag::Delete => "- ",
        };
        if tag != last {
            inserts += usize::from(tag == ChangeTag::Insert);
            deletions += usize::from(tag == ChangeTag::Delete);
        }
        last = tag;
        if tag != ChangeTag::Equal {
            let line = change.value();
            shown.push_str(&format!("{sign}{}\n", line.strip_suffix('\n').unwrap_or(line)));
        }
    }
    format!(
        "± value change in multiline text ({}, {})\n{shown}\n",
        plural(inserts, "insert", "inserts"),
        plural(deletions, "deletion", "deletions")
    )
}

fn reordered(live: &[String], merged: &[String]) -> String {
    let (one, other) = (live.join(", "), merged.join(", "));
    let longest = one.chars().count().max(other.chars().count());
    let sides = match longest < WIDTH / 2 {
        true => format!("- {one}\n+ {other}\n"),
        false => table(" ", 2, &[live.join("\n"), merged.join("\n")]),
    };
    format!("⇆ order changed\n{sides}")
}

/// A text with a sign before its first line, and its others below that.
fn prefixed(sign: &str, text: &str) -> String {
    let lines = text.split('\n').enumerate();
    let lines = lines.map(|(place, line)| match place {
        0 => format!("{sign}{line}\n"),
        _ => format!("{:width$}{line}\n", "", width = sign.len()),
    });
    lines.collect()
}

/// How many of something there are, small numbers in words.
fn plural(count: usize, one: &str, many: &str) -> String {
    const WORDS: [&str; 13] = [
        "no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven",
        "twelve",
    ];
    let number = WORDS
        .get(count)
        .map_or_else(|| count.to_string(), ToString::to_string);
    let noun = if count == 1 { one } else { many };
    format!("{number} {noun}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::value;

    fn told(live: &Value, merged: &Value) -> String {
        report(live, merged)
    }

    #[test]
    fn a_value_is_shown_before_and_after() {
        let (live, merged) = (
            value!({"spec": {"replicas": 1}}),
            value!({"spec": {"replicas": 2}}),
        );
        assert_eq!(
            told(&live, &merged),
            "\nspec.replicas\n± value change\n- 1\n+ 2\n\n"
        );
        let merged = value!({"spec": {"replicas": "1"}});
        assert_eq!(
            told(&live, &merged),
            "\nspec.replicas\n± type change from int to string\n- 1\n+ 1\n\n"
        );
    }

    #[test]
    fn entries_that_come_and_go_stand_beside_each_other() {
        let (live, merged) = (value!({"data": {"a": "x"}}), value!({"data": {"b": "y"}}));
        assert_eq!(
            told(&live, &merged),
            "\ndata\n- one map entry removed:   + one map entry added:\na: x                         b: y\n\n"
        );
        let merged = value!({"data": {"a": "x", "b": {"c": [1, "2 3"], "d": {}}}});
        assert_eq!(
            told(&live, &merged),
            "\ndata\n+ one map entry added:\n  b:\n    c:\n    - 1\n    - \"2 3\"\n    d: {}\n\n"
        );
        let nothing = value!({});
        assert_eq!(
            told(&nothing, &live),
            "\n(root level)\n+ one map entry added:\n  data:\n    a: x\n\n"
        );
    }

    #[test]
    fn list_entries_are_told_apart_by_their_names() {
        let port = |name: &str, port: i64| value!({"name": name, "port": port});
        let ports = |ports: Vec<Value>| value!({ "ports": (Value::from(ports)) });
        let live = ports(vec![port("http", 80), port("grpc", 90)]);
        assert_eq!(
            told(&live, &ports(vec![port("http", 81), port("grpc", 90)])),
            "\nports.http.port\n± value change\n- 80\n+ 81\n\n"
        );
        assert_eq!(
            told(&live, &ports(vec![port("grpc", 90), port("http", 80)])),
            "\nports\n⇆ order changed\n- http, grpc\n+ grpc, http\n\n"
        );
        assert_eq!(
            told(&live, &ports(vec![port("http", 80)])),
            "\nports\n- one list entry removed:\n- name: grpc\n  port: 90\n\n"
        );
    }

    #[test]
    fn entries_without_names_are_compared_as_a_whole() {
        let list = |items: &[&str]| value!({ "args": (Value::from(items.iter().map(Value::str).collect::<Vec<_>>())) });
        assert_eq!(
            told(&list(&["a", "b"]), &list(&["a", "c", "d"])),
            "\nargs\n- one list entry removed:   + two list entries added:\n- b                           - c\n                              - d\n\n"
        );
        assert_eq!(
            told(&list(&["a"]), &list(&["b"])),
            "\nargs.0\n± value change\n- a\n+ b\n\n"
        );
    }

    #[test]
    fn of_long_texts_only_the_lines_that_differ_are_shown() {
        let text = |text: &str| value!({"data": {"a": text}});
        assert_eq!(
            told(&text("one\ntwo\nthree\n"), &text("one\n2\nthree\n")),
            "\ndata.a\n± value change in multiline text (one insert, one deletion)\n- two\n+ 2\n\n\n"
        );
        assert_eq!(
            told(&text("one"), &text("one ")),
            "\ndata.a\n± whitespace only change\n- one   + one·\n\n"
        );
    }
}
