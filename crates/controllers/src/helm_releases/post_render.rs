//! What is changed about rendered manifests: the kustomizations of the spec one after the other, then labels and annotations for all
//! objects, and at last the labels that tell which HelmRelease they come from.

use std::sync::Arc;

use api::helm::{HelmRelease, KustomizeRenderer};
use helm::ownership::{add_metadata, origin_labels};
use helm::release::PostRenderer;
use helm::render::Stop;
use kube::ResourceExt;
use kustomize::{Guard, Memory, Options};
use model::Value;
use model::convert::from_serde;
use parking_lot::Mutex;

use super::target;

/// The file that kustomizations read.
const OUTPUT: &str = "helm-output.yaml";

/// The most patches and images of all kustomizations of a release. Each goes over all objects.
const MOST: usize = 1000;

/// The most bytes that objects may have after they were changed, and that patches may add.
const LARGEST: usize = 64 << 20;

/// Changes the manifests of a release.
pub(super) struct Chain<'c> {
    /// Says when the time of the rendering is up.
    stop: Arc<Stop>,
    renderers: Vec<&'c KustomizeRenderer>,
    labels: Vec<(&'c str, &'c str)>,
    annotations: Vec<(&'c str, &'c str)>,
    origin: [(String, String); 2],
}

impl<'c> Chain<'c> {
    pub(super) fn of(object: &'c HelmRelease, stop: Arc<Stop>) -> Self {
        let spec = &object.spec;
        let texts = |map: &'c std::collections::BTreeMap<String, String>| {
            let pairs = map.iter().map(|(key, value)| (key.as_str(), value.as_str()));
            pairs.collect::<Vec<_>>()
        };
        let common = spec.common_metadata.as_ref();
        Chain {
            stop,
            renderers: spec
                .post_renderers
                .iter()
                .filter_map(|one| one.kustomize.as_ref())
                .collect(),
            labels: common.map(|common| texts(&common.labels)).unwrap_or_default(),
            annotations: common
                .map(|common| texts(&common.annotations))
                .unwrap_or_default(),
            origin: origin_labels(&target::own_namespace(object), &object.name_any()),
        }
    }
}

impl PostRenderer for Chain<'_> {
    fn run(&mut self, manifests: &str) -> Result<String, String> {
        let of = |renderer: &&KustomizeRenderer| {
            let older = renderer.patches_json6902.len() + renderer.patches_strategic_merge.len();
            renderer.patches.len() + older + renderer.images.len()
        };
        let count: usize = self.renderers.iter().map(of).sum();
        if count > MOST {
            return Err(format!(
                "spec.postRenderers have {count} patches and images: at most {MOST} are allowed"
            ));
        }
        let bounds = Arc::new(Bounds {
            stop: Arc::clone(&self.stop),
            left: Mutex::new(LARGEST.cast_signed()),
        });
        let mut text = manifests.to_owned();
        for renderer in &self.renderers {
            bounds.may_go_on(0)?;
            text = kustomized(&text, renderer, &bounds)?;
            check_size(&text)?;
        }
        let mut marked = String::with_capacity(text.len());
        for document in yaml::documents(&text) {
            bounds.may_go_on(0)?;
            let mut object = document.map_err(|error| error.to_string())?.value;
            if object.is_null() {
                continue;
            }
            let (labels, annotations) = (self.labels.iter().copied(), self.annotations.iter().copied());
            add_metadata(&mut object, labels, annotations, &self.origin);
            if !marked.is_empty() {
                marked.push_str("---\n");
            }
            marked.push_str(&yaml::write(&object));
            check_size(&marked)?;
        }
        Ok(marked)
    }
}

/// Bounds what the patches of a release do.
struct Bounds {
    stop: Arc<Stop>,
    /// The bytes that patches may still add.
    left: Mutex<isize>,
}

impl Guard for Bounds {
    fn may_go_on(&self, grown: isize) -> Result<(), String> {
        if let Some(why) = (self.stop)() {
            return Err(why);
        }
        let mut left = self.left.lock();
        *left = left.saturating_sub(grown);
        match *left < 0 {
            true => Err(too_large()),
            false => Ok(()),
        }
    }
}

fn check_size(text: &str) -> Result<(), String> {
    match text.len() > LARGEST {
        true => Err(too_large()),
        false => Ok(()),
    }
}

fn too_large() -> String {
    format!(
        "spec.postRenderers and spec.commonMetadata make objects of more than {} MiB: have them add less",
        LARGEST >> 20
    )
}

