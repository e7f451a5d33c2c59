//! How long files are. A direction, not a rule: no good file is cut in two for it.

use std::path::Path;

pub(super) fn report(root: &Path) {
    let mut lengths: Vec<(usize, String)> = Vec::new();
    let (mut source, mut tests) = (0, 0);
    for folder in super::crates(root).unwrap_or_default() {
        for file in super::rust_files(&folder) {
            let text = std::fs::read_to_string(&file).unwrap_or_default();
            let shown = file.strip_prefix(root).unwrap_or(&file).display().to_string();
            let all = text.lines().count();
            let own = text.lines().take_while(|line| *line != "#[cfg(test)]").count();
            if shown.contains("/tests/") || shown.contains("/benches/") {
                tests += all;
            } else {
                source += own;
                tests += all - own;
                lengths.push((own, shown));
            }
        }
    }
    lengths.sort();
    let at = |share: f64| {
        lengths
            .get((lengths.len() as f64 * share) as usize)
            .map_or(0, |(length, _)| *length)
    };
    println!(
        "{} source files, {source} lines; {tests} lines of tests",
        lengths.len()
    );
    println!(
        "file length: median {}, 9 of 10 below {}, longest:",
        at(0.5),
        at(0.9)
    );
    for (length, file) in lengths.iter().rev().take(5) {
        println!("  {length:>5} {file}");
    }
}
