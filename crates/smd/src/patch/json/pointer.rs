//! Finding the place a path points at.

use std::borrow::Cow;

use model::Value;

/// The container a path ends in and the key in it; `None` where something on the way is missing.
pub(super) fn parent<'v, 'p>(root: &'v mut Value, path: &'p str) -> Option<(&'v mut Value, Cow<'p, str>)> {
    // What stands before the first slash is not looked at.
    let (_, rest) = path.split_once('/')?;
    let mut steps = rest.split('/').map(unescape);
    let mut key = steps.next()?;
    let mut place = root;
    for next in steps {
        place = child(place, &key)?;
        if !matches!(place, Value::Object(_) | Value::Array(_)) {
            return None;
        }
        key = next;
    }
    Some((place, key))
}

fn child<'v>(container: &'v mut Value, key: &str) -> Option<&'v mut Value> {
    match container {
        Value::Object(map) => map.get_mut(key),
        Value::Array(items) => {
            let at = existing(key, items.len()).ok()?;
            Some(&mut items[at])
        }
        _ => None,
    }
}

/// The index of an element that is there; negative ones count from the end.
pub(super) fn existing(key: &str, len: usize) -> Result<usize, String> {
    let index = number(key)?;
    let at = if index < 0 { index + len as i64 } else { index };
    match usize::try_from(at) {
        Ok(at) if at < len => Ok(at),
        _ => Err(out_of_range(index)),
    }
}

/// The index at which an element is to be put in; `-` and `-1` are the end.
pub(super) fn insertion(key: &str, len: usize) -> Result<usize, String> {
    if key == "-" {
        return Ok(len);
    }
    let index =
        number(key).map_err(|error| format!("value was not a proper array index: '{key}': {error}"))?;
    let at = if index < 0 { index + len as i64 + 1 } else { index };
    match usize::try_from(at) {
        Ok(at) if at <= len => Ok(at),
        _ => Err(out_of_range(index)),
    }
}

fn out_of_range(index: i64) -> String {
    format!("Unable to access invalid index: {index}: invalid index referenced")
}

/// A whole number as Go's `strconv.Atoi` reads it.
fn number(text: &str) -> Result<i64, String> {
    let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(format!("strconv.Atoi: parsing {text:?}: invalid syntax"));
    }
    text.parse()
        .map_err(|_| format!("strconv.Atoi: parsing {text:?}: value out of range"))
}

/// Turns `~1` into `/` and `~0` into `~`, in one pass from the left.
fn unescape(step: &str) -> Cow<'_, str> {
    if !step.contains('~') {
        return Cow::Borrowed(step);
    }
    let mut text = String::with_capacity(step.len());
    let mut rest = step;
    while let Some(at) = rest.find('~') {
        text.push_str(&rest[..at]);
        let (plain, used) = match rest.as_bytes().get(at + 1) {
            Some(b'0') => ("~", 2),
            Some(b'1') => ("/", 2),
            _ => ("~", 1),
        };
        text.push_str(plain);
        rest = &rest[at + used..];
    }
    text.push_str(rest);
    Cow::Owned(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes_are_read_in_one_pass() {
        for (escaped, plain) in [
            ("a~1b", "a/b"),
            ("~01", "~1"),
            ("~0~1", "~/"),
            ("~2~", "~2~"),
            ("x", "x"),
        ] {
            assert_eq!(unescape(escaped), plain);
        }
    }

    #[test]
    fn indices_are_read_as_go_reads_them() {
        assert_eq!(existing("-1", 3), Ok(2));
        assert_eq!(existing("+1", 3), Ok(1));
        assert_eq!(existing("01", 3), Ok(1));
        assert_eq!(
            existing("3", 3),
            Err("Unable to access invalid index: 3: invalid index referenced".into())
        );
        assert_eq!(
            existing("-", 3),
            Err("strconv.Atoi: parsing \"-\": invalid syntax".into())
        );
        assert_eq!(insertion("-1", 3), Ok(3));
        assert_eq!(insertion("3", 3), Ok(3));
        assert_eq!(
            insertion("-5", 3),
            Err("Unable to access invalid index: -5: invalid index referenced".into())
        );
        assert_eq!(
            insertion("99999999999999999999", 3),
            Err(
                "value was not a proper array index: '99999999999999999999': strconv.Atoi: parsing \
                 \"99999999999999999999\": value out of range"
                    .into()
            )
        );
    }
}
