//! Values of flags as Go's flags take them, for commands that stand in for Go programs.

use std::time::Duration;

/// On or off: `--flag` and `--flag=true`, in all words that Go has for it.
///
/// Flags of this sort are written `#[arg(long, num_args = 0..=1, require_equals = true, default_missing_value = "true",
/// default_value = "false", action = ArgAction::Set, value_parser = pflag::boolean)]`.
pub(crate) fn boolean(text: &str) -> Result<bool, String> {
    match text {
        "1" | "t" | "T" | "true" | "TRUE" | "True" => Ok(true),
        "0" | "f" | "F" | "false" | "FALSE" | "False" => Ok(false),
        _ => Err("it must be true or false".to_owned()),
    }
}

/// A length of time as Go writes it, such as `90s` or `1h30m`, of more than nothing.
pub(crate) fn duration(text: &str) -> Result<Duration, String> {
    let wrong = || format!("'{text}' is no duration: it must look like 90s or 1h30m");
    let duration: api::Duration = text.parse().map_err(|_| wrong())?;
    match duration.as_nanos() {
        1.. => Ok(duration.to_std()),
        _ => Err(wrong()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_read() {
        assert_eq!(duration("5m"), Ok(Duration::from_secs(300)));
        assert_eq!(duration("5m0s"), Ok(Duration::from_secs(300)));
        assert_eq!(duration("1h30m5s"), Ok(Duration::from_secs(5405)));
        assert_eq!(duration("1.5s"), Ok(Duration::from_millis(1500)));
        assert_eq!(duration("100ms"), Ok(Duration::from_millis(100)));
        for wrong in ["", "5", "m", "5x", "-5m", "0s", "99999999999999999999h"] {
            assert!(duration(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn booleans_are_read_in_the_words_of_go() {
        assert_eq!(["1", "t", "TRUE", "True"].map(boolean), [const { Ok(true) }; 4]);
        assert_eq!(["0", "F", "false"].map(boolean), [const { Ok(false) }; 3]);
        assert!(boolean("yes").is_err() && boolean("").is_err());
    }
}
