//! Custom resources as the server handles all kinds.

use model::{Str, Value};

use super::definition::Version;
use super::{cel, default, embedded, lists, prune, validate};
use crate::builtin::validate::name;
use crate::error::{Error, Result};
use crate::field;
use crate::jsonpath;
use crate::strategy::{Part, Strategy};

impl Strategy for Version {
    fn decode(&self, object: &mut Value) -> Result<Vec<String>> {
        for field in ["apiVersion", "kind"] {
            if let Some(value) = object.get(field).filter(|value| value.as_str().is_none()) {
                let detail = smd::patch::go_text::plain(value);
                return Err(Error::bad_request(format!(
                    ".{field} accessor error: {detail} is of the wrong type"
                )));
            }
        }
        let refuse = |why: String| {
            let (kind, version) = (&self.kind, &self.name);
            Error::bad_request(format!(
                "{kind} in version {version:?} cannot be handled as a {kind}: {why}"
            ))
        };
        let metadata = &self.shared.metadata;
        let mut unknown = metadata.decode(object, "").map_err(refuse)?;
        unknown.extend(prune::prune(object, &self.schema));
        default::drop_nulls(object, Some(&self.schema));
        let inside = embedded::coerce(object, &self.schema, metadata);
        unknown.extend(inside.map_err(|error| refuse(error.to_string()))?);
        Ok(unknown)
    }

    fn default(&self, object: &mut Value) {
        default::fill(object, &self.schema);
    }

    fn prepare_create(&self, object: &mut Value) {
        if self.status {
            object.make_object().remove("status");
        }
        object.set_at(&["metadata", "generation"], 1i64);
    }

    fn prepare_update(&self, part: Part, object: &mut Value, old: &Value) {
        match part {
            Part::Main if self.status => keep(object, old, "status"),
            Part::Main => {}
            Part::Status => {
                // All but the status, and the managed fields that tell of this very request, stays as it was.
                let status = object.make_object().remove("status");
                let managed = object.remove_at(&["metadata", "managedFields"]);
                let mut kept = old.clone();
                kept.make_object().remove("status");
                if let Some(status) = status {
                    kept.make_object().insert("status", status);
                }
                kept.remove_at(&["metadata", "managedFields"]);
                if let Some(managed) = managed {
                    kept.set_at(&["metadata", "managedFields"], managed);
                }
                *object = kept;
                return;
            }
        }
        let generation = old
            .at(&["metadata", "generation"])
            .and_then(Value::as_i64)
            .unwrap_or_default();
        let changed = i64::from(differs_beyond_metadata(object, old));
        object.set_at(&["metadata", "generation"], generation + changed);
    }

    fn validate_create(&self, object: &Value) -> Vec<field::Error> {
        let mut errors = self.wrong_type(object);
        if !errors.is_empty() {
            return errors;
        }
        errors.extend(validate::create(object, &self.schema, ""));
        errors.extend(self.scale.iter().flat_map(|scale| scale.validate(object, true)));
        errors.extend(embedded::validate(object, &self.schema));
        errors.extend(lists::duplicates(object, &self.schema));
        match self.blocking(&errors) {
            Some(error) => errors.push(error),
            None => errors.extend(cel::create(object, &self.schema, &self.shared.functions, "")),
        }
        errors
    }

    fn validate_update(&self, part: Part, object: &Value, old: &Value) -> Vec<field::Error> {
        let mut errors = self.wrong_type(object);
        if !errors.is_empty() {
            return errors;
        }
        match part {
            Part::Main => {
                errors.extend(validate::update(object, old, &self.schema, ""));
                errors.extend(embedded::validate(object, &self.schema));
            }
            Part::Status => {
                if let (Some(status), Some(schema)) = (object.get("status"), self.schema.field("status")) {
                    let old = old.get("status").unwrap_or(&Value::Null);
                    errors.extend(validate::update(status, old, schema, "status"));
                }
            }
        }
        let with_spec = part == Part::Main;
        errors.extend(
            self.scale
                .iter()
                .flat_map(|scale| scale.validate(object, with_spec)),
        );
        if lists::duplicates(old, &self.schema).is_empty() {
            errors.extend(lists::duplicates(object, &self.schema));
        }
        match self.blocking(&errors) {
            Some(error) => errors.push(error),
            None => errors.extend(cel::update(object, old, &self.schema, &self.shared.functions, "")),
        }
        errors
    }

