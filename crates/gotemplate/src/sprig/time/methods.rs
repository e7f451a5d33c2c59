//! Go's `time.Time`.

use std::any::Any;
use std::sync::LazyLock;

use jiff::tz::TimeZone;

use super::Duration;
use super::format::{self, DAYS, MONTHS};
use super::parse;
use crate::error::Error;
use crate::function::{Call, Function};
use crate::value::{ArcStr, Kind, Object, Type, Value};

/// A point in time, shown in a zone.
#[derive(Clone, Debug)]
pub struct Time {
    /// Seconds since 1970.
    seconds: i64,
    nanos: u32,
    zone: Zone,
}

/// Where a time is shown.
#[derive(Clone, Debug)]
pub(crate) enum Zone {
    Fixed { name: ArcStr, offset: i32 },
    Named(TimeZone),
}

/// The parts of a time in its zone.
pub(super) struct Civil {
    pub(super) year: i64,
    pub(super) month: u32,
    pub(super) day: u32,
    pub(super) year_day: u32,
    pub(super) week_day: u32,
    pub(super) hour: u32,
    pub(super) minute: u32,
    pub(super) second: u32,
}

impl Civil {
    pub(super) fn month_name(&self) -> &'static str {
        MONTHS[self.month as usize - 1]
    }

    pub(super) fn day_name(&self) -> &'static str {
        DAYS[self.week_day as usize]
    }
}

/// What `time.Time{}` is: the first second of the year 1.
const ZERO: i64 = -62_135_596_800;
const DAY: i64 = 86_400;

/// Days since 1970 of a date in the calendar that goes on both ways. Months and days may be out of range.
pub(super) fn days_of(year: i64, month: i64, day: i64) -> i64 {
    let year = year + (month - 1).div_euclid(12);
    let month = (month - 1).rem_euclid(12) + 1;
    // Years that begin in March end with the leap day.
    let (year, month) = if month > 2 {
        (year, month - 3)
    } else {
        (year - 1, month + 9)
    };
    let era = year.div_euclid(400);
    let of_era = year.rem_euclid(400);
    let of_year = (153 * month + 2) / 5 + day - 1;
    era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719_468
}

impl Time {
    /// The first second of the year 1 in UTC, which Go has where there is no time.
    pub fn zero() -> Time {
        Time::utc(ZERO, 0)
    }

    /// A time in UTC.
    pub fn utc(seconds: i64, nanos: u32) -> Time {
        let zone = Zone::Fixed {
            name: arcstr::literal!("UTC"),
            offset: 0,
        };
        Time { seconds, nanos, zone }
    }

    /// A time of `jiff` in a zone.
    pub fn new(timestamp: jiff::Timestamp, zone: TimeZone) -> Time {
        let nanos = timestamp.as_nanosecond();
        Time {
            seconds: i64::try_from(nanos.div_euclid(1_000_000_000)).unwrap_or_default(),
            nanos: u32::try_from(nanos.rem_euclid(1_000_000_000)).unwrap_or_default(),
            zone: Zone::Named(zone),
        }
    }

    pub(super) fn at(seconds: i64, nanos: u32, zone: Zone) -> Time {
        Time { seconds, nanos, zone }
    }

    /// The same time in another zone.
    #[must_use]
    pub fn in_zone(&self, zone: TimeZone) -> Time {
        Time {
            zone: Zone::Named(zone),
            ..self.clone()
        }
    }

    /// Seconds since 1970.
    pub fn unix(&self) -> i64 {
        self.seconds
    }

    /// The year in its zone.
    pub(crate) fn year(&self) -> i64 {
        self.civil().year
    }

    pub(super) fn nanos(&self) -> u32 {
        self.nanos
    }

    /// Seconds east of Greenwich.
    pub(super) fn offset(&self) -> i32 {
        match &self.zone {
            Zone::Fixed { offset, .. } => *offset,
            Zone::Named(zone) => offset_at(zone, self.seconds),
        }
    }

    pub(super) fn zone_name(&self) -> String {
        match &self.zone {
            Zone::Fixed { name, .. } if !name.is_empty() => name.to_string(),
            Zone::Fixed { offset, .. } => {
                let sign = if *offset < 0 { '-' } else { '+' };
                let minutes = offset.abs() / 60;
                format!("{sign}{:02}{:02}", minutes / 60, minutes % 60)
            }
            Zone::Named(zone) => zone
                .to_offset_info(timestamp(self.seconds))
                .abbreviation()
                .to_owned(),
        }
    }

