//! Lists: selectors, pages, and which revision a client wants to see.

use std::num::{IntErrorKind, ParseIntError};

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use bytes::{BufMut, BytesMut};
use model::quote::quote;
use model::{Value, json, value};

use super::Call;
use super::selection::Selection;
use crate::answer::Answer;
use crate::error::{Cause, Error, Result};
use crate::field;
use crate::http::content::wants_single_metadata;
use crate::http::{Query, Representation, negotiate};
use crate::store::{Key, Page, Window};

const TOKEN_VERSION: &str = "meta.k8s.io/v1";

/// Answers with a list.
pub(crate) fn list(call: &Call<'_>) -> Result<Answer> {
    let representation = negotiate(call.request)?;
    if representation == Representation::Metadata && wants_single_metadata(call.request) {
        let resource = &call.served.resource;
        let package = resource
            .group
            .split('.')
            .next()
            .filter(|name| !name.is_empty())
            .unwrap_or("core");
        let message = format!(
            "you requested PartialObjectMetadata, but the requested object is a list (*{package}.{})",
            resource.list_kind
        );
        return Err(Error::new(406, "NotAcceptable", message));
    }
    check_options(call)?;
    let selection = Selection::read(call)?;
    let page = read_page(call, &selection)?;
    let token = page
        .next
        .as_ref()
        .map(|key| encode_token(call, key, page.revision as i64));
    let remaining = (token.is_some() && selection.is_empty()).then_some(page.remaining);
    let meta = ListMeta {
        revision: page.revision,
        token,
        remaining,
    };
    match representation {
        Representation::Object => Ok(Answer::json(200, plain(call, &page, &meta))),
        other => Answer::of_list(call, other, &page.objects, meta.to_value()),
    }
}

struct ListMeta {
    revision: u64,
    token: Option<String>,
    remaining: Option<usize>,
}

impl ListMeta {
    fn to_value(&self) -> Value {
        let mut meta = value!({"resourceVersion": (self.revision.to_string())});
        if let Some(token) = &self.token {
            meta.set_at(&["continue"], token.as_str());
        }
        if let Some(remaining) = self.remaining {
            meta.set_at(&["remainingItemCount"], remaining as i64);
        }
        meta
    }
}

/// The list as bytes, put together from the stored bytes.
fn plain(call: &Call<'_>, page: &Page, meta: &ListMeta) -> bytes::Bytes {
    let resource = &call.served.resource;
    let size: usize = page.objects.iter().map(|object| object.bytes.len() + 80).sum();
    let mut out = BytesMut::with_capacity(size + 200);
    let head = format!(
        "{{\"kind\":\"{}\",\"apiVersion\":\"{}\",\"metadata\":{},\"items\":[",
        resource.list_kind,
        resource.api_version(),
        json::to_string(&meta.to_value())
    );
    out.put_slice(head.as_bytes());
    for (at, object) in page.objects.iter().enumerate() {
        if at > 0 {
            out.put_u8(b',');
        }
        call.served.append_item(object, &mut out);
    }
    out.put_slice(b"]}");
    out.freeze()
}

fn check_options(call: &Call<'_>) -> Result<()> {
    let query = &call.request.query;
    // It has no effect here, but must be a number.
    read_number(query, "timeoutSeconds")?;
    let (version, matching) = (query.get("resourceVersion"), query.get("resourceVersionMatch"));
    let forbidden = |detail: &str| field::Error::forbidden("resourceVersionMatch", detail);
    let mut errors = Vec::new();
    if !matching.is_empty() {
        if version.is_empty() {
            errors.push(forbidden(
                "resourceVersionMatch is forbidden unless resourceVersion is provided",
            ));
        }
        if !query.get("continue").is_empty() {
            errors.push(forbidden(
                "resourceVersionMatch is forbidden when continue is provided",
            ));
        }
        if !matches!(matching, "Exact" | "NotOlderThan") {
            let known = ["Exact", "NotOlderThan", ""];
            errors.push(field::Error::not_supported(
                "resourceVersionMatch",
                &matching.into(),
                &known,
            ));
        }
        if matching == "Exact" && version == "0" {
            errors.push(forbidden(
                "resourceVersionMatch \"exact\" is forbidden for resourceVersion \"0\"",
            ));
        }
    }
    if query.has("sendInitialEvents") {
        errors.push(field::Error::forbidden(
            "sendInitialEvents",
            "sendInitialEvents is forbidden for list",
        ));
    }
    match errors.is_empty() {
        true => Ok(()),
        false => Err(Error::invalid("meta.k8s.io", "ListOptions", "", &errors)),
    }
}

fn read_page(call: &Call<'_>, selection: &Selection) -> Result<Page> {
    let query = &call.request.query;
    let prefix = prefix_of(call);
    let limit = read_number(query, "limit")?.unwrap_or(0);
    // A list from any revision comes from the real server's cache, which knows no limit.
    let limit = if query.get("resourceVersion") == "0" && query.get("continue").is_empty() {
        0
    } else {
        limit
    };
    let mut window = Window {
        prefix: &prefix,
        start: None,
        limit: limit as usize,
        at: None,
    };
    let version = query.get("resourceVersion");
    let token = query.get("continue");
    if !token.is_empty() {
        if !matches!(version, "" | "0") {
            return Err(Error::bad_request(
                "specifying resource version is not allowed when using continue",
            ));
        }
        let (key, revision) = decode_token(token, &prefix)?;
        window.start = Some(key);
        window.at = revision;
    } else if let Some(revision) = read_revision(version)? {
        check_reached(call, revision)?;
        let exact = match query.get("resourceVersionMatch") {
            "Exact" => true,
            // A limited list from a revision on is one at that revision, for the sake of older clients.
            "" => limit > 0,
            _ => false,
        };
        if exact {
            window.at = Some(revision);
        }
    }
    let page = call
        .state
        .store
        .list(&call.served.resource.storage, &window, &|object| {
            selection.matches(object)
        });
    page.map_err(|_| expired(call, &window, token))
}

