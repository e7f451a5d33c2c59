//! Values that come out of Secrets. A chart may put them into what it complains of, as may a schema, and no message tells them.

use std::borrow::Cow;

use model::Value;

/// Shorter ones are left: they are no secrets, and a message without them could not be read.
const SHORTEST: usize = 4;

/// The bytes of a message that are told, and those that are searched for secrets which begin in them. No condition holds more.
const LONGEST: usize = 32 << 10;
const SEARCHED: usize = 2 * LONGEST;

/// What no message tells.
#[derive(Clone, Default)]
pub(super) struct Hidden {
    /// The texts, sorted.
    texts: Vec<String>,
    /// For each of them the longest other one that it begins with.
    prefixes: Vec<Option<usize>>,
}

impl Hidden {
    /// The values of Secrets, and what is in those that are YAML.
    pub(super) fn new<'t>(values: impl IntoIterator<Item = (Cow<'t, str>, bool)>) -> Self {
        let mut texts = Vec::new();
        for (text, is_yaml) in values {
            match is_yaml {
                true => {
                    for document in yaml::documents(&text).flatten() {
                        add_all(&document.value, &mut texts);
                    }
                }
                false => push(text.trim(), &mut texts),
            }
        }
        texts.sort_unstable();
        texts.dedup();
        let mut prefixes: Vec<Option<usize>> = Vec::with_capacity(texts.len());
        for (at, text) in texts.iter().enumerate() {
            // What it begins with comes before it, as does all that begins with that.
            let mut prefix = at.checked_sub(1);
            while let Some(before) = prefix
                && !text.starts_with(&texts[before])
            {
                prefix = prefixes[before];
            }
            prefixes.push(prefix);
        }
        Hidden { texts, prefixes }
    }

    /// A message without them. Of a long message only the beginning is told.
    pub(super) fn mask(&self, message: &str) -> String {
        if self.texts.is_empty() {
            return message.to_owned();
        }
        let searched = &message[..floor(message, SEARCHED)];
        let is_cut = searched.len() < message.len();
        let told = floor(searched, LONGEST);
        let mut masked = String::with_capacity(told);
        let mut hidden_to = 0;
        for (at, character) in searched[..told].char_indices() {
            let hidden = self.found(&searched[at..], is_cut);
            if hidden > 0 && at >= hidden_to {
                masked.push_str("***");
            }
            hidden_to = hidden_to.max(at + hidden);
            if at >= hidden_to {
                masked.push(character);
            }
        }
        if told < message.len() {
            masked.push('…');
        }
        masked
    }

    /// The length of the longest text that another one begins with, or which that one may be the beginning of; 0 if there is none.
    fn found(&self, text: &str, is_cut: bool) -> usize {
        let next = self.texts.partition_point(|hidden| hidden.as_str() <= text);
        if is_cut
            && self
                .texts
                .get(next)
                .is_some_and(|hidden| hidden.starts_with(text))
        {
            return text.len();
        }
        let Some(last) = next.checked_sub(1) else {
            return 0;
        };
        let pairs = self.texts[last].bytes().zip(text.bytes());
        let common = pairs.take_while(|(one, other)| one == other).count();
        let mut candidate = Some(last);
        while let Some(at) = candidate {
            let length = self.texts[at].len();
            if length <= common {
                return length;
            }
            candidate = self.prefixes[at];
        }
        0
    }
}

/// The end of the last character that ends in the first bytes of a text.
fn floor(text: &str, bytes: usize) -> usize {
    let mut end = bytes.min(text.len());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    end
}

fn add_all(value: &Value, texts: &mut Vec<String>) {
    match value {
        Value::Object(fields) => fields.iter().for_each(|(_, value)| add_all(value, texts)),
        Value::Array(items) => items.iter().for_each(|value| add_all(value, texts)),
        Value::Str(text) => push(text, texts),
        Value::Int(number) => push(&number.to_string(), texts),
        Value::Float(number) => push(&number.to_string(), texts),
        Value::Null | Value::Bool(_) => {}
    }
}

fn push(text: &str, texts: &mut Vec<String>) {
    if text.chars().nth(SHORTEST - 1).is_some() {
        texts.push(text.to_owned());
    }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use super::*;

    #[test]
    fn what_is_in_a_secret_is_in_no_message() {
        let hidden = Hidden::new([
            (
                "db: {password: hunter22, port: 54321, user: sa, tags: [hunter2]}\n".into(),
                true,
            ),
            ("s3cret\n".into(), false),
        ]);
        let message = "at '/db': 'hunter22' and 'hunter2' are not 54321 or s3cret of sa";
        assert_eq!(
            hidden.mask(message),
            "at '/db': '***' and '***' are not *** or *** of sa"
        );
        assert_eq!(Hidden::default().mask(message), message);
    }

    #[test]
    fn secrets_that_overlap_or_begin_with_one_another_are_hidden() {
        let hidden = Hidden::new([("[abcde, cdefgh, wxyz, wxyz1, wxyz123]".into(), true)]);
        for (message, masked) in [
            ("an abcdefgh", "an ***"),
            ("abcdabcde", "abcd***"),
            ("wxyz12", "***2"),
            ("wxyz123wxyz.", "******."),
            ("wxyäz", "wxyäz"),
        ] {
            assert_eq!(hidden.mask(message), masked, "{message}");
        }
    }

    #[test]
    fn no_part_of_a_secret_is_left_where_a_message_is_cut() {
        let secret = "s3cret".repeat(SEARCHED);
        let hidden = Hidden::new([(secret.as_str().into(), false)]);
        assert_eq!(hidden.mask(&format!("it is {secret}")), "it is ***…");
        let long = format!("{}{secret}", "a".repeat(LONGEST - 10));
        assert_eq!(hidden.mask(&long), format!("{}***…", "a".repeat(LONGEST - 10)));
    }

    /// Each value was searched for in each message.
    #[test]
    fn many_secrets_are_hidden_in_little_time() {
        let values: Vec<String> = (0..200_000).map(|number| format!("secret-{number:08}")).collect();
        let began = Instant::now();
        let hidden = Hidden::new(values.iter().map(|value| (value.as_str().into(), false)));
        let message = "secret-00123456 and secret-99999999 ".repeat(20_000);
        let masked = hidden.mask(&message);
        assert!(masked.starts_with("*** and secret-99999999 *** and "));
        assert!(began.elapsed() < Duration::from_secs(30), "{:?}", began.elapsed());
    }
}
