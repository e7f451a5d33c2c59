//! Texts that are hard on a reader.

use super::dice::Dice;

/// A text with some bytes changed.
pub(super) fn damaged(text: String, dice: &mut Dice) -> Vec<u8> {
    let mut bytes = text.into_bytes();
    for _ in 0..=dice.below(4) {
        if bytes.is_empty() {
            break;
        }
        let at = dice.below(bytes.len());
        let end = (at + dice.below(20)).min(bytes.len());
        match dice.below(6) {
            0 => drop(bytes.drain(at..end)),
            1 => bytes[at] = dice.pick(b":-[]{}\"'|>&*!#%@`?,\n\t \\\0\xff\xc3"),
            2 => bytes.insert(at, dice.pick(b":-[]{}\"'|>&*!#\n ")),
            3 => {
                let copy = bytes[at..end].to_vec();
                bytes.splice(at..at, copy);
            }
            4 => bytes.truncate(at),
            _ => {
                let other = dice.below(bytes.len());
                bytes.swap(at, other);
            }
        }
    }
    bytes
}

/// A document that is small and means much, or goes deep, or is none.
pub(super) fn hostile(dice: &mut Dice) -> Vec<u8> {
    match dice.below(9) {
        0 => bomb(dice).into_bytes(),
        1 => dice
            .pick(&["[", "{a: ", "- ", "? ", "[{", "a: &a ["])
            .repeat(dice.below(3000))
            .into_bytes(),
        2 => {
            let deep = dice.below(300);
            format!(
                "kind: X\nmetadata: {{name: a}}\na: {}{}\n",
                "[".repeat(deep),
                "]".repeat(deep)
            )
            .into_bytes()
        }
        3 => b"\xff\xfek\0i\0n\0d\0".to_vec(),
        4 => format!("\u{feff}kind: X\r\nmetadata:\r\n  name: {}\r\n", dice.letters(5)).into_bytes(),
        5 => "---\n".repeat(dice.below(500)).into_bytes(),
        6 => format!(
            "kind: X\nmetadata: {{name: a}}\n<<: [{}]\n",
            "{a: 1}, ".repeat(dice.below(200))
        )
        .into_bytes(),
        7 => "%TAG ! x\n".repeat(dice.below(90)).into_bytes(),
        _ => dice.letters(200).into_bytes(),
    }
}

/// Aliases of lists of aliases.
fn bomb(dice: &mut Dice) -> String {
    let mut text =
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: bomb}\nx:\n  a0: &a0 [lol]\n".to_owned();
    let width = 1 + dice.below(12);
    for level in 1..=dice.below(14) {
        let above = format!("*a{}, ", level - 1).repeat(width);
        text += &format!("  a{level}: &a{level} [{above}]\n");
    }
    text
}
