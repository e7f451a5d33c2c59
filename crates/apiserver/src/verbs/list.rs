//! Lists: selectors, pages, and which revision a client wants to see.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use bytes::{BufMut, BytesMut};
use model::{Value, json, value};

use super::Call;
use super::selection::Selection;
use crate::answer::Answer;
use crate::error::{Cause, Error, Result};
use crate::field;
use crate::http::{Representation, negotiate};
use crate::store::{Key, Page, Window};

const TOKEN_VERSION: &str = "meta.k8s.io/v1";

/// Answers with a list.
pub(crate) fn list(call: &Call<'_>) -> Result<Answer> {
    let representation = negotiate(call.request)?;
    check_options(call)?;
    let selection = Selection::read(call)?;
    let page = read_page(call, &selection)?;
    let token = page.next.as_ref().map(|key| encode_token(key, page.revision));
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
    let prefix = match call.namespace() {
        "" => String::new(),
        namespace => format!("{namespace}/"),
    };
    let limit = read_number(query.get("limit"))?;
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
        let (key, revision) = decode_token(token)?;
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
        error.details.continue_token = encode_inconsistent(start);
    }
    let _ = call;
    error
}

/// A number of a query; 0 where it is missing.
pub(crate) fn read_number(text: &str) -> Result<i64> {
    match text {
        "" => Ok(0),
        text => text
            .parse()
            .map_err(|_| Error::bad_request(format!("strconv.ParseInt: parsing {text:?}: invalid syntax"))),
    }
}

/// A resource version of a query; `None` for "any" and "newest".
pub(crate) fn read_revision(text: &str) -> Result<Option<u64>> {
    if matches!(text, "" | "0") {
        return Ok(None);
    }
    text.parse().map(Some).map_err(|_| {
        let problem =
            format!("Invalid value: \"{text}\": strconv.ParseUint: parsing \"{text}\": invalid syntax");
        Error::bad_request(format!("invalid resource version: resourceVersion: {problem}"))
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

fn encode_token(key: &Key, revision: u64) -> String {
    // The real token names the key to start from: the one right after the last.
    let token = value!({"v": TOKEN_VERSION, "rv": (revision as i64), "start": (format!("{}\0", key.text()))});
    URL_SAFE_NO_PAD.encode(json::to_vec(&token))
}

fn encode_inconsistent(start: &Key) -> String {
    let token = value!({"v": TOKEN_VERSION, "rv": (-1), "start": (format!("{}\0", start.text()))});
    URL_SAFE_NO_PAD.encode(json::to_vec(&token))
}

fn decode_token(token: &str) -> Result<(Key, Option<u64>)> {
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
    Ok((Key::from_text(start), revision))
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
