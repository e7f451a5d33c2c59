//! Values that come out of Secrets. A chart may put them into what it complains of, as may a schema, and no message tells them.

use model::Value;

/// Shorter ones are left: they are no secrets, and a message without them could not be read.
const SHORTEST: usize = 4;

/// What no message tells.
#[derive(Clone, Default)]
pub(super) struct Hidden(Vec<String>);

impl Hidden {
    /// A value of a Secret, and what is in it if it is YAML.
    pub(super) fn add(&mut self, text: &str, is_yaml: bool) {
        match is_yaml {
            true => {
                for document in yaml::documents(text).flatten() {
                    self.add_all(&document.value);
                }
            }
            false => self.push(text.trim()),
        }
        // What is longer may have what is shorter in it.
        self.0.sort_by_key(|text| std::cmp::Reverse(text.len()));
        self.0.dedup();
    }

    fn add_all(&mut self, value: &Value) {
        match value {
            Value::Object(fields) => fields.iter().for_each(|(_, value)| self.add_all(value)),
            Value::Array(items) => items.iter().for_each(|value| self.add_all(value)),
            Value::Str(text) => self.push(text),
            Value::Int(number) => self.push(&number.to_string()),
            Value::Float(number) => self.push(&number.to_string()),
            Value::Null | Value::Bool(_) => {}
        }
    }

    fn push(&mut self, text: &str) {
        if text.chars().count() >= SHORTEST {
            self.0.push(text.to_owned());
        }
    }

    /// A message without them.
    pub(super) fn mask(&self, message: &str) -> String {
        let masked = |message: String, hidden: &String| match message.contains(hidden.as_str()) {
            true => message.replace(hidden.as_str(), "***"),
            false => message,
        };
        self.0.iter().fold(message.to_owned(), masked)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_in_a_secret_is_in_no_message() {
        let mut hidden = Hidden::default();
        hidden.add(
            "db: {password: hunter22, port: 54321, user: sa, tags: [hunter2]}\n",
            true,
        );
        hidden.add("s3cret\n", false);
        let message = "at '/db': 'hunter22' and 'hunter2' are not 54321 or s3cret of sa";
        assert_eq!(
            hidden.mask(message),
            "at '/db': '***' and '***' are not *** or *** of sa"
        );
        assert_eq!(Hidden::default().mask(message), message);
    }
}
