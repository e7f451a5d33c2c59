//! Layouts: times read as Go reads them.

use jiff::tz::TimeZone;

use super::format::{DAYS, MONTHS, Part, next_part};
use super::methods::{Zone, days_of, local_time};
use super::{Time, quote};
use crate::error::Error;

/// What was read so far.
#[derive(Default)]
struct Read {
    year: i64,
    month: Option<i64>,
    day: Option<i64>,
    year_day: Option<i64>,
    hour: i64,
    minute: i64,
    second: i64,
    nanos: u32,
    am: bool,
    pm: bool,
    utc: bool,
    offset: Option<i32>,
    zone: String,
}

/// Why a part does not fit.
enum Problem {
    Bad,
    Range(&'static str),
}

type Step<'t> = Result<&'t str, Problem>;

/// `time.ParseInLocation`
pub(super) fn parse(layout: &str, text: &str, local: &TimeZone) -> Result<Time, Error> {
    let fail = |element: &str, rest: &str, message: &str| {
        let (layout, text) = (quote(layout), quote(text));
        Error::new(match message.is_empty() {
            true => format!(
                "parsing time {text} as {layout}: cannot parse {} as {}",
                quote(rest),
                quote(element)
            ),
            false => format!("parsing time {text}{message}"),
        })
    };
    let mut read = Read::default();
    let (mut rest, mut pattern) = (text, layout);
    loop {
        let (prefix, part, suffix) = next_part(pattern);
        rest = skip(rest, prefix).map_err(|rest| fail(prefix, rest, ""))?;
        let Some(part) = part else {
            if !rest.is_empty() {
                return Err(fail("", rest, &format!(": extra text: {}", quote(rest))));
            }
            break;
        };
        let element = &pattern[prefix.len()..pattern.len() - suffix.len()];
        pattern = suffix;
        rest = match read.part(part, rest, pattern) {
            Ok(rest) => rest,
            Err(Problem::Bad) => return Err(fail(element, rest, "")),
            Err(Problem::Range(what)) => return Err(fail(element, rest, &format!(": {what} out of range"))),
        };
    }
    read.finish(local).map_err(|message| fail("", rest, message))
}

/// Passes over what a layout has between its parts; a space stands for any number of them.
fn skip<'t>(mut text: &'t str, mut prefix: &str) -> Result<&'t str, &'t str> {
    while let Some(char) = prefix.chars().next() {
        if char == ' ' {
            if !text.is_empty() && !text.starts_with(' ') {
                return Err(text);
            }
            prefix = prefix.trim_start_matches(' ');
            text = text.trim_start_matches(' ');
            continue;
        }
        text = text.strip_prefix(char).ok_or(text)?;
        prefix = &prefix[char.len_utf8()..];
    }
    Ok(text)
}

fn digit(text: &str, at: usize) -> Option<i64> {
    text.as_bytes()
        .get(at)
        .filter(|byte| byte.is_ascii_digit())
        .map(|byte| i64::from(byte - b'0'))
}

/// One digit or two; two for sure where the layout has a zero.
fn number(text: &str, two: bool) -> Result<(i64, &str), Problem> {
    let first = digit(text, 0).ok_or(Problem::Bad)?;
    match digit(text, 1) {
        Some(second) => Ok((first * 10 + second, &text[2..])),
        None if two => Err(Problem::Bad),
        None => Ok((first, &text[1..])),
    }
}

fn name<'t>(names: &[&str], length: Option<usize>, text: &'t str) -> Result<(i64, &'t str), Problem> {
    for (index, name) in names.iter().enumerate() {
        let name = &name[..length.unwrap_or(name.len())];
        if text
            .get(..name.len())
            .is_some_and(|start| start.eq_ignore_ascii_case(name))
        {
            return Ok((index as i64, &text[name.len()..]));
        }
    }
    Err(Problem::Bad)
}

fn in_range(number: i64, end: i64, what: &'static str) -> Result<i64, Problem> {
    match number < end {
        true => Ok(number),
        false => Err(Problem::Range(what)),
    }
}

