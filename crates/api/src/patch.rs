//! Changes to manifests, as Kustomize has them.

use model::Value;

record! {
    /// A change to all objects that its target selects.
    Patch {
        /// The patch as YAML: an object to merge, or a list of JSON operations.
        required patch: String {}
        /// Which objects it is for. If not set, those that the patch itself names.
        optional target: Option<Selector> {}
    }
}

record! {
    /// Objects by kind, name, labels and annotations. What is not set selects all. Names are regular expressions that
    /// match the whole.
    Selector {
        /// The API group.
        optional group: Option<String> {}
        /// The version.
        optional version: Option<String> {}
        /// The kind.
        optional kind: Option<String> {}
        /// The namespace.
        optional namespace: Option<String> {}
        /// The name.
        optional name: Option<String> {}
        /// A label selector: `app=web,tier in (a, b)`.
        optional label_selector: Option<String> {}
        /// A selector of annotations, written as for labels.
        optional annotation_selector: Option<String> {}
    }
}

record! {
    /// Another name, tag or digest for an image.
    Image {
        /// The name of the image in the manifests, without a tag.
        required name: String {}
        /// The name to put in its place.
        optional new_name: Option<String> {}
        /// The tag to put in its place.
        optional new_tag: Option<String> {}
        /// The digest to put in the place of the tag.
        optional digest: Option<String> {}
    }
}

record! {
    /// Fields that are left as they are in the cluster.
    IgnoreRule {
        /// JSON pointers to the fields; the empty one is the whole object.
        required paths: Vec<String> {}
        /// Which objects it is for. If not set, all.
        optional target: Option<Selector> {}
    }
}

record! {
    /// JSON operations on the objects that the target selects. `Patch` replaces it.
    Json6902Patch {
        /// The operations.
        required patch: Vec<Json6902Operation> {}
        /// Which objects it is for.
        required target: Selector {}
    }
}

record! {
    /// One JSON operation.
    Json6902Operation {
        /// What to do.
        required op: Json6902Verb {}
        /// Where.
        required path: String {}
        /// Where from, for `move` and `copy`.
        optional from: Option<String> {}
        /// The value, for `add`, `replace` and `test`.
        optional value: Option<Value> {}
    }
}

choice! {
    /// What a JSON operation does.
    Json6902Verb { Test = "test", Remove = "remove", Add = "add", Replace = "replace", Move = "move", Copy = "copy" }
}
