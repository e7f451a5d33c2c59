//! Real charts beside the real program.
//!
//! `SLUICE_CHARTS=DIR cargo test -p helm --test it program:: -- --nocapture` renders every chart below a directory, unpacked
//! or packed, with its default values and with each of its `ci/*-values.yaml`, with the `helm` in the path and with this
//! crate, and prints each difference and a score. `SLUICE_ANSWERS=DIR` keeps what `helm` says from one run to the next,
//! `SLUICE_ONLY=TEXT` takes only charts whose path contains a text. Whether the rules of Helm 3 or of Helm 4 count goes by the program. Without `SLUICE_CHARTS` there is nothing to do.
//!
//! Charts that make random values are rendered twice by `helm`, and lines that differ between the two are not compared.

mod releases;

use std::fs;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::process::Command;

use aws_lc_rs::encoding::{AsDer as _, Pkcs8V1Der};
use aws_lc_rs::rsa::{KeyPair, KeySize};
use gotemplate::World;
use helm::HelmVersion;
use helm::capabilities::Capabilities;
use helm::chart::{Chart, Entry, FileTree, Limits};
use helm::print;
use helm::release::{self, Request, Strategy};
use helm::render::{self, Engine, Release};
use helm::values::Given;

struct Disk(PathBuf);

impl Disk {
    fn collect(&self, prefix: &str, found: &mut Vec<Entry>) -> io::Result<()> {
        let mut names: Vec<String> = fs::read_dir(self.0.join(prefix))?
            .map(|entry| Ok(entry?.file_name().to_string_lossy().into_owned()))
            .collect::<io::Result<_>>()?;
        names.sort();
        for name in names {
            let path = if prefix.is_empty() {
                name
            } else {
                format!("{prefix}/{name}")
            };
            let is_directory = fs::metadata(self.0.join(&path))?.is_dir();
            found.push(Entry {
                path: path.clone(),
                is_directory,
            });
            if is_directory {
                self.collect(&path, found)?;
            }
        }
        Ok(())
    }
}

impl FileTree for Disk {
    fn entries(&self) -> io::Result<Vec<Entry>> {
        let mut found = Vec::new();
        self.collect("", &mut found)?;
        Ok(found)
    }

    fn open(&self, path: &str) -> io::Result<Box<dyn Read + '_>> {
        Ok(Box::new(fs::File::open(self.0.join(path))?))
    }
}

/// A world at one time, with keys that are made quickly.
struct Quick;

impl World for Quick {
    fn now(&mut self) -> jiff::Timestamp {
        "2026-01-02T03:04:05Z".parse().unwrap()
    }

    fn random(&mut self, bytes: &mut [u8]) {
        aws_lc_rs::rand::fill(bytes).unwrap();
    }

    fn rsa_key(&mut self, bits: usize) -> Option<Vec<u8>> {
        let size = match bits {
            2048 => KeySize::Rsa2048,
            _ => KeySize::Rsa4096,
        };
        let key = KeyPair::generate(size).unwrap();
        let wrapped: Pkcs8V1Der<'_> = key.as_der().unwrap();
        // What stands before the key itself in PKCS #8 is always as long.
        Some(wrapped.as_ref()[26..].to_vec())
    }
}

/// A chart with a values file, or none.
struct Case {
    chart: PathBuf,
    values: Option<PathBuf>,
}

impl Case {
    fn name(&self, root: &Path) -> String {
        let chart = self.chart.strip_prefix(root).unwrap_or(&self.chart);
        let values = self.values.as_ref().and_then(|values| values.file_name());
        match values {
            Some(values) => format!("{} with {}", chart.display(), values.to_string_lossy()),
            None => chart.display().to_string(),
        }
    }
}

/// Prints why a test is skipped.
///
/// # Panics
/// In CI, where no test may be skipped.
fn skip(reason: &str) {
    let is_ci = std::env::var("CI").as_deref() == Ok("true");
    assert!(!is_ci, "{reason}: a test must not be skipped in CI");
    println!("skipped: {reason}");
}

#[test]
fn real_charts_are_rendered_as_helm_renders_them() {
    let Some(root) = std::env::var_os("SLUICE_CHARTS").map(PathBuf::from) else {
        return skip("SLUICE_CHARTS names no directory with charts");
    };
    let answers = std::env::var_os("SLUICE_ANSWERS").map(PathBuf::from);
    let only = std::env::var("SLUICE_ONLY").unwrap_or_default();
    let mut cases = Vec::new();
    find(&root, &mut cases);
    cases.retain(|case| case.name(&root).contains(&only));
    let engine = Engine::remembering(64 << 20);
    let version = version();
    let (mut same, mut failures, mut differences) = (0, 0, Vec::new());
    for case in &cases {
        let name = case.name(&root);
        let real = real(case, answers.as_deref(), &name);
        let begun = std::time::Instant::now();
        let ours = ours(&engine, case, version);
        if begun.elapsed().as_secs() > 20 {
            println!("slow: {name}: {:?}", begun.elapsed());
        }
        match compare(&real, &ours) {
            None => {
                same += 1;
                failures += usize::from(real.0.is_err());
            }
            Some(difference) => {
                println!("✗ {name}\n{difference}");
                differences.push(name);
            }
        }
    }
    println!(
        "{same} of {} are the same, {failures} of them failures; {} differ",
        cases.len(),
        differences.len()
    );
    assert!(differences.is_empty(), "{differences:#?}");
}

