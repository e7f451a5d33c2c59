//! Answers: objects, lists and streams in the form the client asked for.

use std::sync::Arc;

use bytes::{BufMut, Bytes, BytesMut};
use futures::Stream;
use http::header::{
    CACHE_CONTROL, CONTENT_TYPE, ETAG, HeaderName, HeaderValue, LOCATION, RETRY_AFTER, VARY, WARNING,
};
use http::{HeaderMap, Response, StatusCode};
use jiff::Timestamp;
use model::{Value, json, value};

use crate::discovery;
use crate::error::{Error, Result};
use crate::http::{Body, Representation, Request};
use crate::kinds::Served;
use crate::openapi;
use crate::store::Object;
use crate::table;
use crate::verbs::Call;

pub(crate) use crate::table::IncludeObject as Include;

/// What goes back to the client.
pub(crate) struct Answer {
    pub status: u16,
    pub headers: HeaderMap,
    pub body: Body,
}

const JSON: &str = "application/json";

impl Answer {
    fn new(status: u16, content_type: &'static str, body: Body) -> Self {
        let mut headers = HeaderMap::new();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static(content_type));
        headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-cache, private"));
        Answer {
            status,
            headers,
            body,
        }
    }

    /// A JSON text, which ends with its line.
    pub(crate) fn json(status: u16, bytes: impl Into<Bytes>) -> Self {
        // Nobody else holds the bytes, so they are not copied for this.
        let mut text = BytesMut::from(bytes.into());
        text.put_u8(b'\n');
        Answer::new(status, JSON, Body::whole(text))
    }

    /// What the real server's multiplexer says of paths that it does not know at all.
    pub(crate) fn page_not_found() -> Self {
        Answer::new(
            404,
            "text/plain; charset=utf-8",
            Body::whole("404 page not found\n"),
        )
    }

    /// A stream of watch events.
    pub(crate) fn stream(events: impl Stream<Item = Bytes> + Send + 'static) -> Self {
        Answer::new(200, JSON, Body::stream(events))
    }

    /// A discovery document.
    pub(crate) fn document(document: discovery::Document) -> Result<Self> {
        let mut answer = match document.body {
            discovery::Body::Json(value) => Answer::json(200, json::to_vec(&value)),
            discovery::Body::Pretty(value) => {
                let mut text = Vec::new();
                json::write_pretty(&value, 2, &mut text);
                Answer::new(200, JSON, Body::whole(text))
            }
            discovery::Body::Text(text) => Answer::new(200, JSON, Body::whole(text)),
            discovery::Body::NotModified => Answer::new(304, JSON, Body::whole("")),
        };
        answer.set(CONTENT_TYPE, &document.content_type)?;
        if let Some(etag) = &document.etag {
            answer.set(ETAG, etag)?;
            answer.set(VARY, "Accept")?;
            answer.set(CACHE_CONTROL, "public")?;
        }
        Ok(answer)
    }

    /// An OpenAPI document.
    pub(crate) fn openapi(document: openapi::Document) -> Result<Self> {
        let mut answer = match document.outcome {
            openapi::Outcome::Json(bytes) => Answer::new(200, JSON, Body::whole(bytes)),
            openapi::Outcome::Protobuf(media_type, bytes) => Answer::new(200, media_type, Body::whole(bytes)),
            openapi::Outcome::NotModified => Answer::new(304, JSON, Body::whole("")),
            openapi::Outcome::Moved(address) => {
                let mut answer = Answer::new(301, JSON, Body::whole(""));
                answer.set(LOCATION, &address)?;
                answer
            }
        };
        if let Some(etag) = &document.etag {
            answer.set(ETAG, etag)?;
            answer.set(VARY, "Accept")?;
        }
        if document.immutable {
            answer.set(CACHE_CONTROL, "public, immutable")?;
        }
        Ok(answer)
    }

    fn set(&mut self, name: HeaderName, text: &str) -> Result<()> {
        let value = HeaderValue::from_str(text).map_err(Error::internal)?;
        self.headers.insert(name, value);
        Ok(())
    }

    /// One object.
    pub(crate) fn of(call: &Call<'_>, form: Representation, status: u16, object: &Object) -> Result<Self> {
        if form == Representation::Object {
            return Ok(Answer::json(status, call.served.bytes(object)));
        }
        let include = include_object(call.request)?;
        let value = represent(&call.served, form, include, object, true, call.state.now());
        Ok(Answer::json(status, json::to_vec(&value)))
    }

    /// A list; `meta` is its `metadata`.
    pub(crate) fn of_list(
        call: &Call<'_>,
        form: Representation,
        objects: &[Arc<Object>],
        meta: Value,
    ) -> Result<Self> {
        let served = &call.served;
        let include = include_object(call.request)?;
        let shown = objects.iter().map(|object| served.show(object));
        let value = match form {
            Representation::Table => {
                let objects: Vec<Value> = shown.collect();
                table::render(
                    &served.resource,
                    served.columns(),
                    &objects,
                    meta,
                    include,
                    call.state.now(),
                )
            }
            Representation::Metadata => table::metadata_list(&shown.collect::<Vec<_>>(), meta),
            Representation::Object => value!({
                "kind": (served.resource.list_kind.clone()),
                "apiVersion": (served.resource.api_version()),
                "metadata": meta,
                "items": (shown.collect::<Value>()),
            }),
        };
        Ok(Answer::json(200, json::to_vec(&value)))
    }

    pub(crate) fn into_response(self, warnings: &[String]) -> Response<Body> {
        let mut response = Response::new(self.body);
        *response.status_mut() =
            StatusCode::from_u16(self.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        *response.headers_mut() = self.headers;
        let headers = response.headers_mut();
        for text in warnings {
            let quoted = text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', " ");
            if let Ok(value) = HeaderValue::from_str(&format!("299 - \"{quoted}\"")) {
                headers.append(WARNING, value);
            }
        }
        response
    }
}

