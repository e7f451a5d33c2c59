//! When to look again: the interval of an object, spread, so that many of one interval do not ask all at once.

use std::time::Duration;

/// `interval` give or take up to `percent` of it. `random` is between 0 and 1.
pub fn jittered(interval: Duration, percent: u8, random: f64) -> Duration {
    let share = f64::from(percent.min(100)) / 100.0;
    let factor = 1.0 + share * (2.0 * random.clamp(0.0, 1.0) - 1.0);
    interval.mul_f64(factor)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_interval_is_spread_to_both_sides() {
        let minute = Duration::from_secs(60);
        assert_eq!(jittered(minute, 5, 0.0), Duration::from_secs(57));
        assert_eq!(jittered(minute, 5, 0.5), minute);
        assert_eq!(jittered(minute, 5, 1.0), Duration::from_secs(63));
        assert_eq!(jittered(minute, 0, 0.9), minute);
        assert_eq!(jittered(minute, 200, 0.0), Duration::ZERO);
    }
}
