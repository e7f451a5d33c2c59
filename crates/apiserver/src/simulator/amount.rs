//! Numbers that may be given as a share: `maxSurge: 25%`.

use model::Value;

/// Where a share of a whole number falls between two.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Round {
    Up,
    Down,
}

/// The number that `amount` is of `total`; `None` where it is neither a number nor a percentage.
pub(super) fn of(amount: &Value, total: i64, round: Round) -> Option<i64> {
    if let Some(number) = amount.as_i64() {
        return Some(number);
    }
    let percent: i64 = amount.as_str()?.strip_suffix('%')?.parse().ok()?;
    let hundredths = percent.checked_mul(total)?;
    Some(match round {
        Round::Down => hundredths.div_euclid(100),
        Round::Up => -(-hundredths).div_euclid(100),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_rounded_as_asked() {
        let share = |text: &str, round| of(&text.into(), 5, round);
        assert_eq!(share("25%", Round::Up), Some(2));
        assert_eq!(share("25%", Round::Down), Some(1));
        assert_eq!(share("0%", Round::Up), Some(0));
        assert_eq!(share("100%", Round::Down), Some(5));
        assert_eq!(of(&3.into(), 5, Round::Up), Some(3));
        assert_eq!(share("many", Round::Up), None);
        assert_eq!(share("9223372036854775807%", Round::Up), None);
    }
}
