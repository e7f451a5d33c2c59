//! Times as Go writes them.

use std::fmt;
use std::str::FromStr;

use jiff::Timestamp;

/// A point in time with the offset it was written with, printed as Go's `RFC3339Nano`: no more digits of a second than needed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Time {
    instant: Timestamp,
    /// Seconds east of Greenwich.
    offset: i32,
}

/// Why a text is no time.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{} is no time: write one like 2026-01-02T03:04:05Z", model::quote::quote(.0))]
pub struct NoTime(String);

/// The second of the zero time of Go: the first of January of the year 1.
const ZERO: i64 = -62_135_596_800;

impl Time {
    /// A point in time, in UTC.
    pub fn new(instant: Timestamp) -> Self {
        Time { instant, offset: 0 }
    }

    /// The point in time.
    pub fn timestamp(self) -> Timestamp {
        self.instant
    }

    /// Whether it is what Go takes for no time at all.
    pub fn is_zero(self) -> bool {
        self.instant.as_second() == ZERO && self.instant.subsec_nanosecond() == 0
    }

    /// Reads a field that may be empty, as Helm 3 writes no time, or Go's zero time.
    pub(super) fn read(text: &str) -> Result<Option<Time>, NoTime> {
        if text.is_empty() {
            return Ok(None);
        }
        let time: Time = text.parse()?;
        Ok((!time.is_zero()).then_some(time))
    }
}

impl FromStr for Time {
    type Err = NoTime;

    fn from_str(text: &str) -> Result<Self, NoTime> {
        let fail = || NoTime(text.to_owned());
        // Go knows no names of time zones and no other separators here.
        let bytes = text.as_bytes();
        if bytes.len() < 20 || bytes[10] != b'T' || text.contains('[') {
            return Err(fail());
        }
        let instant: Timestamp = text.parse().map_err(|_| fail())?;
        let offset = match text.strip_suffix('Z') {
            Some(_) => 0,
            None => offset(text).ok_or_else(fail)?,
        };
        Ok(Time { instant, offset })
    }
}

/// The seconds that `+hh:mm` at the end stands for.
fn offset(text: &str) -> Option<i32> {
    let tail = text.get(text.len().checked_sub(6)?..)?;
    let (hours, minutes) = tail.get(1..)?.split_once(':')?;
    let seconds = hours.parse::<i32>().ok()? * 3600 + minutes.parse::<i32>().ok()? * 60;
    match tail.as_bytes().first()? {
        b'+' => Some(seconds),
        b'-' => Some(-seconds),
        _ => None,
    }
}

impl fmt::Display for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let nanoseconds = self.instant.subsec_nanosecond();
        // Before 1970 the fraction is negative, and the second begins one further back.
        let (back, nanoseconds) = if nanoseconds < 0 {
            (1, nanoseconds + 1_000_000_000)
        } else {
            (0, nanoseconds)
        };
        let local = self.instant.as_second() - back + i64::from(self.offset);
        let shown = Timestamp::from_second(local).unwrap_or(Timestamp::MIN);
        write!(f, "{}", shown.strftime("%Y-%m-%dT%H:%M:%S"))?;
        if nanoseconds != 0 {
            let digits = format!("{nanoseconds:09}");
            write!(f, ".{}", digits.trim_end_matches('0'))?;
        }
        if self.offset == 0 {
            return f.write_str("Z");
        }
        let sign = if self.offset < 0 { '-' } else { '+' };
        let minutes = self.offset.abs() / 60;
        write!(f, "{sign}{:02}:{:02}", minutes / 60, minutes % 60)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_printed_as_go_prints_them() {
        for (written, printed) in [
            ("2026-01-02T03:04:05Z", "2026-01-02T03:04:05Z"),
            ("2026-01-02T03:04:05.000Z", "2026-01-02T03:04:05Z"),
            ("2026-01-02T03:04:05.120000Z", "2026-01-02T03:04:05.12Z"),
            (
                "2026-01-02T03:04:05.123456789+02:00",
                "2026-01-02T03:04:05.123456789+02:00",
            ),
            ("2026-01-02T03:04:05-07:30", "2026-01-02T03:04:05-07:30"),
            ("2026-01-02T03:04:05+00:00", "2026-01-02T03:04:05Z"),
            ("1969-12-31T23:59:59.5Z", "1969-12-31T23:59:59.5Z"),
            ("0001-01-01T00:00:00Z", "0001-01-01T00:00:00Z"),
        ] {
            assert_eq!(written.parse::<Time>().unwrap().to_string(), printed);
        }
        assert!("0001-01-01T00:00:00Z".parse::<Time>().unwrap().is_zero());
        for text in [
            "",
            "2026-01-02",
            "2026-01-02 03:04:05Z",
            "2026-01-02T03:04:05",
            "x",
        ] {
            assert!(text.parse::<Time>().is_err(), "{text}");
        }
    }
}
