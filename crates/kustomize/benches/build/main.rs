//! Ours beside the real program, on the same trees in one run: CPU time, memory and whether the output is the same.
//!
//!     cargo bench -p kustomize                 up to 8,000 objects
//!     cargo bench -p kustomize -- 1000 2000    these sizes
//!     cargo bench -p kustomize -- rules 250    so many images, replicas, patches ... for as many objects
//!
//! The real program is `kustomize`, or what the variable `KUSTOMIZE` names; without it, only ours is measured. Sizes of
//! more than 2,000 objects are ours alone: kustomize is quadratic. Measuring reads `/proc`, and so needs Linux.
//!
//! The memory that a build takes is what its process had at most, less what it has for an overlay of ten objects: code,
//! schemas and buffers are there for any build. The allocator must not use huge pages here: with them, the
//! system counts memory that nobody has asked for.

mod shapes;

use std::borrow::Cow;
use std::fmt::Write as _;
use std::hint::black_box;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use kustomize::{Memory, Options, Tree, build};

// As in the program that is shipped.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Files of an overlay with patches, prefix, labels, images and generators on a base of so many objects.
fn files(count: usize) -> Vec<(String, String)> {
    let mut base = String::from("resources:\n");
    let mut overlay = String::from(
        "resources: [../base]\nnamePrefix: prod-\nnamespace: shop\nlabels:\n- pairs: {team: shop}\n  includeSelectors: \
         true\ncommonAnnotations: {owner: shop}\nimages:\n- {name: registry.example.com/app, newTag: v2}\n\
         configMapGenerator:\n- name: settings\n  literals: [a=1, b=2]\npatches:\n",
    );
    let mut files = Vec::new();
    for at in 0..count / 2 {
        let _ = writeln!(base, "- app{at}.yaml");
        files.push((format!("base/app{at}.yaml"), app(at)));
        if at % 5 == 0 {
            let _ = write!(
                overlay,
                "- patch: |-\n    apiVersion: apps/v1\n    kind: Deployment\n    metadata: {{name: app{at}}}\n    spec:\n      \
                 replicas: 3\n      template:\n        spec:\n          containers:\n          - name: app\n            env: \
                 [{{name: MODE, value: prod}}]\n"
            );
        }
    }
    files.push(("base/kustomization.yaml".to_owned(), base));
    files.push(("overlay/kustomization.yaml".to_owned(), overlay));
    files
}

/// A Deployment and its Service.
fn app(at: usize) -> String {
    format!(
        "apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: app{at}\n  labels: {{app: app{at}}}\nspec:\n  replicas: 1\n  \
         selector:\n    matchLabels: {{app: app{at}}}\n  template:\n    metadata:\n      labels: {{app: app{at}}}\n    \
         spec:\n      serviceAccountName: default\n      containers:\n      - name: app\n        image: \
         registry.example.com/app:v1\n        ports:\n        - {{containerPort: 8080, name: http}}\n        envFrom:\n        \
         - configMapRef: {{name: settings}}\n        env:\n        - {{name: LOG_LEVEL, value: info}}\n        resources:\n          \
         requests: {{cpu: 100m, memory: 128Mi}}\n          limits: {{memory: 256Mi}}\n        readinessProbe:\n          \
         httpGet: {{path: /ready, port: http}}\n---\napiVersion: v1\nkind: Service\nmetadata:\n  name: app{at}\nspec:\n  \
         selector: {{app: app{at}}}\n  ports:\n  - {{port: 80, targetPort: http}}\n"
    )
}

/// A folder as a tree: what our side reads from when it runs as a process of its own.
struct Folder(PathBuf);

impl Tree for Folder {
    fn read(&self, path: &str) -> Result<Option<Cow<'_, [u8]>>, String> {
        Ok(std::fs::read(self.0.join(path)).ok().map(Cow::Owned))
    }

    fn is_dir(&self, path: &str) -> bool {
        self.0.join(path).is_dir()
    }

    fn resolve(&self, path: &str) -> Option<String> {
        self.0.join(path).exists().then(|| path.to_owned())
    }
}

struct Measured {
    cpu: Duration,
    peak: u64,
    output: String,
}

