//! The common way of all writes: complete, check, store.

use std::sync::Arc;

use model::{Map, Value};

use super::options::WriteOptions;
use crate::builtin::traits;
use crate::error::{Error, Result};
use crate::field;
use crate::kinds::Served;
use crate::metadata;
use crate::server::State;
use crate::store::{Draft, Key, Object, Refused, Write};
use crate::strategy::Part;

/// How often a write that lost a race is tried again before the client is told.
const TRIES: usize = 100;

/// Writes objects of one resource in one namespace.
pub(crate) struct Writer<'a> {
    pub state: &'a Arc<State>,
    pub served: &'a Served,
    pub namespace: &'a str,
    pub options: &'a WriteOptions,
}

/// What an update makes of an object.
pub(crate) struct Update {
    /// The new object, decoded and with defaults.
    pub object: Value,
    /// Its managed fields are in order already: it comes from an apply.
    pub owned: bool,
}

impl Writer<'_> {
    /// Stores a new object that was decoded and has its defaults.
    pub(crate) fn create(&self, mut object: Value, owned: bool) -> Result<Arc<Object>> {
        let resource = &self.served.resource;
        metadata::settle_namespace(&mut object, resource.namespaced, self.namespace)?;
        let name = object.str_at(&["metadata", "name"]).to_owned();
        self.state.admit_namespace(resource, self.namespace, &name)?;
        if !owned {
            object = self
                .state
                .own(self.served, None, object, self.options, Part::Main);
        }
        self.state.admit(self.served, &mut object)?;
        if object.str_at(&["metadata", "name"]).is_empty() {
            self.generate_name(&mut object);
        }
        metadata::complete(&mut object, &self.state.new_uid(), &self.state.now_text());
        self.served.strategy.prepare_create(&mut object);
        self.state.allocate(self.served, &mut object, None)?;
        let name = object.str_at(&["metadata", "name"]).to_owned();
        let version = object.str_at(&["metadata", "resourceVersion"]);
        if !matches!(version, "" | "0") {
            return Err(Error::new(
                500,
                "",
                "resourceVersion should not be set on objects to be created",
            ));
        }
        let mut errors = metadata::validate_create(&object, resource.namespaced, &|name| {
            self.served.strategy.validate_name(name)
        });
        if self.served.definition.is_none() {
            errors.extend(metadata::validate_finalizers(&object));
        }
        errors.extend(self.served.strategy.validate_create(&object));
        self.check(&name, &errors)?;
        let key = Key::new(self.namespace, &name);
        self.store(key, None, object).map_err(|refused| match refused {
            Refused::Exists => self.taken(&name),
            Refused::Changed => self.modified(&name),
        })
    }

    /// The refusal of a name that another object has.
    fn taken(&self, name: &str) -> Error {
        let resource = &self.served.resource;
        let mut error = Error::already_exists(&resource.group, &resource.plural, name);
        let other = self
            .state
            .store
            .get(&resource.storage, &Key::new(self.namespace, name));
        if other.is_some_and(|other| other.meta.deleting) {
            error.message = format!("object is being deleted: {}", error.message);
        }
        error
    }

    fn generate_name(&self, object: &mut Value) {
        let base = object.str_at(&["metadata", "generateName"]).to_owned();
        if !base.is_empty() {
            let name = self
                .state
                .with_random(|random| metadata::generated_name(&base, random));
            object.set_at(&["metadata", "name"], name);
        }
    }

    fn check(&self, name: &str, errors: &[field::Error]) -> Result<()> {
        let resource = &self.served.resource;
        match errors {
            [] => Ok(()),
            errors => Err(Error::invalid(&resource.group, &resource.kind, name, errors)),
        }
    }

    /// Changes an object: `change` is given what is there and says what shall be. Runs again where another write came
    /// in between, unless the new object insists on a revision.
    pub(crate) fn update(
        &self,
        key: &Key,
        part: Part,
        mut change: impl FnMut(&Value) -> Result<Update>,
    ) -> Result<Arc<Object>> {
        let resource = &self.served.resource;
        for _ in 0..TRIES {
            let Some(current) = self.state.store.get(&resource.storage, key) else {
                return Err(Error::not_found(&resource.group, &resource.plural, key.name()));
            };
            let old = self.served.show(&current);
            let update = change(&old)?;
            match self.finish(&current, &old, update, part)? {
                Some(object) => return Ok(object),
                None => continue,
            }
        }
        Err(self.modified(key.name()))
    }

    /// Completes, checks and stores an update; `None` where it lost a race.
    fn finish(
        &self,
        current: &Arc<Object>,
        old: &Value,
        update: Update,
        part: Part,
    ) -> Result<Option<Arc<Object>>> {
        let resource = &self.served.resource;
        let name = current.key.name();
        let Update { mut object, owned } = update;
        metadata::settle_namespace(&mut object, resource.namespaced, self.namespace)?;
        self.check_preconditions(&mut object, old)?;
        if !owned {
            object = self.state.own(self.served, Some(old), object, self.options, part);
        }
        keep_metadata(&mut object, old);
        self.served.strategy.prepare_update(part, &mut object, old);
        if part == Part::Main {
            self.state.allocate(self.served, &mut object, Some(old))?;
        }
        keep_deletion(&mut object, old);
        let mut errors = metadata::validate_update(&object, old, resource.namespaced);
        errors.extend(self.served.strategy.validate_update(part, &object, old));
        self.check(name, &errors)?;
        smd::managed::keep_times(old, &mut object);
        if object == *old {
            return Ok(Some(Arc::clone(current)));
        }
        let gone = metadata::of(&object).contains_key("deletionTimestamp")
            && metadata::finalizers(&object).next().is_none()
            && metadata::number(&object, "deletionGracePeriodSeconds") == 0
            && object.list_at(&["spec", "finalizers"]).is_empty();
        let stored = match gone && metadata::finalizers(old).next().is_some() {
            // The last finalizer was taken away: the object goes.
            true => self.remove(current).map(|last| self.sealed(&last, object)),
            false => self.store(current.key.clone(), Some(current.revision), object),
        };
        match stored {
            Ok(object) => Ok(Some(object)),
            Err(_) => Ok(None),
        }
    }

    /// Holds a whole new object against the identity of the one it replaces.
    pub(crate) fn check_identity(&self, object: &Value, old: &Value) -> Result<()> {
        let resource = &self.served.resource;
        let name = old.str_at(&["metadata", "name"]);
        let (uid, old_uid) = (
            object.str_at(&["metadata", "uid"]),
            old.str_at(&["metadata", "uid"]),
        );
        if !uid.is_empty() && uid != old_uid {
            let group = if self.served.definition.is_some() {
                format!("{}/", resource.group)
            } else {
                String::new()
            };
            let why = format!(
                "StorageError: invalid object, Code: 4, Key: /registry/{group}{}/{}, ResourceVersion: 0, \
                 AdditionalErrorMsg: Precondition failed: UID in precondition: {uid}, UID in object meta: {old_uid}",
                resource.plural,
                Key::new(self.namespace, name).text()
            );
            return Err(Error::conflict(&resource.group, &resource.plural, name, &why));
        }
        Ok(())
    }

    /// Holds the update against the revision it names.
    fn check_preconditions(&self, object: &mut Value, old: &Value) -> Result<()> {
        let resource = &self.served.resource;
        let name = old.str_at(&["metadata", "name"]);
        let version = object.str_at(&["metadata", "resourceVersion"]);
        let old_version = old.str_at(&["metadata", "resourceVersion"]);
        if matches!(version, "" | "0") {
            if self.served.definition.is_none()
                && traits::of(&resource.group, &resource.kind).updates_unconditionally
            {
                let old_version = old_version.to_owned();
                object.set_at(&["metadata", "resourceVersion"], old_version);
            }
            return Ok(());
        }
        if version != old_version {
            if version.parse::<u64>().is_err() {
                return Err(Error::new(
                    500,
                    "",
                    format!("strconv.ParseUint: parsing \"{version}\": invalid syntax"),
                ));
            }
            return Err(self.modified(name));
        }
        Ok(())
    }

    pub(crate) fn modified(&self, name: &str) -> Error {
        let resource = &self.served.resource;
        let why =
            "the object has been modified; please apply your changes to the latest version and try again";
        Error::conflict(&resource.group, &resource.plural, name, why)
    }

    /// An object as it would be stored in place of `last`.
    fn sealed(&self, last: &Object, object: Value) -> Arc<Object> {
        let (value, meta) = self.served.stored(object);
        Arc::new(Object::seal(
            last.key.clone(),
            last.revision,
            Draft { value, meta },
        ))
    }

    /// Stores an object as it is, unless this is a dry run.
    pub(crate) fn store(
        &self,
        key: Key,
        seen: Option<u64>,
        object: Value,
    ) -> std::result::Result<Arc<Object>, Refused> {
        let (value, meta) = self.served.stored(object);
        let storage = self.served.resource.storage.clone();
        let draft = Draft { value, meta };
        if self.options.dry_run {
            return self.state.store.try_write(Write {
                storage,
                key,
                seen,
                object: Some(draft),
            });
        }
        self.state.commit(Write {
            storage,
            key,
            seen,
            object: Some(draft),
        })
    }

    /// Removes an object, unless this is a dry run. Returns its last state.
    pub(crate) fn remove(&self, object: &Arc<Object>) -> std::result::Result<Arc<Object>, Refused> {
        if self.options.dry_run {
            return Ok(Arc::clone(object));
        }
        let storage = self.served.resource.storage.clone();
        let key = object.key.clone();
        self.state.commit(Write {
            storage,
            key,
            seen: Some(object.revision),
            object: None,
        })
    }
}

/// Keeps what clients may not change.
fn keep_metadata(object: &mut Value, old: &Value) {
    let old = metadata::of(old);
    let new = metadata::of_mut(object);
    keep(new, old, "generation");
    keep(new, old, "creationTimestamp");
    new.remove("selfLink");
    if new
        .get("uid")
        .and_then(Value::as_str)
        .unwrap_or_default()
        .is_empty()
    {
        keep(new, old, "uid");
    }
}

/// Keeps the deletion under way, which no update can take back.
fn keep_deletion(object: &mut Value, old: &Value) {
    let old = metadata::of(old);
    let new = metadata::of_mut(object);
    if old.contains_key("deletionTimestamp") {
        keep(new, old, "deletionTimestamp");
    }
    if old.contains_key("deletionGracePeriodSeconds") && !new.contains_key("deletionGracePeriodSeconds") {
        keep(new, old, "deletionGracePeriodSeconds");
    }
}

fn keep(new: &mut Map, old: &Map, field: &str) {
    match old.get(field) {
        Some(value) => new.insert(field, value.clone()),
        None => new.remove(field),
    };
}