impl Error {
    pub(crate) fn into_response(self, warnings: &[String]) -> Response<Body> {
        let retry = self.details.retry_after;
        let answer = Answer::json(self.code, json::to_vec(&self.to_status()));
        let mut response = answer.into_response(warnings);
        if retry > 0 {
            response
                .headers_mut()
                .insert(RETRY_AFTER, HeaderValue::from(retry));
        }
        response
    }
}

/// How much of each object a table carries, as the query says.
pub(crate) fn include_object(request: &Request) -> Result<Include> {
    Include::parse(request.query.get("includeObject"))
}

/// One object as a table with one row, or as its metadata alone.
pub(crate) fn represent(
    served: &Served,
    form: Representation,
    include: Include,
    object: &Object,
    with_columns: bool,
    now: Timestamp,
) -> Value {
    let value = served.show(object);
    match form {
        Representation::Object => value,
        Representation::Metadata => table::metadata_only(&value),
        Representation::Table => {
            let meta = value!({"resourceVersion": (object.revision.to_string())});
            let mut table = table::render(&served.resource, served.columns(), &[value], meta, include, now);
            if !with_columns {
                table.set_at(&["columnDefinitions"], Value::Null);
            }
            table
        }
    }
}

/// A bookmark's object in the form the watch has.
pub(crate) fn represent_bookmark(
    served: &Served,
    form: Representation,
    include: Include,
    object: Value,
    now: Timestamp,
) -> Value {
    match form {
        Representation::Object => object,
        Representation::Metadata => table::metadata_only(&object),
        Representation::Table => {
            let version = object.str_at(&["metadata", "resourceVersion"]);
            let meta = value!({"resourceVersion": version});
            let mut table = table::render(&served.resource, served.columns(), &[object], meta, include, now);
            table.set_at(&["columnDefinitions"], Value::Null);
            table
        }
    }
}
