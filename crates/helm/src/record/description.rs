//! The sentences that Helm writes about what becomes of a release.

use model::quote::quote;

/// Before an install.
pub const INSTALLING: &str = "Initial install underway";
/// After it.
pub const INSTALLED: &str = "Install complete";
/// Before an upgrade.
pub const UPGRADING: &str = "Preparing upgrade";
/// After it.
pub const UPGRADED: &str = "Upgrade complete";
/// Before an uninstall, and after it if nothing is heard of it any more.
pub const UNINSTALLING: &str = "Deletion in progress (or silently failed)";
/// After an uninstall.
pub const UNINSTALLED: &str = "Uninstallation complete";

/// Before and after a rollback.
pub fn rollback(to: i64) -> String {
    format!("Rollback to {to}")
}

/// An install failed.
pub fn install_failed(release: &str, problem: &str) -> String {
    format!("Release {} failed: {problem}", quote(release))
}

/// An upgrade failed.
pub fn upgrade_failed(release: &str, problem: &str) -> String {
    format!("Upgrade {} failed: {problem}", quote(release))
}

/// A rollback failed.
pub fn rollback_failed(release: &str, problem: &str) -> String {
    format!("Rollback {} failed: {problem}", quote(release))
}
