//! What a build is asked for.

use kustomize::substitute::Variables;
use source::archive::ignore::Rules;

/// What is to be built, and what is added to the kustomization that is found or generated there.
#[derive(Clone, Debug, Default)]
pub struct Request {
    /// The directory in the files; empty for their root.
    pub path: String,
    /// The namespace that all objects get, instead of what the kustomization file says.
    pub target_namespace: Option<String>,
    /// Put before all names, instead of what the kustomization file says.
    pub name_prefix: Option<String>,
    /// Put after all names, instead of what the kustomization file says.
    pub name_suffix: Option<String>,
    /// Patches after those of the kustomization file.
    pub patches: Vec<Patch>,
    /// Other names, tags and digests of images; they go before those of the kustomization file, field by field.
    pub images: Vec<Image>,
    /// Components after those of the kustomization file: relative paths in the files.
    pub components: Vec<String>,
    /// Whether components that are not there are left out, instead of being an error.
    pub ignore_missing_components: bool,
    /// What is noted in annotations; replaces what the kustomization file says, unless it is empty.
    pub build_metadata: Vec<String>,
    /// What is put in the place of variables; `None` leaves them as they are.
    pub substitution: Option<Substitution>,
    /// Which resources, components and CRDs of the kustomization are left out, by their paths from `path`. `flux build` has
    /// such rules; where an artifact is built, they were used when it was packed.
    pub ignore: Option<Rules>,
}

/// A change to the objects that its target selects, or that the patch names itself.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Patch {
    /// YAML: an object to merge, or a list of JSON operations.
    pub patch: String,
    /// Which objects it is for.
    pub target: Option<Selector>,
}

/// Which objects a patch is for. What is empty selects all.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Selector {
    /// The API group.
    pub group: String,
    /// The version.
    pub version: String,
    /// The kind.
    pub kind: String,
    /// The namespace, as an expression.
    pub namespace: String,
    /// The name, as an expression.
    pub name: String,
    /// A label selector.
    pub label_selector: String,
    /// A selector of annotations.
    pub annotation_selector: String,
}

/// Another name, tag or digest for an image. What is empty is left as it is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Image {
    /// The name in the manifests, without a tag.
    pub name: String,
    /// The name to put in its place.
    pub new_name: String,
    /// The tag to put in its place.
    pub new_tag: String,
    /// The digest to put in the place of the tag.
    pub digest: String,
}

/// Variables and when they are substituted.
#[derive(Clone, Debug, Default)]
pub struct Substitution {
    /// The variables, and whether one that is missing is an error.
    pub variables: Variables,
    /// Whether to substitute even if there are no variables: texts may have defaults.
    pub always: bool,
}