/// Runs the real program and measures it. Its CPU time is read when it has ended and before it is reaped.
fn measure(command: &mut Command, out: &Path) -> Option<Measured> {
    let file = std::fs::File::create(out).ok()?;
    let mut child = command.stdout(file).stderr(Stdio::null()).spawn().ok()?;
    let proc = PathBuf::from(format!("/proc/{}", child.id()));
    let mut peak = 0;
    let cpu = loop {
        peak = peak.max(peak_of(&proc).unwrap_or(0));
        let stat = std::fs::read_to_string(proc.join("stat")).ok()?;
        let fields: Vec<&str> = stat.rsplit(") ").next()?.split(' ').collect();
        if fields[0] == "Z" {
            let ticks = fields.get(11)?.parse::<u64>().ok()? + fields.get(12)?.parse::<u64>().ok()?;
            break Duration::from_millis(ticks * 10);
        }
        std::thread::sleep(Duration::from_micros(500));
    };
    if !child.wait().ok()?.success() {
        return None;
    }
    let output = std::fs::read_to_string(out).ok()?;
    Some(Measured { cpu, peak, output })
}

/// Runs ours and measures it: the least of several runs, for how much of a program is in memory varies.
fn measure_ours(tree: &Path) -> Measured {
    let mut least = run_ours(tree);
    for _ in 0..19 {
        let next = run_ours(tree);
        least.cpu = least.cpu.min(next.cpu);
        least.peak = least.peak.min(next.peak);
    }
    least
}

/// Runs ours as a process of its own, which tells what it took.
fn run_ours(tree: &Path) -> Measured {
    let this = std::env::current_exe().expect("a program knows where it is");
    let child = Command::new(this)
        .arg("child")
        .arg(tree)
        .env("MIMALLOC_ALLOW_THP", "0")
        .output();
    let child = child.expect("our own program runs");
    let told = String::from_utf8_lossy(&child.stderr).into_owned();
    assert!(child.status.success(), "{told}");
    let mut numbers = told.split_whitespace().filter_map(|number| number.parse().ok());
    let mut next = || numbers.next().expect("our own program tells what it took");
    Measured {
        cpu: Duration::from_nanos(next()),
        peak: next(),
        output: String::from_utf8(child.stdout).expect("manifests are text"),
    }
}

/// The most memory that a process has had so far.
fn peak_of(process: &Path) -> Option<u64> {
    let status = std::fs::read_to_string(process.join("status")).ok()?;
    let kilobytes = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kilobytes: u64 = kilobytes.trim().trim_end_matches(" kB").parse().ok()?;
    Some(kilobytes * 1024)
}

/// The CPU time of this thread so far, of which there is no other.
fn own_cpu() -> Duration {
    let told = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    let nanoseconds = told.split(' ').next().and_then(|number| number.parse().ok());
    Duration::from_nanos(nanoseconds.unwrap_or(0))
}

/// The CPU time of a build in this process when everything is warm: the least of several, for other programs slow ours
/// down.
fn warm(tree: &Memory, root: &str, options: &Options<'_>) -> Duration {
    let rounds = (0..7).map(|_| round(tree, root, options));
    rounds.min().unwrap_or_default()
}

/// The CPU time of one build, of as many as the clock needs, which goes in steps of some milliseconds.
fn round(tree: &Memory, root: &str, options: &Options<'_>) -> Duration {
    let started = own_cpu();
    let mut runs = 0;
    loop {
        let output = build(tree, root, options).expect("the tree is right");
        black_box(output.to_yaml().expect("the output can be printed"));
        runs += 1;
        let spent = own_cpu() - started;
        if spent >= Duration::from_millis(200) {
            return spent / runs;
        }
    }
}

/// How many times as long a build of so many objects takes as one of fewer. Both are measured in turn: the speed of a machine may
/// change from second to second.
fn growth(small: usize, large: usize) -> f64 {
    let options = Options::default();
    let trees: [Memory; 2] = [small, large].map(|size| files(size).into_iter().collect());
    let mut least = [Duration::MAX; 2];
    for _ in 0..9 {
        for (tree, least) in trees.iter().zip(&mut least) {
            *least = round(tree, "overlay", &options).min(*least);
        }
    }
    least[1].as_secs_f64() / least[0].as_secs_f64()
}

/// One build as a process of its own, so that its memory can be seen.
fn child(folder: &str) {
    let options = Options::default();
    let tree = Folder(folder.into());
    let output = build(&tree, "overlay", &options).expect("the tree is right");
    let mut out = std::io::BufWriter::new(std::io::stdout().lock());
    output.write_yaml(&mut out).expect("the output can be printed");
    out.flush().expect("the output can be printed");
    let peak = peak_of(Path::new("/proc/self")).expect("Linux tells the memory of a process");
    eprintln!("{} {peak}", own_cpu().as_nanos());
}

/// Writes the files of an overlay of so many objects to a folder.
fn write_tree(folder: &Path, files: &[(String, String)]) {
    for (name, content) in files {
        let path = folder.join(name);
        std::fs::create_dir_all(path.parent().expect("it is in a folder")).expect("the folder can be made");
        std::fs::write(path, content).expect("the file can be written");
    }
}

