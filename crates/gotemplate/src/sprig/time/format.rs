//! Layouts: times written as Go writes them.

use super::Time;

pub(super) const MONTHS: [&str; 12] = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
];
pub(super) const DAYS: [&str; 7] = [
    "Sunday",
    "Monday",
    "Tuesday",
    "Wednesday",
    "Thursday",
    "Friday",
    "Saturday",
];

/// A part of a layout that stands for a part of a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Part {
    LongMonth,
    Month,
    NumMonth,
    ZeroMonth,
    LongWeekDay,
    WeekDay,
    Day,
    UnderDay,
    ZeroDay,
    UnderYearDay,
    ZeroYearDay,
    Hour,
    Hour12,
    ZeroHour12,
    Minute,
    ZeroMinute,
    Second,
    ZeroSecond,
    LongYear,
    Year,
    UpperPm,
    LowerPm,
    Zone,
    /// `Z07:00` and its kin: how it is written, and whether UTC is `Z`.
    Offset {
        colon: bool,
        minutes: bool,
        seconds: bool,
        z: bool,
    },
    /// `.000` or `.999`: digits, and whether zeros at the end are left out; and `,` in place of the point.
    Fraction {
        digits: usize,
        short: bool,
        comma: bool,
    },
}

/// What comes before the first part of a layout, the part, and what follows it.
pub(super) fn next_part(layout: &str) -> (&str, Option<Part>, &str) {
    for at in 0..layout.len() {
        if !layout.is_char_boundary(at) {
            continue;
        }
        let before = layout.as_bytes()[..at].last().copied();
        if let Some((part, length)) = part_at(&layout[at..], before) {
            return (&layout[..at], Some(part), &layout[at + length..]);
        }
    }
    (layout, None, "")
}

fn part_at(rest: &str, before: Option<u8>) -> Option<(Part, usize)> {
    const FIXED: [(&str, Part); 26] = [
        ("January", Part::LongMonth),
        ("Jan", Part::Month),
        ("Monday", Part::LongWeekDay),
        ("Mon", Part::WeekDay),
        ("MST", Part::Zone),
        ("01", Part::ZeroMonth),
        ("002", Part::ZeroYearDay),
        ("02", Part::ZeroDay),
        ("03", Part::ZeroHour12),
        ("04", Part::ZeroMinute),
        ("05", Part::ZeroSecond),
        ("06", Part::Year),
        ("15", Part::Hour),
        ("1", Part::NumMonth),
        ("2006", Part::LongYear),
        ("2", Part::Day),
        ("__2", Part::UnderYearDay),
        ("_2006", Part::LongYear),
        ("_2", Part::UnderDay),
        ("3", Part::Hour12),
        ("4", Part::Minute),
        ("5", Part::Second),
        ("PM", Part::UpperPm),
        ("pm", Part::LowerPm),
        ("-", Part::Zone),
        ("Z", Part::Zone),
    ];
    let bytes = rest.as_bytes();
    match bytes[0] {
        b'-' | b'Z' => return offset_at(rest),
        b'.' | b',' => return fraction_at(bytes, before),
        // The underscore is text, and the year is what follows.
        b'_' if rest.starts_with("_2006") => return None,
        _ => {}
    }
    let (name, part) = FIXED[..24].iter().find(|(name, _)| rest.starts_with(name))?;
    // `Jan` is a month unless letters follow that make another word of it.
    let follows_lower = bytes.get(3).is_some_and(u8::is_ascii_lowercase);
    if matches!(*name, "Mon" | "Jan") && follows_lower {
        return None;
    }
    Some((*part, name.len()))
}

fn offset_at(rest: &str) -> Option<(Part, usize)> {
    let z = rest.starts_with('Z');
    let forms: [(&str, bool, bool, bool); 5] = [
        ("07:00:00", true, true, true),
        ("070000", false, true, true),
        ("07:00", true, true, false),
        ("0700", false, true, false),
        ("07", false, false, false),
    ];
    let (form, colon, minutes, seconds) = forms.into_iter().find(|(form, ..)| rest[1..].starts_with(form))?;
    let part = Part::Offset {
        colon,
        minutes,
        seconds,
        z,
    };
    Some((part, form.len() + 1))
}

