//! Server-side apply of a typical Deployment.

use divan::{Bencher, black_box};
use model::{Value, json};
use smd::managed::{OnConflict, Origin, Reset, Typing, Write, apply, update};
use smd::{Schema, TypeRef};

fn main() {
    divan::main();
}

/// A Deployment as a GitOps tool applies it, and as the server has it afterwards, with the status that controllers write.
struct Fixture {
    schema: Schema,
    config: Value,
    live: Value,
    reset: Reset,
}

impl Fixture {
    fn new() -> Self {
        let read = |text: &[u8]| json::parse(text).expect("the fixture is JSON");
        Fixture {
            schema: Schema::builtin(),
            config: read(include_bytes!("deployment.config.json")),
            live: read(include_bytes!("deployment.live.json")),
            reset: Reset::fields(&[&["status"]]),
        }
    }

    fn typing(&self) -> Typing<'_> {
        let id = self
            .schema
            .kind("apps", "v1", "Deployment")
            .expect("there are Deployments");
        Typing {
            ty: TypeRef::new(&self.schema, id),
            api_version: "apps/v1",
            kind: "Deployment",
            origin: Origin::BuiltIn,
            other_versions: &[],
        }
    }

    fn write(&self) -> Write<'_> {
        Write {
            manager: "sluice",
            subresource: "",
            reset: &self.reset,
            now: "2026-01-02T03:04:05Z",
        }
    }
}

#[divan::bench]
fn apply_that_changes_nothing(bencher: Bencher<'_, '_>) {
    let fixture = Fixture::new();
    let (typing, write) = (fixture.typing(), fixture.write());
    bencher.bench(|| {
        apply(
            &typing,
            Some(black_box(&fixture.live)),
            &fixture.config,
            &write,
            OnConflict::Fail,
        )
    });
}

#[divan::bench]
fn apply_of_a_new_image(bencher: Bencher<'_, '_>) {
    let mut fixture = Fixture::new();
    let containers = fixture.config.at_mut(&["spec", "template", "spec", "containers"]);
    let containers = containers
        .and_then(Value::as_array_mut)
        .expect("there are containers");
    containers[0].set_at(&["image"], "registry.example.com/shop/web:2.0.0");
    let (typing, write) = (fixture.typing(), fixture.write());
    bencher.bench(|| {
        apply(
            &typing,
            Some(black_box(&fixture.live)),
            &fixture.config,
            &write,
            OnConflict::Fail,
        )
    });
}

#[divan::bench]
fn apply_that_drops_a_field(bencher: Bencher<'_, '_>) {
    let mut fixture = Fixture::new();
    fixture.config.remove_at(&["metadata", "annotations"]);
    let (typing, write) = (fixture.typing(), fixture.write());
    bencher.bench(|| {
        apply(
            &typing,
            Some(black_box(&fixture.live)),
            &fixture.config,
            &write,
            OnConflict::Fail,
        )
    });
}

#[divan::bench]
fn apply_that_creates(bencher: Bencher<'_, '_>) {
    let fixture = Fixture::new();
    let (typing, write) = (fixture.typing(), fixture.write());
    bencher.bench(|| {
        apply(
            &typing,
            None,
            black_box(&fixture.config),
            &write,
            OnConflict::Fail,
        )
    });
}

#[divan::bench]
fn update_of_replicas(bencher: Bencher<'_, '_>) {
    let fixture = Fixture::new();
    let mut new = fixture.live.clone();
    new.set_at(&["spec", "replicas"], 7);
    let (typing, write) = (fixture.typing(), fixture.write());
    bencher
        .with_inputs(|| new.clone())
        .bench_values(|new| update(&typing, Some(black_box(&fixture.live)), new, &write));
}

#[divan::bench]
fn reading_the_table_of_types() -> Schema {
    Schema::builtin()
}
