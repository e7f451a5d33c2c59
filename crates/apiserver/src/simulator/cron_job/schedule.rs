//! Schedules: `*/15 8-18 * * mon-fri`.

use jiff::civil::DateTime;
use jiff::tz::TimeZone;
use jiff::{Timestamp, ToSpan, Zoned};
use thiserror::Error;

/// Why a schedule cannot be read.
#[derive(Debug, Error, PartialEq, Eq)]
pub(super) enum Error {
    #[error("expected exactly 5 fields, found {0}")]
    Fields(usize),
    #[error("failed to parse {0:?}")]
    Field(String),
    #[error("unrecognized descriptor: {0}")]
    Descriptor(String),
}

/// When something happens: in each field one bit for each value that suits.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Schedule {
    minutes: u64,
    hours: u64,
    days: u64,
    months: u64,
    weekdays: u64,
    /// Whether days or weekdays are left open: then both must suit, else either.
    open_days: bool,
}

const MONTHS: [&str; 12] = [
    "jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec",
];
const WEEKDAYS: [&str; 7] = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"];

impl Schedule {
    /// Reads five fields, or one of the words for usual schedules.
    pub(super) fn parse(text: &str) -> Result<Self, Error> {
        let text = match text.trim() {
            "@yearly" | "@annually" => "0 0 1 1 *",
            "@monthly" => "0 0 1 * *",
            "@weekly" => "0 0 * * 0",
            "@daily" | "@midnight" => "0 0 * * *",
            "@hourly" => "0 * * * *",
            word if word.starts_with('@') => return Err(Error::Descriptor(word.to_owned())),
            fields => fields,
        };
        let fields: Vec<&str> = text.split_whitespace().collect();
        let [minutes, hours, days, months, weekdays] = fields[..] else {
            return Err(Error::Fields(fields.len()));
        };
        let is_open = |field: &str| field.starts_with('*') || field.starts_with('?');
        Ok(Schedule {
            minutes: bits(minutes, 0, 59, &[])?,
            hours: bits(hours, 0, 23, &[])?,
            days: bits(days, 1, 31, &[])?,
            months: bits(months, 1, 12, &MONTHS)?,
            weekdays: bits(weekdays, 0, 6, &WEEKDAYS)?,
            open_days: is_open(days) || is_open(weekdays),
        })
    }

    /// The first time after `after` that suits; `None` where there is none within five years.
    pub(super) fn next(&self, after: Timestamp, zone: &TimeZone) -> Option<Timestamp> {
        let start = after.to_zoned(zone.clone());
        let mut time = start.datetime();
        time = time.with().second(0).subsec_nanosecond(0).build().ok()?;
        time = time.checked_add(1.minute()).ok()?;
        let limit = time.year().checked_add(5)?;
        while time.year() <= limit {
            if !has(self.months, i64::from(time.month())) {
                let first = time.first_of_month().with().hour(0).minute(0).build().ok()?;
                time = first.checked_add(1.month()).ok()?;
            } else if !self.suits_day(time) {
                let midnight = time.with().hour(0).minute(0).build().ok()?;
                time = midnight.checked_add(1.day()).ok()?;
            } else if !has(self.hours, i64::from(time.hour())) {
                time = time.with().minute(0).build().ok()?.checked_add(1.hour()).ok()?;
            } else if !has(self.minutes, i64::from(time.minute())) {
                time = time.checked_add(1.minute()).ok()?;
            } else {
                let zoned: Zoned = time.to_zoned(zone.clone()).ok()?;
                // An hour that the clock jumps over does not happen; what falls into it happens after it.
                if zoned.timestamp() > after {
                    return Some(zoned.timestamp());
                }
                time = time.checked_add(1.minute()).ok()?;
            }
        }
        None
    }

    fn suits_day(&self, time: DateTime) -> bool {
        let day = has(self.days, i64::from(time.day()));
        let weekday = i64::from(time.weekday().to_sunday_zero_offset());
        let weekday = has(self.weekdays, weekday);
        if self.open_days {
            day && weekday
        } else {
            day || weekday
        }
    }
}

fn has(bits: u64, value: i64) -> bool {
    (0..64).contains(&value) && bits & (1 << value) != 0
}

