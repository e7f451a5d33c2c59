//! Scalars as people write them and as nobody does.

use model::{Value, json};

use super::dice::Dice;

/// Strings, of which many look like something else.
const STRINGS: [&str; 30] = [
    "a",
    "b",
    "x:y",
    "1",
    "true",
    "no",
    "0x1",
    "1.50",
    "",
    " s",
    "#c",
    "é",
    "a\nb",
    "a\n",
    "~",
    "null",
    "- q",
    "y",
    "2020-01-01",
    "{x",
    "$(V)",
    "p/q/r",
    "a: b",
    "on",
    "1e3",
    "0777",
    "x # y",
    "🦀",
    "a-b-c",
    "$$(V)",
];

/// Scalars without quotes, or with tags.
const PLAIN: [&str; 26] = [
    "1",
    "1.50",
    "true",
    "yes",
    "~",
    "null",
    "0777",
    "1e3",
    "0x1f",
    "abc",
    "2020-01-01",
    "-0",
    "'q'",
    "\"q\"",
    "!!str 5",
    "12345678901234567890",
    "0b11",
    "0o17",
    "1_000",
    ".5",
    "+1",
    "On",
    "a b",
    "p/q/r",
    "1.0",
    TIME,
];

/// A time, which is not a string everywhere.
pub(super) const TIME: &str = "2001-12-14t21:59:43.10-05:00";

/// A text in quotes.
pub(super) fn quoted(text: &str) -> String {
    json::to_string(&Value::from(text))
}

/// A string in some quotes.
pub(super) fn string(dice: &mut Dice) -> String {
    let text = dice.pick(&STRINGS);
    match dice.below(4) {
        0 if !text.contains('\n') => format!("'{text}'"),
        _ => quoted(text),
    }
}

/// A string as a label has it.
pub(super) fn label(dice: &mut Dice) -> String {
    dice.pick(&[
        "a", "b", "\"1\"", "'true'", "x-y", "\"\"", "v1.2", "\"yes\"", "\"0777\"",
    ])
    .to_owned()
}

/// Any scalar, in flow style.
pub(super) fn any(dice: &mut Dice) -> String {
    if dice.chance(50) {
        string(dice)
    } else {
        dice.pick(&PLAIN).to_owned()
    }
}

/// A scalar, a list or a map, in flow style.
pub(super) fn value(dice: &mut Dice) -> String {
    nested(dice, 0)
}

/// The same for a field of a patch; see [`is_for_patches`].
pub(super) fn patched(dice: &mut Dice) -> String {
    loop {
        let text = value(dice);
        if is_for_patches(&text) {
            return text;
        }
    }
}

/// Whether a patch may have this without being printed otherwise than by kustomize, as the README says: no times, which may
/// go from brackets to where there are none, and no numbers in other notations, which vars may take from where a text was.
pub(super) fn is_for_patches(text: &str) -> bool {
    let odd = [TIME, "0x1f", "0b11", "0o17", "1_000", "0777"];
    !odd.iter().any(|odd| text.contains(odd))
}

fn nested(dice: &mut Dice, depth: usize) -> String {
    match dice.below(10) {
        _ if depth > 2 => any(dice),
        0..=5 => any(dice),
        6 | 7 => {
            let pairs: Vec<String> = dice
                .some(&["a", "b", "c", "name", "\"y\"", "1k"], 35)
                .into_iter()
                .map(|key| format!("{key}: {}", nested(dice, depth + 1)))
                .collect();
            format!("{{{}}}", pairs.join(", "))
        }
        _ => format!("[{}]", dice.list(3, |dice| nested(dice, depth + 1))),
    }
}

/// A value that stands alone at the end of a line of block style, whose block is indented by `indent`.
pub(super) fn block(dice: &mut Dice, indent: usize) -> String {
    let spaces = " ".repeat(indent);
    match dice.below(8) {
        0 => {
            let mark = dice.pick(&["|", "|-", "|+", ">", ">-", ">+"]);
            let lines = dice.pick(&[
                "one\ntwo",
                "one\n  more\ntwo\n",
                "a: b\nc:\n- 1\n",
                "x\n\n\ny",
                "long words and more of them",
            ]);
            let lines: Vec<String> = lines
                .split('\n')
                .map(|line| {
                    if line.is_empty() {
                        String::new()
                    } else {
                        format!("{spaces}{line}")
                    }
                })
                .collect();
            format!("{mark}\n{}", lines.join("\n"))
        }
        1 => format!("{} # comment", any(dice)),
        _ => value(dice),
    }
}
