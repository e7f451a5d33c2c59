//! Go's `time.Duration`.

use std::any::Any;
use std::sync::LazyLock;

use crate::error::Error;
use crate::function::Function;
use crate::value::{Kind, Object, Value};

/// A duration in nanoseconds: an `int64` that prints itself as `1h2m3.5s`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Duration(pub i64);

const SECOND: i64 = 1_000_000_000;
const UNITS: [(&str, u64); 8] = [
    ("ns", 1),
    ("us", 1_000),
    ("µs", 1_000),
    ("μs", 1_000),
    ("ms", 1_000_000),
    ("s", 1_000_000_000),
    ("m", 60_000_000_000),
    ("h", 3_600_000_000_000),
];

impl Duration {
    /// `time.ParseDuration`: numbers with units, one after the other.
    ///
    /// # Errors
    /// The text is no duration, in Go's words.
    pub fn parse(text: &str) -> Result<Duration, Error> {
        let invalid = || Error::new(format!("time: invalid duration {}", super::quote(text)));
        let (negative, mut rest) = match text.as_bytes().first() {
            Some(b'-') => (true, &text[1..]),
            Some(b'+') => (false, &text[1..]),
            _ => (false, text),
        };
        if rest == "0" {
            return Ok(Duration(0));
        }
        if rest.is_empty() {
            return Err(invalid());
        }
        let mut total: u64 = 0;
        while !rest.is_empty() {
            let (amount, after) = number(rest).ok_or_else(invalid)?;
            let end = after
                .find(|char: char| char == '.' || char.is_ascii_digit())
                .unwrap_or(after.len());
            let (unit, after) = after.split_at(end);
            rest = after;
            let Some((_, scale)) = UNITS.iter().find(|(name, _)| *name == unit) else {
                let quoted = super::quote(text);
                return Err(match unit {
                    "" => Error::new(format!("time: missing unit in duration {quoted}")),
                    _ => Error::new(format!(
                        "time: unknown unit {} in duration {quoted}",
                        super::quote(unit)
                    )),
                });
            };
            let amount = amount.scaled(*scale).ok_or_else(invalid)?;
            total = total
                .checked_add(amount)
                .filter(|total| *total <= 1 << 63)
                .ok_or_else(invalid)?;
        }
        match (negative, i64::try_from(total)) {
            (false, Ok(total)) => Ok(Duration(total)),
            (true, _) => Ok(Duration(0_i64.wrapping_sub_unsigned(total))),
            (false, Err(_)) => Err(invalid()),
        }
    }

    /// `Duration.Round`: to the nearest multiple, halves away from zero.
    #[must_use]
    pub fn round(self, multiple: i64) -> Duration {
        if multiple <= 0 {
            return self;
        }
        let rest = self.0 % multiple;
        let down = self.0 - rest;
        if rest.unsigned_abs() * 2 < multiple.unsigned_abs() {
            return Duration(down);
        }
        match self.0 < 0 {
            true => Duration(down.checked_sub(multiple).unwrap_or(i64::MIN)),
            false => Duration(down.checked_add(multiple).unwrap_or(i64::MAX)),
        }
    }

    /// `Duration.Truncate`: towards zero.
    #[must_use]
    pub fn truncate(self, multiple: i64) -> Duration {
        match multiple <= 0 {
            true => self,
            false => Duration(self.0 - self.0 % multiple),
        }
    }
}

/// A number with a fraction: `1.5` is 15 at a scale of 10.
struct Amount {
    whole: u64,
    fraction: u64,
    scale: f64,
}

impl Amount {
    fn scaled(&self, unit: u64) -> Option<u64> {
        let whole = self.whole.checked_mul(unit)?;
        let fraction = (self.fraction as f64 * (unit as f64 / self.scale)) as u64;
        whole.checked_add(fraction).filter(|total| *total <= 1 << 63)
    }
}

