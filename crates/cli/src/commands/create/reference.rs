//! Objects as flags name them: `KIND/NAME.NAMESPACE`.

use anyhow::{Context as _, bail};
use serde_json::Value;

use super::fields::Fields;

/// `KIND/NAME.NAMESPACE`; the kind and the namespace may be missing.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Reference {
    pub(super) kind: String,
    pub(super) name: String,
    pub(super) namespace: String,
}

impl Reference {
    pub(super) fn parse(text: &str) -> Reference {
        let (kind, rest) = match text.split('/').collect::<Vec<_>>()[..] {
            [kind, name] => (kind, name),
            _ => ("", text),
        };
        let (name, namespace) = rest.rsplit_once('.').unwrap_or((rest, ""));
        Reference {
            kind: kind.to_owned(),
            name: name.to_owned(),
            namespace: namespace.to_owned(),
        }
    }

    /// The same of one of these kinds, which it may have in upper or lower case; without a kind of the default one.
    pub(super) fn of(
        text: &str,
        what: &str,
        kinds: &[&str],
        default: Option<&str>,
    ) -> anyhow::Result<Reference> {
        let mut reference = Reference::parse(text.trim());
        if reference.name.is_empty() || (reference.kind.is_empty() && default.is_none()) {
            bail!("invalid {what} '{text}', must be in format <kind>/<name>");
        }
        if let Some(default) = default.filter(|_| reference.kind.is_empty()) {
            reference.kind = default.to_owned();
        }
        let known = kinds
            .iter()
            .find(|kind| kind.eq_ignore_ascii_case(&reference.kind));
        let known = known.with_context(|| {
            format!(
                "source kind '{}' is not supported, must be one of: {}",
                reference.kind,
                kinds.join(", ")
            )
        })?;
        reference.kind = (*known).to_owned();
        Ok(reference)
    }

    pub(super) fn value(&self) -> Value {
        Fields::default()
            .with("kind", self.kind.as_str())
            .with("name", self.name.as_str())
            .text("namespace", Some(&self.namespace))
            .into()
    }
}

/// What has to be ready before: `NAME`, `NAMESPACE/NAME`, each with an `@EXPRESSION` that says when it is.
pub(super) fn dependencies(texts: &[String]) -> Option<Value> {
    let one = |text: &String| {
        let (object, expression) = text.split_once('@').unwrap_or((text, ""));
        let (namespace, name) = object.split_once('/').unwrap_or(("", object));
        let fields = Fields::default()
            .with("name", name)
            .text("namespace", Some(namespace));
        Value::from(fields.text("readyExpr", Some(expression)))
    };
    (!texts.is_empty()).then(|| texts.iter().map(one).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kind_name_and_namespace_are_told_apart() {
        let parts = |text: &str| {
            let Reference {
                kind,
                name,
                namespace,
            } = Reference::parse(text);
            [kind, name, namespace]
        };
        assert_eq!(parts("GitRepository/a.b.c"), ["GitRepository", "a.b", "c"]);
        assert_eq!(parts("a"), ["", "a", ""]);
        assert_eq!(parts("a/b/c.d"), ["", "a/b/c", "d"]);
    }
}
