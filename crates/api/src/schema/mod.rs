//! What the API server checks: a schema as data, from which the `openAPIV3Schema` of a definition is made.
//!
//! A [`Schema`] is rendered for an [`Edition`]: the current version of a kind is checked to the letter, older ones only
//! for what a program needs to read them, so that no object that was once good is refused.

mod described;
mod render;

pub use described::{Described, is_absent};
use model::Value;
pub use render::Edition;

/// One place in an object: what may stand there.
#[derive(Clone, Debug, Default)]
pub struct Schema {
    description: String,
    /// The fields of an object that has named ones.
    fields: Vec<Field>,
    /// The schema of the elements of a list.
    items: Option<Box<Schema>>,
    /// The schema of the values of an object with free names.
    values: Option<Box<Schema>>,
    /// Everything that is a key with a value: `type`, `pattern`, `default`.
    checks: Vec<(&'static str, Value)>,
    /// What older versions have instead.
    older: Vec<(&'static str, Value)>,
    rules: Vec<Rule>,
}

/// A field of an object.
#[derive(Clone, Debug)]
pub struct Field {
    name: String,
    presence: Presence,
    schema: Schema,
}

/// Whether a field must be there, and since when it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Presence {
    /// Must be there.
    Required,
    /// Must be there in the current version; older ones did not ask for it.
    Needed,
    /// May be there.
    Optional,
    /// Was there in an older version only.
    Older,
}

#[derive(Clone, Debug)]
struct Rule {
    rule: String,
    message: &'static str,
}

// The names of the words that `record!` uses.
impl Presence {
    pub(crate) const fn required() -> Self {
        Presence::Required
    }

    pub(crate) const fn needed() -> Self {
        Presence::Needed
    }

    pub(crate) const fn optional() -> Self {
        Presence::Optional
    }

    pub(crate) const fn older() -> Self {
        Presence::Older
    }
}

impl Field {
    /// A field by the name that it has in Rust. In objects it has that in camel case, or `renamed` if there is one.
    pub(crate) fn new(name: &str, renamed: &[&str], presence: Presence, schema: Schema) -> Self {
        let name = renamed
            .first()
            .map_or_else(|| camel_case(name), |name| (*name).to_owned());
        Field {
            name,
            presence,
            schema,
        }
    }
}

impl Schema {
    fn of_type(name: &'static str) -> Self {
        Schema::default().with("type", name)
    }

    /// A text.
    pub fn string() -> Self {
        Schema::of_type("string")
    }

    /// A whole number.
    pub fn integer() -> Self {
        Schema::of_type("integer")
    }

    /// Yes or no.
    pub fn boolean() -> Self {
        Schema::of_type("boolean")
    }

    /// A list.
    pub fn list(items: Schema) -> Self {
        let mut list = Schema::of_type("array");
        list.items = Some(Box::new(items));
        list
    }

    /// An object with any names, whose values are all alike.
    pub fn map(values: Schema) -> Self {
        let mut map = Schema::of_type("object");
        map.values = Some(Box::new(values));
        map
    }

    /// An object with named fields.
    pub fn object(fields: Vec<Field>) -> Self {
        let mut object = Schema::of_type("object");
        object.fields = fields;
        object
    }

    /// Anything at all, kept as it is.
    pub fn any() -> Self {
        Schema::default().with("x-kubernetes-preserve-unknown-fields", true)
    }

    /// What it is for, as the lines of a doc comment.
    #[must_use]
    pub fn described(mut self, lines: &[&str]) -> Self {
        let lines: Vec<&str> = lines.iter().map(|line| line.trim()).collect();
        self.description = lines.join(" ").trim().to_owned();
        self
    }

    /// Sets a key of the schema.
    #[must_use]
    pub fn with(mut self, key: &'static str, value: impl Into<Value>) -> Self {
        self.checks.retain(|(known, _)| *known != key);
        self.checks.push((key, value.into()));
        self
    }

    /// Removes a key of the schema.
    #[must_use]
    pub fn without(mut self, key: &str) -> Self {
        self.checks.retain(|(known, _)| *known != key);
        self.older.retain(|(known, _)| *known != key);
        self
    }

    /// Sets a key for older versions, where it would be left out or is another one.
    #[must_use]
    pub fn in_older(mut self, key: &'static str, value: impl Into<Value>) -> Self {
        self.older.push((key, value.into()));
        self
    }

    /// The words that are allowed.
    #[must_use]
    pub fn one_of(self, words: &[&str]) -> Self {
        self.with("enum", words.iter().copied().collect::<Value>())
    }

    /// The words that are allowed in older versions.
    #[must_use]
    pub fn one_of_in_older(self, words: &[&str]) -> Self {
        self.in_older("enum", words.iter().copied().collect::<Value>())
    }

    /// What stands there when nothing is given.
    #[must_use]
    pub fn default_to(self, value: impl Into<Value>) -> Self {
        self.with("default", value)
    }

    /// The regular expression that a text matches.
    #[must_use]
    pub fn pattern(self, pattern: &str) -> Self {
        self.with("pattern", pattern)
    }

    /// The fewest and the most characters of a text.
    #[must_use]
    pub fn length(self, least: i64, most: i64) -> Self {
        let bounded = self.with("maxLength", most);
        if least == 0 {
            bounded
        } else {
            bounded.with("minLength", least)
        }
    }

    /// The least number.
    #[must_use]
    pub fn minimum(self, least: i64) -> Self {
        self.with("minimum", least)
    }

    /// The fewest elements of a list.
    #[must_use]
    pub fn at_least(self, elements: i64) -> Self {
        self.with("minItems", elements)
    }

    /// The most elements of a list.
    #[must_use]
    pub fn at_most(self, elements: i64) -> Self {
        self.with("maxItems", elements)
    }

    /// Changes the schema of a list's elements.
    #[must_use]
    pub fn each(mut self, change: impl FnOnce(Schema) -> Schema) -> Self {
        self.items = self.items.map(|items| Box::new(change(*items)));
        self
    }

    /// A CEL rule and what is said when it does not hold.
    #[must_use]
    pub fn rule(mut self, rule: impl Into<String>, message: &'static str) -> Self {
        self.rules.push(Rule {
            rule: rule.into(),
            message,
        });
        self
    }
}

/// `secret_ref` as `secretRef`, by the rule of serde's `rename_all`.
fn camel_case(name: &str) -> String {
    let mut words = name.split('_');
    let mut text = words.next().unwrap_or_default().to_owned();
    for word in words {
        let mut letters = word.chars();
        text.extend(letters.next().map(|first| first.to_ascii_uppercase()));
        text.push_str(letters.as_str());
    }
    text
}
