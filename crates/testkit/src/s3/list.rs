//! ListObjectsV2.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;

use super::bucket::{Bucket, Object};
use super::failure::Failure;
use super::request::Target;
use super::signature::encode_path;
use super::xml::Xml;
use crate::http::Reply;

/// How many keys are listed at once unless the client wants fewer.
const PAGE: usize = 1000;

/// One line of a list: an object, or all that share a beginning up to the delimiter.
enum Line<'a> {
    Object(&'a str, &'a Object),
    Prefix(String),
}

impl Line<'_> {
    /// From where the list goes on after this line.
    fn last(&self) -> String {
        match self {
            Self::Object(key, _) => key.to_string(),
            // After every key that begins so.
            Self::Prefix(prefix) => format!("{prefix}\u{10ffff}"),
        }
    }
}

pub(super) fn list(target: &Target<'_>, name: &str, bucket: &Bucket) -> Result<Reply, Failure> {
    let prefix = target.parameter("prefix").unwrap_or_default();
    let delimiter = target.parameter("delimiter").filter(|text| !text.is_empty());
    let limit = match target.parameter("max-keys").map(|count| count.parse::<usize>()) {
        None => PAGE,
        Some(Ok(count)) => count.min(PAGE),
        Some(Err(_)) => return Err(Failure::InvalidArgument("max-keys")),
    };
    let token = target.parameter("continuation-token");
    let start_after = target.parameter("start-after");
    let after = match &token {
        Some(token) => {
            Some(read_token(token).ok_or(Failure::InvalidArgument("The continuation token is incorrect"))?)
        }
        None => start_after.clone(),
    };
    let objects = bucket.objects();
    let (lines, truncated) = {
        let keys = objects.iter().filter(|(key, _)| key.starts_with(&prefix));
        let keys = keys.filter(|(key, _)| after.as_ref().is_none_or(|after| *key > after));
        page(keys, &prefix, delimiter.as_deref(), limit)
    };
    let spell = |text: &str| match target.parameter("encoding-type").as_deref() {
        Some("url") => encode_path(text),
        _ => text.to_string(),
    };
    let mut xml = Xml::new();
    xml.element(
        "ListBucketResult xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\"",
        |xml| {
            xml.text("Name", name);
            xml.text("Prefix", spell(&prefix));
            let echoes = [("Delimiter", &delimiter), ("StartAfter", &start_after)];
            for (element, text) in echoes
                .into_iter()
                .filter_map(|(element, text)| Some((element, text.as_ref()?)))
            {
                xml.text(element, spell(text));
            }
            if let Some(token) = &token {
                xml.text("ContinuationToken", token);
            }
            xml.text("KeyCount", lines.len().to_string());
            xml.text("MaxKeys", limit.to_string());
            if let Some("url") = target.parameter("encoding-type").as_deref() {
                xml.text("EncodingType", "url");
            }
            xml.text("IsTruncated", truncated.to_string());
            if let Some(last) = lines.last().filter(|_| truncated) {
                xml.text("NextContinuationToken", URL_SAFE_NO_PAD.encode(last.last()));
            }
            for line in &lines {
                write_line(xml, line, spell);
            }
        },
    );
    Ok(xml.reply())
}

/// The first lines, and whether there are more.
fn page<'a>(
    keys: impl Iterator<Item = (&'a String, &'a Object)>,
    prefix: &str,
    delimiter: Option<&str>,
    limit: usize,
) -> (Vec<Line<'a>>, bool) {
    let mut lines: Vec<Line<'_>> = Vec::new();
    for (key, object) in keys {
        let rest = &key[prefix.len()..];
        let cut = delimiter.and_then(|delimiter| Some(rest.find(delimiter)? + delimiter.len()));
        let shared = cut.map(|cut| &key[..prefix.len() + cut]);
        if let (Some(Line::Prefix(last)), Some(shared)) = (lines.last(), shared)
            && last == shared
        {
            continue;
        }
        if lines.len() == limit {
            return (lines, limit > 0);
        }
        lines.push(match shared {
            Some(shared) => Line::Prefix(shared.to_string()),
            None => Line::Object(key, object),
        });
    }
    (lines, false)
}

fn write_line(xml: &mut Xml, line: &Line<'_>, spell: impl Fn(&str) -> String) {
    match line {
        Line::Object(key, object) => xml.element("Contents", |xml| {
            xml.text("Key", spell(key));
            xml.text("LastModified", format!("{:.3}", object.modified));
            xml.text("ETag", &object.etag);
            xml.text("Size", object.content.len().to_string());
            xml.text("StorageClass", "STANDARD");
        }),
        Line::Prefix(prefix) => xml.element("CommonPrefixes", |xml| xml.text("Prefix", spell(prefix))),
    }
}

fn read_token(token: &str) -> Option<String> {
    String::from_utf8(URL_SAFE_NO_PAD.decode(token).ok()?).ok()
}
