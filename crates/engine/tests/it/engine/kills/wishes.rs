//! What is desired: objects of several units, some of which share an object, run hooks, wait, or define kinds that others use.

use std::collections::BTreeMap;

use fastrand::Rng;
use model::{Value, value};

use super::super::{argo, config_map, definition, hook, slow};

/// One that is applied at once; one in waves, so that its operations have several stages; one with hooks; one that defines a kind, and one
/// that has objects of it; and one that is deleted now and then.
pub(super) const UNITS: [&str; 6] = ["plain", "waves", "hooks", "kinds", "users", BRIEF];
pub(super) const BRIEF: &str = "brief";
/// An object that belongs to nobody.
pub(super) const BYSTANDER: &str = "bystander";
/// An object that two units may want, alike.
const SHARED: &str = "shared";
/// The hook of the last revision, which stays.
pub(super) const HOOK: &str = "hooks-before";
const NAMES: [&str; 5] = ["a", "b", "c", "d", "e"];

/// Objects by name, with their keys.
pub(super) type Objects = BTreeMap<String, String>;

/// What is desired of all units.
#[derive(Default)]
pub(super) struct Wish {
    pub(super) revision: String,
    /// The manifests of each unit.
    pub(super) manifests: BTreeMap<&'static str, Vec<Value>>,
    /// What of them is there in the end.
    pub(super) objects: Objects,
    /// Whether there is a kind of our own.
    pub(super) is_defined: bool,
}

impl Wish {
    /// Some of a few objects of each unit, and at least one.
    pub(super) fn random(random: &mut Rng, revision: &str, group: &str, has_brief: bool) -> Wish {
        let mut wish = Wish {
            revision: revision.to_owned(),
            is_defined: random.u8(..3) > 0,
            ..Wish::default()
        };
        let shared = random.u8(..3).to_string();
        wish.some("plain", random);
        wish.some("waves", random);
        for (unit, wanted) in [("plain", random.bool()), ("waves", random.bool())] {
            if wanted {
                wish.lasts(unit, SHARED, &shared);
            }
        }
        wish.in_waves(random.bool());
        wish.some("hooks", random);
        wish.with_hooks();
        for unit in ["kinds", "users"] {
            wish.some(unit, random);
            if wish.is_defined {
                wish.widget(unit, group, &random.u8(..3).to_string());
            }
        }
        if wish.is_defined {
            wish.add("kinds", definition(group));
        }
        wish.some(BRIEF, random);
        let bye = hook(slow("brief-bye"), "PreDelete", "HookSucceeded");
        wish.add(BRIEF, bye);
        if !has_brief {
            wish.objects.retain(|name, _| !name.starts_with(BRIEF));
        }
        wish.objects.insert(BYSTANDER.to_owned(), "mine".to_owned());
        wish
    }

    fn add(&mut self, unit: &'static str, object: Value) {
        self.manifests.entry(unit).or_default().push(object);
    }

    /// A config map that is there in the end.
    fn lasts(&mut self, unit: &'static str, name: &str, key: &str) {
        self.add(unit, config_map(name, key));
        self.objects.insert(name.to_owned(), key.to_owned());
    }

    fn some(&mut self, unit: &'static str, random: &mut Rng) {
        let least = NAMES[random.usize(..NAMES.len())];
        for name in NAMES {
            if name == least || random.bool() {
                self.lasts(unit, &format!("{unit}-{name}"), &random.u8(..3).to_string());
            }
        }
    }

    /// Each object of the unit in a wave of its own. The first may take its time.
    fn in_waves(&mut self, is_slow: bool) {
        let objects = self.manifests.entry("waves").or_default();
        for (wave, object) in objects.iter_mut().enumerate() {
            if wave == 0 && is_slow {
                object.set_at(&["data", "slow"], "yes");
            }
            *object = argo(std::mem::take(object), "sync-wave", &wave.to_string());
        }
    }

    /// One hook that is there until the next revision, and shows that it was run for this one, and one that is gone when all is done.
    fn with_hooks(&mut self) {
        let mut before = slow(HOOK);
        before.set_at(&["data", "key"], self.revision.as_str());
        self.add("hooks", hook(before, "PreSync", "BeforeHookCreation"));
        self.add("hooks", hook(slow("hooks-after"), "PostSync", "HookSucceeded"));
        self.objects.insert(HOOK.to_owned(), self.revision.clone());
    }

    fn widget(&mut self, unit: &'static str, group: &str, key: &str) {
        let name = format!("{unit}-widget");
        let object = value!({
            "apiVersion": (format!("{group}/v1")), "kind": "Widget",
            "metadata": { "name": (name.as_str()) },
            "data": { "key": key },
        });
        self.add(unit, object);
        self.objects.insert(name, key.to_owned());
    }
}
