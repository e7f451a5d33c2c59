//! Who owns which field: the server's side of managed fields.

use model::Value;
use smd::managed::{self, ApplyError, OnConflict, Origin, Replicas, Reset, Typing, Version, Write};
use smd::{Path, TypeRef};

use crate::builtin::reset;
use crate::error::{Cause, Error, Result};
use crate::kinds::Served;
use crate::server::State;
use crate::strategy::Part;
use crate::verbs::options::WriteOptions;

impl State {
    /// Gives a created or updated object its managed fields.
    pub(crate) fn own(
        &self,
        served: &Served,
        old: Option<&Value>,
        object: Value,
        options: &WriteOptions,
        part: Part,
    ) -> Value {
        let others = other_versions(served);
        let now = self.now_text();
        managed::update(
            &typing(served, &others),
            old,
            object,
            &write(served, options, part, &now),
        )
    }

    /// Merges an applied object into what is there.
    pub(crate) fn apply(
        &self,
        served: &Served,
        old: Option<&Value>,
        applied: &Value,
        options: &WriteOptions,
        part: Part,
    ) -> Result<Value> {
        let others = other_versions(served);
        let now = self.now_text();
        let on_conflict = if options.force {
            OnConflict::Force
        } else {
            OnConflict::Fail
        };
        managed::apply(
            &typing(served, &others),
            old,
            applied,
            &write(served, options, part, &now),
            on_conflict,
        )
        .map_err(refused)
    }

    /// The managed fields of an object whose scale was written: `old` and `new` are the scale before and after.
    pub(crate) fn own_scale(
        &self,
        served: &Served,
        parent: &Value,
        old: &Value,
        new: &Value,
        options: &WriteOptions,
    ) -> Result<Option<Value>> {
        let unreadable = |error: managed::EntryError| Error::internal(error);
        let api_version = served.resource.api_version();
        let path = served.replicas_path();
        let replicas = [Replicas {
            api_version: api_version.clone(),
            path: Some(Path::fields(&path)),
        }];
        let before = parent.list_at(&["metadata", "managedFields"]);
        let mut old = old.clone();
        if let Some(entries) = managed::to_scale(before, &replicas).map_err(unreadable)? {
            old.set_at(&["metadata", "managedFields"], entries);
        }
        let ty = self
            .schema
            .kind("autoscaling", "v1", "Scale")
            .ok_or_else(|| Error::internal("Scale has no type"))?;
        let typing = Typing {
            ty: TypeRef::new(&self.schema, ty),
            api_version: "autoscaling/v1",
            kind: "Scale",
            origin: Origin::BuiltIn,
            other_versions: &[],
        };
        let now = self.now_text();
        let write = Write {
            manager: &options.manager,
            subresource: "scale",
            reset: &Reset::Nothing,
            now: &now,
        };
        let written = managed::update(&typing, Some(&old), new.clone(), &write);
        let after = written.list_at(&["metadata", "managedFields"]);
        managed::from_scale(before, after, &api_version, &replicas).map_err(unreadable)
    }
}

/// What writes to each part of an object of a kind set back.
pub(crate) struct Resets {
    main: Reset,
    status: Reset,
}

impl Resets {
    /// Those of a built-in kind.
    pub(crate) fn builtin(gvk: &smd::schema::Gvk) -> Self {
        let of = |part| match reset::fields(gvk, part) {
            [] => Reset::Nothing,
            fields => Reset::fields(fields),
        };
        Resets {
            main: of(Part::Main),
            status: of(Part::Status),
        }
    }

    /// Those of a custom resource, which may have a status subresource.
    pub(crate) fn custom(has_status: bool) -> Self {
        let main = if has_status {
            Reset::fields(&[&["status"]])
        } else {
            Reset::Nothing
        };
        Resets {
            main,
            status: Reset::fields(&[&["spec"]]),
        }
    }
}

fn write<'a>(served: &'a Served, options: &'a WriteOptions, part: Part, now: &'a str) -> Write<'a> {
    let (subresource, reset) = match part {
        Part::Main => ("", &served.resets.main),
        Part::Status => ("status", &served.resets.status),
    };
    Write {
        manager: &options.manager,
        subresource,
        reset,
        now,
    }
}

fn typing<'a>(served: &'a Served, others: &'a [Version<'a>]) -> Typing<'a> {
    Typing {
        ty: TypeRef::new(&served.schema, served.ty),
        api_version: &served.api_version,
        kind: &served.resource.kind,
        origin: if served.definition.is_some() {
            Origin::Custom
        } else {
            Origin::BuiltIn
        },
        other_versions: others,
    }
}

fn other_versions(served: &Served) -> Vec<Version<'_>> {
    let others = served.others.iter();
    others
        .map(|other| Version {
            api_version: &other.api_version,
            ty: TypeRef::new(&other.schema, other.ty),
        })
        .collect()
}

fn refused(error: ApplyError) -> Error {
    let message = error.to_string();
    match error {
        ApplyError::BadRequest(_) => Error::bad_request(message),
        ApplyError::Untyped(_) => Error::new(500, "", message),
        ApplyError::Conflicts(conflicts) => {
            let mut error = Error::new(409, "Conflict", message);
            let causes = conflicts.iter().map(|conflict| Cause {
                reason: "FieldManagerConflict".into(),
                message: conflict.message(),
                field: conflict.path.to_string(),
            });
            error.details.causes = causes.collect();
            error
        }
    }
}
