//! Dates and times that go-yaml takes for such when they stand without quotes.

use std::fmt::Write as _;

/// A point in time with the offset it was written with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Timestamp {
    year: u32,
    month: u32,
    day: u32,
    hour: u32,
    minute: u32,
    second: u32,
    nanosecond: u32,
    /// Minutes east of Greenwich.
    offset: i32,
}

impl Timestamp {
    /// Reads `2006-1-2`, `2006-1-2 15:4:5.9` and `2006-1-2T15:4:5.9Z07:00`, fields of one or two digits.
    pub(crate) fn parse(text: &str) -> Option<Timestamp> {
        let mut rest = Cursor(text.as_bytes());
        let year = rest.digits(4, 4)?;
        rest.byte(b'-')?;
        let month = rest.digits(1, 2)?;
        rest.byte(b'-')?;
        let day = rest.digits(1, 2)?;
        let mut time = Timestamp {
            year,
            month,
            day,
            hour: 0,
            minute: 0,
            second: 0,
            nanosecond: 0,
            offset: 0,
        };
        match rest.next() {
            None => {}
            Some(separator @ (b'T' | b't' | b' ')) => {
                time.clock(&mut rest)?;
                if separator != b' ' {
                    time.offset = offset(&mut rest)?;
                }
                rest.0.is_empty().then_some(())?;
            }
            Some(_) => return None,
        }
        time.is_valid().then_some(time)
    }

    fn clock(&mut self, rest: &mut Cursor<'_>) -> Option<()> {
        self.hour = rest.digits(1, 2)?;
        rest.byte(b':')?;
        self.minute = rest.digits(1, 2)?;
        rest.byte(b':')?;
        self.second = rest.digits(1, 2)?;
        if let [b'.' | b',', digit, ..] = rest.0
            && digit.is_ascii_digit()
        {
            rest.next();
            let mut scale = 100_000_000;
            while let Some(digit) = rest.0.first().filter(|byte| byte.is_ascii_digit()) {
                self.nanosecond += u32::from(digit - b'0') * scale;
                scale /= 10;
                rest.next();
            }
        }
        Some(())
    }

    fn is_valid(&self) -> bool {
        let leap =
            self.year.is_multiple_of(4) && (!self.year.is_multiple_of(100) || self.year.is_multiple_of(400));
        let days = match self.month {
            2 if leap => 29,
            2 => 28,
            4 | 6 | 9 | 11 => 30,
            1..=12 => 31,
            _ => return false,
        };
        (1..=days).contains(&self.day) && self.hour < 24 && self.minute < 60 && self.second < 60
    }

    /// As Go writes a time into JSON.
    pub(crate) fn to_rfc3339(self) -> String {
        let Timestamp {
            year,
            month,
            day,
            hour,
            minute,
            second,
            ..
        } = self;
        let mut out = format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}");
        if self.nanosecond > 0 {
            let digits = format!("{:09}", self.nanosecond);
            let _ = write!(out, ".{}", digits.trim_end_matches('0'));
        }
        if self.offset == 0 {
            out.push('Z');
        } else {
            let sign = if self.offset < 0 { '-' } else { '+' };
            let minutes = self.offset.abs();
            let _ = write!(out, "{sign}{:02}:{:02}", minutes / 60, minutes % 60);
        }
        out
    }
}

fn offset(rest: &mut Cursor<'_>) -> Option<i32> {
    let sign = match rest.next()? {
        b'Z' => return Some(0),
        b'+' => 1,
        b'-' => -1,
        _ => return None,
    };
    let hours = rest.digits(2, 2)?;
    rest.byte(b':')?;
    let minutes = rest.digits(2, 2)?;
    (hours <= 24 && minutes < 60).then_some(())?;
    i32::try_from(hours * 60 + minutes)
        .ok()
        .map(|minutes| sign * minutes)
}

struct Cursor<'a>(&'a [u8]);

impl Cursor<'_> {
    fn next(&mut self) -> Option<u8> {
        let (first, rest) = self.0.split_first()?;
        self.0 = rest;
        Some(*first)
    }

    fn byte(&mut self, wanted: u8) -> Option<()> {
        (self.next()? == wanted).then_some(())
    }

    fn digits(&mut self, least: usize, most: usize) -> Option<u32> {
        let count = self
            .0
            .iter()
            .take(most)
            .take_while(|byte| byte.is_ascii_digit())
            .count();
        (count >= least).then_some(())?;
        let (digits, rest) = self.0.split_at(count);
        self.0 = rest;
        Some(
            digits
                .iter()
                .fold(0, |number, digit| number * 10 + u32::from(digit - b'0')),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Option<String> {
        Timestamp::parse(text).map(Timestamp::to_rfc3339)
    }

    #[test]
    fn dates_and_times_are_read_as_go_reads_them() {
        for (text, meant) in [
            ("2020-01-01", "2020-01-01T00:00:00Z"),
            ("2020-1-2", "2020-01-02T00:00:00Z"),
            ("2020-01-01T10:20:30.5Z", "2020-01-01T10:20:30.5Z"),
            ("2020-01-01t1:2:3+01:30", "2020-01-01T01:02:03+01:30"),
            ("2001-12-14 21:59:43,10", "2001-12-14T21:59:43.1Z"),
            ("2020-02-29", "2020-02-29T00:00:00Z"),
        ] {
            assert_eq!(read(text).as_deref(), Some(meant), "{text}");
        }
    }

    #[test]
    fn what_only_looks_like_a_date_is_none() {
        for text in [
            "2021-02-29",
            "2020-13-01",
            "2020-01",
            "20200101",
            "2020-01-01T10:20:30",
            "2020-01-01 10:20:30Z",
            "2020-01-01x",
        ] {
            assert_eq!(read(text), None, "{text}");
        }
    }
}
