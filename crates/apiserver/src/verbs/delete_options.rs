//! How a client wants a deletion to be done.

use model::{Value, value};

use super::list::read_number;
use crate::error::{Error, Result};
use crate::field;
use crate::http::{Query, Request, content};
use crate::kinds::{Served, split_api_version};
use crate::server::State;
use crate::store::Object;

/// How a client wants a deletion to be done.
#[derive(Clone, Debug, Default)]
pub(crate) struct DeleteOptions {
    pub dry_run: bool,
    pub grace: Option<i64>,
    pub propagation: Option<Propagation>,
    pub uid: Option<String>,
    pub version: Option<String>,
}

/// What becomes of dependents.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Propagation {
    Orphan,
    Background,
    Foreground,
}

impl DeleteOptions {
    /// Reads and checks the options of a request: those in its body or, where it has none, those in its query.
    pub(super) fn read(state: &State, request: &Request) -> Result<Self> {
        let options = match request.body.is_empty() {
            true => of_query(&request.query)?,
            false => of_body(state, request)?,
        };
        let propagation = check_values(&options)?;
        let grace = options.get("gracePeriodSeconds").and_then(Value::as_i64);
        let precondition = |name: &str| {
            let text = options.at(&["preconditions", name]).and_then(Value::as_str);
            text.map(str::to_owned)
        };
        Ok(DeleteOptions {
            dry_run: !options.list_at(&["dryRun"]).is_empty(),
            grace: grace.map(|seconds| if seconds < 0 { 1 } else { seconds }),
            propagation,
            uid: precondition("uid"),
            version: precondition("resourceVersion"),
        })
    }

    /// Holds the preconditions against an object.
    pub(super) fn check(&self, served: &Served, object: &Object) -> Result<()> {
        let resource = &served.resource;
        let conflict =
            |why: String| Error::conflict(&resource.group, &resource.kind, object.key.name(), &why);
        if let Some(uid) = self.uid.as_ref().filter(|uid| **uid != object.meta.uid) {
            return Err(conflict(format!(
                "the UID in the precondition ({uid}) does not match the UID in record ({}). The object might have been deleted and then recreated",
                object.meta.uid
            )));
        }
        let version = object.revision.to_string();
        if let Some(wanted) = self.version.as_ref().filter(|wanted| **wanted != version) {
            return Err(conflict(format!(
                "the ResourceVersion in the precondition ({wanted}) does not match the ResourceVersion in record ({version}). The object might have been modified"
            )));
        }
        Ok(())
    }
}

fn of_query(query: &Query) -> Result<Value> {
    let mut options = value!({"dryRun": (query.all("dryRun").collect::<Value>())});
    if let Some(seconds) = read_number(query, "gracePeriodSeconds")? {
        options.set_at(&["gracePeriodSeconds"], seconds);
    }
    if query.has("orphanDependents") {
        options.set_at(&["orphanDependents"], query.flag("orphanDependents"));
    }
    if query.has("propagationPolicy") {
        options.set_at(&["propagationPolicy"], query.get("propagationPolicy"));
    }
    Ok(options)
}

fn of_body(state: &State, request: &Request) -> Result<Value> {
    let body = content::decode_options(state, request)?;
    if body.is_null() {
        return Ok(body);
    }
    if let Some(problem) = content::type_problem(&body) {
        return Err(Error::bad_request(problem));
    }
    let (version, kind) = (body.str_at(&["apiVersion"]), body.str_at(&["kind"]));
    // Every group has these options.
    if !matches!(kind, "" | "DeleteOptions") {
        let why = match OTHER_OPTIONS.contains(&kind) {
            true => {
                let (_, short) = split_api_version(version);
                format!("converting ({short}.{kind}) to (v1.DeleteOptions): unknown conversion")
            }
            false => {
                let version = if version.is_empty() {
                    "meta.k8s.io/v1"
                } else {
                    version
                };
                format!(
                    "no kind \"{kind}\" is registered for version \"{version}\" in scheme \"pkg/runtime/scheme.go:111\""
                )
            }
        };
        return Err(Error::bad_request(why));
    }
    if let Some(ty) = state.schema.kind("", "v1", "DeleteOptions") {
        let types = state.builtins.kinds.types();
        types.decode(ty, &mut body.clone()).map_err(Error::bad_request)?;
    }
    Ok(body)
}

/// What the real server knows besides by this name in every group.
const OTHER_OPTIONS: [&str; 6] = [
    "CreateOptions",
    "GetOptions",
    "ListOptions",
    "PatchOptions",
    "Status",
    "UpdateOptions",
];

/// Checks the values of fields that are of the right type.
fn check_values(options: &Value) -> Result<Option<Propagation>> {
    let mut errors = Vec::new();
    let dry_run = options.list_at(&["dryRun"]);
    if dry_run.iter().any(|value| value.as_str() != Some("All")) {
        let values: Value = dry_run.iter().cloned().collect();
        errors.push(field::Error::not_supported("dryRun", &values, &["All"]));
    }
    let policy = options.str_at(&["propagationPolicy"]);
    let orphans = options.get("orphanDependents").and_then(Value::as_bool);
    let propagation = match policy {
        "" => orphans.map(|orphan| match orphan {
            true => Propagation::Orphan,
            false => Propagation::Background,
        }),
        "Orphan" => Some(Propagation::Orphan),
        "Background" => Some(Propagation::Background),
        "Foreground" => Some(Propagation::Foreground),
        other => {
            let known = ["Foreground", "Background", "Orphan", "nil"];
            errors.push(field::Error::not_supported(
                "propagationPolicy",
                &other.into(),
                &known,
            ));
            None
        }
    };
    if orphans.is_some() && !policy.is_empty() {
        let detail = "orphanDependents and deletionPropagation cannot be both set";
        errors.push(field::Error::invalid("propagationPolicy", &policy.into(), detail));
    }
    match errors.is_empty() {
        true => Ok(propagation),
        false => Err(Error::invalid("meta.k8s.io", "DeleteOptions", "", &errors)),
    }
}
