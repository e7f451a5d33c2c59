//! Objects of a kind, page by page.

use model::value::List;
use model::{Str, json};

use super::Cluster;
use super::budget::Charge;
use super::counts::Verb;
use super::error::Error;
use super::partial::{self, Split};
use super::query::Query;
use super::resource::Resource;
use super::send::{Answer, Ask, JSON, Subject, malformed};

/// Which objects of a kind, and how much of each.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Selection {
    /// Only those of this namespace; empty for all.
    pub namespace: Str,
    /// Only those that this label selector selects; empty for all.
    pub labels: Str,
    /// Only those that this field selector selects; empty for all.
    pub fields: Str,
    /// How much of each.
    pub detail: Detail,
}

/// How much of an object is asked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Detail {
    /// Its metadata. Its `kind` and `apiVersion` then are those of `PartialObjectMetadata`.
    Metadata,
    /// All of it.
    #[default]
    Full,
}

/// How many objects a page of all has.
const PAGE: usize = 500;
/// The most bytes that the pages of [`Cluster::list_all`] have together.
const LARGEST: usize = 256 * 1024 * 1024;

/// Some of the objects.
pub struct Page {
    /// The objects. Those of built-in kinds do not name their kind.
    pub items: List,
    /// What can be read of the objects that are nested too deeply: the fields, and those of the metadata, that are not.
    pub partial: List,
    /// The version of the list: a watch may go on from it.
    pub resource_version: Str,
    /// How to ask for the next page; nothing where this is the last one.
    pub next: Option<Str>,
    /// The bytes of the answer.
    pub size: usize,
    /// The part of the cluster's budget that the objects take.
    pub(crate) charge: Charge,
}

impl std::fmt::Debug for Page {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Page")
            .field("items", &self.items)
            .field("resource_version", &self.resource_version)
            .field("next", &self.next)
            .field("size", &self.size)
            .finish_non_exhaustive()
    }
}

impl Cluster {
    /// At most `limit` objects: the first page, or the one after `next`.
    pub async fn list(
        &self,
        resource: &Resource,
        selection: &Selection,
        limit: usize,
        next: Option<&str>,
    ) -> Result<Page, Error> {
        let mut query = selection.query();
        query.add("limit", &limit.to_string());
        if let Some(next) = next {
            query.add("continue", next);
        }
        let path = resource.collection(&selection.namespace);
        let mut ask = Ask::get(query.on(&path));
        ask.accept = match selection.detail {
            Detail::Metadata => "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1",
            Detail::Full => JSON,
        };
        let subject = Subject::new(Verb::List, resource, &selection.namespace, "");
        let answer = self.ask(&subject, &ask).await;
        let Answer { body, charge } = answer.map_err(|error| self.tell_kind(resource, error))?;
        let Split {
            metadata,
            whole,
            partial,
        } = match json::parse(&body) {
            Ok(answer) => Split::of(answer),
            Err(source) => partial::list(&body).ok_or_else(|| malformed(subject, source))?,
        };
        let next = metadata.str_at(&["continue"]);
        Ok(Page {
            resource_version: metadata.str_at(&["resourceVersion"]).into(),
            size: body.len(),
            charge,
            next: (!next.is_empty()).then(|| next.into()),
            items: whole,
            partial,
        })
    }
}

impl Cluster {
    /// All objects of a namespace, or of all where that is empty.
    ///
    /// # Errors
    /// When a page fails, when an object is nested too deeply to be read, or when all pages together are too large for memory.
    pub async fn list_all(&self, resource: &Resource, namespace: &str) -> Result<List, Error> {
        let selection = Selection {
            namespace: namespace.into(),
            ..Selection::default()
        };
        let (mut all, mut next, mut size) = (List::new(), None, 0);
        loop {
            let page = self.list(resource, &selection, PAGE, next.as_deref()).await?;
            size += page.size;
            if size > LARGEST {
                let subject = Subject::new(Verb::List, resource, namespace, "");
                return Err(malformed(
                    subject,
                    "the list has more than 256 MiB: select fewer objects",
                ));
            }
            if let Some(object) = page.partial.first() {
                let name = object.str_at(&["metadata", "name"]);
                let namespace = object.str_at(&["metadata", "namespace"]);
                let subject = Subject::new(Verb::List, resource, namespace, name);
                let levels = json::MAX_DEPTH;
                let why = format!("the object is nested too deeply: the limit is {levels} levels");
                return Err(malformed(subject, why));
            }
            all.extend(page.items);
            match page.next {
                Some(more) => next = Some(more.to_string()),
                None => return Ok(all),
            }
        }
    }
}

impl Selection {
    pub(super) fn query(&self) -> Query {
        let mut query = Query::default();
        for (key, text) in [("labelSelector", &self.labels), ("fieldSelector", &self.fields)] {
            if !text.is_empty() {
                query.add(key, text);
            }
        }
        query
    }
}
