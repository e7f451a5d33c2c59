//! What holds for all trees, patterns and bytes.

use model::digest::Algorithm;
use proptest::prelude::*;
use source::archive::ignore::Rules;
use source::archive::{Kind, Limits, MemoryTree, Modes, Tree, pack, read, unpack};

use super::forge::{Forged, compress};

fn name() -> impl Strategy<Value = String> {
    "[a-c.é ][a-cé _-]{0,12}".prop_filter("is a name", |name| name != ".")
}

prop_compose! {
    fn tree()(files in prop::collection::btree_map(
        prop::collection::vec(name(), 1..4),
        (any::<bool>(), prop::collection::vec(any::<u8>(), 0..2000)),
        0..20,
    )) -> MemoryTree {
        let mut tree = MemoryTree::new();
        for (path, (executable, content)) in &files {
            // A name that is a directory elsewhere gets an ending that no name has.
            let path = format!("{}+", path.join("/"));
            let parents: Vec<&str> = path.split('/').collect();
            for depth in 1..parents.len() {
                tree = tree.with_directory(&parents[..depth].join("/"));
            }
            tree = if *executable {
                tree.with_executable(&path, content.clone())
            } else {
                tree.with(&path, content.clone())
            };
        }
        tree
    }
}

fn packed(tree: &dyn Tree) -> Vec<u8> {
    let mut archive = Vec::new();
    pack(tree, &Rules::none(), Modes::OWN, Algorithm::Blake3, &mut archive).unwrap();
    archive
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn what_is_packed_comes_back(tree in tree()) {
        let archive = packed(&tree);
        let back = read(archive.as_slice(), &Limits::default()).unwrap();
        prop_assert_eq!(&back, &tree);
        let root = tempfile::tempdir().unwrap();
        let directory = root.path().join("unpacked");
        unpack(archive.as_slice(), &directory, &Limits::default()).unwrap();
        let again = packed(&source::archive::Directory::new(directory));
        prop_assert_eq!(again, archive, "the same files are the same bytes");
    }

    #[test]
    fn any_patterns_answer_for_any_path(
        text in prop::collection::vec(any::<u8>(), 0..200),
        lines in "([!/*?\\[\\]\\\\^a-c -]{0,8}\n){0,5}",
        path in "[a-c*\\[é]{1,4}(/[a-c*\\[é]{1,4}){0,3}",
    ) {
        let rules = Rules::only([text.as_slice(), lines.as_bytes()]).unwrap();
        rules.ignores(&path, Kind::Directory);
        rules.ignores(&path, Kind::File { executable: false });
    }

    #[test]
    fn any_bytes_are_unpacked_or_refused(
        bytes in prop::collection::vec(any::<u8>(), 0..3000),
        kind in any::<u8>(),
        size in any::<u64>(),
        name in "[a-z/.\\\\]{0,100}",
    ) {
        let _ = read(bytes.as_slice(), &Limits::default());
        let _ = read(compress(&bytes).as_slice(), &Limits::default());
        let forged = Forged::new().entry_of_size(kind, &name, size, &bytes);
        let _ = read(forged.file("a", "1").gzip().as_slice(), &Limits::default());
        let forged = Forged::new().entry(b'x', "pax", &bytes);
        let _ = read(forged.file("a", "1").gzip().as_slice(), &Limits::default());
    }
}