/// Manifests after one kustomization.
fn kustomized(manifests: &str, renderer: &KustomizeRenderer, bounds: &Arc<Bounds>) -> Result<String, String> {
    let mut kustomization = from_serde(renderer).map_err(|error| error.to_string())?;
    kustomization.set_at(&["apiVersion"], "kustomize.config.k8s.io/v1beta1");
    kustomization.set_at(&["kind"], "Kustomization");
    kustomization.set_at(&["resources"], Value::Array(vec![OUTPUT.into()].into()));
    let tree = Memory::from_iter([
        ("kustomization.yaml", yaml::write(&kustomization)),
        (OUTPUT, manifests.to_owned()),
    ]);
    let options = Options {
        guard: Some(Arc::clone(bounds) as Arc<dyn Guard>),
        ..Options::default()
    };
    let built = kustomize::build(&tree, "", &options).map_err(|errors| errors.to_string())?;
    built.to_yaml().map_err(|errors| errors.to_string())
}

#[cfg(test)]
mod tests {
    use serde_json::{Value as Json, json};

    use super::*;

    fn object(spec: &Json) -> HelmRelease {
        let mut object = json!({
            "apiVersion": "helm.toolkit.fluxcd.io/v2", "kind": "HelmRelease",
            "metadata": {"name": "web", "namespace": "mallory"}, "spec": {"interval": "1h"},
        });
        for (key, value) in spec.as_object().unwrap() {
            object["spec"][key] = value.clone();
        }
        serde_json::from_value(object).unwrap()
    }

    fn config_maps(count: usize) -> String {
        let map = |number| {
            format!("---\napiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: map-{number}\ndata:\n  a: b\n")
        };
        (0..count).map(map).collect()
    }

    fn post_rendered(spec: &Json, manifests: &str, stop: Arc<Stop>) -> Result<String, String> {
        Chain::of(&object(spec), stop).run(manifests)
    }

    fn patches(patches: &[String]) -> Json {
        let patches: Vec<Json> = patches
            .iter()
            .map(|patch| json!({"target": {"kind": "ConfigMap"}, "patch": patch}))
            .collect();
        json!({"postRenderers": [{"kustomize": {"patches": patches}}]})
    }

    /// A patch of some bytes doubled each object as often as it said.
    #[test]
    fn patches_add_no_more_than_they_may() {
        let copy = |number: usize| format!(r#"{{"op":"copy","from":"/data","path":"/data/copy-{number}"}}"#);
        let copies: Vec<String> = (0..16).map(copy).collect();
        let text = "a".repeat(100_000);
        for patch in [
            format!("[{}]", copies.join(", ")),
            format!("kind: ConfigMap\napiVersion: v1\nmetadata:\n  name: any\ndata:\n  more: {text}\n"),
        ] {
            let spec = patches(&[patch]);
            let few = post_rendered(&spec, &config_maps(2), Arc::new(|| None));
            assert!(few.unwrap().contains("name: map-1"));
            let many = post_rendered(&spec, &config_maps(2000), Arc::new(|| None)).unwrap_err();
            assert!(many.contains("make objects of more than 64 MiB"), "{many}");
        }
        let spec = json!({"commonMetadata": {"annotations": {"a": text}}});
        let many = post_rendered(&spec, &config_maps(2000), Arc::new(|| None)).unwrap_err();
        assert!(many.contains("make objects of more than 64 MiB"), "{many}");
    }

    /// Only templates were stopped when the time was up.
    #[test]
    fn patches_stop_when_the_time_is_up() {
        let asked = Mutex::new(0);
        let stop = move || {
            *asked.lock() += 1;
            (*asked.lock() > 100).then(|| "it takes too long".to_owned())
        };
        let spec = patches(&[r#"[{"op":"add","path":"/data/b","value":"c"}]"#.to_owned()]);
        let stopped = post_rendered(&spec, &config_maps(500), Arc::new(stop)).unwrap_err();
        assert!(stopped.contains("it takes too long"), "{stopped}");
    }

    #[test]
    fn a_release_has_so_many_patches_at_most() {
        let all = vec![r#"[{"op":"add","path":"/data/b","value":"c"}]"#.to_owned(); MOST + 1];
        let refused = post_rendered(&patches(&all), &config_maps(1), Arc::new(|| None)).unwrap_err();
        assert!(refused.contains("1001 patches"), "{refused}");
    }
}
