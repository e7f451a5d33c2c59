//! Lists of tags, page after page.

use http::header::LINK;
use reqwest::Response;
use serde::Deserialize;
use url::Url;

use super::answer::body;
use super::client::{Call, Client, Target};
use super::{Error, Repository};

const PAGE: usize = 1000;
const PAGE_LIMIT: u64 = 16 << 20;
/// Repositories of continuous builds have hundreds of thousands of tags.
const TAG_LIMIT: usize = 500_000;
/// The most bytes that all pages of a list have.
const ALL_PAGES: u64 = 64 << 20;

#[derive(Deserialize)]
struct Page {
    tags: Option<Vec<String>>,
}

impl Client {
    /// All tags of a repository, in the order of the registry.
    ///
    /// # Errors
    /// Where the registry does not list them, or there are too many.
    pub async fn tags(&self, repository: &Repository) -> Result<Vec<String>, Error> {
        let what = format!("the list of tags of {repository}");
        let mut call = Call::get(repository, format!("tags/list?n={PAGE}"), &what);
        let mut tags: Vec<String> = Vec::new();
        let mut read = 0;
        loop {
            let response = self.send(&call).await?;
            let next = next_page(&response, &what)?;
            let bytes = body(response, PAGE_LIMIT, &what).await?;
            read = within_pages(read, &bytes, &what)?;
            let page: Page =
                serde_json::from_slice(&bytes).map_err(|error| Error::malformed(&what, error))?;
            let before = tags.len();
            tags.extend(page.tags.unwrap_or_default());
            if tags.len() > TAG_LIMIT {
                return Err(Error::TooMany {
                    what,
                    limit: TAG_LIMIT,
                });
            }
            match next {
                // A page without tags that leads to another one would never end.
                Some(url) if tags.len() > before => call.target = Target::Url(url),
                _ => return Ok(tags),
            }
        }
    }
}

/// Adds a page to the bytes that were read of a list.
pub(super) fn within_pages(read: u64, page: &[u8], what: &str) -> Result<u64, Error> {
    let read = read + page.len() as u64;
    match read > ALL_PAGES {
        true => Err(Error::TooLarge {
            what: what.to_owned(),
            limit: ALL_PAGES,
        }),
        false => Ok(read),
    }
}

/// Where the next page is. It must be at the same registry: it is asked for with our token.
pub(super) fn next_page(response: &Response, what: &str) -> Result<Option<Url>, Error> {
    let Some(link) = response.headers().get(LINK).and_then(|value| value.to_str().ok()) else {
        return Ok(None);
    };
    let Some(target) = next_of(link) else {
        return Ok(None);
    };
    let here = response.url();
    let next = here.join(target).map_err(|error| Error::malformed(what, error))?;
    if next.origin() != here.origin() {
        return Err(Error::malformed(what, "the next page is at another host"));
    }
    Ok(Some(next))
}

/// The target of a `Link` header's `rel="next"`.
fn next_of(link: &str) -> Option<&str> {
    link.split(',').find_map(|part| {
        let (target, parameters) = part.trim().strip_prefix('<')?.split_once('>')?;
        let is_next = parameters
            .split(';')
            .any(|parameter| matches!(parameter.trim(), "rel=\"next\"" | "rel=next"));
        is_next.then_some(target)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_pages_of_a_list_together_have_a_size() {
        let page = vec![b' '; 16 << 20];
        let mut read = 0;
        for _ in 0..4 {
            read = within_pages(read, &page, "the list").unwrap();
        }
        let told = within_pages(read, b" ", "the list").unwrap_err().to_string();
        assert!(told.contains("the list has more than 67108864 bytes"), "{told}");
    }

    #[test]
    fn the_next_page_is_found() {
        assert_eq!(
            next_of("</v2/a/tags/list?n=2&last=b>; rel=\"next\""),
            Some("/v2/a/tags/list?n=2&last=b")
        );
        assert_eq!(next_of("<x>; rel=prev, <y>; rel=next"), Some("y"));
        assert_eq!(next_of("<x>; rel=\"prev\""), None);
        assert_eq!(next_of("x"), None);
    }
}