/// Measures one size and prints a line.
fn run(size: usize, folder: &Path, base: u64, program: &str) {
    let files = files(size);
    let root = folder.join(size.to_string());
    write_tree(&root, &files);
    let tree: Memory = files.into_iter().collect();
    let warm = warm(&tree, "overlay", &Options::default());
    drop(tree);
    let ours = measure_ours(&root);
    let theirs = (size <= 2000)
        .then(|| {
            let mut command = Command::new(program);
            measure(
                command.arg("build").arg(root.join("overlay")),
                &folder.join("out"),
            )
        })
        .flatten();
    let memory = ours.peak.saturating_sub(base);
    let told = theirs.map_or_else(
        || "           -        -       -      -".to_owned(),
        |theirs| {
            format!(
                "{:>9} ms {:>5} MB {:>6.0}x {:>6}",
                theirs.cpu.as_millis(),
                theirs.peak >> 20,
                theirs.cpu.as_secs_f64() / ours.cpu.as_secs_f64(),
                theirs.output == ours.output
            )
        },
    );
    println!(
        "{size:>7} {:>6} KB {:>8} µs {:>6} ms {:>8} KB {:>8} KB {:>8.2}x {told}",
        ours.output.len() >> 10,
        warm.as_micros(),
        ours.cpu.as_millis(),
        ours.peak >> 10,
        memory >> 10,
        memory as f64 / ours.output.len() as f64,
    );
}

/// As many rules as objects, of each sort: ours at one size and at four times that, the real program at the first.
fn rules(arguments: &[String]) {
    let small = arguments
        .first()
        .and_then(|text| text.parse().ok())
        .unwrap_or(250);
    let large = small * 4;
    let program = std::env::var("KUSTOMIZE").unwrap_or_else(|_| "kustomize".to_owned());
    let folder = std::env::temp_dir().join(format!("kustomize-bench-{}", std::process::id()));
    println!(
        "{:>16} {small:>9} {large:>13}   times   kustomize {small:>5}  same",
        "rules"
    );
    for shape in shapes::SHAPES {
        let time = |count: usize| {
            let tree: Memory = shapes::files(shape, count).into_iter().collect();
            warm(&tree, "overlay", &Options::default())
        };
        let root = folder.join(shape);
        write_tree(&root, &shapes::files(shape, small));
        let ours = run_ours(&root);
        let mut command = Command::new(&program);
        let theirs = measure(
            command.arg("build").arg(root.join("overlay")),
            &folder.join("out"),
        );
        let (quick, slow) = (time(small), time(large));
        let told = theirs.map_or_else(
            || "                -".to_owned(),
            |theirs| {
                format!(
                    "{:>14} ms {:>5}",
                    theirs.cpu.as_millis(),
                    theirs.output == ours.output
                )
            },
        );
        println!(
            "{shape:>16} {:>6} µs {:>10} µs {:>6.1}x {told}",
            quick.as_micros(),
            slow.as_micros(),
            slow.as_secs_f64() / quick.as_secs_f64()
        );
    }
    let _ = std::fs::remove_dir_all(&folder);
}

fn main() {
    let arguments: Vec<String> = std::env::args()
        .skip(1)
        .filter(|text| text != "--bench")
        .collect();
    if let [mode, folder] = arguments.as_slice()
        && mode == "child"
    {
        return child(folder);
    }
    if arguments.first().is_some_and(|mode| mode == "rules") {
        return rules(&arguments[1..]);
    }
    let sizes: Vec<usize> = arguments.iter().filter_map(|text| text.parse().ok()).collect();
    let sizes = if sizes.is_empty() {
        vec![10, 100, 1000, 8000]
    } else {
        sizes
    };
    let program = std::env::var("KUSTOMIZE").unwrap_or_else(|_| "kustomize".to_owned());
    let folder = std::env::temp_dir().join(format!("kustomize-bench-{}", std::process::id()));
    let small = folder.join("small");
    write_tree(&small, &files(10));
    let base = measure_ours(&small).peak;
    println!(
        "objects    output  warm: CPU  ours: CPU       peak   of the build  (x output)  kustomize: CPU    peak  faster   same"
    );
    for &size in &sizes {
        run(size, &folder, base, &program);
    }
    if let [.., small, large] = sizes.as_slice() {
        let ratio = growth(*small, *large);
        println!("{large} objects take {ratio:.1} times as long as {small}");
    }
    let _ = std::fs::remove_dir_all(&folder);
}
