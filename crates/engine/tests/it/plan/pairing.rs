//! Which live object belongs to which desired one.

use engine::plan::pair;

use super::*;

fn names(live: &[Live]) -> Vec<String> {
    live.iter()
        .map(|live| format!("{} {}", live.key.group, live.key))
        .collect()
}

fn lives(texts: &[&str]) -> Vec<Live> {
    texts.iter().map(|text| live(&object(text))).collect()
}

#[test]
fn each_desired_object_gets_the_live_one_of_its_key_and_the_rest_may_be_pruned() {
    let desired = [missing("v1 ConfigMap shop/new"), missing("v1 ConfigMap shop/old")];
    let pairs = pair(
        &desired,
        lives(&["v1 ConfigMap shop/stale", "v1 ConfigMap shop/old"]),
        "",
    );
    assert_eq!(pairs.live[0], None);
    assert_eq!(pairs.live[1].as_ref().unwrap().key.name, "old");
    assert_eq!(names(&pairs.rest), [" ConfigMap/shop/stale"]);
}

#[test]
fn objects_without_a_namespace_are_found_in_the_default_one() {
    let desired = [missing("v1 ConfigMap a").namespaced(true)];
    let pairs = pair(&desired, lives(&["v1 ConfigMap shop/a"]), "shop");
    assert!(pairs.live[0].is_some());
}

#[test]
fn objects_of_the_whole_cluster_are_found_whatever_namespace_they_are_written_with() {
    let desired = [missing("example.com/v1 Widget shop/a").namespaced(false)];
    let pairs = pair(&desired, lives(&["example.com/v1 Widget a"]), "other");
    assert!(pairs.live[0].is_some());
}

#[test]
fn if_the_scope_is_unknown_both_keys_are_tried() {
    for there in ["example.com/v1 Widget shop/a", "example.com/v1 Widget a"] {
        for written in ["example.com/v1 Widget shop/a", "example.com/v1 Widget a"] {
            let mut desired = missing(written);
            desired.namespaced = None;
            let pairs = pair(&[desired], lives(&[there]), "shop");
            assert!(pairs.live[0].is_some(), "{written} is {there}");
            assert!(pairs.rest.is_empty(), "what is desired is never pruned");
        }
    }
}

#[test]
fn an_object_that_is_served_in_two_groups_is_there_once() {
    let both = || {
        let mut both = lives(&[
            "apps/v1 Deployment shop/web",
            "extensions/v1beta1 Deployment shop/web",
        ]);
        both.iter_mut().for_each(|live| "same".clone_into(&mut live.uid));
        both
    };
    for group in ["apps/v1", "extensions/v1beta1"] {
        let desired = [missing(&format!("{group} Deployment shop/web"))];
        let pairs = pair(&desired, both(), "");
        assert!(pairs.live[0].is_some(), "{group}");
        assert!(pairs.rest.is_empty(), "{group}");
    }
    let pairs = pair(&[], both(), "");
    assert_eq!(
        names(&pairs.rest),
        ["apps Deployment/shop/web"],
        "one of them may be pruned"
    );
}
