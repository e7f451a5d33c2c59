//! The repository: what is in it, as a value that can be changed, written as files, and compared with a cluster.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use fastrand::Rng;

const FOUNDATIONS: usize = 20;
const PLATFORMS: usize = 60;
/// With the one that makes all others there are 200 Kustomizations.
const APPS: usize = 119;

/// What an object of a unit says, by its key.
pub(super) type Data = BTreeMap<String, String>;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Layer {
    /// Plain files, with a workload, that is waited for.
    Foundation,
    /// An overlay of a base with variables, on a foundation.
    Platform,
    /// An overlay on two platforms.
    App,
}

#[derive(Clone, Debug)]
struct Unit {
    layer: Layer,
    depends_on: Vec<String>,
    /// What its own objects say.
    objects: BTreeMap<String, u32>,
    is_broken: bool,
}

/// All of it.
pub(super) struct Monorepo {
    units: BTreeMap<String, Unit>,
    base: u32,
    /// Names are never used again: what is seen under one is always the same object.
    names: u32,
}

impl Monorepo {
    pub(super) fn new(random: &mut Rng) -> Self {
        let mut repo = Monorepo {
            units: BTreeMap::new(),
            base: 1,
            names: 0,
        };
        for layer in [
            vec![Layer::Foundation; FOUNDATIONS],
            vec![Layer::Platform; PLATFORMS],
            vec![Layer::App; APPS],
        ]
        .concat()
        {
            repo.add_unit(layer, random);
        }
        repo
    }

    fn fresh(&mut self, what: &str) -> String {
        self.names += 1;
        format!("{what}-{}", self.names)
    }

    fn of(&self, layer: Layer) -> Vec<String> {
        let units = self.units.iter().filter(|(_, unit)| unit.layer == layer);
        units.map(|(name, _)| name.clone()).collect()
    }

    fn add_unit(&mut self, layer: Layer, random: &mut Rng) {
        let (word, below, count) = match layer {
            Layer::Foundation => ("foundation", None, 0),
            Layer::Platform => ("platform", Some(Layer::Foundation), 1),
            Layer::App => ("app", Some(Layer::Platform), 2),
        };
        let below = below.map(|below| self.of(below)).unwrap_or_default();
        let depends_on: BTreeSet<String> = (0..count)
            .map(|_| below[random.usize(..below.len())].clone())
            .collect();
        let name = self.fresh(word);
        let objects = [(self.fresh("own"), 1), (self.fresh("own"), 1)].into();
        let unit = Unit {
            layer,
            depends_on: depends_on.into_iter().collect(),
            objects,
            is_broken: false,
        };
        self.units.insert(name, unit);
    }

    /// Changes something. What was broken is mended first.
    pub(super) fn change(&mut self, random: &mut Rng) {
        self.mend();
        let names: Vec<String> = self.units.keys().cloned().collect();
        let name = names[random.usize(..names.len())].clone();
        let fresh = self.fresh("own");
        let unit = self.units.get_mut(&name).expect("it is one of them");
        match random.u8(..8) {
            0 => unit.is_broken = true,
            1 => drop(unit.objects.insert(fresh, 1)),
            2 if unit.objects.len() > 1 => drop(unit.objects.pop_first()),
            3 => self.base += 1,
            4 => {
                let apps = self.of(Layer::App);
                self.units.remove(&apps[random.usize(..apps.len())]);
                self.add_unit(Layer::App, random);
            }
            5 => self.move_object(random),
            _ => unit.objects.values_mut().for_each(|value| *value += 1),
        }
    }

    /// Everything can be built again.
    pub(super) fn mend(&mut self) {
        self.units.values_mut().for_each(|unit| unit.is_broken = false);
    }

    /// An object goes from one foundation to another. It must not be deleted on its way.
    fn move_object(&mut self, random: &mut Rng) {
        let names = self.of(Layer::Foundation);
        let (from, to) = (
            &names[random.usize(..names.len())],
            &names[random.usize(..names.len())],
        );
        let giver = self.units.get_mut(from).expect("it is one of them");
        if giver.objects.len() < 2 || from == to {
            return;
        }
        let moved = giver.objects.pop_first();
        let taker = self.units.get_mut(to).expect("it is one of them");
        taker.objects.extend(moved);
    }

