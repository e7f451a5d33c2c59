//! The functions of `github.com/Masterminds/sprig/v3` (3.3.0) that Helm offers.

use crate::function::Functions;

/// Adds them all.
pub(crate) fn add(functions: &mut Functions) {
    let _ = functions;
}