/// Finds charts, but not those inside of charts.
fn find(directory: &Path, cases: &mut Vec<Case>) {
    if directory.join("Chart.yaml").is_file() {
        let mut values: Vec<PathBuf> = fs::read_dir(directory.join("ci"))
            .into_iter()
            .flatten()
            .flatten()
            .map(|entry| entry.path())
            .filter(|path| path.to_string_lossy().ends_with("values.yaml"))
            .collect();
        values.sort();
        let chart = directory.to_owned();
        for values in std::iter::once(None).chain(values.into_iter().map(Some)) {
            cases.push(Case {
                chart: chart.clone(),
                values,
            });
        }
        return;
    }
    let mut below: Vec<PathBuf> = fs::read_dir(directory)
        .into_iter()
        .flatten()
        .flatten()
        .map(|entry| entry.path())
        .collect();
    below.sort();
    for path in below {
        if path.is_dir() {
            find(&path, cases);
        } else if path.extension().is_some_and(|extension| extension == "tgz") {
            cases.push(Case {
                chart: path,
                values: None,
            });
        }
    }
}

/// What `helm template` prints, twice.
fn real(case: &Case, answers: Option<&Path>, name: &str) -> (Result<String, String>, Option<String>) {
    let kept = answers.map(|answers| answers.join(name.replace(['/', ' '], "_")));
    let read = |extension: &str| fs::read_to_string(kept.as_ref()?.with_extension(extension)).ok();
    let write = |extension: &str, text: &str| {
        if let Some(kept) = &kept {
            fs::write(kept.with_extension(extension), text).unwrap();
        }
    };
    if let Some(error) = read("err") {
        return (Err(error), None);
    }
    if let (Some(first), Some(second)) = (read("one"), read("two")) {
        return (Ok(first), Some(second));
    }
    match (run(case), run(case)) {
        (Ok(first), Ok(second)) => {
            write("one", &first);
            write("two", &second);
            (Ok(first), Some(second))
        }
        (Err(error), _) | (_, Err(error)) => {
            write("err", &error);
            (Err(error), None)
        }
    }
}

/// Whose rules count.
fn version() -> HelmVersion {
    let output = Command::new("helm").args(["version", "--short"]).output();
    let said = output.expect("helm is in the path").stdout;
    match said.starts_with(b"v3") {
        true => HelmVersion::V3,
        false => HelmVersion::V4,
    }
}

fn run(case: &Case) -> Result<String, String> {
    let mut command = Command::new("helm");
    command
        .args(["template", "release", "--include-crds"])
        .arg(&case.chart);
    if let Some(values) = &case.values {
        command.arg("-f").arg(values);
    }
    let output = command.output().expect("helm is in the path");
    if output.status.success() {
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    } else {
        Err(String::from_utf8_lossy(&output.stderr).into_owned())
    }
}

fn ours(engine: &Engine, case: &Case, version: HelmVersion) -> Result<String, String> {
    let limits = Limits {
        archive: 100 << 20,
        ..Limits::default()
    };
    let chart = if case.chart.is_dir() {
        Chart::from_tree(&Disk(case.chart.clone()), "", &limits)
    } else {
        Chart::from_archive(&fs::read(&case.chart).unwrap(), &limits)
    };
    let chart = chart.map_err(|error| error.to_string())?;
    if chart.metadata.kind == "library" {
        return Err("library charts are not installable".to_owned());
    }
    let missing = helm::dependencies::missing(&chart);
    if !missing.is_empty() {
        return Err(format!("missing in charts/ directory: {}", missing.join(", ")));
    }
    let given = Given {
        files: case
            .values
            .iter()
            .map(|path| (path.display().to_string(), fs::read(path).unwrap()))
            .collect(),
        ..Given::default()
    };
    let request = Request {
        chart,
        given: given
            .merge(&mut |_| Err(String::new()))
            .map_err(|error| error.to_string())?,
        release: Release {
            name: "release".to_owned(),
            namespace: "default".to_owned(),
            is_upgrade: false,
            revision: 1,
        },
        capabilities: Capabilities::default_of(version),
        options: render::Options::default(),
        skip_schema: false,
        sub_notes: false,
        post_renderer: None,
        strategy: Strategy::default(),
    };
    let mut warnings = Vec::new();
    let rendered = release::render(engine, request, &mut Quick, &mut warnings);
    let rendered = rendered.map_err(|error| error.to_string())?;
    let options = print::Options {
        include_crds: true,
        ..print::Options::default()
    };
    print::template(&rendered, &options, version).map_err(|error| error.to_string())
}

/// The first lines that differ, if any do. Of failures the text must be in what `helm` says.
fn compare(
    (real, again): &(Result<String, String>, Option<String>),
    ours: &Result<String, String>,
) -> Option<String> {
    match (real, ours) {
        (Err(real), Err(ours)) => {
            let squeezed = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
            let is_same = squeezed(real).contains(&squeezed(ours));
            (!is_same).then(|| format!("  helm: {}\n  ours: {ours}", real.trim()))
        }
        (Ok(_), Err(ours)) => Some(format!("  ours fails: {ours}")),
        (Err(real), Ok(_)) => Some(format!("  helm fails: {}", real.trim())),
        (Ok(real), Ok(ours)) => {
            let again = again.as_deref().unwrap_or(real);
            let mut found = String::new();
            let count = |text: &str| text.lines().count();
            let lines = real.lines().zip(again.lines()).zip(ours.lines());
            for (number, ((real, again), ours)) in lines.enumerate() {
                if real == again && real != ours && found.len() < 600 {
                    found += &format!("  {}:\n    helm: {real}\n    ours: {ours}\n", number + 1);
                }
            }
            if found.is_empty() && (count(real) != count(ours) || real == again && real != ours) {
                found = format!("  helm has {} lines, ours {}\n", count(real), count(ours));
            }
            (!found.is_empty()).then_some(found)
        }
    }
}
