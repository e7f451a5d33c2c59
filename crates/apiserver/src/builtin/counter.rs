//! Annotations that stand for fields of old versions and must be whole numbers.

use model::Value;
use smd::schema::Gvk;

/// How often the template of a DaemonSet's pods changed.
pub(super) const TEMPLATE_GENERATION: &str = "deprecated.daemonset.template.generation";

/// The revision that a Deployment is to go back to.
const ROLLBACK: &str = "deprecated.deployment.rollback.to";

/// Whether the annotations of `object` can be read.
///
/// # Errors
/// Go's message for one that is no whole number.
pub(super) fn check(gvk: &Gvk, object: &Value) -> Result<(), String> {
    let annotation = |name: &str| {
        object
            .at(&["metadata", "annotations", name])
            .and_then(Value::as_str)
    };
    match (gvk.group.as_str(), gvk.kind.as_str()) {
        ("apps", "DaemonSet") => annotation(TEMPLATE_GENERATION).map_or(Ok(()), parse),
        ("apps", "Deployment") => match annotation(ROLLBACK) {
            None | Some("") => Ok(()),
            Some(text) => parse(text).map_err(|message| {
                format!("failed to parse annotation[{ROLLBACK}]={text} as int64: {message}")
            }),
        },
        _ => Ok(()),
    }
}

fn parse(text: &str) -> Result<(), String> {
    let digits = text.strip_prefix(['-', '+']).unwrap_or(text);
    let problem = match text.parse::<i64>() {
        Ok(_) => return Ok(()),
        Err(_) if !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit()) => {
            "value out of range"
        }
        Err(_) => "invalid syntax",
    };
    Err(format!("strconv.ParseInt: parsing {text:?}: {problem}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_read_as_go_reads_them() {
        assert_eq!(parse("-7"), Ok(()));
        assert_eq!(parse("+7"), Ok(()));
        assert_eq!(
            parse(""),
            Err("strconv.ParseInt: parsing \"\": invalid syntax".into())
        );
        let large = "9".repeat(20);
        assert_eq!(
            parse(&large),
            Err(format!(
                "strconv.ParseInt: parsing \"{large}\": value out of range"
            ))
        );
    }
}
