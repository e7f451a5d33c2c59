//! Lists of numbers such as `1,3-5,7`.

use model::quote::quote;

/// How many numbers there are in `text`, all of them below `end`.
///
/// # Errors
/// What is wrong with the list, in the real server's words.
pub(super) fn count(text: &str, end: i64) -> Result<i64, String> {
    let mut total = 0;
    let mut last = None;
    for part in text.split(',').filter(|_| !text.is_empty()) {
        let (first, second) = interval(part, end)?;
        if let Some(last) = last.filter(|last| *last >= first) {
            return Err(format!(
                "non-increasing order, previous: {last}, current: {first}"
            ));
        }
        total += second - first + 1;
        last = Some(second);
    }
    Ok(total)
}

/// The first number that is in both lists; parts that are wrong count for nothing.
pub(super) fn overlap(one: &str, two: &str, end: i64) -> Option<i64> {
    let intervals = |text: &str| -> Vec<(i64, i64)> {
        let parts = text.split(',').filter(|_| !text.is_empty());
        parts.filter_map(|part| interval(part, end).ok()).collect()
    };
    let (one, two) = (intervals(one), intervals(two));
    let (mut at, mut other) = (0, 0);
    while let (Some((start, last)), Some((other_start, other_last))) = (one.get(at), two.get(other)) {
        if start <= other_last && other_start <= last {
            return Some(*start.max(other_start));
        }
        match start <= other_start {
            true => at += 1,
            false => other += 1,
        }
    }
    None
}

fn interval(part: &str, end: i64) -> Result<(i64, i64), String> {
    let limits: Vec<&str> = part.splitn(4, '-').collect();
    let number = |text: &str| -> Result<i64, String> {
        let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
        let right = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
        let number: Option<i64> = right.then(|| text.parse().ok()).flatten();
        match number {
            None => Err(format!(
                "cannot convert string to integer for index: {}",
                quote(text)
            )),
            Some(number) if number >= end => Err(format!("too large index: {}", quote(text))),
            Some(number) => Ok(number),
        }
    };
    match limits.as_slice() {
        [only] => number(only).map(|number| (number, number)),
        [first, second] => {
            let (first, second) = (number(first)?, number(second)?);
            if first >= second {
                return Err(format!(
                    "non-increasing order, previous: {first}, current: {second}"
                ));
            }
            Ok((first, second))
        }
        _ => Err(format!(
            "the fragment {} violates the requirement that an index interval can have at most two parts separated by '-'",
            quote(part)
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_counted() {
        assert_eq!(count("", 5), Ok(0));
        assert_eq!(count("0,2-4", 5), Ok(4));
        assert_eq!(
            count("2,1", 5),
            Err("non-increasing order, previous: 2, current: 1".into())
        );
        assert_eq!(count("5", 5), Err("too large index: \"5\"".into()));
        assert_eq!(
            count("a", 5),
            Err("cannot convert string to integer for index: \"a\"".into())
        );
        assert!(count("1-2-3", 5).unwrap_err().starts_with("the fragment"));
    }

    #[test]
    fn what_is_in_both_is_found() {
        assert_eq!(overlap("0-2", "2,4", 5), Some(2));
        assert_eq!(overlap("0,2", "1,3", 5), None);
        assert_eq!(overlap("", "1", 5), None);
    }
}
