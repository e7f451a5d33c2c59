//! Messages that are too long for where they go.

/// A text of at most `limit` bytes, with dots where something is missing.
pub(super) fn cut(text: &str, limit: usize) -> String {
    const DOTS: &str = "...";
    if text.len() <= limit {
        return text.to_owned();
    }
    let mut end = limit.saturating_sub(DOTS.len());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    format!("{}{DOTS}", &text[..end])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_messages_are_cut_between_letters() {
        assert_eq!(cut("short", 5), "short");
        assert_eq!(cut("longer", 5), "lo...");
        assert_eq!(cut("üüü", 5), "ü...");
    }
}
