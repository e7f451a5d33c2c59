//! How `resourceVersion` and `resourceVersionMatch` choose the state that is read.

use conformance::check;
use conformance::objects::config_map;
use serde_json::{Value, json};

fn version(object: &Value) -> u64 {
    object["metadata"]["resourceVersion"]
        .as_str()
        .unwrap()
        .parse()
        .unwrap()
}

check!(versions_grow_with_every_write, async |t| {
    let a = t.create(&t.core("configmaps"), config_map("a")).await;
    let b = t.create(&t.core("configmaps"), config_map("b")).await;
    let list = t.get(&t.core("configmaps")).await.code(200);
    assert!(version(&a) < version(&b));
    assert!(version(&b) <= version(&list), "a list is as new as what is in it");
});

check!(version_zero_is_good_enough_for_a_read, async |t| {
    let made = t.create(&t.core("configmaps"), config_map("a")).await;
    t.until(
        &format!("{}?resourceVersion=0", t.core("configmaps/a")),
        |reply| reply.body == made,
    )
    .await;
});

check!(a_list_not_older_than_a_version_shows_it, async |t| {
    let made = t.create(&t.core("configmaps"), config_map("a")).await;
    let path = t.core("configmaps");
    let query = format!(
        "{path}?resourceVersion={}&resourceVersionMatch=NotOlderThan",
        version(&made)
    );
    let list = t.get(&query).await.code(200);
    assert!(version(&list) >= version(&made));
    assert!(
        list["items"]
            .as_array()
            .unwrap()
            .iter()
            .any(|item| item["metadata"]["name"] == "a")
    );
});

check!(an_exact_list_shows_the_state_at_that_version, async |t| {
    t.create(&t.core("secrets"), json!({"metadata": {"name": "a"}}))
        .await;
    let then = version(&t.get(&t.core("secrets")).await.code(200));
    t.create(&t.core("secrets"), json!({"metadata": {"name": "b"}}))
        .await;
    t.delete(&t.core("secrets/a")).await.code(200);
    let query = format!(
        "{}?resourceVersion={then}&resourceVersionMatch=Exact",
        t.core("secrets")
    );
    let list = t.get(&query).await.code(200);
    assert_eq!(version(&list), then);
    let names: Vec<_> = list["items"]
        .as_array()
        .unwrap()
        .iter()
        .map(|item| &item["metadata"]["name"])
        .collect();
    assert_eq!(names, ["a"]);
});

check!(an_exact_list_at_version_zero_is_invalid, async |t| {
    let message = concat!(
        "ListOptions.meta.k8s.io \"\" is invalid: resourceVersionMatch: Forbidden: resourceVersionMatch \"exact\" is ",
        "forbidden for resourceVersion \"0\""
    );
    let path = format!(
        "{}?resourceVersion=0&resourceVersionMatch=Exact",
        t.core("configmaps")
    );
    t.get(&path).await.fails(422, "Invalid", message);
});

check!(a_match_without_a_version_is_invalid, async |t| {
    let message = concat!(
        "ListOptions.meta.k8s.io \"\" is invalid: resourceVersionMatch: Forbidden: resourceVersionMatch is forbidden ",
        "unless resourceVersion is provided"
    );
    t.get(&format!("{}?resourceVersionMatch=Exact", t.core("configmaps")))
        .await
        .fails(422, "Invalid", message);
});

check!(an_unknown_match_is_invalid, async |t| {
    let message = concat!(
        "ListOptions.meta.k8s.io \"\" is invalid: resourceVersionMatch: Unsupported value: \"Near\": supported values: ",
        "\"Exact\", \"NotOlderThan\", \"\""
    );
    let path = format!(
        "{}?resourceVersion=1&resourceVersionMatch=Near",
        t.core("configmaps")
    );
    t.get(&path).await.fails(422, "Invalid", message);
});

check!(a_version_that_is_no_number_is_a_bad_request, async |t| {
    let path = format!("{}?resourceVersion=x", t.core("configmaps"));
    t.get(&path).await.fails(
        400,
        "BadRequest",
        "invalid resource version: resourceVersion: Invalid value: \"x\": strconv.ParseUint: parsing \
        \"x\": invalid syntax",
    );
});

check!(an_exact_list_of_a_forgotten_version_is_expired, async |t| {
    let path = format!(
        "{}?resourceVersion=1&resourceVersionMatch=Exact",
        t.core("configmaps")
    );
    t.get(&path).await.fails(
        410,
        "Expired",
        "The resourceVersion for the provided list is too old.",
    );
});

check!(a_version_of_the_future_times_out, async |t| {
    let path = format!(
        "{}?resourceVersion=999999999&resourceVersionMatch=NotOlderThan",
        t.core("configmaps")
    );
    let reply = t.get(&path).await;
    let text = reply.body["message"].as_str().unwrap_or_default().to_owned();
    assert!(
        text.starts_with("Timeout: Too large resource version: 999999999, current: "),
        "{reply}"
    );
    let status = reply.fails(504, "Timeout", text);
    let cause = json!([{"reason": "ResourceVersionTooLarge", "message": "Too large resource version"}]);
    assert_eq!(
        status["details"],
        json!({"causes": cause, "retryAfterSeconds": 1})
    );
});