    pub(super) fn civil(&self) -> Civil {
        let local = self.seconds.saturating_add(i64::from(self.offset()));
        let (days, rest) = (local.div_euclid(DAY), local.rem_euclid(DAY) as u32);
        // The other way round than `days_of`.
        let shifted = days + 719_468;
        let era = shifted.div_euclid(146_097);
        let of_era = shifted.rem_euclid(146_097);
        let year = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
        let of_year = of_era - (365 * year + year / 4 - year / 100);
        let month = (5 * of_year + 2) / 153;
        let day = of_year - (153 * month + 2) / 5 + 1;
        let month = if month < 10 { month + 3 } else { month - 9 };
        let year = year + era * 400 + i64::from(month <= 2);
        Civil {
            year,
            month: month as u32,
            day: day as u32,
            year_day: (days - days_of(year, 1, 1) + 1) as u32,
            week_day: (days + 4).rem_euclid(7) as u32,
            hour: rest / 3600,
            minute: rest / 60 % 60,
            second: rest % 60,
        }
    }

    /// `Time.Format`
    pub fn format(&self, layout: &str) -> String {
        format::format(self, layout)
    }

    /// `time.ParseInLocation`
    ///
    /// # Errors
    /// The text does not fit the layout, in Go's words.
    pub fn parse(layout: &str, text: &str, local: &TimeZone) -> Result<Time, Error> {
        parse::parse(layout, text, local)
    }

    /// `Time.Add`
    #[must_use]
    pub fn add(&self, duration: Duration) -> Time {
        let nanos = i64::from(self.nanos) + duration.0 % 1_000_000_000;
        let seconds = duration.0 / 1_000_000_000 + nanos.div_euclid(1_000_000_000);
        Time {
            seconds: self.seconds.saturating_add(seconds),
            nanos: nanos.rem_euclid(1_000_000_000) as u32,
            zone: self.zone.clone(),
        }
    }

    /// `Time.Sub`
    pub fn sub(&self, other: &Time) -> Duration {
        let seconds = i128::from(self.seconds) - i128::from(other.seconds);
        let nanos = seconds * 1_000_000_000 + i128::from(self.nanos) - i128::from(other.nanos);
        Duration(i64::try_from(nanos).unwrap_or(if nanos < 0 { i64::MIN } else { i64::MAX }))
    }

    fn add_date(&self, years: i64, months: i64, days: i64) -> Time {
        let civil = self.civil();
        let days = days_of(
            civil.year.saturating_add(years.clamp(-100_000, 100_000)),
            i64::from(civil.month).saturating_add(months.clamp(-1_000_000, 1_000_000)),
            i64::from(civil.day).saturating_add(days.clamp(-40_000_000, 40_000_000)),
        );
        let of_day = i64::from(civil.hour * 3600 + civil.minute * 60 + civil.second);
        local_time(days * DAY + of_day, self.nanos, &self.zone)
    }

    fn key(&self) -> (i64, u32) {
        (self.seconds, self.nanos)
    }

    fn of<'c>(call: &Call<'c, '_>) -> Result<&'c Time, Error> {
        call.receiver()
            .and_then(Value::downcast::<Time>)
            .ok_or_else(|| Error::new("not a time"))
    }
}

fn timestamp(seconds: i64) -> jiff::Timestamp {
    let bounded = seconds.clamp(jiff::Timestamp::MIN.as_second(), jiff::Timestamp::MAX.as_second());
    jiff::Timestamp::from_second(bounded).unwrap_or_default()
}

fn offset_at(zone: &TimeZone, seconds: i64) -> i32 {
    zone.to_offset(timestamp(seconds)).seconds()
}

/// The time whose clock shows these seconds in a zone, by Go's rule for those that it shows twice or never.
pub(super) fn local_time(clock: i64, nanos: u32, zone: &Zone) -> Time {
    let offset = match zone {
        Zone::Fixed { offset, .. } => *offset,
        Zone::Named(named) => {
            let guess = offset_at(named, clock);
            let first = offset_at(named, clock - i64::from(guess));
            if first == guess {
                guess
            } else {
                offset_at(named, clock - i64::from(first))
            }
        }
    };
    Time::at(clock - i64::from(offset), nanos, zone.clone())
}

/// `time.Month` and `time.Weekday`: numbers that print their names.
struct Named {
    type_name: &'static str,
    name: &'static str,
    number: i64,
}

static NAMED_STRING: LazyLock<Function> = LazyLock::new(|| {
    Function::new(&[], |call| {
        let named = call.receiver().and_then(Value::downcast::<Named>);
        Ok(Value::str(named.ok_or("not a name")?.name))
    })
});

