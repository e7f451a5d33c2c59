//! Deletion of what is owned.

use conformance::objects::config_map;
use conformance::{Patch, Test, check};
use serde_json::{Value, json};

fn owner(object: &Value) -> Value {
    json!({"apiVersion": "v1", "kind": "ConfigMap", "name": object["metadata"]["name"], "uid": object["metadata"]["uid"]})
}

fn owned(name: &str, owners: Value) -> Value {
    let mut object = config_map(name);
    object["metadata"]["ownerReferences"] = owners;
    object
}

/// An owner and one dependent, which blocks its deletion in the foreground.
async fn pair(t: &Test) {
    let parent = t.create(&t.core("configmaps"), config_map("owner")).await;
    let mut reference = owner(&parent);
    reference["blockOwnerDeletion"] = json!(true);
    t.create(&t.core("configmaps"), owned("child", json!([reference])))
        .await;
}

check!(dependents_go_after_their_owner, async |t| {
    pair(t).await;
    t.delete(&format!(
        "{}?propagationPolicy=Background",
        t.core("configmaps/owner")
    ))
    .await
    .code(200);
    t.get(&t.core("configmaps/owner")).await.code(404);
    t.until_gone(&t.core("configmaps/child")).await;
});

check!(background_is_the_default, async |t| {
    pair(t).await;
    t.delete(&t.core("configmaps/owner")).await.code(200);
    t.until_gone(&t.core("configmaps/child")).await;
});

check!(a_foreground_deletion_waits_for_the_dependents, async |t| {
    pair(t).await;
    let hold = json!({"metadata": {"finalizers": ["example.com/f"]}});
    t.patch(&t.core("configmaps/child"), Patch::Merge, hold)
        .await
        .code(200);
    let marked = t
        .delete(&format!(
            "{}?propagationPolicy=Foreground",
            t.core("configmaps/owner")
        ))
        .await
        .code(200);
    assert_eq!(marked["metadata"]["finalizers"], json!(["foregroundDeletion"]));
    assert!(marked["metadata"]["deletionTimestamp"].is_string());
    t.until(&t.core("configmaps/child"), |reply| {
        reply.body["metadata"]["deletionTimestamp"].is_string()
    })
    .await;
    t.get(&t.core("configmaps/owner")).await.code(200);
    let release = json!({"metadata": {"finalizers": null}});
    t.patch(&t.core("configmaps/child"), Patch::Merge, release)
        .await
        .code(200);
    t.until_gone(&t.core("configmaps/owner")).await;
});

check!(orphans_lose_their_reference_and_stay, async |t| {
    pair(t).await;
    let marked = t
        .delete(&format!(
            "{}?propagationPolicy=Orphan",
            t.core("configmaps/owner")
        ))
        .await
        .code(200);
    assert_eq!(marked["metadata"]["finalizers"], json!(["orphan"]));
    t.until_gone(&t.core("configmaps/owner")).await;
    let child = t.get(&t.core("configmaps/child")).await.code(200);
    assert_eq!(child["metadata"]["ownerReferences"], json!(null));
});

check!(a_dependent_of_two_owners_stays_with_the_other, async |t| {
    let one = t.create(&t.core("configmaps"), config_map("one")).await;
    let two = t.create(&t.core("configmaps"), config_map("two")).await;
    t.create(
        &t.core("configmaps"),
        owned("child", json!([owner(&one), owner(&two)])),
    )
    .await;
    t.delete(&t.core("configmaps/one")).await.code(200);
    let has_one = |reply: &conformance::Reply| {
        reply.body["metadata"]["ownerReferences"]
            .as_array()
            .is_some_and(|owners| owners.len() == 1)
    };
    let child = t.until(&t.core("configmaps/child"), has_one).await;
    assert_eq!(child["metadata"]["ownerReferences"][0]["name"], "two");
});

check!(a_dependent_of_an_owner_that_never_was_is_deleted, async |t| {
    let owners = json!([{"apiVersion": "v1", "kind": "ConfigMap", "name": "ghost", "uid": "11111111-2222-3333-4444-555555555555"}]);
    t.create(&t.core("configmaps"), owned("child", owners)).await;
    t.until_gone(&t.core("configmaps/child")).await;
});

check!(an_owner_of_the_same_name_but_another_uid_is_no_owner, async |t| {
    let parent = t.create(&t.core("configmaps"), config_map("owner")).await;
    let mut reference = owner(&parent);
    reference["uid"] = json!("11111111-2222-3333-4444-555555555555");
    t.create(&t.core("configmaps"), owned("child", json!([reference])))
        .await;
    t.until_gone(&t.core("configmaps/child")).await;
    t.get(&t.core("configmaps/owner")).await.code(200);
});

check!(a_chain_of_owners_goes_whole, async |t| {
    let a = t.create(&t.core("configmaps"), config_map("a")).await;
    let b = t
        .create(&t.core("configmaps"), owned("b", json!([owner(&a)])))
        .await;
    t.create(&t.core("configmaps"), owned("c", json!([owner(&b)])))
        .await;
    t.delete(&t.core("configmaps/a")).await.code(200);
    t.until_gone(&t.core("configmaps/b")).await;
    t.until_gone(&t.core("configmaps/c")).await;
});

check!(an_owner_may_be_of_another_kind, async |t| {
    let secret = t
        .create(&t.core("secrets"), json!({"metadata": {"name": "owner"}}))
        .await;
    let reference =
        json!({"apiVersion": "v1", "kind": "Secret", "name": "owner", "uid": secret["metadata"]["uid"]});
    t.create(&t.core("configmaps"), owned("child", json!([reference])))
        .await;
    t.delete(&t.core("secrets/owner")).await.code(200);
    t.until_gone(&t.core("configmaps/child")).await;
});
