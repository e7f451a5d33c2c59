//! Lists and errors in XML, as S3 and Azure write them.

use quick_xml::Reader;
use quick_xml::events::Event;

use super::answer::without_quotes;
use super::store::Page;

/// The texts of the elements with these names, in document order, each with the element's name. Nothing if it is no XML.
pub(super) fn texts(xml: &str, names: &[&str]) -> Option<Vec<(String, String)>> {
    let mut reader = Reader::from_str(xml);
    let mut found: Vec<(String, String)> = Vec::new();
    let mut inside = None;
    loop {
        match reader.read_event().ok()? {
            Event::Start(start) => {
                let name = String::from_utf8_lossy(start.local_name().as_ref()).into_owned();
                inside = names.contains(&name.as_str()).then(|| {
                    found.push((name.clone(), String::new()));
                    name
                });
            }
            Event::Empty(empty) => {
                let name = String::from_utf8_lossy(empty.local_name().as_ref()).into_owned();
                if names.contains(&name.as_str()) {
                    found.push((name, String::new()));
                }
            }
            Event::Text(text) if inside.is_some() => found.last_mut()?.1.push_str(&text.decode().ok()?),
            Event::CData(data) if inside.is_some() => found.last_mut()?.1.push_str(&data.decode().ok()?),
            Event::GeneralRef(reference) if inside.is_some() => {
                let text = match reference.resolve_char_ref().ok()? {
                    Some(character) => character.to_string(),
                    None => {
                        let name = reference.decode().ok()?;
                        quick_xml::escape::resolve_predefined_entity(&name)?.to_owned()
                    }
                };
                found.last_mut()?.1.push_str(&text);
            }
            Event::End(_) => inside = None,
            Event::Eof => return Some(found),
            _ => {}
        }
    }
}

/// The text of the first element of this name.
pub(crate) fn text(xml: &str, name: &str) -> Option<String> {
    Some(texts(xml, &[name])?.into_iter().next()?.1)
}

/// A page of a list of S3.
pub(super) fn s3_page(xml: &str) -> Option<Page> {
    if !xml.contains("ListBucketResult") {
        return None;
    }
    let names = [
        "Key",
        "ETag",
        "IsTruncated",
        "NextContinuationToken",
        "EncodingType",
    ];
    let texts = texts(xml, &names)?;
    let is_escaped = texts
        .iter()
        .any(|(name, text)| name == "EncodingType" && text == "url");
    let mut page = Page::default();
    let mut truncated = false;
    for (name, text) in texts {
        match name.as_str() {
            "Key" => {
                let key = if is_escaped {
                    // Servers write a space as they like.
                    let text = text.replace('+', " ");
                    percent_encoding::percent_decode_str(&text)
                        .decode_utf8()
                        .ok()?
                        .into_owned()
                } else {
                    text
                };
                page.objects.push((key, String::new()));
            }
            "ETag" => page.objects.last_mut()?.1 = without_quotes(&text),
            "IsTruncated" => truncated = text == "true",
            "NextContinuationToken" => page.next = Some(text),
            _ => {}
        }
    }
    page.next = page.next.filter(|_| truncated);
    Some(page)
}

/// A page of a list of Azure.
pub(super) fn azure_page(xml: &str) -> Option<Page> {
    if !xml.contains("EnumerationResults") {
        return None;
    }
    let mut page = Page::default();
    for (name, text) in texts(xml, &["Name", "Etag", "NextMarker"])? {
        match name.as_str() {
            "Name" => page.objects.push((text, String::new())),
            "Etag" => page.objects.last_mut()?.1 = without_quotes(&text),
            _ => page.next = Some(text).filter(|marker| !marker.is_empty()),
        }
    }
    Some(page)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_are_read() {
        let xml = r#"<?xml version="1.0"?><ListBucketResult xmlns="x"><EncodingType>url</EncodingType><IsTruncated>true</IsTruncated>
            <Contents><Key>a%2Fb+c</Key><ETag>&quot;1&quot;</ETag><Size>1</Size></Contents>
            <Contents><Key>&#100;</Key><ETag>"2"</ETag></Contents><NextContinuationToken>t&amp;1</NextContinuationToken></ListBucketResult>"#;
        let page = s3_page(xml).unwrap();
        assert_eq!(
            page.objects,
            [("a/b c".into(), "1".into()), ("d".to_owned(), "2".to_owned())]
        );
        assert_eq!(page.next.unwrap(), "t&1");
    }

    #[test]
    fn what_is_no_list_is_none() {
        assert_eq!(s3_page("<html></html>"), None);
        assert_eq!(s3_page("ListBucketResult <a"), None);
        assert_eq!(
            text("<Error><Code>NoSuchKey</Code></Error>", "Code").unwrap(),
            "NoSuchKey"
        );
    }
}
