//! A writer that is killed at random points, again and again.

use std::collections::BTreeMap;
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use jiff::Timestamp;
use source::store::{Options, Place, Presence, Store};

use super::{artifact, list, place, verify};

const KILLS: usize = 200;
/// Where the writer finds its directory and its first number. Without them it is no writer.
const ROOT: &str = "SLUICE_TEST_KILLED_STORE";
const START: &str = "SLUICE_TEST_KILLED_START";
const PLACES: [&str; 3] = ["a", "b", "c"];

fn open(root: &Path) -> Store {
    Store::open(root, Options::new("storage.test"), Arc::new(Timestamp::now)).unwrap()
}

/// Of any size up to a hundred kilobytes. Two neighbours in a place have different content, and some places share theirs.
fn content(number: usize) -> Vec<u8> {
    let seed = number / 2;
    let size = seed * 7919 % 100_000;
    (0..size).map(|index| (index * 31 + seed) as u8).collect()
}

fn file(number: usize) -> String {
    format!("{number}.tar.gz")
}

/// The program that is killed: this test, started by the other one.
#[test]
fn a_writer_writes_until_it_is_killed() {
    let (Ok(root), Ok(start)) = (std::env::var(ROOT), std::env::var(START)) else {
        return;
    };
    let store = open(Path::new(&root));
    let deleted = place("deleted");
    for number in start.parse::<usize>().unwrap().. {
        let place = place(PLACES[number % PLACES.len()]);
        let stored = store
            .copy(&place, &file(number), content(number).as_slice())
            .unwrap();
        store.point(&stored.path, "latest.tar.gz").unwrap();
        let mut out = std::io::stdout().lock();
        writeln!(out, "\nstored {number}").unwrap();
        out.flush().unwrap();
        store.collect(&place, Some(&file(number))).unwrap();
        if number % 5 == 0 {
            store.link(&deleted, "x.tar.gz", &stored.digest).unwrap();
            store.remove_all(&deleted).unwrap();
        }
    }
}

struct Writer {
    child: Child,
    out: BufReader<ChildStdout>,
}

impl Writer {
    fn start(root: &Path, number: usize) -> Self {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args([
                "--exact",
                "--nocapture",
                "store::kill::a_writer_writes_until_it_is_killed",
            ])
            .env(ROOT, root)
            .env(START, number.to_string())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let out = BufReader::new(child.stdout.take().unwrap());
        Writer { child, out }
    }

    /// The next number that was stored, or nothing once the writer is dead.
    fn next(&mut self) -> Option<usize> {
        loop {
            let mut line = String::new();
            if self.out.read_line(&mut line).unwrap() == 0 {
                return None;
            }
            // A line that the kill cut off says nothing.
            if let Some(number) = line
                .strip_prefix("stored ")
                .and_then(|rest| rest.strip_suffix('\n'))
            {
                return Some(number.parse().unwrap());
            }
        }
    }

    fn kill(mut self) -> Vec<usize> {
        self.child.kill().unwrap();
        let rest = std::iter::from_fn(|| self.next()).collect();
        let status = self.child.wait().unwrap();
        let mut said = String::new();
        self.child
            .stderr
            .take()
            .unwrap()
            .read_to_string(&mut said)
            .unwrap();
        assert_eq!(status.code(), None, "the writer ended by itself: {said}");
        rest
    }
}

#[test]
fn a_store_whose_writer_is_killed_loses_nothing_and_keeps_no_garbage() {
    let root = tempfile::tempdir().unwrap();
    let mut advertised: BTreeMap<&str, usize> = BTreeMap::new();
    let mut random = 0x9e37_79b9_7f4a_7c15_u64;
    let mut next_number = 0;
    for _ in 0..KILLS {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        let mut writer = Writer::start(root.path(), next_number);
        let mut seen: Vec<usize> = Vec::new();
        for _ in 0..random % 8 {
            seen.extend(writer.next());
        }
        let moment = Instant::now() + Duration::from_micros(random / 8 % 4000);
        while Instant::now() < moment {
            std::hint::spin_loop();
        }
        seen.extend(writer.kill());
        for number in seen {
            advertised.insert(PLACES[number % PLACES.len()], number);
            next_number = next_number.max(number + 1);
        }
        // What was not advertised may be there or not; its number is not used again.
        next_number += 1;
        check(root.path(), &advertised);
    }
    assert_eq!(advertised.len(), PLACES.len());
    assert!(
        next_number > 2 * KILLS,
        "the writer got to write between the kills: {next_number}"
    );
}

fn check(root: &Path, advertised: &BTreeMap<&str, usize>) {
    let store = open(root);
    for (name, &number) in advertised {
        let place: Place = place(name);
        // What the status would say, computed from what was put.
        let digest = source::archive::Hasher::digest(store.options().algorithm, &content(number));
        let linked = fs::symlink_metadata(root.join(format!("{place}/latest.tar.gz"))).is_ok();
        let stored = source::store::Stored {
            path: place.file(&file(number)).unwrap(),
            url: String::new(),
            digest,
            size: 0,
            time: Timestamp::now().into(),
        };
        assert_eq!(
            verify(&store, &artifact(&stored)).unwrap(),
            Presence::Valid,
            "{}",
            stored.path
        );
        assert!(linked, "{place} has its link");
        store.collect(&place, Some(&file(number))).unwrap();
    }
    store.remove_all(&place("deleted")).unwrap();
    let mut files = Vec::new();
    list(root, root, &mut files);
    for path in &files {
        let name = path.rsplit('/').next().unwrap();
        assert!(
            !name.starts_with(".tmp-") && !name.ends_with(".lock"),
            "{path} is left"
        );
        if path.starts_with(".content/") {
            assert!(
                fs::metadata(root.join(path)).unwrap().nlink() > 1,
                "{path} belongs to no one"
            );
        }
    }
    for name in PLACES {
        let prefix = format!("bucket/apps/{name}/");
        let count = files.iter().filter(|path| path.starts_with(&prefix)).count();
        assert!(count <= 3, "two files and a link: {files:?}");
    }
}