fn number(text: &str) -> Option<(Amount, &str)> {
    let digits = |text: &str| {
        text.find(|char: char| !char.is_ascii_digit())
            .unwrap_or(text.len())
    };
    let end = digits(text);
    let whole: u64 = if end == 0 { 0 } else { text[..end].parse().ok()? };
    let mut amount = Amount {
        whole,
        fraction: 0,
        scale: 1.0,
    };
    let rest = &text[end..];
    let Some(after) = rest.strip_prefix('.') else {
        return (end > 0).then_some((amount, rest));
    };
    let length = digits(after);
    if end == 0 && length == 0 {
        return None;
    }
    for byte in after[..length].bytes() {
        // What a fraction has beyond the digits that fit is dropped.
        let next = amount
            .fraction
            .checked_mul(10)
            .and_then(|next| next.checked_add(u64::from(byte - b'0')));
        let Some(next) = next.filter(|next| *next <= i64::MAX.unsigned_abs()) else {
            break;
        };
        amount.fraction = next;
        amount.scale *= 10.0;
    }
    Some((amount, &after[length..]))
}

impl std::fmt::Display for Duration {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if self.0 == 0 {
            return f.write_str("0s");
        }
        if self.0 < 0 {
            f.write_str("-")?;
        }
        let nanos = self.0.unsigned_abs();
        if nanos < SECOND.unsigned_abs() {
            let (unit, scale) = match nanos {
                0..1_000 => ("ns", 1),
                1_000..1_000_000 => ("µs", 1_000),
                _ => ("ms", 1_000_000),
            };
            return write!(f, "{}{}{unit}", nanos / scale, fraction(nanos % scale, scale));
        }
        let seconds = nanos / SECOND.unsigned_abs();
        let (hours, minutes) = (seconds / 3600, seconds / 60 % 60);
        if hours > 0 {
            write!(f, "{hours}h")?;
        }
        if hours > 0 || minutes > 0 {
            write!(f, "{minutes}m")?;
        }
        let rest = nanos % SECOND.unsigned_abs();
        write!(f, "{}{}s", seconds % 60, fraction(rest, SECOND.unsigned_abs()))
    }
}

/// `.5` of 500 at a scale of 1000, and nothing of 0.
fn fraction(part: u64, scale: u64) -> String {
    if part == 0 {
        return String::new();
    }
    let width = scale.ilog10() as usize;
    let digits = format!("{part:0width$}");
    format!(".{}", digits.trim_end_matches('0'))
}

fn float(get: fn(i64) -> f64) -> Function {
    Function::new(&[], move |call| {
        let duration = call.receiver().and_then(Value::downcast::<Duration>);
        Ok(Value::Float(get(duration.ok_or("not a duration")?.0)))
    })
}

fn int(divisor: i64) -> Function {
    Function::new(&[], move |call| {
        let duration = call.receiver().and_then(Value::downcast::<Duration>);
        Ok(Value::int64(duration.ok_or("not a duration")?.0 / divisor))
    })
}

/// Whole units and the rest apart, as Go does it so that nothing is lost.
fn units(nanos: i64, unit: i64) -> f64 {
    (nanos / unit) as f64 + (nanos % unit) as f64 / unit as f64
}

static METHODS: LazyLock<[(&str, Function); 8]> = LazyLock::new(|| {
    [
        ("Hours", float(|nanos| units(nanos, 3600 * SECOND))),
        ("Minutes", float(|nanos| units(nanos, 60 * SECOND))),
        ("Seconds", float(|nanos| units(nanos, SECOND))),
        ("Milliseconds", int(1_000_000)),
        ("Microseconds", int(1_000)),
        ("Nanoseconds", int(1)),
        (
            "String",
            Function::new(&[], |call| {
                let duration = call.receiver().and_then(Value::downcast::<Duration>);
                Ok(Value::str(duration.ok_or("not a duration")?.to_string()))
            }),
        ),
        (
            "Abs",
            Function::new(&[], |call| {
                let duration = call.receiver().and_then(Value::downcast::<Duration>);
                Ok(Value::object(Duration(
                    duration.ok_or("not a duration")?.0.saturating_abs(),
                )))
            }),
        ),
    ]
});

impl Object for Duration {
    fn type_name(&self) -> &'static str {
        "time.Duration"
    }

    fn kind(&self) -> Kind {
        Kind::Int64
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

    fn scalar(&self) -> Option<Value> {
        Some(Value::int64(self.0))
    }

    fn equals(&self, other: &dyn Object) -> bool {
        other.as_any().downcast_ref::<Duration>() == Some(self)
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}
