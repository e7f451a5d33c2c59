//! What is shown of an object, as the flux client shows it.

use serde_json::Value;

use super::kinds::Kind;

/// A column that kinds differ in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Column {
    /// What the artifact was made of.
    Revision,
    /// The version of the chart: never cut, as it is none of a commit.
    Version,
    /// What was applied last.
    Applied,
    /// The version of the chart that was released last, or tried.
    Release,
    /// Whether it is left alone.
    Suspended,
    /// The same of a generator, which says so by an annotation.
    Generator,
    /// What an artifact was made by.
    Source,
    /// When a registry was asked last.
    LastScan,
    /// When images were looked at last.
    LastRun,
    /// A part of the image that a policy has chosen.
    Reference(&'static str),
}

impl Column {
    fn head(self) -> &'static str {
        match self {
            Column::Revision | Column::Version | Column::Applied | Column::Release => "Revision",
            Column::Suspended | Column::Generator => "Suspended",
            Column::Source => "Source",
            Column::LastScan => "Last scan",
            Column::LastRun => "Last run",
            Column::Reference("name") => "Image",
            Column::Reference(_) => "Tag",
        }
    }

    fn text(self, object: &Value) -> String {
        let (spec, status) = (&object["spec"], &object["status"]);
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        match self {
            Column::Revision => short(&text(&status["artifact"]["revision"])),
            Column::Version => text(&status["artifact"]["revision"]),
            Column::Applied => short(&text(&status["lastAppliedRevision"])),
            Column::Release => match status["history"].get(0) {
                Some(last) => text(&last["chartVersion"]),
                None => text(&status["lastAttemptedRevision"]),
            },
            Column::Suspended => title(spec["suspend"] == Value::Bool(true)),
            Column::Generator => {
                let asked = &object["metadata"]["annotations"]["source.extensions.fluxcd.io/reconcile"];
                title(
                    asked
                        .as_str()
                        .is_some_and(|asked| asked.eq_ignore_ascii_case("disabled")),
                )
            }
            Column::Source => match &spec["sourceRef"] {
                Value::Null => String::new(),
                from => ["kind", "namespace", "name"]
                    .map(|part| text(&from[part]))
                    .join("/"),
            },
            Column::LastScan => text(&status["lastScanResult"]["scanTime"]),
            Column::LastRun => text(&status["lastAutomationRunTime"]),
            Column::Reference(part) => text(&status["latestRef"][part]),
        }
    }
}

fn title(flag: bool) -> String {
    if flag { "True" } else { "False" }.to_owned()
}

/// The names of the columns.
pub(crate) fn head(kind: &Kind, with_namespace: bool, wide: bool) -> Vec<&'static str> {
    let namespace = with_namespace.then_some("Namespace");
    let from = wide.then_some("From");
    let own = kind.columns.iter().map(|column| column.head());
    let columns = namespace.into_iter().chain(["Name"]).chain(from).chain(own);
    columns.chain(["Ready", "Message"]).collect()
}

/// What an object is made of: an address, or another object.
fn from(object: &Value) -> String {
    let spec = &object["spec"];
    let addresses = ["url", "endpoint", "image", "address"];
    if let Some(address) = addresses.iter().find_map(|field| spec[field].as_str()) {
        return address.to_owned();
    }
    let references = [
        &spec["sourceRef"],
        &spec["chartRef"],
        &spec["chart"]["spec"]["sourceRef"],
        &spec["imageRepositoryRef"],
        &spec["providerRef"],
    ];
    let Some(reference) = references.into_iter().find(|reference| reference.is_object()) else {
        return String::new();
    };
    let parts = ["kind", "namespace", "name"].map(|part| reference[part].as_str());
    parts.into_iter().flatten().collect::<Vec<_>>().join("/")
}

/// One object.
pub(crate) fn row(
    kind: &Kind,
    object: &Value,
    with_namespace: bool,
    with_kind: bool,
    wide: bool,
) -> Vec<String> {
    let metadata = &object["metadata"];
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let name = match with_kind {
        true => format!("{}/{}", kind.names.kind.to_lowercase(), text(&metadata["name"])),
        false => text(&metadata["name"]),
    };
    let namespace = with_namespace.then(|| text(&metadata["namespace"]));
    let own = kind.columns.iter().map(|column| column.text(object));
    let (ready, message) = state(kind, object);
    let from = wide.then(|| from(object));
    let columns = namespace.into_iter().chain([name]).chain(from).chain(own);
    columns.chain([ready, message]).collect()
}

/// Whether an object is ready, and what it says of that. Those that nobody works on always are.
fn state(kind: &Kind, object: &Value) -> (String, String) {
    let is_registry = kind.names.kind == "HelmRepository" && object["spec"]["type"] == "oci";
    if is_registry {
        return ("True".to_owned(), "Helm repository is Ready".to_owned());
    }
    if matches!(kind.names.kind, "Provider" | "Alert") {
        return ("True".to_owned(), format!("{} is Ready", kind.names.kind));
    }
    match condition(object, "Ready") {
        Some(ready) => {
            let text = |field: &str| ready[field].as_str().unwrap_or_default();
            let message =
                match kind.names.group.starts_with("source.toolkit") || kind.names.kind == "Kustomization" {
                    true => short(text("message")),
                    false => text("message").to_owned(),
                };
            (text("status").to_owned(), message)
        }
        None => ("False".to_owned(), "waiting to be reconciled".to_owned()),
    }
}

/// A condition; the last of several that differ in upper and lower case.
pub(crate) fn condition<'o>(object: &'o Value, kind: &str) -> Option<&'o Value> {
    let conditions = object["status"]["conditions"].as_array()?;
    let is_meant = |condition: &&Value| {
        let found = condition["type"].as_str();
        found.is_some_and(|found| found.eq_ignore_ascii_case(kind))
    };
    conditions.iter().rev().find(is_meant)
}

/// Digests and commits, cut to what people compare.
pub(crate) fn short(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for word in
        text.split_inclusive(|character: char| !(character.is_ascii_alphanumeric() || character == '_'))
    {
        let digits =
            word.trim_end_matches(|character: char| !(character.is_ascii_alphanumeric() || character == '_'));
        let is_hex = digits
            .bytes()
            .all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
        if is_hex && (40..=128).contains(&digits.len()) {
            out.push_str(&digits[..8]);
            out.push_str(&word[digits.len()..]);
        } else {
            out.push_str(word);
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digests_are_cut_and_nothing_else_is() {
        let commit = "0123456789abcdef0123456789abcdef01234567";
        assert_eq!(short(&format!("main@sha1:{commit}")), "main@sha1:01234567");
        assert_eq!(
            short(&format!("stored {commit}, ready")),
            "stored 01234567, ready"
        );
        for kept in [
            "",
            "main",
            &commit[1..],
            &format!("{commit}x"),
            &commit.to_uppercase(),
        ] {
            assert_eq!(short(kept), kept);
        }
    }
}
