//! Packing and unpacking, ours beside the real `tar` on the same tree in the same run.
//!
//! `cargo bench -p source --bench archive` prints the median of several runs of each. The README holds the figures.

use std::fs::{self, File};
use std::io::BufWriter;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use model::digest::Algorithm;
use source::archive::ignore::Rules;
use source::archive::{Directory, Limits, Modes, pack, read, unpack};

const RUNS: usize = 5;

fn main() {
    let root = tempfile::tempdir().expect("there is room for temporary files");
    for (name, files, kilobytes) in [("3,000 manifests", 3_000, 3), ("20 large files", 20, 2048)] {
        let tree = root.path().join("tree");
        let bytes = grow(&tree, files, kilobytes * 1024);
        println!("\n{name}, {:.1} MB", bytes as f64 / 1e6);
        compare(root.path(), &tree, bytes);
        fs::remove_dir_all(&tree).expect("the tree is ours");
    }
}

fn compare(root: &Path, tree: &Path, bytes: u64) {
    let (ours, theirs) = (root.join("ours.tar.gz"), root.join("theirs.tar.gz"));
    let packing = [
        median(|| {
            let directory = Directory::new(tree);
            let rules = Rules::of(&directory, None).expect("the tree has no ignore files");
            let file = BufWriter::new(File::create(&ours).expect("the directory is ours"));
            pack(&directory, &rules, Modes::OWN, Algorithm::Sha256, file).expect("the tree can be packed");
        }),
        median(|| tar(&["czf", path(&theirs), "-C", path(tree), "."])),
    ];
    show("pack", packing, bytes);
    let size = |file: &Path| fs::metadata(file).map_or(0.0, |metadata| metadata.len() as f64 / 1e6);
    println!(
        "  archive      ours {:8.2} MB   tar {:8.2} MB",
        size(&ours),
        size(&theirs)
    );
    // Both unpack the same archive: that of the real program.
    let target = root.join("unpacked");
    let unpacking = [
        median_after(
            || clear(&target),
            || {
                let archive = File::open(&theirs).expect("it was just packed");
                unpack(archive, &target, &Limits::default()).expect("it is an archive");
            },
        ),
        median_after(
            || {
                clear(&target);
                fs::create_dir(&target).expect("the directory is ours");
            },
            || tar(&["xzf", path(&theirs), "-C", path(&target)]),
        ),
    ];
    show("unpack", unpacking, bytes);
    clear(&target);
    let reading = median(|| {
        let archive = File::open(&theirs).expect("it was just packed");
        read(archive, &Limits::default()).expect("it is an archive");
    });
    println!("  read         ours {:8.1} ms", reading.as_secs_f64() * 1e3);
}

fn show(what: &str, [ours, theirs]: [Duration; 2], bytes: u64) {
    let rate = |time: Duration| bytes as f64 / 1e6 / time.as_secs_f64();
    println!(
        "  {what:<12} ours {:8.1} ms   tar {:8.1} ms   {:.2} times as fast ({:.0} and {:.0} MB/s)",
        ours.as_secs_f64() * 1e3,
        theirs.as_secs_f64() * 1e3,
        theirs.as_secs_f64() / ours.as_secs_f64(),
        rate(ours),
        rate(theirs),
    );
}

/// Files that look like manifests: words that repeat, and numbers and hashes that do not.
fn grow(root: &Path, files: usize, size: usize) -> u64 {
    let mut state = 0x2545_f491_4f6c_dd1d_u64;
    let mut next = move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state
    };
    let mut bytes = 0;
    for number in 0..files {
        let directory = root.join(format!("team-{}/app-{}", number % 20, number / 20 % 50));
        fs::create_dir_all(&directory).expect("the directory is ours");
        let mut text = String::with_capacity(size + 400);
        while text.len() < size {
            text.push_str(&format!(
                "apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: app-{:x}\n  labels:\n    app.kubernetes.io/name: web\n\
                 spec:\n  replicas: {}\n  template:\n    spec:\n      containers:\n        - name: main\n          image: \
                 registry.example.com/team/app@sha256:{:016x}{:016x}\n          ports:\n            - containerPort: {}\n---\n",
                next() >> 40,
                next() % 10,
                next(),
                next(),
                next() % 60_000,
            ));
        }
        bytes += text.len() as u64;
        fs::write(directory.join(format!("{number}.yaml")), text).expect("the directory is ours");
    }
    bytes
}

fn tar(arguments: &[&str]) {
    let status = Command::new("tar").args(arguments).status();
    assert!(status.expect("tar is installed").success());
}

fn path(path: &Path) -> &str {
    path.to_str().expect("temporary directories have names in ASCII")
}

fn clear(directory: &Path) {
    if directory.exists() {
        fs::remove_dir_all(directory).expect("the directory is ours");
    }
}

fn median(run: impl FnMut()) -> Duration {
    median_after(|| (), run)
}

fn median_after(mut before: impl FnMut(), mut run: impl FnMut()) -> Duration {
    let mut times: Vec<Duration> = (0..RUNS)
        .map(|_| {
            before();
            let start = Instant::now();
            run();
            start.elapsed()
        })
        .collect();
    times.sort();
    times[RUNS / 2]
}
