//! What is changed about rendered manifests: the kustomizations of the spec one after the other, then labels and annotations for all
//! objects, and at last the labels that tell which HelmRelease they come from.

use api::helm::{HelmRelease, KustomizeRenderer};
use helm::ownership::{add_metadata, origin_labels};
use helm::release::PostRenderer;
use kube::ResourceExt;
use kustomize::{Memory, Options};
use model::Value;
use model::convert::from_serde;

use super::target;

/// The file that kustomizations read.
const OUTPUT: &str = "helm-output.yaml";

/// Changes the manifests of a release.
pub(super) struct Chain<'c> {
    renderers: Vec<&'c KustomizeRenderer>,
    labels: Vec<(&'c str, &'c str)>,
    annotations: Vec<(&'c str, &'c str)>,
    origin: [(String, String); 2],
}

impl<'c> Chain<'c> {
    pub(super) fn of(object: &'c HelmRelease) -> Self {
        let spec = &object.spec;
        let texts = |map: &'c std::collections::BTreeMap<String, String>| {
            let pairs = map.iter().map(|(key, value)| (key.as_str(), value.as_str()));
            pairs.collect::<Vec<_>>()
        };
        let common = spec.common_metadata.as_ref();
        Chain {
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
        let mut text = manifests.to_owned();
        for renderer in &self.renderers {
            text = kustomized(&text, renderer)?;
        }
        let mut marked = String::with_capacity(text.len());
        for document in yaml::documents(&text) {
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
        }
        Ok(marked)
    }
}

/// Manifests after one kustomization.
fn kustomized(manifests: &str, renderer: &KustomizeRenderer) -> Result<String, String> {
    let mut kustomization = from_serde(renderer).map_err(|error| error.to_string())?;
    kustomization.set_at(&["apiVersion"], "kustomize.config.k8s.io/v1beta1");
    kustomization.set_at(&["kind"], "Kustomization");
    kustomization.set_at(&["resources"], Value::Array(vec![OUTPUT.into()].into()));
    let tree = Memory::from_iter([
        ("kustomization.yaml", yaml::write(&kustomization)),
        (OUTPUT, manifests.to_owned()),
    ]);
    let options = Options::default();
    let built = kustomize::build(&tree, "", &options).map_err(|errors| errors.to_string())?;
    built.to_yaml().map_err(|errors| errors.to_string())
}
