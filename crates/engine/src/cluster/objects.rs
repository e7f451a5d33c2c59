//! Reading and writing single objects.

use bytes::Bytes;
use http::Method;
use model::{Str, Value, json, value};

use super::Cluster;
use super::counts::Verb;
use super::error::Error;
use super::query::Query;
use super::resource::Resource;
use super::secrets::secrets;
use super::send::{Ask, JSON, METADATA, Subject};

/// How a server-side apply is done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Apply {
    /// The field manager.
    pub manager: Str,
    /// Takes fields over that others own, instead of failing.
    pub force: bool,
    /// Answers what the object would be, and changes nothing.
    pub dry_run: bool,
    /// Answers only the metadata of what the object became.
    pub brief: bool,
    /// What becomes of fields that the server does not know.
    pub validation: Validation,
}

impl Apply {
    /// By a field manager that takes over what others own, as Flux does.
    pub fn by(manager: impl Into<Str>) -> Apply {
        Apply {
            manager: manager.into(),
            force: true,
            dry_run: false,
            brief: false,
            validation: Validation::default(),
        }
    }
}

/// How an object is created, replaced or patched.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Write {
    /// The field manager.
    pub manager: Str,
    /// Answers what the object would be, and changes nothing.
    pub dry_run: bool,
    /// What becomes of fields that the server does not know.
    pub validation: Validation,
}

impl Write {
    /// By a field manager.
    pub fn by(manager: impl Into<Str>) -> Write {
        Write {
            manager: manager.into(),
            dry_run: false,
            validation: Validation::default(),
        }
    }
}

/// What becomes of fields that the server does not know.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Validation {
    /// What the server does when it is told nothing: it warns.
    #[default]
    Unspecified,
    /// They are an error.
    Strict,
    /// They are dropped.
    Ignore,
}

/// How an object is deleted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Delete {
    /// What becomes of its dependents.
    pub propagation: Propagation,
    /// Deletes only the object with this uid.
    pub uid: Option<Str>,
    /// Deletes only this version of the object.
    pub resource_version: Option<Str>,
    /// Only says whether it could be deleted.
    pub dry_run: bool,
}

/// What becomes of the dependents of a deleted object.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Propagation {
    /// They are deleted after it.
    #[default]
    Background,
    /// They are deleted before it.
    Foreground,
    /// They stay.
    Orphan,
}

/// What a deletion led to.
#[derive(Clone, Debug, PartialEq)]
pub enum Deleted {
    /// The object is gone.
    Gone,
    /// The object is there until its finalizers are done.
    Leaving(Value),
}

impl Cluster {
    /// An object, or nothing where there is none. The namespace is empty for objects of the whole cluster.
    pub async fn get(
        &self,
        resource: &Resource,
        namespace: &str,
        name: &str,
    ) -> Result<Option<Value>, Error> {
        let subject = Subject::new(Verb::Get, resource, namespace, name);
        let ask = Ask::get(resource.path(namespace, name));
        match self.ask_object(&subject, &ask).await {
            Ok(object) => Ok(Some(object)),
            Err(Error::NotFound(refusal)) if refusal.names_object => Ok(None),
            Err(error) => Err(self.tell_kind(resource, error)),
        }
    }

    /// Applies an object on the server's side and returns what it became, or would become in a dry run.
    pub async fn apply(&self, resource: &Resource, object: &Value, options: &Apply) -> Result<Value, Error> {
        let (namespace, name) = place(object);
        let mut query = query(&options.manager, options.dry_run, options.validation);
        if options.force {
            query.add("force", "true");
        }
        let verb = if options.dry_run {
            Verb::DryRun
        } else {
            Verb::Apply
        };
        let path = query.on(&resource.path(namespace, name));
        let mut ask = write(
            Method::PATCH,
            path,
            "application/apply-patch+yaml",
            object,
            resource,
        );
        if options.brief {
            ask.accept = METADATA;
        }
        self.write(Subject::new(verb, resource, namespace, name), &ask, resource)
            .await
    }

    /// Creates an object. One without a name, with a `generateName`, is given a name by the server.
    pub async fn create(&self, resource: &Resource, object: &Value, options: &Write) -> Result<Value, Error> {
        let (namespace, name) = place(object);
        let query = query(&options.manager, options.dry_run, options.validation);
        let path = query.on(&resource.collection(namespace));
        let ask = write(Method::POST, path, JSON, object, resource);
        self.write(
            Subject::new(Verb::Create, resource, namespace, name),
            &ask,
            resource,
        )
        .await
    }

    /// Puts an object in the place of the one of its name; its `resourceVersion`, where it has one, has to be the current
    /// one.
    pub async fn replace(
        &self,
        resource: &Resource,
        object: &Value,
        options: &Write,
    ) -> Result<Value, Error> {
        let (namespace, name) = place(object);
        let query = query(&options.manager, options.dry_run, options.validation);
        let path = query.on(&resource.path(namespace, name));
        let ask = write(Method::PUT, path, JSON, object, resource);
        self.write(
            Subject::new(Verb::Replace, resource, namespace, name),
            &ask,
            resource,
        )
        .await
    }

    /// Changes an object by a JSON patch (RFC 6902), a list of operations.
    pub async fn json_patch(
        &self,
        resource: &Resource,
        namespace: &str,
        name: &str,
        patch: &Value,
        options: &Write,
    ) -> Result<Value, Error> {
        self.patch(
            resource,
            (namespace, name),
            "application/json-patch+json",
            patch,
            options,
        )
        .await
    }