    fn validate_name(&self, name: &str) -> Vec<String> {
        name::subdomain(name)
    }

    fn warnings(&self, object: &Value) -> Vec<String> {
        let finalizers = object
            .list_at(&["metadata", "finalizers"])
            .iter()
            .filter_map(Value::as_str);
        finalizers.flat_map(finalizer_warnings).collect()
    }

    fn field_label<'a>(&self, label: &'a str) -> std::result::Result<&'a str, String> {
        let known = match label {
            "metadata.name" => true,
            "metadata.namespace" => self.namespaced,
            other => self.selectable.iter().any(|(name, _)| name == other),
        };
        if known {
            Ok(label)
        } else {
            Err(format!("field label not supported: {label}"))
        }
    }

    fn selectable(&self, object: &Value) -> Vec<(Str, Str)> {
        let show = |path: &jsonpath::JsonPath| {
            let found = path.find(object).unwrap_or_default();
            found
                .first()
                .filter(|value| !value.is_null())
                .map(|value| jsonpath::print(value))
                .unwrap_or_default()
        };
        self.selectable
            .iter()
            .map(|(name, path)| (name.clone(), Str::from(show(path))))
            .collect()
    }
}

impl Version {
    fn wrong_type(&self, object: &Value) -> Vec<field::Error> {
        let wanted = [
            ("kind", self.kind.to_string()),
            ("apiVersion", format!("{}/{}", self.group, self.name)),
        ];
        let mut errors = Vec::new();
        for (field, wanted) in wanted {
            let found = object.str_at(&[field]);
            if found != wanted {
                errors.push(field::Error::invalid(
                    field,
                    &Value::str(found),
                    format!("must be {wanted}"),
                ));
            }
        }
        errors
    }

    /// Rules are not used on objects whose types are wrong; says so where there are rules.
    fn blocking(&self, errors: &[field::Error]) -> Option<field::Error> {
        use field::Kind;
        let blocks = |error: &field::Error| {
            matches!(
                error.kind,
                Kind::NotSupported | Kind::Required | Kind::TooLong | Kind::TooMany | Kind::TypeInvalid
            )
        };
        let has_rules = !self.schema.rules.is_empty() || self.schema.rules_below;
        let detail = "some validation rules were not checked because the object was invalid; correct the existing \
                      errors to complete validation";
        let blocked = has_rules && errors.iter().any(blocks);
        blocked.then(|| field::Error::invalid("<nil>", &Value::Null, detail))
    }
}

/// Puts a field back as it was.
fn keep(object: &mut Value, old: &Value, field: &str) {
    match old.get(field) {
        Some(value) => object.make_object().insert(field, value.clone()),
        None => object.make_object().remove(field),
    };
}

fn differs_beyond_metadata(object: &Value, old: &Value) -> bool {
    let rest = |object: &Value| {
        let map = object.as_object().into_iter().flat_map(model::Map::iter);
        map.filter(|(key, _)| *key != "metadata")
            .map(|(key, value)| (key.to_owned(), value.clone()))
            .collect()
    };
    let (new, old): (model::Map, model::Map) = (rest(object), rest(old));
    new != old
}

fn finalizer_warnings(finalizer: &str) -> Vec<String> {
    const STANDARD: [&str; 3] = ["orphan", "foregroundDeletion", "kubernetes"];
    let path = "metadata.finalizers";
    let problems = model::label::key_problems(finalizer);
    let mut warnings: Vec<String> = problems
        .iter()
        .map(|problem| format!("{path}: {finalizer:?}: {problem}"))
        .collect();
    if !finalizer.contains('/') && !STANDARD.contains(&finalizer) {
        let with_path = if finalizer.contains('.') {
            " including a path (/)"
        } else {
            ""
        };
        warnings.push(format!(
            "{path}: {finalizer:?}: prefer a domain-qualified finalizer name{with_path} to avoid accidental conflicts \
             with other finalizer writers"
        ));
    }
    warnings
}