/// The values of a field: a list of ranges with steps.
fn bits(field: &str, least: u32, most: u32, names: &[&str]) -> Result<u64, Error> {
    let wrong = || Error::Field(field.to_owned());
    let number = |text: &str| -> Result<u32, Error> {
        let named = names.iter().position(|name| name.eq_ignore_ascii_case(text));
        match named {
            Some(at) => Ok(u32::try_from(at).map_err(|_| wrong())? + least),
            None => text.parse().map_err(|_| wrong()),
        }
    };
    let mut bits = 0;
    for part in field.split(',') {
        let (range, step) = match part.split_once('/') {
            Some((range, step)) => (range, Some(step.parse::<u32>().map_err(|_| wrong())?)),
            None => (part, None),
        };
        let (first, last) = match range {
            "*" | "?" => (least, most),
            range => match range.split_once('-') {
                Some((first, last)) => (number(first)?, number(last)?),
                // `5/10` goes on to the end.
                None if step.is_some() => (number(range)?, most),
                None => (number(range)?, number(range)?),
            },
        };
        let step = step.unwrap_or(1);
        if first < least || last > most || first > last || step == 0 {
            return Err(wrong());
        }
        let mut value = first;
        while value <= last {
            bits |= 1 << value;
            value = value.checked_add(step).ok_or_else(wrong)?;
        }
    }
    Ok(bits)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn next(schedule: &str, after: &str, zone: &str) -> String {
        let zone = TimeZone::get(zone).unwrap();
        let next = Schedule::parse(schedule)
            .unwrap()
            .next(after.parse().unwrap(), &zone);
        next.map_or_else(|| "never".to_owned(), |next| next.to_string())
    }

    #[test]
    fn the_next_time_is_the_first_that_suits() {
        let at = "2026-02-27T10:07:30Z";
        for (schedule, expected) in [
            ("* * * * *", "2026-02-27T10:08:00Z"),
            ("*/15 * * * *", "2026-02-27T10:15:00Z"),
            ("7 10 * * *", "2026-02-28T10:07:00Z"),
            ("0 0 29 2 *", "2028-02-29T00:00:00Z"),
            ("30 8 * * mon-fri", "2026-03-02T08:30:00Z"),
            ("0 12 1 * SUN", "2026-03-01T12:00:00Z"),
            ("5/20 3 ? jan,jul ?", "2026-07-01T03:05:00Z"),
            ("@weekly", "2026-03-01T00:00:00Z"),
            ("0 0 31 2 *", "never"),
        ] {
            assert_eq!(next(schedule, at, "UTC"), expected, "{schedule}");
        }
    }

    #[test]
    fn a_day_of_either_kind_suits_where_both_are_named() {
        // The 13th is a Friday in March 2026; Mondays suit, too.
        assert_eq!(
            next("0 0 13 * mon", "2026-03-10T00:00:00Z", "UTC"),
            "2026-03-13T00:00:00Z"
        );
        assert_eq!(
            next("0 0 13 * mon", "2026-03-13T00:00:00Z", "UTC"),
            "2026-03-16T00:00:00Z"
        );
    }

    #[test]
    fn schedules_are_in_their_time_zone() {
        assert_eq!(
            next("0 9 * * *", "2026-07-01T00:00:00Z", "Europe/Berlin"),
            "2026-07-01T07:00:00Z"
        );
        assert_eq!(
            next("0 9 * * *", "2026-12-01T00:00:00Z", "Europe/Berlin"),
            "2026-12-01T08:00:00Z"
        );
        // The clock jumps from 2 to 3 that night.
        assert_eq!(
            next("30 2 * * *", "2026-03-29T00:30:00Z", "Europe/Berlin"),
            "2026-03-29T01:30:00Z"
        );
    }

    #[test]
    fn what_is_no_schedule_is_refused() {
        for text in [
            "",
            "* * * *",
            "* * * * * *",
            "60 * * * *",
            "a * * * *",
            "*/0 * * * *",
            "5-1 * * * *",
            "* * 0 * *",
            "@every 1h",
            "1,,2 * * * *",
        ] {
            assert!(Schedule::parse(text).is_err(), "{text}");
        }
    }

    proptest! {
        #[test]
        fn any_text_is_read_or_refused(text in "[0-9*/,?a-z -]{0,30}", after in 0i64..4_000_000_000) {
            if let Ok(schedule) = Schedule::parse(&text) {
                let after = Timestamp::from_second(after).unwrap();
                let next = schedule.next(after, &TimeZone::UTC);
                prop_assert!(next.is_none_or(|next| next > after));
            }
        }
    }
}
