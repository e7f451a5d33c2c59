//! What an object costs in memory and in time, as our `Value` and as those of serde_json, simd-json and sonic-rs.
//!
//! `cargo bench -p model` prints one table first, then divan's figures for each function. The README holds the figures
//! and what follows from them.

use std::hint::black_box;
use std::process::Command;
use std::time::{Duration, Instant};

use divan::counter::BytesCount;
use divan::{AllocProfiler, Bencher};
use mimalloc::MiMalloc;

#[global_allocator]
static ALLOCATOR: AllocProfiler<MiMalloc> = AllocProfiler::new(MiMalloc);

const OBJECTS: [(&str, &str); 2] = [
    ("deployment", include_str!("deployment.json")),
    ("configmap", include_str!("configmap.json")),
];

/// One way to hold an object.
trait Form: Sized + Send + Sync + 'static {
    const NAME: &'static str;
    fn parse(text: &str) -> Self;
    fn write(&self) -> Vec<u8>;
}

impl Form for model::Value {
    const NAME: &'static str = "model::Value";
    fn parse(text: &str) -> Self {
        model::json::parse(text.as_bytes()).expect("the fixture is JSON")
    }
    fn write(&self) -> Vec<u8> {
        model::json::to_vec(self)
    }
}

impl Form for serde_json::Value {
    const NAME: &'static str = "serde_json::Value";
    fn parse(text: &str) -> Self {
        serde_json::from_str(text).expect("the fixture is JSON")
    }
    fn write(&self) -> Vec<u8> {
        serde_json::to_vec(self).expect("a tree can be written")
    }
}

impl Form for simd_json::OwnedValue {
    const NAME: &'static str = "simd_json::OwnedValue";
    fn parse(text: &str) -> Self {
        // simd-json parses in place and so needs a copy; the others borrow.
        simd_json::to_owned_value(&mut text.as_bytes().to_vec()).expect("the fixture is JSON")
    }
    fn write(&self) -> Vec<u8> {
        simd_json::to_vec(self).expect("a tree can be written")
    }
}

impl Form for sonic_rs::Value {
    const NAME: &'static str = "sonic_rs::Value";
    fn parse(text: &str) -> Self {
        sonic_rs::from_str(text).expect("the fixture is JSON")
    }
    fn write(&self) -> Vec<u8> {
        sonic_rs::to_vec(self).expect("a tree can be written")
    }
}

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    if let [_, flag, form, object] = arguments.as_slice()
        && flag == "--resident"
    {
        println!("{}", resident_of(form, object));
        return;
    }
    println!(
        "{:24}{:12}{:>8}{:>16}{:>14}{:>14}",
        "form", "object", "bytes", "resident/object", "parse MB/s", "write MB/s"
    );
    for (object, text) in OBJECTS {
        row::<model::Value>(object, text);
        row::<serde_json::Value>(object, text);
        row::<simd_json::OwnedValue>(object, text);
        row::<sonic_rs::Value>(object, text);
    }
    divan::main();
}

fn row<F: Form>(object: &str, text: &str) {
    // A process of its own for each, so that none finds the memory that another gave back.
    let this = std::env::current_exe().expect("a running program has a path");
    let output = Command::new(this)
        .args(["--resident", F::NAME, object])
        .output()
        .expect("this program can be run");
    let resident = String::from_utf8_lossy(&output.stdout).trim().to_owned();
    let tree = F::parse(text);
    let parse = megabytes_per_second(text.len(), || drop(black_box(F::parse(black_box(text)))));
    let write = megabytes_per_second(text.len(), || drop(black_box(black_box(&tree).write())));
    println!(
        "{:24}{object:12}{:>8}{resident:>16}{parse:>14.0}{write:>14.0}",
        F::NAME,
        text.len()
    );
}

/// The best of many short runs, which is the one that others disturbed least.
fn megabytes_per_second(bytes: usize, mut run: impl FnMut()) -> f64 {
    const TIMES: usize = 20;
    let mut best = Duration::MAX;
    for _ in 0..3000 {
        let start = Instant::now();
        for _ in 0..TIMES {
            run();
        }
        best = best.min(start.elapsed());
    }
    (bytes * TIMES) as f64 / best.as_secs_f64() / 1e6
}

fn resident_of(form: &str, object: &str) -> usize {
    let (_, text) = OBJECTS
        .into_iter()
        .find(|(name, _)| *name == object)
        .expect("the parent names an object");
    match form {
        model::Value::NAME => resident::<model::Value>(text),
        serde_json::Value::NAME => resident::<serde_json::Value>(text),
        simd_json::OwnedValue::NAME => resident::<simd_json::OwnedValue>(text),
        _ => resident::<sonic_rs::Value>(text),
    }
}

/// How much the process grows per object while it keeps many.
fn resident<F: Form>(text: &str) -> usize {
    const KEPT: usize = 5000;
    let mut kept = Vec::with_capacity(KEPT);
    kept.push(F::parse(text));
    let before = resident_bytes();
    while kept.len() < KEPT {
        kept.push(F::parse(text));
    }
    let grown = resident_bytes().saturating_sub(before);
    black_box(&kept);
    grown / (KEPT - 1)
}

/// From `/proc`, and so on Linux alone; elsewhere 0.
fn resident_bytes() -> usize {
    let pages = std::fs::read_to_string("/proc/self/statm").unwrap_or_default();
    pages
        .split(' ')
        .nth(1)
        .and_then(|pages| pages.parse().ok())
        .unwrap_or(0)
        * 4096
}

#[divan::bench(types = [model::Value, serde_json::Value, simd_json::OwnedValue, sonic_rs::Value], args = OBJECTS.map(|(name, _)| name))]
fn parse<F: Form>(bencher: Bencher<'_, '_>, object: &str) {
    let (_, text) = OBJECTS
        .into_iter()
        .find(|(name, _)| *name == object)
        .expect("the argument names an object");
    bencher
        .counter(BytesCount::of_str(text))
        .bench(|| F::parse(black_box(text)));
}

#[divan::bench(args = OBJECTS.map(|(name, _)| name))]
fn parse_strict(bencher: Bencher<'_, '_>, object: &str) {
    let (_, text) = OBJECTS
        .into_iter()
        .find(|(name, _)| *name == object)
        .expect("the argument names an object");
    bencher
        .counter(BytesCount::of_str(text))
        .bench(|| model::json::parse_strict(black_box(text.as_bytes())));
}

#[divan::bench(types = [model::Value, serde_json::Value, simd_json::OwnedValue, sonic_rs::Value], args = OBJECTS.map(|(name, _)| name))]
fn write<F: Form>(bencher: Bencher<'_, '_>, object: &str) {
    let (_, text) = OBJECTS
        .into_iter()
        .find(|(name, _)| *name == object)
        .expect("the argument names an object");
    let tree = F::parse(text);
    bencher
        .counter(BytesCount::of_str(text))
        .bench(|| black_box(&tree).write());
}

#[divan::bench(types = [model::Value, serde_json::Value, simd_json::OwnedValue, sonic_rs::Value], args = OBJECTS.map(|(name, _)| name))]
fn drop_tree<F: Form>(bencher: Bencher<'_, '_>, object: &str) {
    let (_, text) = OBJECTS
        .into_iter()
        .find(|(name, _)| *name == object)
        .expect("the argument names an object");
    bencher.with_inputs(|| F::parse(text)).bench_values(drop);
}
