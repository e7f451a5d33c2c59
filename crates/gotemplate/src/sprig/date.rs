//! Dates.

use jiff::tz::TimeZone;

use super::time::{Duration, Time};
use super::{ANY, STR};
use crate::error::Error;
use crate::function::{Call, Function, Functions};
use crate::strconv;
use crate::value::{IntType, Type, Value};

const TIME: Type = Type::Named("time.Time");

pub(super) fn add(functions: &mut Functions) {
    functions
        .insert("now", Function::new(&[], |call| Ok(Value::object(now(call)))))
        .insert(
            "date",
            Function::new(&[STR, ANY], |call| {
                let time = time_of(call, call.arg(1));
                shown(call, &time, &call.str(0), "Local")
            }),
        )
        .insert(
            "dateInZone",
            Function::new(&[STR, ANY, STR], |call| {
                let time = time_of(call, call.arg(1));
                shown(call, &time, &call.str(0), &call.str(2))
            }),
        )
        .insert(
            "htmlDate",
            Function::new(&[ANY], |call| {
                let time = time_of(call, call.arg(0));
                shown(call, &time, "2006-01-02", "Local")
            }),
        )
        .insert(
            "htmlDateInZone",
            Function::new(&[ANY, STR], |call| {
                let time = time_of(call, call.arg(0));
                shown(call, &time, "2006-01-02", &call.str(1))
            }),
        )
        .insert(
            "dateModify",
            Function::new(&[STR, TIME], |call| {
                let time = receiver(call, 1)?;
                Ok(match Duration::parse(&call.str(0)) {
                    Ok(duration) => Value::object(time.add(duration)),
                    Err(_) => call.arg(1).clone(),
                })
            }),
        )
        .insert(
            "mustDateModify",
            Function::new(&[STR, TIME], |call| {
                let duration = Duration::parse(&call.str(0))?;
                Ok(Value::object(receiver(call, 1)?.add(duration)))
            }),
        )
        .insert(
            "toDate",
            Function::new(&[STR, STR], |call| {
                let zone = call.session.world().local_zone();
                let time = Time::parse(&call.str(0), &call.str(1), &zone);
                Ok(Value::object(time.unwrap_or_else(|_| Time::zero())))
            }),
        )
        .insert(
            "mustToDate",
            Function::new(&[STR, STR], |call| {
                let zone = call.session.world().local_zone();
                Ok(Value::object(Time::parse(&call.str(0), &call.str(1), &zone)?))
            }),
        )
        .insert(
            "unixEpoch",
            Function::new(&[TIME], |call| {
                Ok(Value::str(receiver(call, 0)?.unix().to_string()))
            }),
        )
        .insert(
            "ago",
            Function::new(&[ANY], |call| {
                let time = match call.arg(0) {
                    Value::Int(IntType::Int32, _) => now(call),
                    other => time_of(call, other),
                };
                Ok(Value::str(now(call).sub(&time).round(1_000_000_000).to_string()))
            }),
        )
        .insert(
            "duration",
            Function::new(&[ANY], |call| {
                let seconds = match call.arg(0) {
                    Value::Str(text) => seconds_of(text),
                    Value::Int(IntType::Int64, number) => *number,
                    _ => 0,
                };
                Ok(Value::str(
                    Duration(seconds.wrapping_mul(1_000_000_000)).to_string(),
                ))
            }),
        )
        .insert("durationRound", Function::new(&[ANY], duration_round));
    functions.alias("date_in_zone", "dateInZone");
    functions.alias("date_modify", "dateModify");
    functions.alias("must_date_modify", "mustDateModify");
}

fn receiver<'c>(call: &Call<'c, '_>, index: usize) -> Result<&'c Time, Error> {
    call.arg(index)
        .downcast::<Time>()
        .ok_or_else(|| Error::new("not a time"))
}

fn now(call: &mut Call<'_, '_>) -> Time {
    let zone = call.session.world().local_zone();
    Time::new(call.session.world().now(), zone)
}

/// A time, or a number of seconds; all else is the time now.
fn time_of(call: &mut Call<'_, '_>, value: &Value) -> Time {
    match value {
        Value::Int(IntType::Int | IntType::Int32 | IntType::Int64, seconds) => Time::utc(*seconds, 0),
        other => match other.downcast::<Time>() {
            Some(time) => time.clone(),
            None => now(call),
        },
    }
}

fn shown(call: &mut Call<'_, '_>, time: &Time, layout: &str, zone: &str) -> Result<Value, Error> {
    let zone = match zone {
        "" | "UTC" => TimeZone::UTC,
        "Local" => call.session.world().local_zone(),
        name => call.session.world().zone(name).unwrap_or(TimeZone::UTC),
    };
    super::made(call, time.in_zone(zone).format(layout).into_bytes())
}

/// What `strconv.ParseInt` gives even where it also gives an error.
fn seconds_of(text: &str) -> i64 {
    match strconv::parse_int(text, 10) {
        Ok(number) => number,
        Err(strconv::NumError::Range) if text.starts_with('-') => i64::MIN,
        Err(strconv::NumError::Range) => i64::MAX,
        Err(strconv::NumError::Syntax) => 0,
    }
}

fn duration_round(call: &mut Call<'_, '_>) -> Result<Value, Error> {
    let nanos = match call.arg(0) {
        Value::Str(text) => Duration::parse(text).map_or(0, |duration| duration.0),
        Value::Int(IntType::Int64, number) => *number,
        other => match other.downcast::<Time>() {
            Some(time) => now(call).sub(time).0,
            None => 0,
        },
    };
    const UNITS: [(u64, &str); 6] = [
        (365 * 24 * 3600, "y"),
        (30 * 24 * 3600, "mo"),
        (24 * 3600, "d"),
        (3600, "h"),
        (60, "m"),
        (1, "s"),
    ];
    let nanos = nanos.unsigned_abs();
    let unit = UNITS.iter().find(|(seconds, _)| nanos > seconds * 1_000_000_000);
    Ok(Value::str(match unit {
        Some((seconds, name)) => format!("{}{name}", nanos / (seconds * 1_000_000_000)),
        None => "0s".to_owned(),
    }))
}
