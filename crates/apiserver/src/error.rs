//! Failures of a request, as the `Status` objects clients know.

use model::quote::quote;
use model::{Map, Value, value};

use crate::field;

/// The result of handling a request.
pub type Result<T> = std::result::Result<T, Error>;

/// A failed request. Clients see it as a `Status` object.
#[derive(Clone, Debug, PartialEq)]
pub struct Error {
    /// HTTP code.
    pub code: u16,
    /// The machine-readable reason; empty where the real server gives none.
    pub reason: &'static str,
    /// What people read.
    pub message: String,
    /// What it is about.
    pub details: Box<Details>,
}

/// What a failure is about.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Details {
    /// Group of the object.
    pub group: String,
    /// Resource (`deployments`), or kind for validation failures.
    pub kind: String,
    /// Name of the object.
    pub name: String,
    /// UID of the object.
    pub uid: String,
    /// Each single thing that is wrong.
    pub causes: Vec<Cause>,
    /// When to try again, in seconds; 0 says nothing.
    pub retry_after: u32,
    /// How a list can go on although it is no longer consistent; empty where it cannot.
    pub continue_token: String,
}

/// One thing that is wrong.
#[derive(Clone, Debug, PartialEq)]
pub struct Cause {
    /// `FieldValueInvalid`, `FieldManagerConflict`, ...
    pub reason: String,
    /// What people read.
    pub message: String,
    /// Path of the field.
    pub field: String,
}

impl Error {
    /// A failure without details.
    pub fn new(code: u16, reason: &'static str, message: impl Into<String>) -> Self {
        Error {
            code,
            reason,
            message: message.into(),
            details: Box::default(),
        }
    }

    fn about(mut self, group: &str, kind: &str, name: &str) -> Self {
        self.details.group = group.into();
        self.details.kind = kind.into();
        self.details.name = name.into();
        self
    }

    /// The body or a parameter makes no sense.
    pub fn bad_request(message: impl Into<String>) -> Self {
        Error::new(400, "BadRequest", message)
    }

    /// There is no such object.
    pub fn not_found(group: &str, resource: &str, name: &str) -> Self {
        let message = format!("{} {} not found", qualified(resource, group), quote(name));
        Error::new(404, "NotFound", message).about(group, resource, name)
    }

    /// There is no such path.
    pub fn no_such_path() -> Self {
        Error::new(
            404,
            "NotFound",
            "the server could not find the requested resource",
        )
    }

    /// An object of that name is there already.
    pub fn already_exists(group: &str, resource: &str, name: &str) -> Self {
        let message = format!("{} {} already exists", qualified(resource, group), quote(name));
        Error::new(409, "AlreadyExists", message).about(group, resource, name)
    }

    /// The object changed in the meantime, or a precondition does not hold.
    pub fn conflict(group: &str, resource: &str, name: &str, why: &str) -> Self {
        let message = format!(
            "Operation cannot be fulfilled on {} {}: {why}",
            qualified(resource, group),
            quote(name)
        );
        Error::new(409, "Conflict", message).about(group, resource, name)
    }

    /// The object does not pass validation. `errors` must not be empty.
    pub fn invalid(group: &str, kind: &str, name: &str, errors: &[field::Error]) -> Self {
        let message = format!(
            "{} {} is invalid: {}",
            qualified(kind, group),
            quote(name),
            field::join(errors)
        );
        let mut error = Error::new(422, "Invalid", message).about(group, kind, name);
        error.details.causes = errors.iter().map(field::Error::cause).collect();
        error
    }

    /// The user may not do this. `resource` is empty for paths that belong to no resource.
    pub fn forbidden(group: &str, resource: &str, name: &str, why: &str) -> Self {
        let subject = qualified(resource, group);
        let message = match name {
            _ if resource.is_empty() => format!("forbidden: {why}"),
            "" => format!("{subject} is forbidden: {why}"),
            name => format!("{subject} {} is forbidden: {why}", quote(name)),
        };
        Error::new(403, "Forbidden", message).about(group, resource, name)
    }

    /// Nobody is known by these credentials.
    pub fn unauthorized() -> Self {
        Error::new(401, "Unauthorized", "Unauthorized")
    }

    /// The resource does not know this verb.
    pub fn method_not_allowed() -> Self {
        Error::new(
            405,
            "MethodNotAllowed",
            "the server does not allow this method on the requested resource",
        )
    }

    /// The version asked for is no longer kept.
    pub fn expired(message: impl Into<String>) -> Self {
        Error::new(410, "Expired", message)
    }

    /// A fault of the server itself.
    pub fn internal(message: impl std::fmt::Display) -> Self {
        let mut error = Error::new(
            500,
            "InternalError",
            format!("Internal error occurred: {message}"),
        );
        error.details.causes = vec![Cause {
            reason: String::new(),
            message: message.to_string(),
            field: String::new(),
        }];
        error
    }

    /// The `Status` object.
    pub fn to_status(&self) -> Value {
        let mut status = value!({
            "kind": "Status",
            "apiVersion": "v1",
            "metadata": {},
            "status": "Failure",
            "message": (self.message.as_str()),
            "code": (i64::from(self.code)),
        });
        let map = status.make_object();
        if !self.details.continue_token.is_empty() {
            map.insert(
                "metadata",
                value!({"continue": (self.details.continue_token.as_str())}),
            );
        }
        if !self.reason.is_empty() {
            map.insert("reason", self.reason);
        }
        let details = self.details.to_value();
        if !details.is_empty() || matches!(self.reason, "NotFound" | "Forbidden" | "MethodNotAllowed") {
            map.insert("details", details);
        }
        status
    }
}

impl std::fmt::Display for Error {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Error {}

impl Details {
    fn to_value(&self) -> Map {
        let mut map = Map::new();
        for (key, text) in [
            ("name", &self.name),
            ("group", &self.group),
            ("kind", &self.kind),
            ("uid", &self.uid),
        ] {
            if !text.is_empty() {
                map.insert(key, text.as_str());
            }
        }
        if !self.causes.is_empty() {
            map.insert(
                "causes",
                self.causes.iter().map(Cause::to_value).collect::<Value>(),
            );
        }
        if self.retry_after > 0 {
            map.insert("retryAfterSeconds", i64::from(self.retry_after));
        }
        map
    }
}

impl Cause {
    fn to_value(&self) -> Value {
        let mut map = Map::new();
        for (key, text) in [
            ("reason", &self.reason),
            ("message", &self.message),
            ("field", &self.field),
        ] {
            if !text.is_empty() {
                map.insert(key, text.as_str());
            }
        }
        Value::Object(map)
    }
}

/// `deployments.apps`; the core group adds nothing.
fn qualified(resource: &str, group: &str) -> String {
    match group {
        "" => resource.to_owned(),
        group => format!("{resource}.{group}"),
    }
}
