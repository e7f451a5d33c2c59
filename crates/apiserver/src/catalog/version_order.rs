//! The order of version names: `v2`, `v1`, `v1beta2`, `v1beta1`, `v1alpha1`, then anything else by name.

use std::cmp::Ordering;

/// Orders versions by preference: the most preferred first.
pub fn by_preference(a: &str, b: &str) -> Ordering {
    match (Parsed::new(a), Parsed::new(b)) {
        (Some(a), Some(b)) => b.cmp(&a),
        (Some(_), None) => Ordering::Less,
        (None, Some(_)) => Ordering::Greater,
        (None, None) => a.cmp(b),
    }
}

/// A version of the usual form; stable ones are greatest, then by major, then by minor number.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Parsed {
    stability: u8,
    major: u64,
    minor: u64,
}

impl Parsed {
    fn new(version: &str) -> Option<Self> {
        let rest = version.strip_prefix('v')?;
        let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
        let (major, rest) = rest.split_at(digits);
        let major = number(major)?;
        if rest.is_empty() {
            return Some(Parsed {
                stability: 2,
                major,
                minor: 0,
            });
        }
        let (stability, minor) = match rest.strip_prefix("beta") {
            Some(minor) => (1, minor),
            None => (0, rest.strip_prefix("alpha")?),
        };
        Some(Parsed {
            stability,
            major,
            minor: number(minor)?,
        })
    }
}

/// A run of digits that fits what the real server keeps such numbers in.
fn number(digits: &str) -> Option<u64> {
    let plain = digits.bytes().all(|byte| byte.is_ascii_digit());
    digits
        .parse()
        .ok()
        .filter(|number| plain && *number <= i64::MAX as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stable_versions_come_before_beta_and_alpha_and_odd_names_last() {
        let mut versions = [
            "foo", "v1alpha1", "v10", "v2", "v1beta1", "v11beta2", "v+1", "v1beta10", "bar", "v2alpha1", "v",
        ];
        versions.sort_by(|a, b| by_preference(a, b));
        let expected = [
            "v10", "v2", "v11beta2", "v1beta10", "v1beta1", "v2alpha1", "v1alpha1", "bar", "foo", "v", "v+1",
        ];
        assert_eq!(versions, expected);
    }

    #[test]
    fn numbers_too_big_for_the_real_server_make_an_odd_name() {
        assert_eq!(
            by_preference("v99999999999999999999", "v1alpha1"),
            Ordering::Greater
        );
    }
}
