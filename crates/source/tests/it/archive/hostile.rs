//! Archives made to do harm.

use std::fs;

use source::archive::{Error, Limits, MemoryTree, Tree, read, unpack};

use super::forge::{Forged, compress};

/// Unpacks both ways, which must agree, and says what is there afterwards.
fn check(archive: &[u8], limits: &Limits) -> Result<MemoryTree, Error> {
    let root = tempfile::tempdir().unwrap();
    let directory = root.path().join("unpacked");
    let on_disk = unpack(archive, &directory, limits);
    let in_memory = read(archive, limits);
    assert_eq!(on_disk.is_ok(), in_memory.is_ok());
    assert_eq!(
        on_disk.is_ok(),
        directory.exists(),
        "all or nothing is to be seen"
    );
    let left = fs::read_dir(root.path()).unwrap().count();
    assert_eq!(left, usize::from(on_disk.is_ok()), "nothing else is left");
    in_memory
}

fn refused(archive: Forged) -> Error {
    check(&archive.gzip(), &Limits::default()).unwrap_err()
}

fn text<'a>(tree: &'a MemoryTree, path: &str) -> Option<&'a str> {
    tree.get(path)
        .map(|content| std::str::from_utf8(content).unwrap())
}

/// T8
#[test]
fn names_that_lead_out_are_refused() {
    for name in [
        "/etc/passwd",
        "../a",
        "a/../../b",
        "a/..",
        "..",
        "a\\b",
        "..\\a",
        "//a",
    ] {
        for kind in [b'0', b'5', b'2', b'1'] {
            let found = refused(Forged::new().entry(kind, name, b""));
            assert!(matches!(found, Error::Name { .. }), "{name:?}: {found:?}");
        }
    }
}

#[test]
fn long_names_that_lead_out_are_refused() {
    let pax = b"20 path=../../a/b/c\n";
    let found = refused(Forged::new().entry(b'x', "pax", pax).file("good", ""));
    assert!(matches!(found, Error::Name { .. }), "{found:?}");
    let found = refused(
        Forged::new()
            .entry(b'L', "././@LongLink", b"../a\0")
            .file("good", ""),
    );
    assert!(matches!(found, Error::Name { .. }), "{found:?}");
    let pax = b"12 path=a\0b\n";
    let found = refused(Forged::new().entry(b'x', "pax", pax).file("good", ""));
    assert!(matches!(found, Error::Name { .. }), "{found:?}");
}

#[test]
fn nothing_is_written_through_a_link() {
    for kind in [b'2', b'1'] {
        // The link says /etc; the file behind it becomes one of our own.
        let archive = Forged::new().entry(kind, "link", b"").file("link/file", "inside");
        let tree = check(&archive.gzip(), &Limits::default()).unwrap();
        assert_eq!(text(&tree, "link/file"), Some("inside"));
    }
}

#[test]
fn links_are_skipped() {
    let archive = Forged::new()
        .file("a", "1")
        .entry(b'2', "a", b"")
        .entry(b'1', "hard", b"")
        .file("b", "2");
    let tree = check(&archive.gzip(), &Limits::default()).unwrap();
    let paths: Vec<String> = tree
        .entries()
        .unwrap()
        .into_iter()
        .map(|entry| entry.path)
        .collect();
    assert_eq!(paths, ["a", "b"]);
}

#[test]
fn a_link_that_claims_content_is_followed_by_the_next_entry() {
    let archive = Forged::new()
        .entry_of_size(b'2', "link", 5000, b"")
        .file("a", "1");
    let tree = check(&archive.gzip(), &Limits::default()).unwrap();
    assert_eq!(text(&tree, "a"), Some("1"));
}

#[test]
fn devices_pipes_and_sparse_files_are_refused() {
    for kind in [b'3', b'4', b'6', b'S', b'Z'] {
        let found = refused(Forged::new().entry(kind, "a", b""));
        assert!(matches!(found, Error::Type { .. }), "{found:?}");
    }
    let pax = b"22 GNU.sparse.major=1\n";
    let found = refused(Forged::new().entry(b'x', "pax", pax).file("a", ""));
    assert!(matches!(found, Error::Type { .. }), "{found:?}");
}

#[test]
fn of_two_files_of_one_name_the_later_one_stays() {
    let archive = Forged::new().file("a", "first and longer").file("./a", "second");
    let tree = check(&archive.gzip(), &Limits::default()).unwrap();
    assert_eq!(text(&tree, "a"), Some("second"));
}

#[test]
fn no_name_is_a_file_and_a_directory() {
    let conflicts = [
        Forged::new().file("a", "").file("a/b", ""),
        Forged::new().file("a/b", "").file("a", ""),
        Forged::new().entry(b'5', "a", b"").file("a", ""),
        Forged::new().file("a", "").entry(b'5', "a/", b""),
        Forged::new().file(".", ""),
    ];
    for archive in conflicts {
        let found = refused(archive);
        assert!(matches!(found, Error::Conflict { .. }), "{found:?}");
    }
}

