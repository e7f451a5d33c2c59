//! What holds after any operations in any order.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::time::Duration;

use model::digest::Algorithm;
use proptest::prelude::*;
use source::archive::Hasher;
use source::store::{Presence, Store, Stored};

use super::{Fixture, artifact, place, verify};

const PLACES: [&str; 3] = ["a", "b", "c"];

#[derive(Clone, Debug)]
enum Step {
    Put { place: usize, file: u8, content: u8 },
    Link { place: usize, file: u8, content: u8 },
    Collect { place: usize, current: u8 },
    Damage { place: usize, file: u8 },
    RemoveAll { place: usize },
    Wait { seconds: u64 },
    Reopen,
}

fn step() -> impl Strategy<Value = Step> {
    let (place, file, content) = (0..PLACES.len(), 0..3_u8, 0..3_u8);
    prop_oneof![
        4 => (place.clone(), file.clone(), content.clone())
            .prop_map(|(place, file, content)| Step::Put { place, file, content }),
        3 => (place.clone(), file.clone(), content)
            .prop_map(|(place, file, content)| Step::Link { place, file, content }),
        2 => (place.clone(), file.clone()).prop_map(|(place, current)| Step::Collect { place, current }),
        1 => (place.clone(), file).prop_map(|(place, file)| Step::Damage { place, file }),
        1 => place.prop_map(|place| Step::RemoveAll { place }),
        1 => (1..100_u64).prop_map(|seconds| Step::Wait { seconds }),
        1 => Just(Step::Reopen),
    ]
}

/// The store, and what should be in it.
struct World {
    fixture: Fixture,
    store: Store,
    files: BTreeMap<String, Stored>,
}

impl World {
    fn take(&mut self, step: &Step) {
        match *step {
            Step::Put {
                place: at,
                file,
                content,
            } => {
                let bytes = vec![content; 10];
                let stored = self
                    .store
                    .copy(&place(PLACES[at]), &file.to_string(), bytes.as_slice());
                let stored = stored.unwrap();
                self.files.insert(stored.path.clone(), stored);
            }
            Step::Link {
                place: at,
                file,
                content,
            } => {
                let digest = Hasher::digest(Algorithm::Sha256, &[content; 10]);
                let known = self.files.values().any(|stored| stored.digest == digest);
                let linked = self
                    .store
                    .link(&place(PLACES[at]), &file.to_string(), &digest)
                    .unwrap();
                assert_eq!(
                    linked.is_some(),
                    known,
                    "content is there as long as a file has it"
                );
                if let Some(stored) = linked {
                    self.files.insert(stored.path.clone(), stored);
                }
            }
            Step::Collect { place: at, current } => {
                let current = current.to_string();
                let at = place(PLACES[at]);
                for removed in self.store.collect(&at, Some(&current)).unwrap() {
                    assert_ne!(removed, at.file(&current).unwrap());
                    assert!(self.files.remove(&removed).is_some(), "{removed} was there");
                }
            }
            Step::Damage { place: at, file } => {
                self.damage(&place(PLACES[at]).file(&file.to_string()).unwrap())
            }
            Step::RemoveAll { place: at } => {
                let at = place(PLACES[at]);
                self.store.remove_all(&at).unwrap();
                self.files.retain(|path, _| !path.starts_with(&format!("{at}/")));
            }
            Step::Wait { seconds } => self.fixture.clock.advance(Duration::from_secs(seconds)),
            Step::Reopen => self.store = self.fixture.open(),
        }
    }

    /// Writes to a file behind the store's back. All who share it find out.
    fn damage(&mut self, path: &str) {
        let Some(damaged) = self.files.get(path).cloned() else {
            return;
        };
        fs::write(self.fixture.path(path), b"damaged").unwrap();
        for stored in self
            .files
            .values()
            .filter(|stored| stored.digest == damaged.digest)
        {
            let found = verify(&self.store, &artifact(stored)).unwrap();
            assert!(matches!(found, Presence::Corrupt), "{found:?}");
        }
        self.files.retain(|_, stored| stored.digest != damaged.digest);
    }

    fn check(&self) {
        let mut inodes = BTreeMap::new();
        for (path, stored) in &self.files {
            assert_eq!(
                verify(&self.store, &artifact(stored)).unwrap(),
                Presence::Valid,
                "{path}"
            );
            let inode = fs::metadata(self.fixture.path(path)).unwrap().ino();
            let other = *inodes.entry(stored.digest.to_string()).or_insert(inode);
            assert_eq!(inode, other, "equal content is on disk once");
        }
        let mut expected: BTreeSet<String> = self.files.keys().cloned().collect();
        expected.extend(
            inodes
                .keys()
                .map(|digest| format!(".content/{}", digest.replace(':', "-"))),
        );
        assert_eq!(
            self.fixture.files().into_iter().collect::<BTreeSet<_>>(),
            expected
        );
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn files_are_valid_content_is_shared_and_nothing_else_is_there(
        steps in prop::collection::vec(step(), 1..25),
    ) {
        let fixture = Fixture::new();
        let mut world = World {
            store: fixture.open(),
            fixture,
            files: BTreeMap::new(),
        };
        for step in &steps {
            world.take(step);
            world.check();
        }
    }
}
