//! The repositories in `examples`, as their READMEs say that they are run.

use super::process::Up;

fn example(name: &str) -> Up {
    Up::at(&format!("{}/../../examples/{name}", env!("CARGO_MANIFEST_DIR")))
}

#[test]
fn hello_becomes_ready() {
    let (code, text) = example("hello").once();
    assert_eq!(code, Some(0), "{text}");
    assert!(text.contains("all 5 objects are ready"), "{text}");
}

#[test]
fn each_environment_has_its_own_overlay() {
    for (environment, replicas) in [("dev", "1"), ("playground", "1"), ("production", "3")] {
        let (code, text) = example("environments")
            .argument(&format!("--path={environment}"))
            .once();
        assert_eq!(code, Some(0), "{environment}: {text}");
        let ready =
            format!("ready     Deployment/platform/operator: Deployment is available. Replicas: {replicas}");
        assert!(text.contains(&ready), "{environment}: {text}");
        assert!(text.contains("all 4 objects are ready"), "{environment}: {text}");
    }
}

#[test]
fn of_several_environments_one_is_to_be_chosen() {
    let (code, text) = example("environments").once();
    assert_eq!(code, Some(1), "{text}");
    assert!(
        text.contains("choose one: --path dev|playground|production"),
        "{text}"
    );
    assert!(!text.contains("already registered"), "{text}");
}

#[test]
fn what_depends_on_something_comes_after_it() {
    let (code, text) = example("dependencies").once();
    assert_eq!(code, Some(0), "{text}");
    let at = |line: &str| {
        text.find(line)
            .unwrap_or_else(|| panic!("{line} is missing: {text}"))
    };
    let database = at("ready     StatefulSet/shop/database");
    let infrastructure = at("ready     Kustomization/flux-system/infrastructure");
    let web = at("created   Deployment/shop/web");
    assert!(database < web && infrastructure < web, "{text}");
    assert!(
        text.contains("waiting   Kustomization/flux-system/apps: dependency"),
        "{text}"
    );
}

#[test]
fn a_rollout_that_fails_is_told_with_its_reason() {
    let (code, text) = example("failing-rollout").once();
    assert_eq!(code, Some(1), "{text}");
    let (_, reasons) = text
        .split_once("not ready:\n")
        .unwrap_or_else(|| panic!("{text}"));
    assert!(reasons.contains("Deployment/failing/web"), "{text}");
    assert!(reasons.contains("failing-rollout/web.yaml:6"), "{text}");
    assert!(
        reasons.contains("ErrImagePull") || reasons.contains("ImagePullBackOff"),
        "{text}"
    );
}
