//! Times as people read them: `3m12s`, `5h`, `2d4h`.

use jiff::{SignedDuration, Timestamp};
use model::Value;

const MINUTE: i64 = 60;
const HOUR: i64 = 60 * MINUTE;
const DAY: i64 = 24 * HOUR;
const YEAR: i64 = 365 * DAY;

/// A duration in two or three digits. One that lies up to two seconds in the future is now: clocks differ a little.
pub fn human(duration: SignedDuration) -> String {
    let seconds = duration.as_secs();
    match seconds {
        ..-1 => "<invalid>".to_owned(),
        -1 => "0s".to_owned(),
        _ if seconds < 2 * MINUTE => format!("{seconds}s"),
        _ if seconds < 10 * MINUTE => two(seconds, (MINUTE, "m"), (1, "s")),
        _ if seconds < 3 * HOUR => format!("{}m", seconds / MINUTE),
        _ if seconds < 8 * HOUR => two(seconds, (HOUR, "h"), (MINUTE, "m")),
        _ if seconds < 2 * DAY => format!("{}h", seconds / HOUR),
        _ if seconds < 8 * DAY => two(seconds, (DAY, "d"), (HOUR, "h")),
        _ if seconds < 2 * YEAR => format!("{}d", seconds / DAY),
        _ if seconds < 8 * YEAR => two(seconds, (YEAR, "y"), (DAY, "d")),
        _ => format!("{}y", seconds / YEAR),
    }
}

/// A duration in a large and a small unit; the small one is left out where it is zero.
fn two(seconds: i64, large: (i64, &str), small: (i64, &str)) -> String {
    let (whole, rest) = (seconds / large.0, seconds % large.0 / small.0);
    match rest {
        0 => format!("{whole}{}", large.1),
        rest => format!("{whole}{}{rest}{}", large.1, small.1),
    }
}

/// How long ago the time in `value` was; `<unknown>` where there is none.
pub(super) fn since(value: Option<&Value>, now: Timestamp) -> String {
    match time(value) {
        Some(time) => human(now.duration_since(time)),
        None => "<unknown>".to_owned(),
    }
}

/// The time in `value`.
pub(super) fn time(value: Option<&Value>) -> Option<Timestamp> {
    value?.as_str()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(cases: &[(i64, &str)]) {
        for (seconds, expected) in cases {
            assert_eq!(human(SignedDuration::from_secs(*seconds)), *expected, "{seconds}");
        }
    }

    #[test]
    fn each_range_has_its_own_precision() {
        check(&[
            (0, "0s"),
            (119, "119s"),
            (120, "2m"),
            (121, "2m1s"),
            (10 * MINUTE - 1, "9m59s"),
            (10 * MINUTE, "10m"),
            (3 * HOUR - 1, "179m"),
            (3 * HOUR, "3h"),
            (3 * HOUR + MINUTE, "3h1m"),
            (8 * HOUR - 1, "7h59m"),
            (8 * HOUR, "8h"),
            (2 * DAY - 1, "47h"),
            (2 * DAY, "2d"),
            (2 * DAY + HOUR, "2d1h"),
            (8 * DAY - 1, "7d23h"),
            (8 * DAY, "8d"),
            (2 * YEAR - 1, "729d"),
            (2 * YEAR, "2y"),
            (2 * YEAR + DAY, "2y1d"),
            (8 * YEAR - 1, "7y364d"),
            (8 * YEAR, "8y"),
            (i64::MAX / 1_000_000_000, "292y"),
        ]);
    }

    #[test]
    fn a_little_in_the_future_is_now_and_more_is_invalid() {
        check(&[(-1, "0s"), (-2, "<invalid>"), (i64::MIN, "<invalid>")]);
        assert_eq!(human(SignedDuration::new(-1, -999_999_999)), "0s");
        assert_eq!(human(SignedDuration::new(0, -1)), "0s");
    }
}
