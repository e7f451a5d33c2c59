//! Lists of tags and repositories.

use http::{Method, header};
use serde_json::json;

use super::failure::Failure;
use super::store::Store;
use crate::http::{Reply, Request};

/// The tags of a repository, sorted, in pages if the client or the registry wants it.
pub(super) fn list(store: &Store, request: &Request, name: &str, page: Option<usize>) -> Reply {
    if request.method != Method::GET {
        return Failure::Unsupported.about(request.method.as_str());
    }
    let Some(repository) = store.repositories.get(name) else {
        return Failure::NameUnknown.about(name);
    };
    let wanted = match request.query("n").map(|count| count.parse::<usize>()) {
        None => None,
        Some(Ok(count)) => Some(count),
        Some(Err(_)) => return Failure::Unsupported.about("n is not a number").with_status(400),
    };
    let limit = [wanted, page].into_iter().flatten().min().unwrap_or(usize::MAX);
    let last = request.query("last");
    let after = |tag: &&String| last.as_ref().is_none_or(|last| *tag > last);
    let mut rest = repository.tags.keys().filter(after);
    let tags: Vec<_> = rest.by_ref().take(limit).collect();
    let reply = Reply::json(json!({"name": name, "tags": tags}).to_string());
    match tags.last().filter(|_| rest.next().is_some()) {
        Some(last) => {
            let next = format!("</v2/{name}/tags/list?n={limit}&last={last}>; rel=\"next\"");
            reply.with(header::LINK, next)
        }
        None => reply,
    }
}

/// All repositories.
pub(super) fn catalog(store: &Store) -> Reply {
    let names: Vec<_> = store.repositories.keys().collect();
    Reply::json(json!({"repositories": names}).to_string())
}
