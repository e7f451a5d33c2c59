//! A process that has rendered the chart before, as a controller has.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use gotemplate::World;
use helm::HelmVersion;
use helm::capabilities::Capabilities;
use helm::chart::{Chart, Charts, Limits, MemoryTree};
use helm::print;
use helm::release::{self, Request, Strategy};
use helm::render::{self, Engine, Release};
use model::Digest;

use crate::program::median;

const RUNS: usize = 51;

/// Time stands still, and chance is cheap: both programs make up the same certificates.
struct Still(fastrand::Rng);

impl World for Still {
    fn now(&mut self) -> jiff::Timestamp {
        jiff::Timestamp::UNIX_EPOCH
    }

    fn random(&mut self, bytes: &mut [u8]) {
        self.0.fill(bytes);
    }
}

/// The time of one rendering, from the digest of the chart to the text.
pub(crate) fn time(chart: &Path) -> Duration {
    let engine = Engine::remembering(64 << 20);
    let charts = Charts::new(256 << 20);
    let mut times = Vec::new();
    for _ in 0..RUNS {
        let begun = Instant::now();
        let loaded = charts
            .get(Digest::sha256([1; 32]), || read(chart))
            .expect("the chart can be read");
        let request = Request {
            chart: Chart::clone(&loaded),
            given: Default::default(),
            release: Release {
                name: "release".to_owned(),
                namespace: "default".to_owned(),
                is_upgrade: false,
                revision: 1,
            },
            capabilities: Capabilities::default_of(HelmVersion::V4),
            options: render::Options::default(),
            skip_schema: false,
            sub_notes: false,
            post_renderer: None,
            strategy: Strategy::default(),
        };
        let mut world = Still(fastrand::Rng::with_seed(1));
        let rendered = release::render(&engine, request, &mut world, &mut Vec::new());
        let rendered = rendered.expect("the chart can be rendered");
        let options = print::Options {
            include_crds: true,
            ..print::Options::default()
        };
        let text = print::template(&rendered, &options, HelmVersion::V4).expect("all is shown");
        std::hint::black_box(text);
        times.push(begun.elapsed());
    }
    median(times)
}

fn read(chart: &Path) -> Result<Chart, helm::chart::LoadError> {
    if chart.is_file() {
        return Chart::from_archive(
            &fs::read(chart).expect("the archive can be read"),
            &Limits::default(),
        );
    }
    let mut files = Vec::new();
    collect(chart, chart, &mut files);
    Chart::from_tree(&MemoryTree::new(files), "", &Limits::default())
}

fn collect(root: &Path, folder: &Path, files: &mut Vec<(String, Vec<u8>)>) {
    for entry in fs::read_dir(folder).expect("the chart can be read").flatten() {
        let path: PathBuf = entry.path();
        if path.is_dir() {
            collect(root, &path, files);
        } else if let Ok(content) = fs::read(&path) {
            let name = path.strip_prefix(root).unwrap_or(&path);
            files.push((name.display().to_string(), content));
        }
    }
}
