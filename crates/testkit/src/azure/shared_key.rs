//! Whether a request is signed with the key of an account (`Authorization: SharedKey`).

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;

use crate::http::Request;
use crate::http::query_pairs;

/// The headers that are signed without their names, in their order.
const STANDARD_HEADERS: [&str; 11] = [
    "content-encoding",
    "content-language",
    "content-length",
    "content-md5",
    "content-type",
    "date",
    "if-modified-since",
    "if-match",
    "if-none-match",
    "if-unmodified-since",
    "range",
];

/// Whether this account signed, with this key in base64.
pub(super) fn is_signed(request: &Request, account: &str, key: &str) -> bool {
    let shown = request.header("authorization").unwrap_or_default();
    let Some(signature) = shown.strip_prefix(&format!("SharedKey {account}:")) else {
        return false;
    };
    let key = STANDARD.decode(key).expect("the test gives its key in base64");
    let mut mac = Hmac::<Sha256>::new_from_slice(&key).expect("a key may have any length");
    mac.update(text(request, account).as_bytes());
    let signature = STANDARD.decode(signature).unwrap_or_default();
    mac.verify_slice(&signature).is_ok()
}

/// What is signed.
fn text(request: &Request, account: &str) -> String {
    let mut lines = vec![request.method.to_string()];
    for name in STANDARD_HEADERS {
        lines.push(request.header(name).unwrap_or_default().to_owned());
    }
    let names = request.headers.keys().map(|name| name.as_str());
    let mut names: Vec<&str> = names.filter(|name| name.starts_with("x-ms-")).collect();
    names.sort_unstable();
    for name in names {
        lines.push(format!(
            "{name}:{}",
            request.header(name).unwrap_or_default().trim()
        ));
    }
    lines.push(format!("/{account}{}", request.path()));
    let mut query: Vec<(String, String)> = query_pairs(request.uri.query().unwrap_or_default()).collect();
    query.sort();
    lines.extend(query.into_iter().map(|(name, value)| format!("{name}:{value}")));
    lines.join("\n")
}
