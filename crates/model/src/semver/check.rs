//! What each operator of a range means.

use super::Version;
use super::constraint::{Comparison, Given, Operator};

impl Comparison {
    /// Whether the version is as the comparison demands. Whether pre-releases are wanted at all is decided before.
    pub(super) fn holds(&self, version: &Version) -> bool {
        match self.operator {
            Operator::Equal if self.given == Given::Everything => *version == self.version,
            Operator::Equal | Operator::Tilde => self.tilde(version),
            Operator::NotEqual => self.not_equal(version),
            Operator::Greater => self.greater(version),
            Operator::Less => *version < self.version,
            Operator::GreaterOrEqual => *version >= self.version,
            Operator::LessOrEqual => self.less_or_equal(version),
            Operator::Caret => self.caret(version),
        }
    }

    fn not_equal(&self, version: &Version) -> bool {
        let ours = &self.version;
        match self.given {
            // A bare wildcard is compared with 0.0.0, as the original does.
            Given::Nothing | Given::Everything => version != ours,
            Given::Major => version.major() != ours.major(),
            Given::MajorMinor => {
                (version.major(), version.minor()) != (ours.major(), ours.minor())
                    || version.prerelease() != ours.prerelease()
            }
        }
    }

    fn greater(&self, version: &Version) -> bool {
        let ours = &self.version;
        match self.given {
            Given::Nothing | Given::Everything => version > ours,
            Given::Major => version.major() > ours.major(),
            Given::MajorMinor => (version.major(), version.minor()) > (ours.major(), ours.minor()),
        }
    }

    fn less_or_equal(&self, version: &Version) -> bool {
        let ours = &self.version;
        match self.given {
            Given::Everything => version <= ours,
            Given::Major => version.major() <= ours.major(),
            Given::Nothing | Given::MajorMinor => {
                (version.major(), version.minor()) <= (ours.major(), ours.minor())
            }
        }
    }

    fn tilde(&self, version: &Version) -> bool {
        let ours = &self.version;
        if version < ours {
            return false;
        }
        // `~0.0.0` takes everything, as `*` does.
        let zero = (ours.major(), ours.minor(), ours.patch()) == (0, 0, 0);
        if zero && matches!(self.given, Given::Nothing | Given::Everything) {
            return true;
        }
        version.major() == ours.major() && (version.minor() == ours.minor() || self.given == Given::Major)
    }

    fn caret(&self, version: &Version) -> bool {
        let ours = &self.version;
        if version < ours || version.major() != ours.major() {
            return false;
        }
        if ours.major() > 0 || self.given == Given::Major {
            return true;
        }
        if version.minor() != ours.minor() {
            return false;
        }
        ours.minor() > 0 || self.given == Given::MajorMinor || version.patch() == ours.patch()
    }
}
