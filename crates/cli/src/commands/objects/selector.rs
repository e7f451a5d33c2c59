//! Which objects are shown, by their conditions.

use anyhow::bail;
use serde_json::Value;

use super::rows::condition;

/// `ready=false`, `ready!=true`
pub(crate) struct StatusSelector {
    condition: String,
    status: String,
    negated: bool,
}

impl StatusSelector {
    pub(crate) fn parse(text: &str) -> anyhow::Result<Self> {
        let (negated, parts) = match text.split_once("!=") {
            Some(parts) => (true, Some(parts)),
            None => (false, text.split_once('=')),
        };
        let Some((condition, status)) = parts else {
            bail!("expected status selector in type=status or type!=status format, but found: {text}");
        };
        Ok(StatusSelector {
            condition: condition.to_owned(),
            status: status.to_owned(),
            negated,
        })
    }

    pub(crate) fn selects(&self, object: &Value) -> bool {
        let holds = match object["kind"].as_str() {
            // Nobody works on these: they are always ready.
            Some("Alert" | "Provider") => {
                self.condition.eq_ignore_ascii_case("Ready") && self.status.eq_ignore_ascii_case("True")
            }
            _ => condition(object, &self.condition).is_some_and(|found| {
                let status = found["status"].as_str();
                status.is_some_and(|status| status.eq_ignore_ascii_case(&self.status))
            }),
        };
        holds != self.negated
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn conditions_select() {
        let failed =
            json!({"kind": "Bucket", "status": {"conditions": [{"type": "Ready", "status": "False"}]}});
        let new = json!({"kind": "Bucket"});
        let alert = json!({"kind": "Alert"});
        for (selector, expected) in [
            ("ready=false", [true, false, false]),
            ("Ready!=True", [true, true, false]),
            ("ready=true", [false, false, true]),
            ("Stalled=True", [false, false, false]),
        ] {
            let selector = StatusSelector::parse(selector).unwrap();
            assert_eq!(
                [&failed, &new, &alert].map(|object| selector.selects(object)),
                expected
            );
        }
        assert!(StatusSelector::parse("ready").is_err());
    }
}
