//! The list of deviations itself.

use std::process::Command;

#[test]
fn every_deviation_names_a_check_and_a_reason() {
    let program = std::env::current_exe().unwrap();
    let output = Command::new(program)
        .args(["--list", "--format", "terse"])
        .output()
        .unwrap();
    let list = String::from_utf8(output.stdout).unwrap();
    let checks: Vec<&str> = list
        .lines()
        .filter_map(|line| line.strip_suffix(": test"))
        .collect();
    assert!(checks.len() > 150, "only {} checks", checks.len());
    for deviation in conformance::deviations() {
        assert!(
            checks.contains(&deviation.check),
            "{} is no check",
            deviation.check
        );
        assert!(!deviation.reason.is_empty(), "{} has no reason", deviation.check);
    }
}
