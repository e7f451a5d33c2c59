//! Media types: how bodies are read and in which form answers go out.

use model::{Value, json};

use super::Request;
use crate::error::{Error, Result};
use crate::kinds::split_api_version;
use crate::protobuf;
use crate::server::State;

/// The form of an answer's objects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Representation {
    /// The object itself.
    Object,
    /// Only its metadata, as `PartialObjectMetadata`.
    Metadata,
    /// A `Table` for people.
    Table,
}

/// Picks the form the client likes best of those we can give.
///
/// # Errors
/// `406` where the client takes none of them.
pub(crate) fn negotiate(request: &Request) -> Result<Representation> {
    let accept = request.header("accept");
    if accept.is_empty() {
        return Ok(Representation::Object);
    }
    let mut odd = false;
    for range in accept.split(',') {
        let range = Range::read(range);
        match range.kind {
            _ if !range.json => {}
            "" => return Ok(Representation::Object),
            "Table" if range.known => return Ok(Representation::Table),
            "PartialObjectMetadata" | "PartialObjectMetadataList" if range.known => {
                return Ok(Representation::Metadata);
            }
            _ => odd = true,
        }
    }
    let message = match odd {
        true => format!("only the following media types are accepted: {}", READ.join(", ")),
        false => "406: Not Acceptable\n\nAvailable representations: application/json, application/yaml, \
                  application/vnd.kubernetes.protobuf, application/json;stream=watch, \
                  application/vnd.kubernetes.protobuf;stream=watch"
            .to_owned(),
    };
    Err(Error::new(406, "NotAcceptable", message))
}

/// Whether the client wants the metadata of one object, which a list cannot be.
pub(crate) fn wants_single_metadata(request: &Request) -> bool {
    request
        .header("accept")
        .split(',')
        .any(|range| Range::read(range).kind == "PartialObjectMetadata")
}

/// One entry of an `Accept` header.
struct Range<'a> {
    json: bool,
    /// The form that is asked for (`as`).
    kind: &'a str,
    /// Group and version of the form are the ones there are.
    known: bool,
}

impl<'a> Range<'a> {
    fn read(text: &'a str) -> Self {
        let mut parts = text.split(';').map(str::trim);
        let media = parts.next().unwrap_or_default();
        let (mut kind, mut group, mut version) = ("", "", "");
        for part in parts {
            match part.split_once('=') {
                Some(("as", value)) => kind = value,
                Some(("g", value)) => group = value,
                Some(("v", value)) => version = value,
                _ => {}
            }
        }
        let json = matches!(media, "application/json" | "*/*" | "application/*");
        Range {
            json,
            kind,
            known: group == "meta.k8s.io" && version == "v1",
        }
    }
}

/// What is read.
const READ: [&str; 3] = ["application/json", "application/yaml", protobuf::MEDIA_TYPE];

/// A body that was read: the object, and what a strict reader has to say about fields that stand in it twice.
pub(crate) struct Decoded {
    pub value: Value,
    pub complaints: Vec<String>,
}

/// Reads a body in JSON, YAML or protobuf, as its `Content-Type` says.
///
/// # Errors
/// `415` for other types, `400` for text that is not of its type.
pub(crate) fn decode(state: &State, request: &Request, expected_kind: &str) -> Result<Decoded> {
    read(state, request).map_err(|unread| match unread {
        Unread::MediaType => unsupported(&READ),
        Unread::Text(problem) => unrecognized(&request.body, expected_kind, &problem),
    })
}

/// As [`decode`], but for options, where what is wrong is told without a word about the object.
pub(crate) fn decode_options(state: &State, request: &Request) -> Result<Value> {
    let decoded = read(state, request).map_err(|unread| match unread {
        Unread::MediaType => unsupported(&READ),
        Unread::Text(problem) => Error::bad_request(problem),
    })?;
    Ok(decoded.value)
}

/// Why a body was not read.
enum Unread {
    /// It is of a type that is not known.
    MediaType,
    /// It is not of its type.
    Text(String),
}

fn read(state: &State, request: &Request) -> std::result::Result<Decoded, Unread> {
    let content_type = request.header("content-type");
    let media = content_type.split(';').next().unwrap_or_default().trim();
    let yaml = match media {
        "" | "application/json" | "*/*" => false,
        protobuf::MEDIA_TYPE => {
            let value = state.read_protobuf(&request.body).map_err(Unread::Text)?;
            return Ok(Decoded {
                value,
                complaints: Vec::new(),
            });
        }
        "application/yaml" | "application/apply-patch+yaml" => true,
        _ => return Err(Unread::MediaType),
    };
    read_text(&request.body, yaml).map_err(Unread::Text)
}