    /// The Kustomizations that it describes.
    pub(super) fn kustomizations(&self) -> BTreeSet<String> {
        self.units.keys().cloned().collect()
    }

    /// The ConfigMaps that it describes, with what they say.
    pub(super) fn expected(&self) -> BTreeMap<String, Data> {
        let mut expected = BTreeMap::new();
        for (name, unit) in &self.units {
            let is_plain = unit.layer == Layer::Foundation;
            let full = |object: &str| match is_plain {
                true => object.to_owned(),
                false => format!("{name}-{object}"),
            };
            for (object, value) in &unit.objects {
                let data = [("value".to_owned(), value.to_string())];
                expected.insert(full(object), data.into());
            }
            if !is_plain {
                let base = [
                    ("base", self.base.to_string()),
                    ("team", name.clone()),
                    ("region", "north".to_owned()),
                ];
                let base = base.map(|(key, value)| (key.to_owned(), value));
                expected.insert(full("settings"), base.into());
            }
        }
        expected
    }

    /// The files.
    pub(super) fn files(&self, namespace: &str) -> BTreeMap<String, String> {
        let mut files = BTreeMap::new();
        let base = format!(
            "{{base: \"{}\", team: \"${{TEAM}}\", region: \"${{REGION}}\"}}",
            self.base
        );
        files.insert("base/settings.yaml".to_owned(), config_map("settings", &base));
        files.insert(
            "base/kustomization.yaml".to_owned(),
            "resources: [settings.yaml]\n".to_owned(),
        );
        for (name, unit) in &self.units {
            files.insert(
                format!("clusters/one/{name}.yaml"),
                unit.kustomization(name, namespace),
            );
            for (object, value) in &unit.objects {
                let data = format!("{{value: \"{value}\"}}");
                files.insert(format!("units/{name}/{object}.yaml"), config_map(object, &data));
            }
            match unit.layer {
                Layer::Foundation => {
                    drop(files.insert(format!("units/{name}/workload.yaml"), workload(name)))
                }
                Layer::Platform | Layer::App => {
                    let mut text = format!("namePrefix: {name}-\nresources:\n- ../../base\n");
                    for object in unit.objects.keys() {
                        let _ = writeln!(text, "- {object}.yaml");
                    }
                    files.insert(format!("units/{name}/kustomization.yaml"), text);
                }
            }
            if unit.is_broken {
                let first = unit.objects.keys().next().expect("it has one");
                files.insert(
                    format!("units/{name}/{first}.yaml"),
                    "kind: [ConfigMap\n".to_owned(),
                );
            }
        }
        files
    }
}

impl Unit {
    fn kustomization(&self, name: &str, namespace: &str) -> String {
        let mut text = format!(
            "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata:\n  name: {name}\n  \
             namespace: {namespace}\nspec:\n  interval: 1h\n  retryInterval: 1s\n  timeout: 5m\n  prune: true\n  \
             targetNamespace: {namespace}\n  path: ./units/{name}\n  sourceRef: {{kind: GitRepository, name: monorepo}}\n"
        );
        if self.layer != Layer::App {
            text += "  wait: true\n";
        }
        if self.layer != Layer::Foundation {
            let _ = write!(
                text,
                "  postBuild:\n    substitute: {{TEAM: {name}}}\n    substituteFrom: [{{kind: ConfigMap, name: variables}}]\n"
            );
        }
        if !self.depends_on.is_empty() {
            let names: Vec<String> = self
                .depends_on
                .iter()
                .map(|name| format!("{{name: {name}}}"))
                .collect();
            let _ = writeln!(text, "  dependsOn: [{}]", names.join(", "));
        }
        text
    }
}

fn config_map(name: &str, data: &str) -> String {
    format!("apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: {name}}}\ndata: {data}\n")
}

fn workload(name: &str) -> String {
    format!(
        "apiVersion: apps/v1\nkind: Deployment\nmetadata: {{name: {name}}}\nspec:\n  replicas: 0\n  selector: {{matchLabels: \
         {{app: {name}}}}}\n  template:\n    metadata: {{labels: {{app: {name}}}}}\n    spec: {{containers: [{{name: one, image: \
         registry.example.com/one:1}}]}}\n"
    )
}
