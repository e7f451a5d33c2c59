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
const PAGE: usize = 100;
/// The most memory that the objects of [`Cluster::list_all`] take together.
const LARGEST: usize = 128 * 1024 * 1024;

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
    /// The memory that the objects take, about.
    pub memory: usize,
    /// The part of the cluster's budget that the objects take. Keep it for as long as them.
    pub charge: Charge,
}

/// All objects of a kind.
pub struct Listing {
    /// The objects.
    pub items: List,
    /// The parts of the cluster's budget that the objects take. Keep them for as long as the objects.
    pub charges: Vec<Charge>,
}

impl std::fmt::Debug for Listing {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let items = &self.items;
        f.debug_struct("Listing")
            .field("items", items)
            .finish_non_exhaustive()
    }
}

impl std::fmt::Debug for Page {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Page")
            .field("items", &self.items)
            .field("resource_version", &self.resource_version)
            .field("next", &self.next)
            .field("memory", &self.memory)
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
            memory: json::memory(&body),
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
    pub async fn list_all(&self, resource: &Resource, namespace: &str) -> Result<Listing, Error> {
        let selection = Selection {
            namespace: namespace.into(),
            ..Selection::default()
        };
        let (mut items, mut charges) = (List::new(), Vec::new());
        let (mut next, mut memory) = (None, 0);
        loop {
            let page = self.list(resource, &selection, PAGE, next.as_deref()).await?;
            memory += page.memory;
            if memory > LARGEST {
                let subject = Subject::new(Verb::List, resource, namespace, "");
                return Err(malformed(
                    subject,
                    "the objects take more than 128 MiB of memory: select fewer objects",
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
            items.extend(page.items);
            charges.push(page.charge);
            match page.next {
                Some(more) => next = Some(more.to_string()),
                None => return Ok(Listing { items, charges }),
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