impl Object for Named {
    fn type_name(&self) -> &'static str {
        self.type_name
    }

    fn kind(&self) -> Kind {
        Kind::Int
    }

    fn method(&self, name: &str) -> Option<&Function> {
        (name == "String").then(|| &*NAMED_STRING)
    }

    fn text(&self) -> Option<String> {
        Some(self.name.to_owned())
    }

    fn scalar(&self) -> Option<Value> {
        Some(Value::int(self.number))
    }

    fn equals(&self, other: &dyn Object) -> bool {
        other
            .as_any()
            .downcast_ref::<Named>()
            .is_some_and(|other| self.number == other.number)
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

fn getter(get: fn(&Time) -> Value) -> Function {
    Function::new(&[], move |call| Ok(get(Time::of(call)?)))
}

const TIME: Type = Type::Named("time.Time");

fn compared(test: fn(&Time, &Time) -> Value) -> Function {
    Function::new(&[TIME], move |call| {
        let other = call.arg(0).downcast::<Time>().ok_or("not a time")?;
        Ok(test(Time::of(call)?, other))
    })
}

fn civil_int(get: fn(&Civil) -> u32) -> Function {
    Function::new(&[], move |call| {
        Ok(Value::int(i64::from(get(&Time::of(call)?.civil()))))
    })
}

static METHODS: LazyLock<Vec<(&'static str, Function)>> = LazyLock::new(|| {
    vec![
        ("Unix", getter(|time| Value::int64(time.seconds))),
        (
            "UnixMilli",
            getter(|time| {
                Value::int64(
                    time.seconds
                        .wrapping_mul(1_000)
                        .wrapping_add(i64::from(time.nanos / 1_000_000)),
                )
            }),
        ),
        (
            "UnixMicro",
            getter(|time| {
                Value::int64(
                    time.seconds
                        .wrapping_mul(1_000_000)
                        .wrapping_add(i64::from(time.nanos / 1_000)),
                )
            }),
        ),
        (
            "UnixNano",
            getter(|time| {
                Value::int64(
                    time.seconds
                        .wrapping_mul(1_000_000_000)
                        .wrapping_add(i64::from(time.nanos)),
                )
            }),
        ),
        ("Year", getter(|time| Value::int(time.civil().year))),
        (
            "Month",
            getter(|time| {
                let civil = time.civil();
                Value::object(Named {
                    type_name: "time.Month",
                    name: civil.month_name(),
                    number: i64::from(civil.month),
                })
            }),
        ),
        (
            "Weekday",
            getter(|time| {
                let civil = time.civil();
                Value::object(Named {
                    type_name: "time.Weekday",
                    name: civil.day_name(),
                    number: i64::from(civil.week_day),
                })
            }),
        ),
        ("Day", civil_int(|civil| civil.day)),
        ("YearDay", civil_int(|civil| civil.year_day)),
        ("Hour", civil_int(|civil| civil.hour)),
        ("Minute", civil_int(|civil| civil.minute)),
        ("Second", civil_int(|civil| civil.second)),
        ("Nanosecond", getter(|time| Value::int(i64::from(time.nanos)))),
        ("IsZero", getter(|time| Value::Bool(time.key() == (ZERO, 0)))),
        ("String", getter(|time| Value::str(time.to_string()))),
        (
            "UTC",
            getter(|time| Value::object(Time::utc(time.seconds, time.nanos))),
        ),
        (
            "Local",
            Function::new(&[], |call| {
                let zone = call.session.world().local_zone();
                Ok(Value::object(Time::of(call)?.in_zone(zone)))
            }),
        ),
        (
            "Format",
            Function::new(&[Type::String], |call| {
                Ok(Value::str(Time::of(call)?.format(&call.str(0))))
            }),
        ),
        (
            "Add",
            Function::new(&[Type::Named("time.Duration")], |call| {
                let duration = call.arg(0).downcast::<Duration>().ok_or("not a duration")?;
                Ok(Value::object(Time::of(call)?.add(*duration)))
            }),
        ),
        (
            "AddDate",
            Function::new(&[Type::INT, Type::INT, Type::INT], |call| {
                Ok(Value::object(Time::of(call)?.add_date(
                    call.int(0),
                    call.int(1),
                    call.int(2),
                )))
            }),
        ),
        ("Sub", compared(|time, other| Value::object(time.sub(other)))),
        (
            "After",
            compared(|time, other| Value::Bool(time.key() > other.key())),
        ),
        (
            "Before",
            compared(|time, other| Value::Bool(time.key() < other.key())),
        ),
        (
            "Equal",
            compared(|time, other| Value::Bool(time.key() == other.key())),
        ),
    ]
});

impl std::fmt::Display for Time {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.format("2006-01-02 15:04:05.999999999 -0700 MST"))
    }
}

impl Object for Time {
    fn type_name(&self) -> &'static str {
        "time.Time"
    }

    fn method(&self, name: &str) -> Option<&Function> {
        METHODS
            .iter()
            .find(|(known, _)| *known == name)
            .map(|(_, method)| method)
    }

    fn text(&self) -> Option<String> {
        Some(self.to_string())
    }

    fn json(&self) -> Option<Value> {
        Some(Value::str(self.format("2006-01-02T15:04:05.999999999Z07:00")))
    }

    fn equals(&self, other: &dyn Object) -> bool {
        let other = other.as_any().downcast_ref::<Time>();
        other.is_some_and(|other| self.key() == other.key() && self.offset() == other.offset())
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}
