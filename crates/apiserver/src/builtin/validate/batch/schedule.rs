//! Schedules in the form of cron, with the words of the library that the real server reads them with.

use super::time_zone;

/// Reads a schedule.
///
/// # Errors
/// What is wrong with it.
pub(super) fn check(text: &str) -> Result<(), String> {
    let mut rest = text;
    if let Some(after) = ["TZ=", "CRON_TZ="]
        .iter()
        .find_map(|prefix| text.strip_prefix(prefix))
    {
        // The library fails in a rough way where nothing follows the zone, which the server turns into a message.
        let Some((zone, spec)) = after.split_once(' ') else {
            let problem = "invalid schedule format: runtime error: slice bounds out of range [:-1]";
            return Err(problem.to_owned());
        };
        time_zone::known(zone).map_err(|problem| format!("provided bad location {zone}: {problem}"))?;
        rest = spec.trim();
    }
    if rest.starts_with('@') {
        return descriptor(rest);
    }
    let fields: Vec<&str> = rest.split_whitespace().collect();
    let [minute, hour, day, month, weekday] = fields.as_slice() else {
        let (count, list) = (fields.len(), fields.join(" "));
        return Err(format!("expected exactly 5 fields, found {count}: [{list}]"));
    };
    for (field, bounds) in [
        (minute, &MINUTES),
        (hour, &HOURS),
        (day, &DAYS),
        (month, &MONTHS),
        (weekday, &WEEKDAYS),
    ] {
        for part in field.split(',').filter(|part| !part.is_empty()) {
            range(part, bounds)?;
        }
    }
    Ok(())
}

/// The values that a field can have.
struct Bounds {
    low: u64,
    high: u64,
    names: &'static [&'static str],
}

const fn bounds(low: u64, high: u64, names: &'static [&'static str]) -> Bounds {
    Bounds { low, high, names }
}

const MINUTES: Bounds = bounds(0, 59, &[]);
const HOURS: Bounds = bounds(0, 23, &[]);
const DAYS: Bounds = bounds(1, 31, &[]);
const MONTHS: Bounds = bounds(
    1,
    12,
    &[
        "jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec",
    ],
);
const WEEKDAYS: Bounds = bounds(0, 6, &["sun", "mon", "tue", "wed", "thu", "fri", "sat"]);

/// `5`, `1-5`, `*`, each with an optional step: `*/15`.
fn range(part: &str, bounds: &Bounds) -> Result<(), String> {
    let steps: Vec<&str> = part.splitn(4, '/').collect();
    let limits: Vec<&str> = steps[0].splitn(4, '-').collect();
    let (start, mut end) = match limits.as_slice() {
        ["*" | "?", ..] => (bounds.low, bounds.high),
        [only] => {
            let number = number_or_name(only, bounds)?;
            (number, number)
        }
        [first, last] => (number_or_name(first, bounds)?, number_or_name(last, bounds)?),
        [first, ..] => {
            number_or_name(first, bounds)?;
            return Err(format!("too many hyphens: {part}"));
        }
        [] => return Ok(()),
    };
    let mut step = 1;
    match steps.as_slice() {
        [_] => {}
        [_, size] => {
            step = number(size)?;
            if limits.len() == 1 {
                end = bounds.high;
            }
        }
        _ => return Err(format!("too many slashes: {part}")),
    }
    let (low, high) = (bounds.low, bounds.high);
    if start < low {
        return Err(format!(
            "beginning of range ({start}) below minimum ({low}): {part}"
        ));
    }
    if end > high {
        return Err(format!("end of range ({end}) above maximum ({high}): {part}"));
    }
    if start > end {
        return Err(format!(
            "beginning of range ({start}) beyond end of range ({end}): {part}"
        ));
    }
    if step == 0 {
        return Err(format!("step of range should be a positive number: {part}"));
    }
    Ok(())
}