/// The answer to a body of a media type that is not read.
pub(crate) fn unsupported(known: &[&str]) -> Error {
    let message = format!(
        "the body of the request was in an unknown format - accepted media types include: {}",
        known.join(", ")
    );
    Error::new(415, "UnsupportedMediaType", message)
}

fn read_text(body: &[u8], yaml: bool) -> std::result::Result<Decoded, String> {
    if yaml && !looks_like_json(body) {
        let value = yaml::parse(body).map_err(|error| error.to_string())?;
        let complaints = yaml::parse_strict(body).err().map(|error| error.to_string());
        return Ok(Decoded {
            value,
            complaints: complaints.into_iter().collect(),
        });
    }
    let (value, duplicates) = json::parse_strict(body)
        .map_err(|error| format!("couldn't get version/kind; json parse error: {error}"))?;
    let complaints = duplicates
        .iter()
        .map(|path| format!("duplicate field \"{path}\""));
    Ok(Decoded {
        value,
        complaints: complaints.collect(),
    })
}

/// What Go calls the JSON type of a value.
pub(crate) fn go_name(value: &Value) -> &'static str {
    match value {
        Value::Bool(_) => "bool",
        Value::Int(_) | Value::Float(_) => "number",
        other => other.type_name(),
    }
}

/// What is said of a body that is no object, or whose version or kind is no text.
pub(crate) fn type_problem(body: &Value) -> Option<String> {
    const START: &str = "couldn't get version/kind; json parse error: json: cannot unmarshal";
    let Some(map) = body.as_object() else {
        return Some(format!(
            "{START} {} into Go value of type struct {{ APIVersion string \"json:\\\"apiVersion,omitempty\\\"\"; \
             Kind string \"json:\\\"kind,omitempty\\\"\" }}",
            go_name(body)
        ));
    };
    ["apiVersion", "kind"].into_iter().find_map(|field| {
        let found = map.get(field)?;
        let wrong = !matches!(found, Value::Str(_) | Value::Null);
        wrong.then(|| {
            format!(
                "{START} {} into Go struct field .{field} of type string",
                go_name(found)
            )
        })
    })
}

pub(crate) fn unrecognized(body: &[u8], expected_kind: &str, problem: &str) -> Error {
    let what = match expected_kind {
        "" => "the object provided is unrecognized".to_owned(),
        kind => format!("the object provided is unrecognized (must be of type {kind})"),
    };
    const SHOWN: usize = 30;
    let start = &body[..body.len().min(SHOWN)];
    let shown = match body.first() {
        None => "<empty>".to_owned(),
        Some(b'{') => String::from_utf8_lossy(start).into_owned(),
        Some(_) => start.iter().map(|byte| format!("{byte:02x}")).collect(),
    };
    let dots = if body.len() > SHOWN { " ..." } else { "" };
    Error::bad_request(format!("{what}: {problem} ({shown}{dots})"))
}

impl State {
    fn read_protobuf(&self, body: &[u8]) -> std::result::Result<Value, String> {
        self.protobuf().read(&self.schema, body, |api_version, kind| {
            let (group, version) = split_api_version(api_version);
            // Options may come in the group they are about.
            self.schema
                .kind(group, version, kind)
                .or_else(|| self.schema.kind("", "v1", kind))
        })
    }
}

/// Reads the body of a server-side apply, which is YAML or JSON.
pub(crate) fn decode_applied(body: &[u8]) -> Result<Value> {
    let unreadable = |problem: String| Error::bad_request(format!("error decoding YAML: {problem}"));
    match looks_like_json(body) {
        true => json::parse(body).or_else(|_| yaml::parse(body)),
        false => yaml::parse(body),
    }
    .map_err(|error| unreadable(format!("error converting YAML to JSON: {error}")))
}

/// What a strict reader has to say about the body of a server-side apply.
pub(crate) fn applied_complaints(body: &[u8]) -> Vec<String> {
    // JSON without doubled fields, which is what programs send, need not be read a second time as YAML.
    if looks_like_json(body) && json::parse_strict(body).is_ok_and(|(_, duplicates)| duplicates.is_empty()) {
        return Vec::new();
    }
    let problem = yaml::parse_strict(body).err();
    problem
        .map(|error| format!("error converting YAML to JSON: {error}"))
        .into_iter()
        .collect()
}

/// Reads a merge patch, which is JSON.
pub(crate) fn decode_patch(body: &[u8]) -> Result<Value> {
    json::parse(body).map_err(|error| Error::bad_request(format!("error decoding patch: {error}")))
}

fn looks_like_json(body: &[u8]) -> bool {
    body.iter().find(|byte| !byte.is_ascii_whitespace()) == Some(&b'{')
}