fn fraction_at(bytes: &[u8], before: Option<u8>) -> Option<(Part, usize)> {
    let digit = *bytes.get(1).filter(|byte| matches!(byte, b'0' | b'9'))?;
    let digits = bytes[1..].iter().take_while(|byte| **byte == digit).count();
    let after = bytes.get(1 + digits);
    if after.is_some_and(u8::is_ascii_digit) {
        return None;
    }
    let _ = before;
    let part = Part::Fraction {
        digits,
        short: digit == b'9',
        comma: bytes[0] == b',',
    };
    Some((part, digits + 1))
}

/// `Time.Format`
pub(super) fn format(time: &Time, layout: &str) -> String {
    let mut out = String::with_capacity(layout.len() + 10);
    let mut rest = layout;
    while !rest.is_empty() {
        let (before, part, after) = next_part(rest);
        out.push_str(before);
        if let Some(part) = part {
            push_part(&mut out, time, part);
        }
        rest = after;
    }
    out
}

fn push_part(out: &mut String, time: &Time, part: Part) {
    let civil = time.civil();
    let (hour12, pm) = ((civil.hour + 11) % 12 + 1, civil.hour >= 12);
    let text = match part {
        Part::LongYear if civil.year < 0 => format!("-{:04}", civil.year.unsigned_abs()),
        Part::LongYear => format!("{:04}", civil.year),
        Part::Year => format!("{:02}", civil.year.rem_euclid(100)),
        Part::LongMonth => civil.month_name().to_owned(),
        Part::Month => civil.month_name()[..3].to_owned(),
        Part::NumMonth => civil.month.to_string(),
        Part::ZeroMonth => format!("{:02}", civil.month),
        Part::LongWeekDay => civil.day_name().to_owned(),
        Part::WeekDay => civil.day_name()[..3].to_owned(),
        Part::Day => civil.day.to_string(),
        Part::UnderDay => format!("{:2}", civil.day),
        Part::ZeroDay => format!("{:02}", civil.day),
        Part::UnderYearDay => format!("{:3}", civil.year_day),
        Part::ZeroYearDay => format!("{:03}", civil.year_day),
        Part::Hour => format!("{:02}", civil.hour),
        Part::Hour12 => hour12.to_string(),
        Part::ZeroHour12 => format!("{hour12:02}"),
        Part::Minute => civil.minute.to_string(),
        Part::ZeroMinute => format!("{:02}", civil.minute),
        Part::Second => civil.second.to_string(),
        Part::ZeroSecond => format!("{:02}", civil.second),
        Part::UpperPm => if pm { "PM" } else { "AM" }.to_owned(),
        Part::LowerPm => if pm { "pm" } else { "am" }.to_owned(),
        Part::Zone => time.zone_name(),
        Part::Offset {
            colon,
            minutes,
            seconds,
            z,
        } => offset(time.offset(), colon, minutes, seconds, z),
        Part::Fraction { digits, short, comma } => {
            let all = format!("{:09}", time.nanos());
            let mut shown: String = all
                .chars()
                .chain("0".repeat(digits.saturating_sub(9)).chars())
                .take(digits)
                .collect();
            if short {
                shown.truncate(shown.trim_end_matches('0').len());
            }
            match shown.is_empty() {
                true => String::new(),
                false => format!("{}{shown}", if comma { ',' } else { '.' }),
            }
        }
    };
    out.push_str(&text);
}

fn offset(offset: i32, colon: bool, minutes: bool, seconds: bool, z: bool) -> String {
    if z && offset == 0 {
        return "Z".to_owned();
    }
    let sign = if offset < 0 { '-' } else { '+' };
    let offset = offset.abs();
    let mut text = format!("{sign}{:02}", offset / 3600);
    let between = if colon { ":" } else { "" };
    if minutes {
        text.push_str(&format!("{between}{:02}", offset / 60 % 60));
    }
    if seconds {
        text.push_str(&format!("{between}{:02}", offset % 60));
    }
    text
}
