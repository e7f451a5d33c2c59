//! Why the question what an apply would do got no answer, in the words of Flux.

use crate::cluster::Error;

/// What is said of an object whose dry run failed, to be read after its name (`Deployment/shop/web`): `dry-run failed (Invalid): …`,
/// and of what was not found `not found: …`, or `namespace not specified: …` where the object names none.
pub fn dry_run_failure(namespace: &str, error: &Error) -> String {
    let Some(refusal) = error.refusal() else {
        return told(namespace, false, "", &error.to_string());
    };
    let conflicts = refusal.causes.iter().any(|cause| cause.reason == CONFLICT);
    let reason = if conflicts {
        CONFLICT
    } else {
        refusal.reason.as_str()
    };
    told(
        namespace,
        matches!(error, Error::NotFound(_)),
        reason,
        &refusal.message,
    )
}

const CONFLICT: &str = "FieldManagerConflict";

fn told(namespace: &str, is_missing: bool, reason: &str, message: &str) -> String {
    match (is_missing, namespace, reason) {
        (true, "", _) => format!("namespace not specified: {message}"),
        (true, ..) => format!("not found: {message}"),
        (false, _, "") => format!("dry-run failed: {message}"),
        (false, _, reason) => format!("dry-run failed ({reason}): {message}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// AP11: the texts that Flux reports.
    #[test]
    fn failures_are_told_as_by_flux() {
        assert_eq!(
            told("x", false, "Invalid", "bad"),
            "dry-run failed (Invalid): bad"
        );
        assert_eq!(told("x", false, "", "bad"), "dry-run failed: bad");
        assert_eq!(told("", true, "NotFound", "no"), "namespace not specified: no");
        assert_eq!(told("x", true, "NotFound", "no"), "not found: no");
        let error = Error::NoSuchKind {
            version: "a/v1".to_owned(),
            kind: "X".to_owned(),
        };
        let wanted = "dry-run failed: no matches for kind \"X\" in version \"a/v1\"";
        assert_eq!(dry_run_failure("x", &error), wanted);
    }
}
