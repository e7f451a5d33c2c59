//! What servers say, without what they were told: some repeat what they do not like, passwords included.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

use super::escape::escape;

/// A text without secrets, also where it has them in the forms in which they were sent.
pub(crate) fn without<'s>(text: &str, secrets: impl IntoIterator<Item = &'s str>) -> String {
    let mut text = text.to_owned();
    for secret in secrets.into_iter().filter(|secret| !secret.is_empty()) {
        text = text.replace(secret, "***").replace(&escape(secret), "***");
    }
    text
}

/// What a login looks like in a header.
pub(crate) fn basic(user: &str, password: &str) -> String {
    STANDARD.encode(format!("{user}:{password}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_are_taken_out_in_every_form() {
        let login = basic("bob", "p@ss");
        let text = format!("no bob:p@ss, no p%40ss, no Basic {login}");
        assert_eq!(
            without(&text, ["p@ss", &login, ""]),
            "no bob:***, no ***, no Basic ***"
        );
    }
}