fn expired(call: &Call<'_>, window: &Window<'_>, token: &str) -> Error {
    if token.is_empty() {
        return Error::expired("The resourceVersion for the provided list is too old.");
    }
    let mut error = Error::expired(
        "The provided continue parameter is too old to display a consistent list result. You can start a new list \
         without the continue parameter, or use the continue token in this response to retrieve the remainder of the \
         results. Continuing with the provided token results in an inconsistent list - objects that were created, \
         modified, or deleted between the time the first chunk was returned and now may show up in the list.",
    );
    if let Some(start) = &window.start {
        error.details.continue_token = encode_token(call, start, -1);
    }
    error
}

/// A number of a query.
pub(crate) fn read_number(query: &Query, name: &str) -> Result<Option<i64>> {
    if !query.has(name) {
        return Ok(None);
    }
    let text = query.get(name);
    let number = text.parse().map_err(|error| {
        let why = parse_problem(&error);
        Error::bad_request(format!("strconv.ParseInt: parsing {}: {why}", quote(text)))
    })?;
    Ok(Some(number))
}

/// Why a text is no number, in Go's words.
fn parse_problem(error: &ParseIntError) -> &'static str {
    match error.kind() {
        IntErrorKind::PosOverflow | IntErrorKind::NegOverflow => "value out of range",
        _ => "invalid syntax",
    }
}

/// A resource version of a query; `None` for "any" and "newest".
pub(crate) fn read_revision(text: &str) -> Result<Option<u64>> {
    if matches!(text, "" | "0") {
        return Ok(None);
    }
    // Go takes no sign here.
    let digits = if text.starts_with('+') { "" } else { text };
    digits.parse().map(Some).map_err(|error| {
        let (shown, why) = (quote(text), parse_problem(&error));
        Error::bad_request(format!(
            "invalid resource version: resourceVersion: Invalid value: {shown}: strconv.ParseUint: parsing {shown}: {why}"
        ))
    })
}

/// Refuses revisions that are yet to come.
pub(crate) fn check_reached(call: &Call<'_>, revision: u64) -> Result<()> {
    let current = call.state.store.revision();
    if revision <= current {
        return Ok(());
    }
    let message = format!("Timeout: Too large resource version: {revision}, current: {current}");
    let mut error = Error::new(504, "Timeout", message);
    error.details.retry_after = 1;
    error.details.causes = vec![Cause {
        reason: "ResourceVersionTooLarge".into(),
        message: "Too large resource version".into(),
        field: String::new(),
    }];
    Err(error)
}

/// The place after `key`, for the next page at `revision`; -1 stands for whatever is there then.
fn encode_token(call: &Call<'_>, key: &Key, revision: i64) -> String {
    // As in the real store, the place is told within the namespace, and is right after the last key.
    let place = key.text().strip_prefix(&prefix_of(call)).unwrap_or(key.text());
    let token = value!({"v": TOKEN_VERSION, "rv": revision, "start": (format!("{place}\0"))});
    URL_SAFE_NO_PAD.encode(json::to_vec(&token))
}

/// What the keys of the objects in question begin with.
fn prefix_of(call: &Call<'_>) -> String {
    match call.namespace() {
        "" => String::new(),
        namespace => format!("{namespace}/"),
    }
}

fn decode_token(token: &str, prefix: &str) -> Result<(Key, Option<u64>)> {
    let invalid = |problem: String| {
        Error::bad_request(format!(
            "invalid continue token: continue key is not valid: {problem}"
        ))
    };
    let bytes = URL_SAFE_NO_PAD
        .decode(token)
        .map_err(|error| invalid(base64_problem(&error)))?;
    let token = json::parse(&bytes).map_err(|error| invalid(error.to_string()))?;
    if token.str_at(&["v"]) != TOKEN_VERSION {
        let version = token.str_at(&["v"]);
        return Err(Error::bad_request(format!(
            "continue key is not valid: server does not recognize this encoded version {version}"
        )));
    }
    let revision = match token.get("rv").and_then(Value::as_i64) {
        None | Some(0) => {
            return Err(invalid(
                "incorrect encoded start resourceVersion (version meta.k8s.io/v1)".into(),
            ));
        }
        Some(revision) => u64::try_from(revision).ok(),
    };
    let start = token.str_at(&["start"]).trim_end_matches('\0');
    if start.is_empty() {
        return Err(invalid("encoded start key empty (version meta.k8s.io/v1)".into()));
    }
    if start.split('/').any(|part| matches!(part, "" | "." | "..")) {
        return Err(invalid(start.to_owned()));
    }
    Ok((Key::from_text(&format!("{prefix}{start}")), revision))
}

/// A broken token in Go's words.
fn base64_problem(error: &base64::DecodeError) -> String {
    let at = match error {
        base64::DecodeError::InvalidByte(at, _) | base64::DecodeError::InvalidLastSymbol(at, _) => *at,
        base64::DecodeError::InvalidLength(length) => *length,
        base64::DecodeError::InvalidPadding => 0,
    };
    format!("illegal base64 data at input byte {at}")
}
