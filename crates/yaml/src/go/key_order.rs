//! The order in which go-yaml writes the keys of a map: letters after all else, and numbers in keys by their size.

use std::cmp::Ordering;

pub(super) fn compare(a: &str, b: &str) -> Ordering {
    let bytes = a.as_bytes().iter().zip(b.as_bytes());
    let same = bytes.take_while(|(a, b)| a == b).count();
    let (left, right) = (&a.as_bytes()[same..], &b.as_bytes()[same..]);
    match (left.first(), right.first()) {
        (None, _) | (_, None) => return a.len().cmp(&b.len()),
        // Nearly all keys differ first in two letters of ASCII.
        (Some(x), Some(y)) if x.is_ascii_alphabetic() && y.is_ascii_alphabetic() => return x.cmp(y),
        _ => {}
    }
    // The bytes before may end in the middle of a character.
    let start = (0..=same)
        .rev()
        .find(|&at| a.is_char_boundary(at) && b.is_char_boundary(at))
        .unwrap_or(0);
    differing(&a[..start], &a[start..], &b[start..])
}

/// Compares two texts that differ in their first characters, after what they have in common.
fn differing(common: &str, a: &str, b: &str) -> Ordering {
    let (Some(x), Some(y)) = (a.chars().next(), b.chars().next()) else {
        return a.len().cmp(&b.len());
    };
    match (x.is_alphabetic(), y.is_alphabetic()) {
        (true, true) => return x.cmp(&y),
        (true, false) => return Ordering::Greater,
        (false, true) => return Ordering::Less,
        (false, false) => {}
    }
    // A zero that follows other digits is no leading zero.
    let mut before = 0i64;
    if x == '0' || y == '0' {
        let digits = common.chars().rev().take_while(char::is_ascii_digit);
        before = i64::from(digits.into_iter().any(|digit| digit != '0'));
    }
    let (left, left_digits) = leading_number(before, a);
    let (right, right_digits) = leading_number(before, b);
    left.cmp(&right)
        .then(left_digits.cmp(&right_digits))
        .then(x.cmp(&y))
}

fn leading_number(start: i64, text: &str) -> (i64, usize) {
    let digits = text.bytes().take_while(u8::is_ascii_digit);
    digits.fold((start, 0), |(number, count), digit| {
        let next = number.wrapping_mul(10).wrapping_add(i64::from(digit - b'0'));
        (next, count + 1)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_sorted_as_go_yaml_sorts_them() {
        let sorted = [
            "_a", "1a", "a", "a-b", "a.b", "a/b", "a9", "a10", "aB", "ab", "b", "b1", "b01", "b2", "z", "é",
        ];
        let mut shuffled = sorted;
        shuffled.reverse();
        shuffled.sort_by(|a, b| compare(a, b));
        assert_eq!(shuffled, sorted);
    }
}
