//! Whatever is in the files, a build ends with manifests or errors.

use proptest::prelude::*;

use builder::{Image, Request, Substitution};
use kustomize::substitute::Variables;

use super::build;

fn kustomization() -> impl Strategy<Value = String> {
    let line = prop_oneof![
        Just("resources: [a.yaml, ., ../x, sub]"),
        Just("resources: 5"),
        Just("Resources: [a.yaml]"),
        Just("images: [1, {name: nginx, newTag: 1.10}, null]"),
        Just("images: {name: nginx}"),
        Just("components: [sub, /etc]"),
        Just("patches: text"),
        Just("crds: [a.yaml]"),
        Just("secretGenerator: [{files: [=, a=b=c, a.yaml], envs: [1]}]"),
        Just("buildMetadata: {}"),
        Just("<<: *x"),
        Just("[]"),
        Just("kind: Component"),
    ];
    proptest::collection::vec(line, 0..5).prop_map(|lines| lines.join("\n"))
}

proptest! {
    #[test]
    fn no_file_makes_a_build_panic(
        root in prop_oneof![kustomization(), "\\PC{0,40}"],
        inner in prop_oneof![kustomization(), "\\PC{0,40}"],
        object in "[a-z:${}\\[\\]\n \"']{0,60}",
        component in "[./a-z]{0,12}",
        value in "\\PC{0,10}",
    ) {
        let mut variables = Variables::default();
        variables.insert("x", &value);
        let request = Request {
            images: vec![Image { name: "nginx".to_owned(), new_tag: value.clone(), ..Image::default() }],
            components: vec![component],
            substitution: Some(Substitution { variables, always: true }),
            ..Request::default()
        };
        let object = format!("apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: a}}\ndata:\n  {object}\n");
        let files = [
            ("kustomization.yaml", root.as_str()),
            ("a.yaml", &object),
            ("sub/kustomization.yaml", &inner),
        ];
        if let Ok(built) = build(&files, &request) {
            let _ = built.digest();
            let _ = built.into_objects();
        }
    }
}
