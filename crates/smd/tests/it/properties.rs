//! Laws that hold for all values, sets and writes.

use model::{Value, json};
use proptest::prelude::*;
use smd::managed::{ApplyError, OnConflict, Origin, Reset, Typing, Write, apply, update};
use smd::schema::Gvk;
use smd::typed::Duplicates;
use smd::{FieldSet, Schema, TypeRef};

use crate::arbitrary::{Choices, any, set, value_of};

fn bytes(most: usize) -> impl Strategy<Value = Vec<u8>> {
    proptest::collection::vec(any_byte(), 0..most)
}

fn any_byte() -> impl Strategy<Value = u8> {
    proptest::num::u8::ANY
}

/// Kinds that between them have every shape of type.
const KINDS: &[(&str, &str, &str)] = &[
    ("apps", "v1", "Deployment"),
    ("", "v1", "Service"),
    ("", "v1", "ConfigMap"),
    ("networking.k8s.io", "v1", "Ingress"),
];

/// The types are read once for all cases.
struct Types(Schema);

impl Types {
    fn pick(&self, choices: &mut Choices<'_>) -> (TypeRef<'_>, smd::TypeId, Gvk) {
        let (group, version, kind) = KINDS[choices.below(KINDS.len())];
        let id = self.0.kind(group, version, kind).unwrap();
        let gvk = Gvk {
            group: group.into(),
            version: version.into(),
            kind: kind.into(),
        };
        (TypeRef::new(&self.0, id), id, gvk)
    }

    fn object(&self, id: smd::TypeId, gvk: &Gvk, choices: &mut Choices<'_>, odds: usize) -> Value {
        let mut object = value_of(&self.0, id, choices, odds, 9);
        object.set_at(&["apiVersion"], api_version(gvk));
        object.set_at(&["kind"], gvk.kind.clone());
        object.set_at(&["metadata", "name"], "n");
        object
    }
}

fn api_version(gvk: &Gvk) -> String {
    let slash = if gvk.group.is_empty() { "" } else { "/" };
    format!("{}{slash}{}", gvk.group, gvk.version)
}

