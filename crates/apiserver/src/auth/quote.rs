//! Lists of quoted texts, as Go prints them.

use model::quote::quote;

/// A list of texts: `["a" "b"]`.
pub(crate) fn quote_list<T: AsRef<str>>(texts: &[T]) -> String {
    let quoted: Vec<String> = texts.iter().map(|text| quote(text.as_ref())).collect();
    format!("[{}]", quoted.join(" "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_stand_in_quotes_with_spaces_between() {
        assert_eq!(quote_list(&["a", ""]), r#"["a" ""]"#);
        assert_eq!(quote_list::<&str>(&[]), "[]");
    }
}