#[test]
fn long_names_of_both_kinds_are_read() {
    let long = format!("{}/{}", "d".repeat(200), "f".repeat(200));
    let gnu = Forged::new().entry(b'L', "././@LongLink", format!("{long}\0").as_bytes());
    let record = format!("{} path={long}\n", long.len() + 10);
    let pax = Forged::new()
        .entry(b'g', "global", b"19 comment=nothing\n")
        .entry(b'x', "pax", record.as_bytes());
    for archive in [gnu, pax] {
        let archive = archive.file("short", "content").file("next", "1");
        let tree = check(&archive.gzip(), &Limits::default()).unwrap();
        assert_eq!(text(&tree, &long), Some("content"));
        assert_eq!(text(&tree, "next"), Some("1"));
    }
}

#[test]
fn names_too_long_for_any_file_system_are_refused() {
    let long = "a/".repeat(4000);
    let found = refused(Forged::new().entry(b'L', "long", long.as_bytes()).file("a", ""));
    assert!(matches!(found, Error::Name { .. }), "{found:?}");
    let endless = vec![b'a'; 100_000];
    let found = refused(Forged::new().entry(b'L', "long", &endless).file("a", ""));
    assert!(matches!(found, Error::Damaged { .. }), "{found:?}");
}

#[test]
fn sizes_that_no_archive_has_are_refused_before_anything_is_read() {
    for size in [1 << 31, 1 << 40, u64::MAX] {
        let found = refused(Forged::new().entry_of_size(b'0', "a", size, b""));
        assert!(matches!(found, Error::FileTooLarge { .. }), "{found:?}");
        let found = refused(Forged::new().entry_of_size(b'x', "a", size, b""));
        assert!(matches!(found, Error::Damaged { .. }), "{found:?}");
    }
    let found = refused(
        Forged::new()
            .entry(b'x', "p", b"29 size=18446744073709551615\n")
            .file("a", ""),
    );
    assert!(matches!(found, Error::FileTooLarge { .. }), "{found:?}");
    let found = refused(Forged::new().entry(b'x', "p", b"11 size=-1\n").file("a", ""));
    assert!(matches!(found, Error::Damaged { .. }), "{found:?}");
}

/// T8
#[test]
fn entries_and_bytes_are_limited() {
    let limits = Limits {
        entries: 3,
        size: 10,
        file_size: 8,
        ratio: 250,
    };
    let archive = |names: &[&str], content: &str| {
        let forged = names
            .iter()
            .fold(Forged::new(), |forged, name| forged.file(name, content));
        forged.gzip()
    };
    assert!(check(&archive(&["a", "b", "c"], "123"), &limits).is_ok());
    let found = check(&archive(&["a", "b", "c", "d"], ""), &limits).unwrap_err();
    assert!(matches!(found, Error::TooManyEntries(3)), "{found:?}");
    let found = check(&archive(&["a/b/c/d"], ""), &limits).unwrap_err();
    assert!(
        matches!(found, Error::TooManyEntries(3)),
        "parents count: {found:?}"
    );
    let found = check(&archive(&["a"; 13], ""), &limits).unwrap_err();
    assert!(
        matches!(found, Error::TooManyEntries(3)),
        "repeats count: {found:?}"
    );
    let found = check(&archive(&["a", "b", "c"], "1234"), &limits).unwrap_err();
    assert!(matches!(found, Error::TooLarge(10)), "{found:?}");
    let found = check(&archive(&["a"], "123456789"), &limits).unwrap_err();
    assert!(matches!(found, Error::FileTooLarge { limit: 8, .. }), "{found:?}");
}

#[test]
fn a_bomb_is_stopped_by_its_size_and_by_the_ratio() {
    let zeros = vec![0; 40 << 20];
    let archive = Forged::new().entry(b'0', "zeros", &zeros).gzip();
    assert!(archive.len() < 200_000);
    let small = Limits::default().with_size(39 << 20);
    let found = check(&archive, &small).unwrap_err();
    assert!(matches!(found, Error::FileTooLarge { .. }), "{found:?}");
    let parts = (0..5).fold(Forged::new(), |forged, number| {
        forged.entry(b'0', &number.to_string(), &zeros[..8 << 20])
    });
    let found = check(&parts.gzip(), &small).unwrap_err();
    assert!(matches!(found, Error::TooLarge(_)), "{found:?}");
    let strict = Limits {
        ratio: 100,
        ..Limits::default()
    };
    let found = check(&archive, &strict).unwrap_err();
    assert!(matches!(found, Error::TooCompressed(100)), "{found:?}");
}

/// T8: the most that gzip can compress is no bomb
#[test]
fn zeros_that_were_compressed_as_much_as_can_be_are_unpacked() {
    let zeros = vec![0; 40 << 20];
    let tar = Forged::new().entry(b'0', "zeros", &zeros);
    let archive = tar.gzip();
    for limits in [Limits::default(), Limits::of_own_archives()] {
        let root = tempfile::tempdir().unwrap();
        let directory = root.path().join("to");
        let unpacked = unpack(archive.as_slice(), &directory, &limits).unwrap();
        assert_eq!((unpacked.files, unpacked.size), (1, 40 << 20));
        assert!(fs::read(directory.join("zeros")).unwrap() == zeros);
    }
}