fn check(cases: u32, most: usize, law: impl Fn(&Types, &mut Choices<'_>) -> Result<(), TestCaseError>) {
    let types = Types(Schema::builtin());
    let mut config = ProptestConfig::with_cases(cases);
    config.failure_persistence = None;
    proptest::test_runner::TestRunner::new(config)
        .run(&bytes(most), |bytes| law(&types, &mut Choices::new(&bytes)))
        .unwrap();
}

#[test]
fn sets_follow_the_laws_of_sets() {
    check(2000, 120, |_, choices| {
        let (a, b, c) = (set(choices), set(choices), set(choices));
        prop_assert_eq!(a.union(&b), b.union(&a));
        prop_assert_eq!(a.union(&b).union(&c), a.union(&b.union(&c)));
        prop_assert_eq!(a.intersection(&b), b.intersection(&a));
        prop_assert_eq!(
            a.union(&b).intersection(&c),
            a.intersection(&c).union(&b.intersection(&c))
        );
        prop_assert_eq!(a.difference(&b).union(&a.intersection(&b)), a.clone());
        prop_assert_eq!(a.union(&b).difference(&b), a.difference(&b));
        prop_assert!(a.recursive_difference(&b).is_subset(&a.difference(&b)));
        prop_assert_eq!(a.is_subset(&b), a.difference(&b).is_empty());
        prop_assert_eq!(a.intersects(&b), !a.intersection(&b).is_empty());
        prop_assert!(a.leaves().is_subset(&a));
        prop_assert_eq!(a.len(), a.paths().len());
        prop_assert!(a.paths().iter().all(|path| a.contains(&path.0)));
        prop_assert_eq!(FieldSet::from_paths(a.paths()), a);
        Ok(())
    });
}

#[test]
fn sets_survive_being_written_as_fields_v1() {
    check(2000, 120, |_, choices| {
        let set = set(choices);
        let text = set.to_json();
        let read = FieldSet::from_value(&json::parse(text.as_bytes()).unwrap()).unwrap();
        prop_assert_eq!(&read, &set);
        prop_assert_eq!(read.to_json(), text);
        Ok(())
    });
}

#[test]
fn merging_twice_is_merging_once() {
    check(400, 3000, |types, choices| {
        let (ty, id, gvk) = types.pick(choices);
        let live = types.object(id, &gvk, choices, 30);
        let config = types.object(id, &gvk, choices, 20);
        prop_assert_eq!(ty.validate(&live, Duplicates::Forbidden), Ok(()));
        let mut once = live.clone();
        ty.merge(&mut once, &config);
        let mut twice = once.clone();
        prop_assert!(ty.merge(&mut twice, &config).is_same());
        prop_assert_eq!(&twice, &once);
        prop_assert_eq!(ty.validate(&once, Duplicates::Forbidden), Ok(()));
        let lost = ty.compare(&config, &once);
        prop_assert!(lost.removed.is_empty() && lost.modified.is_empty());
        Ok(())
    });
}

#[test]
fn a_merge_reports_what_a_comparison_finds() {
    check(400, 3000, |types, choices| {
        let (ty, id, gvk) = types.pick(choices);
        let live = types.object(id, &gvk, choices, 30);
        let config = types.object(id, &gvk, choices, 20);
        let mut merged = live.clone();
        let reported = ty.merge(&mut merged, &config);
        prop_assert_eq!(reported, ty.compare(&live, &merged));
        Ok(())
    });
}

#[test]
fn comparing_the_other_way_round_swaps_added_and_removed() {
    check(400, 3000, |types, choices| {
        let (ty, id, gvk) = types.pick(choices);
        let (a, b) = (
            types.object(id, &gvk, choices, 25),
            types.object(id, &gvk, choices, 25),
        );
        let (there, back) = (ty.compare(&a, &b), ty.compare(&b, &a));
        prop_assert_eq!(there.added, back.removed);
        prop_assert_eq!(there.removed, back.added);
        prop_assert_eq!(there.modified, back.modified);
        prop_assert!(ty.compare(&a, &a).is_same());
        Ok(())
    });
}

#[test]
fn what_is_extracted_and_what_is_removed_make_up_the_whole() {
    check(400, 3000, |types, choices| {
        let (ty, id, gvk) = types.pick(choices);
        let object = types.object(id, &gvk, choices, 30);
        let all = ty.field_set(&object);
        let extracted = ty.extract_items(&object, &all.leaves());
        prop_assert!(ty.compare(&object, &extracted).modified.is_empty());
        let mut rest = object.clone();
        ty.remove_items(&mut rest, &all);
        prop_assert!(!ty.field_set(&rest).intersects(&all.leaves()) || all.is_empty());
        Ok(())
    });
}

#[test]
fn applying_the_same_again_changes_nothing() {
    check(400, 3000, |types, choices| {
        let (ty, id, gvk) = types.pick(choices);
        let version = api_version(&gvk);
        let typing = Typing {
            ty,
            api_version: &version,
            kind: &gvk.kind,
            origin: Origin::BuiltIn,
            other_versions: &[],
        };
        let write = |manager: &'static str, now: &'static str| Write {
            manager,
            subresource: "",
            reset: &Reset::Nothing,
            now,
        };
        let mut live = types.object(id, &gvk, choices, 30);
        live.set_at(&["metadata", "uid"], "u");
        let (mine, yours) = (
            types.object(id, &gvk, choices, 20),
            types.object(id, &gvk, choices, 20),
        );
        let first = write("mine", "2026-01-01T00:00:00Z");
        let live = apply(
            &typing,
            Some(&live),
            &yours,
            &write("yours", "2026-01-01T00:00:00Z"),
            OnConflict::Force,
        );
        let live = live.map_err(|error| TestCaseError::fail(error.to_string()))?;
        let applied = match apply(&typing, Some(&live), &mine, &first, OnConflict::Fail) {
            Err(ApplyError::Conflicts(_)) => apply(&typing, Some(&live), &mine, &first, OnConflict::Force),
            result => result,
        };
        let applied = applied.map_err(|error| TestCaseError::fail(error.to_string()))?;
        // An object that nobody owns anything of gets an owner for what is there at the next apply.
        if applied.list_at(&["metadata", "managedFields"]).is_empty() {
            return Ok(());
        }
        let later = write("mine", "2026-01-02T00:00:00Z");
        let again = apply(&typing, Some(&applied), &mine, &later, OnConflict::Fail);
        let again = again.map_err(|error| TestCaseError::fail(error.to_string()))?;
        prop_assert_eq!(json::to_string(&again), json::to_string(&applied));
        Ok(())
    });
}

#[test]
fn an_update_that_changes_nothing_keeps_managed_fields() {
    check(300, 3000, |types, choices| {
        let (ty, id, gvk) = types.pick(choices);
        let version = api_version(&gvk);
        let typing = Typing {
            ty,
            api_version: &version,
            kind: &gvk.kind,
            origin: Origin::BuiltIn,
            other_versions: &[],
        };
        let write = |now: &'static str| Write {
            manager: "m",
            subresource: "",
            reset: &Reset::Nothing,
            now,
        };
        let object = types.object(id, &gvk, choices, 30);
        let created = update(&typing, None, object, &write("2026-01-01T00:00:00Z"));
        let updated = update(
            &typing,
            Some(&created),
            created.clone(),
            &write("2026-01-02T00:00:00Z"),
        );
        prop_assert_eq!(json::to_string(&updated), json::to_string(&created));
        Ok(())
    });
}

#[test]
fn no_input_makes_a_write_panic() {
    check(3000, 400, |types, choices| {
        let (ty, _, gvk) = types.pick(choices);
        let version = api_version(&gvk);
        let origin = if choices.below(2) == 0 {
            Origin::BuiltIn
        } else {
            Origin::Custom
        };
        let typing = Typing {
            ty,
            api_version: &version,
            kind: &gvk.kind,
            origin,
            other_versions: &[],
        };
        let write = Write {
            manager: ["", "kubectl", "m"][choices.below(3)],
            subresource: ["", "status"][choices.below(2)],
            reset: &Reset::fields(&[&["status"]]),
            now: "2026-01-01T00:00:00Z",
        };
        let (live, mut applied) = (any(choices, 6), any(choices, 6));
        if let Value::Object(applied) = &mut applied {
            applied.insert("apiVersion", version.as_str());
            applied.insert("kind", gvk.kind.clone());
        }
        let _ = apply(&typing, Some(&live), &applied, &write, OnConflict::Fail);
        let _ = apply(&typing, None, &applied, &write, OnConflict::Force);
        let _ = update(&typing, Some(&live), applied.clone(), &write);
        let _ = update(&typing, None, applied, &write);
        Ok(())
    });
}
