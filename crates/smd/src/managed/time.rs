//! Times of managed fields.

use model::Value;

/// Puts the times of the live object's managed fields back where a write changed nothing else, so that it is no write.
pub fn keep_times(live: &Value, new: &mut Value) {
    let (before, after) = (managed_fields(live), managed_fields(new));
    if before.is_empty() || before.len() != after.len() || before == after {
        return;
    }
    let same_entries = before
        .iter()
        .zip(after)
        .all(|(a, b)| is_same_but(a, b, "time", |_, _| true));
    let same_metadata = |a: &Value, b: &Value| is_same_but(a, b, "managedFields", |_, _| true);
    if same_entries && is_same_but(live, new, "metadata", same_metadata) {
        let before = before.iter().cloned().collect::<Value>();
        new.set_at(&["metadata", "managedFields"], before);
    }
}

fn managed_fields(object: &Value) -> &[Value] {
    object.list_at(&["metadata", "managedFields"])
}

/// Whether two maps are equal, their `field` being judged by `is_same`.
pub(super) fn is_same_but(
    a: &Value,
    b: &Value,
    field: &str,
    is_same: impl Fn(&Value, &Value) -> bool,
) -> bool {
    let (Value::Object(a), Value::Object(b)) = (a, b) else {
        return a == b;
    };
    let others = |map: &model::Map| map.len() - usize::from(map.contains_key(field));
    others(a) == others(b)
        && a.iter().all(|(name, value)| match b.get(name) {
            Some(other) if name == field => is_same(value, other),
            Some(other) => value == other,
            None => name == field,
        })
}

/// The seconds since 1970 of an RFC 3339 time; fractions are cut off.
pub(super) fn seconds(text: &str) -> Option<i64> {
    let bytes = text.as_bytes();
    let number = |from: usize, to: usize| {
        text.get(from..to)?
            .parse::<i64>()
            .ok()
            .filter(|number| *number >= 0)
    };
    let is_at = |at: usize, wanted: u8| {
        bytes
            .get(at)
            .is_some_and(|byte| byte.eq_ignore_ascii_case(&wanted))
    };
    if !(is_at(4, b'-') && is_at(7, b'-') && is_at(10, b'T') && is_at(13, b':') && is_at(16, b':')) {
        return None;
    }
    let (year, month, day) = (number(0, 4)?, number(5, 7)?, number(8, 10)?);
    let time = number(11, 13)? * 3600 + number(14, 16)? * 60 + number(17, 19)?;
    let zone = text
        .get(19..)?
        .trim_start_matches(|char: char| char == '.' || char.is_ascii_digit());
    let offset = match zone.as_bytes() {
        [b'Z' | b'z'] => 0,
        [sign @ (b'+' | b'-'), _, _, b':', _, _] => {
            let size =
                zone.get(1..3)?.parse::<i64>().ok()? * 3600 + zone.get(4..6)?.parse::<i64>().ok()? * 60;
            if *sign == b'+' { size } else { -size }
        }
        _ => return None,
    };
    // Days are counted from a March on, so that the odd day of a leap year comes last.
    let (year, month) = if month <= 2 {
        (year - 1, month + 9)
    } else {
        (year, month - 3)
    };
    let days = 365 * year + year.div_euclid(4) - year.div_euclid(100) + year.div_euclid(400);
    let days = days + (153 * month + 2) / 5 + day - 1 - 719_468;
    Some(days * 86_400 + time - offset)
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::value;

    #[test]
    fn times_are_read_as_seconds() {
        assert_eq!(seconds("1970-01-01T00:00:00Z"), Some(0));
        assert_eq!(seconds("2024-02-29T12:34:56Z"), Some(1_709_210_096));
        assert_eq!(seconds("2000-03-01T00:00:00.5+01:00"), Some(951_868_800 - 3600));
        assert_eq!(seconds("1969-12-31T23:59:59Z"), Some(-1));
        assert_eq!(seconds("yesterday"), None);
        assert_eq!(seconds("2024-02-29 12:34:56Z"), None);
        assert_eq!(seconds("2024-02-é9T12:34:56Z"), None);
    }

    fn object(time: &str, replicas: i64) -> Value {
        value!({
            "metadata": { "name": "a", "managedFields": [{ "manager": "m", "time": time }] },
            "spec": { "replicas": replicas },
        })
    }

    #[test]
    fn a_new_time_alone_is_put_back() {
        let live = object("2024-01-01T00:00:00Z", 1);
        let mut new = object("2024-01-02T00:00:00Z", 1);
        keep_times(&live, &mut new);
        assert_eq!(new, live);
    }

    #[test]
    fn a_new_time_stays_where_more_changed() {
        let live = object("2024-01-01T00:00:00Z", 1);
        let changed = object("2024-01-02T00:00:00Z", 2);
        let mut new = changed.clone();
        keep_times(&live, &mut new);
        assert_eq!(new, changed);
    }
}