    /// Changes an object by a merge patch (RFC 7386).
    pub async fn merge_patch(
        &self,
        resource: &Resource,
        namespace: &str,
        name: &str,
        patch: &Value,
        options: &Write,
    ) -> Result<Value, Error> {
        self.patch(
            resource,
            (namespace, name),
            "application/merge-patch+json",
            patch,
            options,
        )
        .await
    }

    /// Changes an object of a built-in kind by a strategic merge patch.
    pub async fn strategic_patch(
        &self,
        resource: &Resource,
        namespace: &str,
        name: &str,
        patch: &Value,
        options: &Write,
    ) -> Result<Value, Error> {
        self.patch(
            resource,
            (namespace, name),
            "application/strategic-merge-patch+json",
            patch,
            options,
        )
        .await
    }

    async fn patch(
        &self,
        resource: &Resource,
        (namespace, name): (&str, &str),
        content_type: &'static str,
        patch: &Value,
        options: &Write,
    ) -> Result<Value, Error> {
        let query = query(&options.manager, options.dry_run, options.validation);
        let path = query.on(&resource.path(namespace, name));
        let ask = write(Method::PATCH, path, content_type, patch, resource);
        self.write(
            Subject::new(Verb::Patch, resource, namespace, name),
            &ask,
            resource,
        )
        .await
    }

    /// Deletes an object. That there is none is [`Error::NotFound`]; that it is another one than the options name is
    /// [`Error::Conflict`].
    pub async fn delete(
        &self,
        resource: &Resource,
        namespace: &str,
        name: &str,
        options: &Delete,
    ) -> Result<Deleted, Error> {
        let mut ask = Ask::get(resource.path(namespace, name));
        ask.method = Method::DELETE;
        ask.content_type = JSON;
        ask.body = Bytes::from(json::to_vec(&options.body()));
        let subject = Subject::new(Verb::Delete, resource, namespace, name);
        let answer = self.write(subject, &ask, resource).await?;
        // The object comes back while something keeps it, and also where a server deletes it at once.
        let leaving = answer.at(&["metadata", "deletionTimestamp"]).is_some();
        Ok(match leaving {
            true => Deleted::Leaving(answer),
            false => Deleted::Gone,
        })
    }

    async fn write(&self, subject: Subject<'_>, ask: &Ask, resource: &Resource) -> Result<Value, Error> {
        let mut pause = None;
        loop {
            let answer = self.ask_object(&subject, ask).await;
            let answer = answer.map_err(|error| self.tell_kind(resource, error));
            let is_missing = matches!(answer, Err(Error::NoSuchKind { .. }));
            if !is_missing
                || !self
                    .serves_soon(&resource.group, &resource.kind, &mut pause)
                    .await
            {
                return answer;
            }
        }
    }

    /// A path that the server does not know is a kind that it no longer serves.
    pub(super) fn tell_kind(&self, resource: &Resource, error: Error) -> Error {
        match error {
            Error::NotFound(refusal) if !refusal.names_object => {
                self.discovery_changed();
                Error::NoSuchKind {
                    version: resource.api_version(),
                    kind: resource.kind.to_string(),
                }
            }
            error => error,
        }
    }
}

impl Delete {
    fn body(&self) -> Value {
        let mut body = value!({
            "apiVersion": "v1",
            "kind": "DeleteOptions",
            "propagationPolicy": (match self.propagation {
                Propagation::Background => "Background",
                Propagation::Foreground => "Foreground",
                Propagation::Orphan => "Orphan",
            }),
        });
        for (key, wanted) in [("uid", &self.uid), ("resourceVersion", &self.resource_version)] {
            if let Some(wanted) = wanted {
                body.set_at(&["preconditions", key], wanted.clone());
            }
        }
        if self.dry_run {
            body.set_at(&["dryRun"], value!(["All"]));
        }
        body
    }
}

fn place(object: &Value) -> (&str, &str) {
    let namespace = object.str_at(&["metadata", "namespace"]);
    (namespace, object.str_at(&["metadata", "name"]))
}

fn query(manager: &str, dry_run: bool, validation: Validation) -> Query {
    let mut query = Query::default();
    query.add("fieldManager", manager);
    if dry_run {
        query.add("dryRun", "All");
    }
    match validation {
        Validation::Unspecified => {}
        Validation::Strict => _ = query.add("fieldValidation", "Strict"),
        Validation::Ignore => _ = query.add("fieldValidation", "Ignore"),
    }
    query
}

fn write(method: Method, path: String, content_type: &'static str, body: &Value, resource: &Resource) -> Ask {
    let secret = resource.group.is_empty() && resource.kind == "Secret";
    Ask {
        method,
        path,
        accept: JSON,
        content_type,
        body: Bytes::from(json::to_vec(body)),
        secrets: if secret { secrets(body) } else { Vec::new() },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_deletion_says_what_it_is_for() {
        let delete = Delete {
            propagation: Propagation::Foreground,
            uid: Some("u-1".into()),
            ..Delete::default()
        };
        assert_eq!(
            json::to_string(&delete.body()),
            r#"{"apiVersion":"v1","kind":"DeleteOptions","preconditions":{"uid":"u-1"},"propagationPolicy":"Foreground"}"#
        );
    }
}
