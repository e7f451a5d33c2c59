//! What is mostly meant by a mistake in YAML.

/// What to do about a line that cannot be read, as far as that can be seen: to be put after the message.
pub(crate) fn about_line(text: &str, line: usize) -> &'static str {
    // The reader may stop at the line before.
    let lines = text.lines().skip(line.saturating_sub(1)).take(2);
    let mut indents = lines
        .clone()
        .map(|line| &line[..line.len() - line.trim_start().len()]);
    if indents.any(|indent| indent.contains('\t')) {
        return ": indent with spaces instead of tabs";
    }
    match lines.take(1).any(|line| line.contains("{{")) {
        true => ": render the template that it is first, or put quotes around the value",
        false => "",
    }
}

/// What to do about a message.
pub(crate) fn about_message(message: &str) -> &'static str {
    match message.contains("json: unsupported type: map[interface {}]interface {}") {
        true => ": a key is no text; put quotes around it",
        false => "",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tabs_at_the_start_of_a_line_are_told() {
        assert!(about_line("a:\n\tb: c\n", 2).contains("tabs"));
        assert!(about_line("a:\n  \tb: c\n", 1).contains("tabs"));
        assert_eq!(about_line("a:\tb\n  c: d\te\n", 1), "");
        assert_eq!(about_line("", 7), "");
    }

    #[test]
    fn templates_and_keys_that_are_no_texts_are_told() {
        assert!(about_line("a: b\nname: {{ .Values.x }}\n", 2).contains("template"));
        assert!(about_message("json: unsupported type: map[interface {}]interface {}").contains("quotes"));
        assert_eq!(about_message("json: unsupported value: NaN"), "");
    }
}