#[test]
fn an_archive_cut_anywhere_is_truncated() {
    let content = "some content that does not compress away: 0123456789".repeat(20);
    let whole = Forged::new().file("a/b", &content).file("c", "1").gzip();
    for length in 0..whole.len() {
        let found = check(&whole[..length], &Limits::default()).unwrap_err();
        assert!(
            matches!(found, Error::Truncated | Error::Read(_)),
            "{length}: {found:?}"
        );
    }
}

#[test]
fn content_that_is_shorter_than_said_is_truncated() {
    for size in [4, 513, 100_000] {
        let forged = Forged::new().entry_of_size(b'0', "a", size + 512, &vec![1; size as usize]);
        let found = check(&forged.gzip_without_end(), &Limits::default()).unwrap_err();
        assert!(matches!(found, Error::Truncated), "{found:?}");
    }
}

#[test]
fn damage_is_seen() {
    let whole = Forged::new().file("a", "content").gzip();
    let mut changed = whole.clone();
    let trailer = changed.len() - 8;
    changed[trailer] ^= 1;
    assert!(matches!(check(&changed, &Limits::default()), Err(Error::Read(_))));
    let found = refused(Forged::new().file("a", "1").raw(&[7; 512]));
    assert!(
        matches!(found, Error::Damaged { ref after, .. } if after == "a"),
        "{found:?}"
    );
    assert!(matches!(
        check(b"no archive at all", &Limits::default()),
        Err(Error::Read(_))
    ));
}

#[test]
fn what_is_no_archive_is_not_taken_for_one_that_was_cut_off() {
    let gzipped = compress(b"a: 1\n");
    for (content, why) in [
        (&b"x"[..], "it is not gzipped"),
        (b"signed", "it is not gzipped"),
        (b"apiVersion: v1\nkind: ConfigMap\n", "it is not gzipped"),
        (&gzipped, "it is no tar archive"),
    ] {
        match check(content, &Limits::default()) {
            Err(Error::Read(cause)) => assert_eq!(cause.to_string(), why),
            other => panic!("{content:?}: {other:?}"),
        }
    }
}

#[test]
fn what_endlessly_follows_the_end_is_not_read() {
    let mut tail = vec![0; 17 << 20];
    // Something that does not run into the limit of the ratio first.
    for (index, byte) in tail.iter_mut().enumerate() {
        *byte = (index / 3) as u8;
    }
    let archive = Forged::new().file("a", "").raw(&[0; 1024]).raw(&tail);
    let limits = Limits {
        ratio: 100_000,
        ..Limits::default()
    };
    let found = check(&archive.gzip_without_end(), &limits).unwrap_err();
    assert!(matches!(found, Error::Damaged { .. }), "{found:?}");
}

#[test]
fn archives_without_an_end_and_in_several_members_are_read_as_go_reads_them() {
    let archive = Forged::new().file("a", "1").gzip_without_end();
    let tree = check(&archive, &Limits::default()).unwrap();
    assert_eq!(text(&tree, "a"), Some("1"));
    let mut members = archive;
    members.extend(Forged::new().file("b", "2").gzip());
    let tree = check(&members, &Limits::default()).unwrap();
    assert_eq!(text(&tree, "b"), Some("2"));
    assert_eq!(
        check(&compress(b""), &Limits::default()).unwrap(),
        MemoryTree::new()
    );
}

#[test]
fn a_directory_that_holds_something_is_not_unpacked_to() {
    let root = tempfile::tempdir().unwrap();
    fs::write(root.path().join("mine"), "1").unwrap();
    let archive = Forged::new().file("a", "").gzip();
    let found = unpack(archive.as_slice(), root.path(), &Limits::default()).unwrap_err();
    assert!(matches!(found, Error::NotEmpty { .. }), "{found:?}");
    assert_eq!(fs::read_dir(root.path()).unwrap().count(), 1);
}

#[cfg(unix)]
/// T8
#[test]
fn modes_keep_the_owner_in_and_set_user_bits_out() {
    use std::os::unix::fs::PermissionsExt;
    let mut archive = tar::Builder::new(flate2::write::GzEncoder::new(
        Vec::new(),
        flate2::Compression::fast(),
    ));
    for (name, kind, mode) in [
        ("locked", tar::EntryType::Directory, 0),
        ("locked/file", tar::EntryType::Regular, 0o4111),
    ] {
        let mut header = tar::Header::new_gnu();
        header.set_entry_type(kind);
        header.set_mode(mode);
        header.set_size(0);
        archive.append_data(&mut header, name, &[][..]).unwrap();
    }
    let archive = archive.into_inner().unwrap().finish().unwrap();
    let root = tempfile::tempdir().unwrap();
    let directory = root.path().join("out");
    unpack(archive.as_slice(), &directory, &Limits::default()).unwrap();
    let mode = |name: &str| {
        let metadata = fs::metadata(directory.join(name)).unwrap();
        metadata.permissions().mode() & 0o7777
    };
    assert_eq!(mode("locked"), 0o700);
    assert_eq!(mode("locked/file"), 0o711);
}
