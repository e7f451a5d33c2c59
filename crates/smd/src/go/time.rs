//! Times as Go reads RFC 3339, with Go's quirks and words, brought to UTC as Kubernetes writes them.

use jiff::civil::DateTime;
use jiff::{SignedDuration, civil};
use model::Str;

/// How fine a time is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Precision {
    /// `metav1.Time`
    Seconds,
    /// `metav1.MicroTime`
    Micros,
}

impl Precision {
    fn layout(self) -> &'static str {
        match self {
            Precision::Seconds => "2006-01-02T15:04:05Z07:00",
            Precision::Micros => "2006-01-02T15:04:05.000000Z07:00",
        }
    }
}

/// `text` in UTC; `None` for Go's zero time, which is written as `null`.
///
/// # Errors
/// Go's message.
pub(super) fn normalize(text: &str, precision: Precision) -> Result<Option<Str>, String> {
    let mut reader = Reader {
        rest: text,
        text,
        layout: precision.layout(),
    };
    let year = reader.number("2006", 4)?;
    reader.literal("-")?;
    let month = reader.in_range("01", "month", 1..13)?;
    reader.literal("-")?;
    let day = reader.number("02", 2)?;
    reader.literal("T")?;
    let hour = reader.hour()?;
    reader.literal(":")?;
    let minute = reader.in_range("04", "minute", 0..60)?;
    reader.literal(":")?;
    let second = reader.in_range("05", "second", 0..60)?;
    let nanos = match precision {
        Precision::Seconds => reader.optional_fraction(),
        Precision::Micros => reader.micros()? * 1000,
    };
    let offset = reader.zone()?;
    if !reader.rest.is_empty() {
        return Err(format!(
            "parsing time {}: extra text: {}",
            quote(text),
            quote(reader.rest)
        ));
    }
    let part = |number: i64| i8::try_from(number).unwrap_or_default();
    let date = civil::Date::new(i16::try_from(year).unwrap_or_default(), part(month), part(day));
    let date = date.map_err(|_| reader.out_of_range("day"))?;
    let time = date.at(part(hour), part(minute), part(second), nanos);
    // Years that an offset moves below zero or above 9999 cannot be written in RFC 3339 at all.
    let utc = time
        .checked_sub(SignedDuration::from_secs(offset))
        .map_err(|_| reader.out_of_range("year"))?;
    Ok(print(utc, precision))
}

fn print(utc: DateTime, precision: Precision) -> Option<Str> {
    if utc == civil::date(1, 1, 1).at(0, 0, 0, 0) {
        return None;
    }
    let text = utc.strftime("%Y-%m-%dT%H:%M:%S");
    Some(match precision {
        Precision::Seconds => Str::from(format!("{text}Z")),
        Precision::Micros => Str::from(format!("{text}.{:06}Z", utc.subsec_nanosecond() / 1000)),
    })
}

/// Reads a time piece by piece.
struct Reader<'a> {
    rest: &'a str,
    text: &'a str,
    layout: &'static str,
}

impl<'a> Reader<'a> {
    fn unreadable(&self, piece: &str) -> String {
        let (text, rest) = (quote(self.text), quote(self.rest));
        format!(
            "parsing time {text} as {}: cannot parse {rest} as {}",
            quote(self.layout),
            quote(piece)
        )
    }

    fn out_of_range(&self, what: &str) -> String {
        format!("parsing time {}: {what} out of range", quote(self.text))
    }

    fn literal(&mut self, piece: &str) -> Result<(), String> {
        self.rest = self
            .rest
            .strip_prefix(piece)
            .ok_or_else(|| self.unreadable(piece))?;
        Ok(())
    }

    /// A number of exactly `width` digits.
    fn number(&mut self, piece: &str, width: usize) -> Result<i64, String> {
        let digits = self
            .rest
            .get(..width)
            .filter(|digits| digits.bytes().all(|byte| byte.is_ascii_digit()));
        let number = digits
            .and_then(|digits| digits.parse().ok())
            .ok_or_else(|| self.unreadable(piece))?;
        self.rest = &self.rest[width..];
        Ok(number)
    }

    fn in_range(&mut self, piece: &str, name: &str, allowed: std::ops::Range<i64>) -> Result<i64, String> {
        let number = self.number(piece, 2)?;
        if !allowed.contains(&number) {
            return Err(self.out_of_range(name));
        }
        Ok(number)
    }

    /// Hours may have a single digit.
    fn hour(&mut self) -> Result<i64, String> {
        let digits = self.rest.bytes().take(2).take_while(u8::is_ascii_digit).count();
        let hour = match digits {
            0 => return Err(self.unreadable("15")),
            width => self.number("15", width)?,
        };
        if hour > 23 {
            return Err(self.out_of_range("hour"));
        }
        Ok(hour)
    }

    /// A fraction that the layout does not name, after a point or comma, in nanoseconds.
    fn optional_fraction(&mut self) -> i32 {
        let Some(rest) = self.rest.strip_prefix(['.', ',']) else {
            return 0;
        };
        let width = rest.bytes().take_while(u8::is_ascii_digit).count();
        if width == 0 {
            return 0;
        }
        self.rest = &rest[width..];
        let nanos = rest[..width].bytes().chain(std::iter::repeat(b'0')).take(9);
        nanos.fold(0, |number, digit| number * 10 + i32::from(digit - b'0'))
    }

