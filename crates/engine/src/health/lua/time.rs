//! `os.time` and `os.date`, which are all of `os` that there is. The time is the one that health is asked for.

use jiff::civil::DateTime;
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp, Zoned};
use mlua::{Lua, Table, Value};

pub(super) fn library(lua: &Lua, now: Timestamp) -> mlua::Result<Table> {
    let os = lua.create_table()?;
    os.raw_set(
        "time",
        lua.create_function(move |_, table: Option<Table>| match table {
            None => Ok(now.as_second()),
            Some(table) => seconds(&table),
        })?,
    )?;
    os.raw_set(
        "date",
        lua.create_function(move |lua, (format, at): (Option<String>, Option<f64>)| {
            let at = match at {
                Some(seconds) => Timestamp::from_second(seconds as i64).map_err(mlua::Error::external)?,
                None => now,
            };
            date(lua, format.as_deref().unwrap_or("%c"), at)
        })?,
    )?;
    Ok(os)
}

/// The time that a table with `year`, `month`, `day` and so on means. Numbers that are too large run over.
fn seconds(table: &Table) -> mlua::Result<i64> {
    let number = |name: &str, default: Option<i64>| match table.raw_get::<Value>(name)? {
        Value::Integer(number) => Ok(number),
        Value::Number(number) => Ok(number as i64),
        Value::String(text) => text
            .to_string_lossy()
            .trim()
            .parse()
            .map_err(mlua::Error::external),
        _ => default.ok_or_else(|| mlua::Error::runtime(format!("field '{name}' missing in date table"))),
    };
    let overflow = || mlua::Error::runtime("time out of range");
    let month = number("month", None)?.checked_sub(1).ok_or_else(overflow)?;
    let year = number("year", None)?
        .checked_add(month.div_euclid(12))
        .ok_or_else(overflow)?;
    let first = DateTime::new(
        i16::try_from(year).map_err(|_| overflow())?,
        i8::try_from(month.rem_euclid(12) + 1).map_err(|_| overflow())?,
        1,
        0,
        0,
        0,
        0,
    );
    let first = first.map_err(mlua::Error::external)?;
    let start = TimeZone::UTC.to_timestamp(first).map_err(mlua::Error::external)?;
    let parts = [
        (number("day", None)?.checked_sub(1).ok_or_else(overflow)?, 86_400),
        (number("hour", Some(12))?, 3_600),
        (number("min", Some(0))?, 60),
        (number("sec", Some(0))?, 1),
    ];
    let mut total = SignedDuration::ZERO;
    for (count, length) in parts {
        let part = count.checked_mul(length).ok_or_else(overflow)?;
        total = total
            .checked_add(SignedDuration::from_secs(part))
            .ok_or_else(overflow)?;
    }
    Ok(start
        .checked_add(total)
        .map_err(mlua::Error::external)?
        .as_second())
}

/// A time as text, or as a table for `*t`. Local time is UTC.
fn date(lua: &Lua, format: &str, at: Timestamp) -> mlua::Result<Value> {
    let at: Zoned = at.to_zoned(TimeZone::UTC);
    let format = format.trim_start_matches('!');
    if !format.starts_with("*t") {
        let text = jiff::fmt::strtime::format(format, &at).map_err(mlua::Error::external)?;
        return Ok(Value::String(lua.create_string(text)?));
    }
    let table = lua.create_table()?;
    for (name, number) in [
        ("year", i64::from(at.year())),
        ("month", at.month().into()),
        ("day", at.day().into()),
        ("hour", at.hour().into()),
        ("min", at.minute().into()),
        ("sec", at.second().into()),
        ("wday", i64::from(at.weekday().to_sunday_zero_offset()) + 1),
        ("yday", at.day_of_year().into()),
    ] {
        table.raw_set(name, number)?;
    }
    table.raw_set("isdst", false)?;
    Ok(Value::Table(table))
}
