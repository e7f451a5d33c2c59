//! Lists in pages.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use conformance::objects::{config_map, labelled};
use conformance::{Test, check};
use serde_json::{Value, json};

/// Secrets, because no controller puts any into a namespace.
async fn fill(t: &Test, count: usize) {
    for n in 0..count {
        t.create(&t.core("secrets"), json!({"metadata": {"name": format!("s{n}")}}))
            .await;
    }
}

fn names(list: &Value) -> Vec<&str> {
    list["items"]
        .as_array()
        .unwrap()
        .iter()
        .map(|item| item["metadata"]["name"].as_str().unwrap())
        .collect()
}

fn token(list: &Value) -> &str {
    list["metadata"]["continue"].as_str().unwrap_or_default()
}

check!(a_limit_cuts_the_list_and_gives_a_token, async |t| {
    fill(t, 5).await;
    let first = t.get(&format!("{}?limit=2", t.core("secrets"))).await.code(200);
    assert_eq!(names(&first), ["s0", "s1"]);
    assert_eq!(first["metadata"]["remainingItemCount"], 3);
    let second = t
        .get(&format!(
            "{}?limit=2&continue={}",
            t.core("secrets"),
            token(&first)
        ))
        .await
        .code(200);
    assert_eq!(names(&second), ["s2", "s3"]);
    assert_eq!(second["metadata"]["remainingItemCount"], 1);
    let last = t
        .get(&format!(
            "{}?limit=2&continue={}",
            t.core("secrets"),
            token(&second)
        ))
        .await
        .code(200);
    assert_eq!(names(&last), ["s4"]);
    assert_eq!(
        (token(&last), &last["metadata"]["remainingItemCount"]),
        ("", &json!(null))
    );
});

check!(pages_show_the_state_of_the_first_one, async |t| {
    fill(t, 3).await;
    let first = t.get(&format!("{}?limit=1", t.core("secrets"))).await.code(200);
    t.create(&t.core("secrets"), json!({"metadata": {"name": "s0a"}}))
        .await;
    t.delete(&t.core("secrets/s2")).await.code(200);
    let rest = t
        .get(&format!("{}?continue={}", t.core("secrets"), token(&first)))
        .await
        .code(200);
    assert_eq!(names(&rest), ["s1", "s2"]);
    assert_eq!(
        rest["metadata"]["resourceVersion"],
        first["metadata"]["resourceVersion"]
    );
});

check!(a_limit_that_is_not_reached_gives_no_token, async |t| {
    fill(t, 2).await;
    let list = t.get(&format!("{}?limit=2", t.core("secrets"))).await.code(200);
    assert_eq!((names(&list), token(&list)), (vec!["s0", "s1"], ""));
});

check!(a_page_by_label_does_not_know_how_many_remain, async |t| {
    for name in ["a", "b", "c"] {
        t.create(&t.core("configmaps"), labelled(name, json!({"x": "y"})))
            .await;
    }
    let list = t
        .get(&format!("{}?limit=1&labelSelector=x%3Dy", t.core("configmaps")))
        .await
        .code(200);
    assert_eq!(names(&list), ["a"]);
    assert_ne!(token(&list), "");
    assert_eq!(list["metadata"]["remainingItemCount"], json!(null));
});

check!(a_token_that_is_none_is_a_bad_request, async |t| {
    let message = "invalid continue token: continue key is not valid: illegal base64 data at input byte 3";
    t.get(&format!("{}?limit=1&continue=abc!", t.core("secrets")))
        .await
        .fails(400, "BadRequest", message);
});

check!(
    a_token_together_with_a_resource_version_is_a_bad_request,
    async |t| {
        fill(t, 2).await;
        let first = t.get(&format!("{}?limit=1", t.core("secrets"))).await.code(200);
        let path = format!(
            "{}?limit=1&resourceVersion=1&continue={}",
            t.core("secrets"),
            token(&first)
        );
        t.get(&path).await.fails(
            400,
            "BadRequest",
            "specifying resource version is not allowed when using continue",
        );
    }
);

check!(a_token_of_a_forgotten_time_is_expired, async |t| {
    fill(t, 2).await;
    let text = json!({"v": "meta.k8s.io/v1", "rv": 1, "start": "s0\u{0}"}).to_string();
    let old = URL_SAFE_NO_PAD.encode(text);
    let reply = t
        .get(&format!("{}?limit=1&continue={old}", t.core("secrets")))
        .await;
    let message = concat!(
        "The provided continue parameter is too old to display a consistent list result. You can start a new list without ",
        "the continue parameter, or use the continue token in this response to retrieve the remainder of the results. ",
        "Continuing with the provided token results in an inconsistent list - objects that were created, modified, or ",
        "deleted between the time the first chunk was returned and now may show up in the list."
    );
    let status = reply.fails(410, "Expired", message);
    let rest = t
        .get(&format!(
            "{}?limit=5&continue={}",
            t.core("secrets"),
            token(&status)
        ))
        .await
        .code(200);
    assert_eq!(names(&rest), ["s1"], "the token of the answer goes on from there");
});

check!(a_limit_of_zero_is_no_limit, async |t| {
    fill(t, 3).await;
    let list = t.get(&format!("{}?limit=0", t.core("secrets"))).await.code(200);
    assert_eq!(names(&list).len(), 3);
});

check!(a_list_from_any_version_ignores_the_limit, async |t| {
    t.create(&t.core("configmaps"), config_map("a")).await;
    t.create(&t.core("configmaps"), config_map("b")).await;
    let list = t
        .get(&format!("{}?limit=1&resourceVersion=0", t.core("configmaps")))
        .await
        .code(200);
    assert!(names(&list).len() >= 2, "{list}");
    assert_eq!(token(&list), "");
});
