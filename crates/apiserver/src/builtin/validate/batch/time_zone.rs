//! Time zones by name.

use super::super::at::At;
use super::super::errors::Errors;

/// A time zone of the IANA database. The names are those of the database in Go 1.25, which the real server brings along.
pub(super) fn time_zone(at: &At, errors: &mut Errors) {
    let name = at.text();
    if !at.is_set() {
        return;
    }
    if name.is_empty() {
        errors.invalid(at, "timeZone must be nil or non-empty string");
        return;
    }
    let fits = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-' | b'_' | b'+');
    let is_part = |part: &str| {
        (1..=14).contains(&part.len())
            && !matches!(part, "." | "..")
            && !part.starts_with('-')
            && part.bytes().all(fits)
    };
    if !name.split('/').all(is_part) {
        errors.invalid(at, format!("unknown time zone {name}"));
        return;
    }
    if name.eq_ignore_ascii_case("local") {
        let detail = "timeZone must be an explicit time zone as defined in https://www.iana.org/time-zones";
        errors.invalid(at, detail);
    }
    if let Err(problem) = known(name) {
        errors.invalid(at, problem);
    }
}

/// Whether the zone is known.
///
/// # Errors
/// The real server's message where it is not.
pub(super) fn known(name: &str) -> Result<(), String> {
    let zones = include_str!("../../../../data/time-zones.txt");
    match matches!(name, "UTC" | "Local" | "") || zones.lines().any(|zone| zone == name) {
        true => Ok(()),
        false => Err(format!("unknown time zone {name}")),
    }
}