/// The digits after a point as nanoseconds.
fn nanoseconds(text: &str, length: usize) -> Result<u32, Problem> {
    let digits = text.get(1..length).ok_or(Problem::Bad)?;
    if !text.starts_with(['.', ',']) || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(Problem::Bad);
    }
    let nine: String = digits.chars().chain("000000000".chars()).take(9).collect();
    nine.parse().map_err(|_| Problem::Bad)
}

impl Read {
    fn part<'t>(&mut self, part: Part, text: &'t str, pattern: &str) -> Step<'t> {
        match part {
            Part::Year => {
                let (year, rest) = number(text, true)?;
                self.year = year + if year >= 69 { 1900 } else { 2000 };
                Ok(rest)
            }
            Part::LongYear => {
                let digits = text
                    .get(..4)
                    .filter(|year| year.bytes().all(|byte| byte.is_ascii_digit()));
                self.year = digits.and_then(|year| year.parse().ok()).ok_or(Problem::Bad)?;
                Ok(&text[4..])
            }
            Part::Month | Part::LongMonth => {
                let length = (part == Part::Month).then_some(3);
                let (month, rest) = name(&MONTHS, length, text)?;
                self.month = Some(month + 1);
                Ok(rest)
            }
            Part::NumMonth | Part::ZeroMonth => {
                let (month, rest) = number(text, part == Part::ZeroMonth)?;
                if !(1..=12).contains(&month) {
                    return Err(Problem::Range("month"));
                }
                self.month = Some(month);
                Ok(rest)
            }
            Part::WeekDay => name(&DAYS, Some(3), text).map(|(_, rest)| rest),
            Part::LongWeekDay => name(&DAYS, None, text).map(|(_, rest)| rest),
            Part::Day | Part::UnderDay | Part::ZeroDay => {
                let text = if part == Part::UnderDay {
                    text.strip_prefix(' ').unwrap_or(text)
                } else {
                    text
                };
                let (day, rest) = number(text, part == Part::ZeroDay)?;
                self.day = Some(day);
                Ok(rest)
            }
            Part::UnderYearDay | Part::ZeroYearDay => self.year_day(part, text),
            Part::UpperPm | Part::LowerPm => self.half(part == Part::UpperPm, text),
            Part::Zone => self.zone(text),
            Part::Offset {
                colon,
                minutes,
                seconds,
                z,
            } => {
                if z && let Some(rest) = text.strip_prefix('Z') {
                    self.utc = true;
                    return Ok(rest);
                }
                self.offset(text, colon, minutes, seconds)
            }
            Part::Fraction {
                digits, short: false, ..
            } => {
                self.nanos = nanoseconds(text, digits + 1)?;
                Ok(&text[digits + 1..])
            }
            Part::Fraction { .. } => self.fraction(text),
            _ => self.clock(part, text, pattern),
        }
    }

    fn clock<'t>(&mut self, part: Part, text: &'t str, pattern: &str) -> Step<'t> {
        let two = matches!(part, Part::ZeroHour12 | Part::ZeroMinute | Part::ZeroSecond);
        let (number, rest) = number(text, two)?;
        match part {
            Part::Hour => self.hour = in_range(number, 24, "hour")?,
            Part::Hour12 | Part::ZeroHour12 => self.hour = in_range(number, 13, "hour")?,
            Part::Minute | Part::ZeroMinute => self.minute = in_range(number, 60, "minute")?,
            _ => {
                self.second = in_range(number, 60, "second")?;
                // A fraction is read even where the layout has none.
                if !matches!(next_part(pattern), ("", Some(Part::Fraction { .. }), _)) {
                    return self.fraction(rest);
                }
            }
        }
        Ok(rest)
    }

    fn fraction<'t>(&mut self, text: &'t str) -> Step<'t> {
        if !text.starts_with(['.', ',']) || digit(text, 1).is_none() {
            return Ok(text);
        }
        let length = 1 + text[1..].bytes().take_while(u8::is_ascii_digit).count();
        self.nanos = nanoseconds(text, length)?;
        Ok(&text[length..])
    }

    fn year_day<'t>(&mut self, part: Part, text: &'t str) -> Step<'t> {
        let padded = text.len() - text.trim_start_matches(' ').len();
        let text = if part == Part::UnderYearDay {
            &text[padded.min(2)..]
        } else {
            text
        };
        let digits = text.bytes().take(3).take_while(u8::is_ascii_digit).count();
        if digits == 0 || (part == Part::ZeroYearDay && digits < 3) {
            return Err(Problem::Bad);
        }
        self.year_day = text[..digits].parse().ok();
        Ok(&text[digits..])
    }

    fn half<'t>(&mut self, upper: bool, text: &'t str) -> Step<'t> {
        let (am, pm) = if upper { ("AM", "PM") } else { ("am", "pm") };
        if let Some(rest) = text.strip_prefix(pm) {
            self.pm = true;
            return Ok(rest);
        }
        self.am = true;
        text.strip_prefix(am).ok_or(Problem::Bad)
    }

    fn zone<'t>(&mut self, text: &'t str) -> Step<'t> {
        if let Some(rest) = text.strip_prefix("UTC") {
            self.utc = true;
            return Ok(rest);
        }
        let length = text.bytes().take_while(u8::is_ascii_uppercase).count();
        // Three letters, four that end in T, or five that end in ST.
        let fits = match length {
            3 => true,
            4 => text[..4].ends_with('T') || text.starts_with("WITA"),
            5 => text[..5].ends_with('T'),
            _ => false,
        };
        if !fits {
            return Err(Problem::Bad);
        }
        self.zone = text[..length].to_owned();
        Ok(&text[length..])
    }

    fn offset<'t>(&mut self, text: &'t str, colon: bool, minutes: bool, seconds: bool) -> Step<'t> {
        let sign = match text.as_bytes().first() {
            Some(b'+') => 1,
            Some(b'-') => -1,
            _ => return Err(Problem::Bad),
        };
        let mut rest = &text[1..];
        let mut parts = [0; 3];
        let limits = [
            (24, "time zone offset hour"),
            (60, "time zone offset minute"),
            (60, "time zone offset second"),
        ];
        let count = 1 + usize::from(minutes) + usize::from(seconds);
        for (index, part) in parts.iter_mut().take(count).enumerate() {
            if index > 0 && colon {
                rest = rest.strip_prefix(':').ok_or(Problem::Bad)?;
            }
            (*part, rest) = number(rest, true)?;
            let (limit, what) = limits[index];
            in_range(*part, limit + 1, what)?;
        }
        let [hours, minutes, seconds] = parts;
        self.offset = i32::try_from(sign * (hours * 3600 + minutes * 60 + seconds)).ok();
        Ok(rest)
    }

    fn finish(mut self, local: &TimeZone) -> Result<Time, &'static str> {
        if self.pm && self.hour < 12 {
            self.hour += 12;
        } else if self.am && self.hour == 12 {
            self.hour = 0;
        }
        let year_length = days_of(self.year + 1, 1, 1) - days_of(self.year, 1, 1);
        let days = match self.year_day {
            Some(day) => {
                if day < 1 || day > year_length {
                    return Err(": day-of-year out of range");
                }
                days_of(self.year, 1, day)
            }
            None => {
                let (month, day) = (self.month.unwrap_or(1), self.day.unwrap_or(1));
                let length = days_of(self.year, month + 1, 1) - days_of(self.year, month, 1);
                if day < 1 || day > length {
                    return Err(": day out of range");
                }
                days_of(self.year, month, day)
            }
        };
        let clock = days * 86_400 + self.hour * 3600 + self.minute * 60 + self.second;
        Ok(self.at(clock, local))
    }

    fn at(self, clock: i64, local: &TimeZone) -> Time {
        if self.utc {
            return Time::utc(clock, self.nanos);
        }
        let here = Zone::Named(local.clone());
        if let Some(offset) = self.offset {
            let seconds = clock - i64::from(offset);
            let time = Time::at(seconds, self.nanos, here);
            if time.offset() == offset && (self.zone.is_empty() || time.zone_name() == self.zone) {
                return time;
            }
            let zone = Zone::Fixed {
                name: self.zone.into(),
                offset,
            };
            return Time::at(seconds, self.nanos, zone);
        }
        let time = local_time(clock, self.nanos, &here);
        if self.zone.is_empty() || time.zone_name() == self.zone {
            return time;
        }
        // A zone that is not known here is shown by its name, as if it were UTC.
        let zone = Zone::Fixed {
            name: self.zone.into(),
            offset: 0,
        };
        Time::at(clock, self.nanos, zone)
    }
}
