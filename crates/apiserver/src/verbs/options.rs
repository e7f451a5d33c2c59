//! The options of writes.

use model::Value;

use super::Call;
use crate::error::{Error, Result};
use crate::field;
use crate::http::{Query, Request};

/// How a client wants a write to be done.
#[derive(Clone, Debug)]
pub(crate) struct WriteOptions {
    pub dry_run: bool,
    pub manager: String,
    pub validation: Validation,
    pub force: bool,
}

/// What happens to unknown and doubled fields.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Validation {
    Ignore,
    Warn,
    Strict,
}

impl WriteOptions {
    /// The options of the server's own controllers.
    pub(crate) fn internal(manager: &str) -> Self {
        WriteOptions {
            dry_run: false,
            manager: manager.into(),
            validation: Validation::Ignore,
            force: false,
        }
    }

    /// Reads and checks the query of a write; `kind` is `CreateOptions`, `UpdateOptions` or `PatchOptions`.
    pub(crate) fn read(request: &Request, kind: &str) -> Result<Self> {
        let query = &request.query;
        let mut errors = Vec::new();
        let apply = kind == "PatchOptions" && is_apply(request);
        if kind == "PatchOptions" && !apply && query.has("force") {
            errors.push(field::Error::forbidden(
                "force",
                "may not be specified for non-apply patch",
            ));
        }
        let manager = query.get("fieldManager");
        if apply && manager.is_empty() {
            errors.push(field::Error::required(
                "fieldManager",
                "is required for apply patch",
            ));
        }
        errors.extend(manager_problem(manager));
        errors.extend(dry_run_problems(query));
        let validation = match query.get("fieldValidation") {
            "" | "Warn" => Validation::Warn,
            "Ignore" => Validation::Ignore,
            "Strict" => Validation::Strict,
            other => {
                let known = ["", "Ignore", "Strict", "Warn"];
                errors.push(field::Error::not_supported(
                    "fieldValidation",
                    &other.into(),
                    &known,
                ));
                Validation::Warn
            }
        };
        if !errors.is_empty() {
            return Err(Error::invalid("meta.k8s.io", kind, "", &errors));
        }
        let manager = match manager {
            "" => agent_name(request.header("user-agent")),
            name => name.to_owned(),
        };
        Ok(WriteOptions {
            dry_run: query.has("dryRun"),
            manager,
            validation,
            force: query.flag("force"),
        })
    }

    /// Refuses or remarks on fields that the object should not have: `unknown` are paths, `complaints` whole sentences.
    pub(crate) fn report(&self, call: &Call<'_>, unknown: &[String], complaints: &[String]) -> Result<()> {
        let unknown = unknown.iter().map(|path| format!("unknown field \"{path}\""));
        let problems: Vec<String> = complaints.iter().cloned().chain(unknown).collect();
        match self.validation {
            Validation::Strict if !problems.is_empty() => Err(self.strict(call, &problems)),
            Validation::Warn => {
                problems.into_iter().for_each(|problem| call.warn(problem));
                Ok(())
            }
            _ => Ok(()),
        }
    }

    /// Refuses or remarks on what is wrong with a patch itself.
    pub(crate) fn complain(&self, call: &Call<'_>, complaints: &[String]) -> Result<()> {
        match self.validation {
            Validation::Strict if !complaints.is_empty() => Err(Error::bad_request(format!(
                "strict decoding error: {}",
                complaints.join(", ")
            ))),
            Validation::Warn => {
                complaints
                    .iter()
                    .for_each(|complaint| call.warn(complaint.as_str()));
                Ok(())
            }
            _ => Ok(()),
        }
    }

    fn strict(&self, call: &Call<'_>, problems: &[String]) -> Error {
        let resource = &call.served.resource;
        let problems = problems.join(", ");
        Error::bad_request(format!(
            "{} in version \"{}\" cannot be handled as a {}: strict decoding error: {problems}",
            resource.kind, resource.version, resource.kind
        ))
    }
}

/// Whether the body is for server-side apply.
pub(crate) fn is_apply(request: &Request) -> bool {
    request
        .header("content-type")
        .starts_with("application/apply-patch+")
}

fn manager_problem(manager: &str) -> Option<field::Error> {
    if manager.len() > 128 {
        return Some(field::Error {
            kind: field::Kind::TooLong,
            field: "fieldManager".into(),
            value: String::new(),
            detail: "may not be more than 128 bytes".into(),
        });
    }
    let hidden = manager.char_indices().find(|(_, c)| c.is_control());
    hidden.map(|(at, c)| {
        let detail = format!("invalid character U+{:04X} (at position {at})", c as u32);
        field::Error::invalid("fieldManager", &Value::str(manager), detail)
    })
}

fn dry_run_problems(query: &Query) -> Vec<field::Error> {
    let values: Value = query.all("dryRun").collect();
    let wrong = query.all("dryRun").any(|value| value != "All");
    // The real server shows the whole list.
    wrong
        .then(|| field::Error::not_supported("dryRun", &values, &["All"]))
        .into_iter()
        .collect()
}

/// The field manager of a client that names none: the first part of its user agent.
fn agent_name(agent: &str) -> String {
    let name = agent.split('/').next().unwrap_or_default();
    name.chars().filter(|c| !c.is_control()).take(128).collect()
}
