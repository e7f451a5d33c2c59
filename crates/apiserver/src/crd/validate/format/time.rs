//! Dates, times and lengths of time.

/// A date of the calendar, `2006-01-02`.
pub(super) fn is_date(text: &str) -> bool {
    let bytes = text.as_bytes();
    let digits = |from: usize, to: usize| -> Option<u32> {
        let part = bytes.get(from..to)?;
        part.iter()
            .all(u8::is_ascii_digit)
            .then(|| part.iter().fold(0, |n, byte| n * 10 + u32::from(byte - b'0')))
    };
    let (Some(year), Some(month), Some(day)) = (digits(0, 4), digits(5, 7), digits(8, 10)) else {
        return false;
    };
    let is_leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let days = match month {
        2 if is_leap => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        1..=12 => 31,
        _ => 0,
    };
    bytes.len() == 10 && bytes[4] == b'-' && bytes[7] == b'-' && (1..=days).contains(&day)
}

/// A date, a time and a time zone. As the real server has it, any character may stand before fractions of seconds.
pub(super) fn is_date_time(text: &str) -> bool {
    let lower = text.to_lowercase();
    let mut parts = lower.split('t');
    let (Some(date), Some(time)) = (parts.next(), parts.next()) else {
        return false;
    };
    is_date(date) && is_time(time)
}

fn is_time(text: &str) -> bool {
    let Some((clock, rest)) = text.split_at_checked(8) else {
        return false;
    };
    let pair = |at: usize, most: &str| {
        clock
            .get(at..at + 2)
            .is_some_and(|pair| pair.bytes().all(|byte| byte.is_ascii_digit()) && pair <= most)
    };
    let colons = clock.as_bytes()[2] == b':' && clock.as_bytes()[5] == b':';
    let clock_fits = colons && pair(0, "23") && pair(3, "59") && pair(6, "59");
    clock_fits && (is_zone(rest) || fraction_and_zone(rest))
}

fn fraction_and_zone(text: &str) -> bool {
    let mut chars = text.chars();
    // The real pattern has a bare dot here, which is any character but a line break.
    if chars.next().is_none_or(|any| any == '\n') {
        return false;
    }
    let digits = chars.as_str();
    let zone = digits.trim_start_matches(|char: char| char.is_ascii_digit());
    zone.len() < digits.len() && is_zone(zone)
}

fn is_zone(text: &str) -> bool {
    match text.as_bytes() {
        [b'z'] => true,
        [b'+' | b'-', h1, h2, b':', m1, m2] => [h1, h2, m1, m2].into_iter().all(|byte| byte.is_ascii_digit()),
        _ => false,
    }
}

/// A length of time as Go reads one, or any text in which a number is followed by a unit.
pub(super) fn is_duration(text: &str) -> bool {
    is_go_duration(text) || has_number_with_unit(text)
}

fn is_go_duration(text: &str) -> bool {
    const UNITS: [&str; 8] = ["ns", "us", "µs", "μs", "ms", "s", "m", "h"];
    let mut rest = text.strip_prefix(['+', '-']).unwrap_or(text);
    if rest == "0" {
        return true;
    }
    if rest.is_empty() {
        return false;
    }
    while !rest.is_empty() {
        let unit_at = rest
            .find(|char: char| !char.is_ascii_digit() && char != '.')
            .unwrap_or(rest.len());
        let (number, tail) = rest.split_at(unit_at);
        let dots = number.matches('.').count();
        if dots > 1 || number.len() == dots || number.len() > 19 {
            return false;
        }
        let next = tail
            .find(|char: char| char.is_ascii_digit() || char == '.')
            .unwrap_or(tail.len());
        let (unit, tail) = tail.split_at(next);
        if !UNITS.contains(&unit) {
            return false;
        }
        rest = tail;
    }
    true
}

fn has_number_with_unit(text: &str) -> bool {
    let mut rest = text;
    let mut found = false;
    while let Some(start) = rest.find(|char: char| char.is_ascii_digit()) {
        let number_and_more = &rest[start..];
        let end = number_and_more
            .find(|char: char| !char.is_ascii_digit())
            .unwrap_or(number_and_more.len());
        let (number, tail) = number_and_more.split_at(end);
        let unit_and_more = tail.trim_start_matches([' ', '\t', '\n', '\x0C', '\r']);
        let is_letter = |char: char| char.is_ascii_alphabetic() || char == 'µ';
        let end = unit_and_more
            .find(|char| !is_letter(char))
            .unwrap_or(unit_and_more.len());
        let (unit, tail) = unit_and_more.split_at(end);
        if !unit.is_empty() {
            if number.parse::<i64>().is_err() {
                return false;
            }
            found |= is_unit(&unit.to_lowercase());
        }
        rest = if unit.is_empty() { unit_and_more } else { tail };
    }
    found
}

fn is_unit(unit: &str) -> bool {
    const EXACT: [&str; 11] = ["ns", "us", "µs", "ms", "s", "m", "h", "hr", "d", "w", "wk"];
    const PREFIXES: [&str; 8] = ["nano", "micro", "milli", "sec", "min", "hour", "day", "week"];
    EXACT.contains(&unit) || PREFIXES.iter().any(|prefix| unit.starts_with(prefix))
}
