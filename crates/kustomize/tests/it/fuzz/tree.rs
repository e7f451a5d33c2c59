//! Trees: kustomizations that lead to each other, and a watch over what is read.

use std::borrow::Cow;

use kustomize::helm::{Renderer, Request};
use kustomize::remote::{Fetcher, RepoSpec};
use kustomize::{LoadRestrictor, Memory, Tree};

use super::dice::Dice;
use super::shape::{Shape, map, odd, raw, some_of};
use super::{kustomization, object, text, words};

/// A tree that nobody may ask for what is outside of it, nor, where kustomizations may only read below themselves, for
/// what is in a directory without one.
pub(super) struct Watched {
    files: Memory,
    restrictor: LoadRestrictor,
}

impl Watched {
    pub(super) fn new(files: Memory, restrictor: LoadRestrictor) -> Watched {
        Watched { files, restrictor }
    }

    fn check(path: &str) {
        let clean = path.split('/').all(|part| !matches!(part, "." | "..")) && !path.starts_with('/');
        assert!(clean, "the tree was asked for {path:?}");
    }
}

impl Tree for Watched {
    fn read(&self, path: &str) -> Result<Option<Cow<'_, [u8]>>, String> {
        Self::check(path);
        let private = path.starts_with("private/") && self.restrictor == LoadRestrictor::RootOnly;
        assert!(!private, "{path} was read from outside of its directory");
        self.files.read(path)
    }

    fn is_dir(&self, path: &str) -> bool {
        Self::check(path);
        self.files.is_dir(path)
    }

    fn resolve(&self, path: &str) -> Option<String> {
        Self::check(path);
        self.files.resolve(path)
    }
}

/// Everything that is elsewhere is some tree, too.
pub(super) struct Elsewhere(pub(super) u64);

impl Fetcher for Elsewhere {
    fn file(&self, _: &str) -> Result<Vec<u8>, String> {
        Ok(content(&mut Dice::new(self.0)))
    }

    fn repository(&self, spec: &RepoSpec) -> Result<Box<dyn Tree>, String> {
        let mut dice = Dice::new(self.0 ^ spec.raw.len() as u64);
        Ok(Box::new(Watched::new(files(&mut dice), LoadRestrictor::RootOnly)))
    }
}

impl Renderer for Elsewhere {
    fn template(&self, request: &Request<'_>) -> Result<String, String> {
        let mut dice = Dice::new(self.0);
        request.values("a: {b: [1]}\n")?;
        Ok(String::from_utf8_lossy(&content(&mut dice)).into_owned())
    }
}

/// The places of kustomizations. None is above `private`.
const PLACES: [&str; 5] = ["r", "r/b", "b", "c", "r/c"];

pub(super) fn files(dice: &mut Dice) -> Memory {
    let mut files = Memory::new();
    files.insert(
        "private/token.yaml",
        "apiVersion: v1\nkind: Secret\nmetadata: {name: token}\n",
    );
    for place in PLACES {
        let kind = if place.ends_with('c') {
            "Component"
        } else {
            "Kustomization"
        };
        let name = match dice.below(40) {
            _ if dice.tame => "kustomization.yaml",
            0 => "kustomization.yml",
            1 => "Kustomization",
            _ => "kustomization.yaml",
        };
        dice.known.clear();
        files.insert(&format!("{place}/a.yaml"), content(dice));
        let bases: &[&str] = match place {
            "r" => &["b", "../b"],
            _ => &[],
        };
        let own = kustomization::file(kind, bases, dice);
        let own = match dice.below(12) {
            _ if dice.tame => own.into_bytes(),
            0 => text::damaged(own, dice),
            1 if dice.one_in(3) => text::hostile(dice),
            _ => own.into_bytes(),
        };
        files.insert(&format!("{place}/{name}"), own);
        let patch = if dice.one_in(3) {
            object::json_patch(dice)
        } else {
            object::patch(dice)
        };
        files.insert(&format!("{place}/p.yaml"), patch);
        let env = dice.choose(
            1,
            &[
                "A=b\n",
                "# x\nA=b\n\nB\n",
                "=x",
                "A=b\nA=c\n",
                "a b=c",
                "\u{feff}A=b",
                "A='x",
            ],
        );
        files.insert(&format!("{place}/x.env"), env);
        files.insert(&format!("{place}/specs.yaml"), specs(dice));
        files.insert(&format!("{place}/crds.json"), definitions(dice).print(dice));
        let openapi = map([("definitions", definitions(dice))]);
        files.insert(&format!("{place}/openapi.json"), openapi.print(dice));
    }
    files
}

fn content(dice: &mut Dice) -> Vec<u8> {
    let file = object::file(dice);
    match dice.below(16) {
        _ if dice.tame => file.into_bytes(),
        0 => text::hostile(dice),
        1 => text::damaged(file, dice),
        _ => file.into_bytes(),
    }
}

/// A file of `configurations`.
fn specs(dice: &mut Dice) -> String {
    let spec = |dice: &mut Dice| {
        let pairs = [
            ("kind", words::kind(dice).1.into()),
            ("path", words::spec_path(dice).into()),
            ("create", raw("true")),
        ];
        some_of(dice, pairs)
    };
    let fields = [
        "namePrefix",
        "namespace",
        "commonLabels",
        "commonAnnotations",
        "varReference",
        "images",
        "replicas",
    ];
    let mut pairs = dice.some(2, |dice| {
        (dice.pick(&fields).to_owned(), Shape::List(dice.some(2, spec)))
    });
    let references = dice.some(2, |dice| {
        map([
            ("kind", words::kind(dice).1.into()),
            ("fieldSpecs", Shape::List(dice.some(2, spec))),
        ])
    });
    pairs.push(("nameReference".to_owned(), Shape::List(references)));
    Shape::Map(pairs).print(dice)
}

/// Definitions that refer to each other, in circles too.
fn definitions(dice: &mut Dice) -> Shape {
    let most = dice.pick(&[4, 4, 4, 4, 4, 4, 4, 40]);
    let count = 1 + dice.below(most);
    let mut all = Vec::new();
    for number in 0..count {
        let mut properties: Vec<(String, Shape)> = ["kind", "apiVersion", "metadata"]
            .map(|name| (name.to_owned(), map([("type", "string".into())])))
            .into();
        for _ in 0..dice.below(count.min(12) + 1) {
            let to = format!("d{}", dice.below(count));
            let pairs = [
                (
                    "$ref",
                    dice.pick(&[to.as_str(), &format!("#/definitions/{to}")]).into(),
                ),
                ("x-kubernetes-object-ref-api-version", "v1".into()),
                ("x-kubernetes-object-ref-kind", "ConfigMap".into()),
                ("x-kubernetes-label-selector", "".into()),
                ("type", "array".into()),
                ("x-kubernetes-patch-strategy", "merge".into()),
                ("x-kubernetes-patch-merge-key", "name".into()),
                (
                    "items",
                    if dice.one_in(9) {
                        odd(dice)
                    } else {
                        map([("$ref", to.as_str().into())])
                    },
                ),
            ];
            let property = some_of(dice, pairs);
            properties.push((format!("p{}", properties.len()), property));
        }
        let (version, kind) = words::kind(dice);
        let about = map([
            ("version", version.into()),
            ("kind", kind.into()),
            ("group", "".into()),
        ]);
        let inner = Shape::Map(properties);
        let definition = map([
            ("properties", inner.clone()),
            ("Schema", map([("properties", inner)])),
            ("x-kubernetes-group-version-kind", Shape::List(vec![about])),
        ]);
        all.push((format!("d{number}"), definition));
    }
    Shape::Map(all)
}
