//! Tables as the flux client prints them.

/// Columns as wide as their widest text, with a tab between them. Without a head, lines begin with the rows.
pub(crate) fn table(head: &[&str], rows: &[Vec<String>]) -> String {
    let head: Vec<String> = head.iter().map(|text| text.to_uppercase()).collect();
    let has_head = !head.is_empty();
    let all: Vec<&Vec<String>> = has_head.then_some(&head).into_iter().chain(rows).collect();
    let columns = all.iter().map(|row| row.len()).max().unwrap_or_default();
    let width = |column: usize| {
        let texts = all.iter().filter_map(|row| row.get(column));
        texts.map(|text| text.chars().count()).max().unwrap_or_default()
    };
    let widths: Vec<usize> = (0..columns).map(width).collect();
    let mut out = String::new();
    for (number, row) in all.iter().enumerate() {
        let padded: Vec<String> = row
            .iter()
            .zip(&widths)
            .map(|(text, width)| format!("{text:width$}"))
            .collect();
        // So the flux client ends its lines, and scripts may cut them there.
        let end = if has_head && number == 0 { ' ' } else { '\t' };
        out.push_str(&padded.join("\t"));
        out.push(end);
        out.push('\n');
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_as_wide_as_their_widest_text() {
        let rows = [vec!["a".to_owned(), "longer".to_owned()]];
        assert_eq!(table(&["Name", "Is"], &rows), "NAME\tIS     \na   \tlonger\t\n");
        assert_eq!(table(&[], &rows), "a\tlonger\t\n");
    }
}
