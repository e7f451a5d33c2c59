//! What is mostly meant by a mistake in YAML.

/// What to do about a line that cannot be read, as far as that can be seen: to be put after the message.
pub(crate) fn about_line(text: &str, line: usize) -> &'static str {
    // The reader may stop at the line before.
    let lines = text.lines().skip(line.saturating_sub(1)).take(2);
    let mut indents = lines.map(|line| &line[..line.len() - line.trim_start().len()]);
    match indents.any(|indent| indent.contains('\t')) {
        true => ": indent with spaces instead of tabs",
        false => "",
    }
}

#[cfg(test)]
mod tests {
    use super::about_line;

    #[test]
    fn tabs_at_the_start_of_a_line_are_told() {
        assert!(about_line("a:\n\tb: c\n", 2).contains("tabs"));
        assert!(about_line("a:\n  \tb: c\n", 1).contains("tabs"));
        assert_eq!(about_line("a:\tb\n  c: d\te\n", 1), "");
        assert_eq!(about_line("", 7), "");
    }
}
