//! What an archive looks like, and that it comes back.

use std::fs;
use std::io::Read;
use std::process::Command;

use flate2::read::GzDecoder;
use model::digest::Algorithm;
use source::archive::ignore::Rules;
use source::archive::{Directory, Hasher, Kind, Limits, MemoryTree, Modes, Tree, pack, read, unpack};

fn packed(tree: &dyn Tree, rules: &Rules) -> Vec<u8> {
    let mut archive = Vec::new();
    let packed = pack(tree, rules, Modes::OWN, Algorithm::Sha256, &mut archive).unwrap();
    assert_eq!(packed.digest, Hasher::digest(Algorithm::Sha256, &archive));
    assert_eq!(packed.size, archive.len() as u64);
    archive
}

fn example() -> MemoryTree {
    MemoryTree::new()
        .with("b/c/d.yaml", "d: 1\n")
        .with_executable("b/run.sh", "#!/bin/sh\n")
        .with("a.yaml", "a: 1\n")
        .with("logo.png", "pixels")
        .with_directory("empty")
}

/// T1, T2
#[test]
fn entries_are_normalised_and_in_order() {
    let archive = packed(&example(), &Rules::of(&example(), None).unwrap());
    let mut archive = tar::Archive::new(GzDecoder::new(archive.as_slice()));
    let mut seen = Vec::new();
    for entry in archive.entries().unwrap() {
        let entry = entry.unwrap();
        let header = entry.header();
        assert_eq!(header.mtime().unwrap(), 0);
        assert_eq!((header.uid().unwrap(), header.gid().unwrap()), (0, 0));
        assert_eq!(header.username().unwrap(), Some(""));
        let name = String::from_utf8(entry.path_bytes().to_vec()).unwrap();
        seen.push((name, header.entry_type().as_byte(), header.mode().unwrap()));
    }
    let expected = [
        (".", b'5', 0o750),
        ("a.yaml", b'0', 0o600),
        ("b", b'5', 0o750),
        ("b/c", b'5', 0o750),
        ("b/c/d.yaml", b'0', 0o600),
        ("b/run.sh", b'0', 0o700),
        ("empty", b'5', 0o750),
    ];
    let expected = expected.map(|(name, kind, mode)| (name.to_owned(), kind, mode));
    assert_eq!(seen, expected);
}

#[test]
fn the_header_of_the_compression_says_nothing_of_time_and_machine() {
    let archive = packed(&example(), &Rules::none());
    assert_eq!(archive[..4], [0x1f, 0x8b, 8, 0]);
    assert_eq!(archive[4..8], [0; 4], "the time");
    assert_eq!(archive[9], 255, "the system");
}

/// T6
#[test]
fn children_of_an_ignored_directory_come_without_it() {
    let tree = MemoryTree::new()
        .with("deploy/app.yaml", "1")
        .with("src/main.go", "2");
    let rules = Rules::of(&tree, Some("/*\n!/deploy/app.yaml")).unwrap();
    let archive = packed(&tree, &rules);
    let mut archive = tar::Archive::new(GzDecoder::new(archive.as_slice()));
    let names = archive.entries().unwrap().map(|entry| {
        let entry = entry.unwrap();
        String::from_utf8(entry.path_bytes().to_vec()).unwrap()
    });
    assert_eq!(names.collect::<Vec<_>>(), [".", "deploy/app.yaml"]);
}

#[test]
fn a_directory_and_a_tree_in_memory_of_the_same_files_are_the_same_archive() {
    let root = tempfile::tempdir().unwrap();
    let archive = packed(&example(), &Rules::none());
    let directory = root.path().join("unpacked");
    let unpacked = unpack(archive.as_slice(), &directory, &Limits::default()).unwrap();
    assert_eq!((unpacked.files, unpacked.links), (4, 0));
    fs::File::open(directory.join("a.yaml"))
        .unwrap()
        .set_modified(std::time::UNIX_EPOCH)
        .unwrap();
    #[cfg(unix)]
    std::os::unix::fs::symlink("/etc/passwd", directory.join("link")).unwrap();
    assert_eq!(packed(&Directory::new(&directory), &Rules::none()), archive);
}

#[test]
fn large_files_and_those_of_unknown_size_come_back_whole() {
    struct Unsized(MemoryTree);
    impl Tree for Unsized {
        fn entries(&self) -> std::io::Result<Vec<source::archive::Entry>> {
            self.0.entries()
        }
        fn open(&self, path: &str) -> std::io::Result<Box<dyn Read + '_>> {
            self.0.open(path)
        }
    }
    let half = 256 * 1024;
    let mut tree = MemoryTree::new();
    for size in [half - 1, half, half + 1, 5 * half + 7] {
        let content: Vec<u8> = (0_u64..size).map(|index| (index * index / 7) as u8).collect();
        tree = tree.with(&format!("f{size}"), content);
    }
    let archive = packed(&tree, &Rules::none());
    assert_eq!(read(archive.as_slice(), &Limits::default()).unwrap(), tree);
    assert_eq!(packed(&Unsized(tree), &Rules::none()), archive);
}

#[test]
fn a_file_that_changes_its_size_is_told() {
    struct Growing;
    impl Tree for Growing {
        fn entries(&self) -> std::io::Result<Vec<source::archive::Entry>> {
            let kind = Kind::File { executable: false };
            let path = "log".to_owned();
            Ok(vec![source::archive::Entry { path, kind }])
        }
        fn open(&self, _: &str) -> std::io::Result<Box<dyn Read + '_>> {
            Ok(Box::new(std::io::repeat(b'x').take(400_000)))
        }
        fn size(&self, _: &str) -> std::io::Result<Option<u64>> {
            Ok(Some(300_000))
        }
    }
    let error = pack(
        &Growing,
        &Rules::none(),
        Modes::OWN,
        Algorithm::Sha256,
        std::io::sink(),
    )
    .unwrap_err();
    assert!(
        error.to_string().starts_with("log: the file changed its size"),
        "{error}"
    );
}

#[test]
fn names_of_all_kinds_come_back() {
    let long = format!("{}/{}", "d".repeat(120), "f".repeat(90));
    let longer = format!("{}/{}", "d".repeat(200), "f".repeat(200));
    let mut tree = MemoryTree::new();
    for name in ["é.yaml", "日本/語", "a b", "sha256:00.tar.gz", &long, &longer] {
        tree = tree.with(name, name);
    }
    // Parents are entries of the archive, so they are entries of what comes back.
    for directory in ["日本", &long[..120], &longer[..200]] {
        tree = tree.with_directory(directory);
    }
    let archive = packed(&tree, &Rules::none());
    assert_eq!(read(archive.as_slice(), &Limits::default()).unwrap(), tree);
}

#[test]
fn the_real_tar_reads_it() {
    let root = tempfile::tempdir().unwrap();
    let file = root.path().join("a.tar.gz");
    let longer = format!("é{}/{}", "d".repeat(200), "f".repeat(200));
    fs::write(&file, packed(&example().with(&longer, "long"), &Rules::none())).unwrap();
    if testkit::program::find("tar").is_none() {
        return;
    }
    let output = Command::new("tar")
        .arg("xzf")
        .arg(&file)
        .current_dir(root.path())
        .output()
        .unwrap();
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    assert_eq!(fs::read(root.path().join("b/c/d.yaml")).unwrap(), b"d: 1\n");
    assert_eq!(fs::read(root.path().join(longer)).unwrap(), b"long");
}