    fn micros(&mut self) -> Result<i32, String> {
        let digits = self.rest.strip_prefix(['.', ',']).and_then(|rest| rest.get(..6));
        let digits = digits.filter(|digits| digits.bytes().all(|byte| byte.is_ascii_digit()));
        let number = digits
            .and_then(|digits| digits.parse().ok())
            .ok_or_else(|| self.unreadable(".000000"))?;
        self.rest = &self.rest[7..];
        Ok(number)
    }

    /// The offset from UTC in seconds.
    fn zone(&mut self) -> Result<i64, String> {
        if let Some(rest) = self.rest.strip_prefix('Z') {
            self.rest = rest;
            return Ok(0);
        }
        let bytes = self.rest.as_bytes();
        let two = |at: usize| match bytes.get(at..at + 2) {
            Some([a, b]) if a.is_ascii_digit() && b.is_ascii_digit() => {
                Some(i64::from(a - b'0') * 10 + i64::from(b - b'0'))
            }
            _ => None,
        };
        let (sign, hours, minutes) = match (bytes.first(), two(1), bytes.get(3), two(4)) {
            (Some(b'+'), Some(hours), Some(b':'), Some(minutes)) => (1, hours, minutes),
            (Some(b'-'), Some(hours), Some(b':'), Some(minutes)) => (-1, hours, minutes),
            _ => return Err(self.unreadable("Z07:00")),
        };
        if hours > 24 {
            return Err(self.out_of_range("time zone offset hour"));
        }
        if minutes > 60 {
            return Err(self.out_of_range("time zone offset minute"));
        }
        self.rest = &self.rest[6..];
        Ok(sign * (hours * 3600 + minutes * 60))
    }
}

/// A text in quotes as Go's time package prints it: whatever is not plain ASCII as bytes.
fn quote(text: &str) -> String {
    let mut quoted = String::with_capacity(text.len() + 2);
    quoted.push('"');
    for c in text.chars() {
        match c {
            '"' | '\\' => quoted.extend(['\\', c]),
            ' '..='~' => quoted.push(c),
            _ => {
                for byte in c.encode_utf8(&mut [0; 4]).bytes() {
                    quoted.push_str(&format!("\\x{byte:02x}"));
                }
            }
        }
    }
    quoted.push('"');
    quoted
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seconds(text: &str) -> String {
        match normalize(text, Precision::Seconds) {
            Ok(time) => time.map_or("null".to_owned(), |time| time.to_string()),
            Err(message) => message,
        }
    }

    #[test]
    fn times_are_brought_to_utc() {
        assert_eq!(seconds("2020-02-20T00:00:00+02:00"), "2020-02-19T22:00:00Z");
        assert_eq!(seconds("2020-02-20T01:00:00.999Z"), "2020-02-20T01:00:00Z");
        assert_eq!(seconds("2020-02-20T1:00:00,5Z"), "2020-02-20T01:00:00Z");
        assert_eq!(seconds("0001-01-01T00:00:00Z"), "null");
        let micros = normalize("2020-01-01T00:00:00.123456+01:00", Precision::Micros);
        assert_eq!(micros, Ok(Some("2019-12-31T23:00:00.123456Z".into())));
    }

    /// Each message was given so by a real API server.
    #[test]
    fn messages_are_those_of_go() {
        let layout = r#"as "2006-01-02T15:04:05Z07:00""#;
        for (given, expected) in [
            ("", format!(r#" {layout}: cannot parse "" as "2006""#)),
            ("x", format!(r#" {layout}: cannot parse "x" as "2006""#)),
            (
                "2020-2-20T00:00:00Z",
                format!(r#" {layout}: cannot parse "2-20T00:00:00Z" as "01""#),
            ),
            ("2020-02-20", format!(r#" {layout}: cannot parse "" as "T""#)),
            (
                "20200220T00:00:00Z",
                format!(r#" {layout}: cannot parse "0220T00:00:00Z" as "-""#),
            ),
            (
                "2020-02-20T00:00:00",
                format!(r#" {layout}: cannot parse "" as "Z07:00""#),
            ),
            (
                "2020-02-20T00:00:00.Z",
                format!(r#" {layout}: cannot parse ".Z" as "Z07:00""#),
            ),
            (
                "2020-02-20T00:00:00+0200",
                format!(r#" {layout}: cannot parse "+0200" as "Z07:00""#),
            ),
            ("2020-02-20T00:00:00Zx", r#": extra text: "x""#.to_owned()),
            ("2020-13-01T00:00:00Z", ": month out of range".to_owned()),
            ("2020-02-30T00:00:00Z", ": day out of range".to_owned()),
            ("2020-02-20T25:00:00Z", ": hour out of range".to_owned()),
            ("2020-02-20T00:00:60Z", ": second out of range".to_owned()),
            (
                "2020-02-20T00:00:00+25:00",
                ": time zone offset hour out of range".to_owned(),
            ),
            (
                "2020-02-20T00:00:00+02:61",
                ": time zone offset minute out of range".to_owned(),
            ),
        ] {
            assert_eq!(seconds(given), format!("parsing time {given:?}{expected}"));
        }
        let micros = normalize("2020-01-01T00:00:00Z", Precision::Micros).unwrap_err();
        assert!(micros.ends_with(r#"cannot parse "Z" as ".000000""#), "{micros}");
    }
}