fn number_or_name(text: &str, bounds: &Bounds) -> Result<u64, String> {
    let lower = text.to_lowercase();
    match bounds.names.iter().position(|name| *name == lower) {
        Some(at) => Ok(at as u64 + bounds.low),
        None => number(text),
    }
}

fn number(text: &str) -> Result<u64, String> {
    let failed = |why: &str| {
        Err(format!(
            "failed to parse int from {text}: strconv.Atoi: parsing {}: {why}",
            model::quote::quote(text)
        ))
    };
    let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return failed("invalid syntax");
    }
    match text.parse::<i64>() {
        Err(_) => failed("value out of range"),
        Ok(number) => {
            u64::try_from(number).map_err(|_| format!("negative number ({number}) not allowed: {text}"))
        }
    }
}

fn descriptor(text: &str) -> Result<(), String> {
    match text {
        "@yearly" | "@annually" | "@monthly" | "@weekly" | "@daily" | "@midnight" | "@hourly" => Ok(()),
        _ => match text.strip_prefix("@every ") {
            Some(duration) => {
                self::duration(duration).map_err(|why| format!("failed to parse duration {text}: {why}"))
            }
            None => Err(format!("unrecognized descriptor: {text}")),
        },
    }
}

/// A duration as Go writes it: `1h30m`.
fn duration(text: &str) -> Result<(), String> {
    let quoted = model::quote::quote(text);
    let invalid = || Err(format!("time: invalid duration {quoted}"));
    let mut rest = text.strip_prefix(['+', '-']).unwrap_or(text);
    if rest == "0" {
        return Ok(());
    }
    if rest.is_empty() {
        return invalid();
    }
    while !rest.is_empty() {
        let number = rest.trim_start_matches(|c: char| c.is_ascii_digit() || c == '.');
        let taken = &rest[..rest.len() - number.len()];
        let right = taken.bytes().any(|byte| byte.is_ascii_digit()) && taken.matches('.').count() <= 1;
        if !right {
            return invalid();
        }
        let unit_end = number
            .find(|c: char| c == '.' || c.is_ascii_digit())
            .unwrap_or(number.len());
        let (unit, after) = number.split_at(unit_end);
        match unit {
            "" => return Err(format!("time: missing unit in duration {quoted}")),
            "ns" | "us" | "µs" | "μs" | "ms" | "s" | "m" | "h" => {}
            unit => {
                let unit = model::quote::quote(unit);
                return Err(format!("time: unknown unit {unit} in duration {quoted}"));
            }
        }
        rest = after;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn schedules_that_are_right_are_taken() {
        for good in [
            "* * * * *",
            "*/15 0-6,12 1 jan-MAR sun",
            "0 0 ? * 1/2",
            "@daily",
            "@every 1h30m",
            "TZ=Europe/Berlin 0 0 * * *",
            "0 , * * *",
        ] {
            assert_eq!(check(good), Ok(()), "{good}");
        }
    }

    #[test]
    fn what_is_wrong_is_told_in_the_librarys_words() {
        for (bad, expected) in [
            ("* * * *", "expected exactly 5 fields, found 4: [* * * *]"),
            ("60 * * * *", "end of range (60) above maximum (59): 60"),
            ("* * 0 * *", "beginning of range (0) below minimum (1): 0"),
            (
                "5-1 * * * *",
                "beginning of range (5) beyond end of range (1): 5-1",
            ),
            ("*/0 * * * *", "step of range should be a positive number: */0"),
            ("1/2/3 * * * *", "too many slashes: 1/2/3"),
            ("1-2-3 * * * *", "too many hyphens: 1-2-3"),
            (
                "a * * * *",
                "failed to parse int from a: strconv.Atoi: parsing \"a\": invalid syntax",
            ),
            ("@never", "unrecognized descriptor: @never"),
            (
                "@every x",
                "failed to parse duration @every x: time: invalid duration \"x\"",
            ),
        ] {
            assert_eq!(check(bad), Err(expected.to_owned()), "{bad}");
        }
    }
}
